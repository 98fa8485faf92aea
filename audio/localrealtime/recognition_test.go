package localrealtime

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
)

// slowEngine is a fake that takes this long for everything.
type slowEngine time.Duration

func (s slowEngine) slowly() { time.Sleep(time.Duration(s)) }

func (slowEngine) Start() error          { return nil }
func (s slowEngine) Write([]int16) error { s.slowly(); return nil }
func (slowEngine) Partial() string       { return "so far" }
func (s slowEngine) Finish() (hearing.Result, error) {
	s.slowly()
	return hearing.Result{Text: "so far and more"}, nil
}
func (slowEngine) Close() error { return nil }

// A client gives up words of which it hears nothing for seconds (csm.Config.FinalTimeout).
// An engine that loads, decodes or ends slowly is therefore reported at work every second.
func TestSlowEngineShowsSignsOfLife(t *testing.T) {
	// Longer than a sign of life, so that repetitions coincide with the end of work; and
	// shorter, so that no repetition is due within it.
	for _, slow := range []slowEngine{slowEngine(10 * time.Second), slowEngine(lifeSign - time.Millisecond)} {
		synctest.Test(t, func(t *testing.T) { signsOfLife(t, slow) })
	}
}

func signsOfLife(t *testing.T, slow slowEngine) {
	type report struct {
		transcript
		at time.Duration
	}
	begin := time.Now()
	reports := make(chan report, 100)
	p := newPool(func() (hearing.Recognizer, error) { slow.slowly(); return slow, nil }, time.Minute, func() {})
	r := newRecognition(p, nil, nil, func(of transcript) { reports <- report{of, time.Since(begin)} })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.run(ctx) }()
	r.start("item", nil, -1)
	for range partialEvery {
		r.write("item", make([]int16, 512))
	}
	r.finish("item")

	var texts []string
	last := time.Duration(0)
	for {
		got := <-reports
		if got.at-last > lifeSign {
			t.Errorf("nothing is reported from %v to %v", last, got.at)
		}
		last = got.at
		if texts = append(texts, got.text); got.final {
			break
		}
	}
	if texts = slices.Compact(texts); !slices.Equal(texts, []string{"", "so far", "so far and more"}) || last != 6*time.Duration(slow) {
		t.Errorf("reported %q, the last after %v", texts, last)
	}
	time.Sleep(2 * lifeSign)
	if n := len(reports); n > 0 {
		t.Errorf("%d reports follow the final one", n)
	}
	stop()
	<-ended
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// settlingEngine is a fake whose drafts are behind the text that it settles on, like those of a
// model that is run on everything heard so far.
type settlingEngine struct {
	slowEngine
	drafts *[]string // what Partial returns, one after the other; the last one stays
}

func (s settlingEngine) Partial() string {
	draft := (*s.drafts)[0]
	if len(*s.drafts) > 1 {
		*s.drafts = (*s.drafts)[1:]
	}
	return draft
}
func (settlingEngine) Settle() (hearing.Result, error) {
	return hearing.Result{Text: "write a unit test."}, nil
}
func (settlingEngine) Resume() error { return nil }

// The words that a pause has settled are those that judge it until the voice goes on. An older
// draft does not replace them; a newer one does.
func TestADraftDoesNotReplaceSettledWords(t *testing.T) {
	for name, c := range map[string]struct{ drafts, want []string }{
		"old draft": {[]string{"write a"}, []string{"write a", "write a unit test", "write a unit test", "write a"}},
		"new draft": {[]string{"write a", "write a", "write a unit test for"},
			[]string{"write a", "write a unit test", "write a unit test for", "write a unit test for"}},
	} {
		t.Run(name, func(t *testing.T) {
			reports := make(chan transcript, 100)
			p := newPool(func() (hearing.Recognizer, error) { return settlingEngine{drafts: &c.drafts}, nil }, time.Minute, func() {})
			r := newRecognition(p, nil, nil, func(of transcript) { reports <- of })
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); r.run(ctx) }()
			write := func() {
				for range partialEvery {
					r.write("item", make([]int16, 512))
				}
			}
			r.start("item", nil, -1)
			for range partialEvery - 1 { // start writes too
				r.write("item", make([]int16, 512))
			}
			var texts []string
			until := func(is func(transcript) bool) {
				got := <-reports
				for ; !is(got); got = <-reports {
					texts = append(texts, got.text)
				}
			}
			r.settle("item")
			until(func(t transcript) bool { return t.settled })
			write()
			r.resume("item")
			write()
			r.finish("item")
			until(func(t transcript) bool { return t.final })
			if !slices.Equal(texts, c.want) {
				t.Errorf("reported %q, want %q", texts, c.want)
			}
			stop()
			<-ended
			if err := p.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// busyEngine is a fake that computes the text of each pause for a second.
type busyEngine struct {
	slowEngine
	settled *int
}

func (b busyEngine) Settle() (hearing.Result, error) {
	time.Sleep(time.Second)
	*b.settled++
	return hearing.Result{Text: "so far"}, nil
}
func (busyEngine) Resume() error { return nil }

// A recogniser that is behind does not compute the text of pauses that are over, and minutes that
// wait for it are not lost.
func TestARecogniserThatIsBehindCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settled := 0
		p := newPool(func() (hearing.Recognizer, error) {
			time.Sleep(10 * time.Second)
			return busyEngine{settled: &settled}, nil
		}, time.Minute, func() {})
		reports := make(chan transcript, 10000)
		r := newRecognition(p, nil, nil, func(of transcript) { reports <- of })
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); r.run(ctx) }()
		r.start("item", nil, -1)
		for range 100 { // five minutes with a hundred pauses
			r.write("item", make([]int16, 3*listenRate))
			r.settle("item")
			r.write("item", make([]int16, 512))
			r.resume("item")
		}
		r.settle("item")
		r.finish("item")
		begin := time.Now()
		got := <-reports
		for ; !got.final; got = <-reports {
		}
		if got.err != nil || got.text != "so far and more" || settled != 1 || time.Since(begin) > 12*time.Second {
			t.Errorf("%q, error %v, after %v and %d computations in pauses, want 1", got.text, got.err, time.Since(begin), settled)
		}
		stop()
		<-ended
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
}
