package csm_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/qmuntal/stateless"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// The rivals implement only the conversation's region, with all its states, in two other
// ways: with the bare library, and as a handwritten switch. They track just enough of the
// other regions for their guards, and publish, time and remember nothing, so the core's
// extra cost is that of its extra work.

// facts are the inputs of a rival's guards.
type facts struct {
	session, audio, capturing bool // ready, open, delivering
	connected                 bool
	epoch                     uint32 // epoch of the last dial
	open                      uint64 // the open utterance, 0 for none
	pending                   int    // utterances whose words are awaited
	queue                     int    // queued utterances
	request                   uint64 // the last request
	live, cancelled           bool   // in progress, cancelled
	line                      lineState
	gen                       uint32
	segments, played          uint32 // last segment, last played segment
	whole                     bool   // no more segments will arrive
	prior                     csm.Phase
	reasons                   csm.SuspendReason
	closing                   int // resources that are closing

	meant meaning // meaning of the current event
}

type lineState uint8

const (
	lineClosed lineState = iota
	lineBuffering
	linePlaying
	linePaused
)

// meaning is the meaning of an event for the conversation's guards.
type meaning uint8

const (
	nothing meaning = iota
	content
	stopWord
	started
	drained
	underrun
	progressed
	attempted
	finished
	broke
	restored
	respoken
	closedAll
	onset
	counts // words over the assistant
)

// note updates the facts with the event, and returns its meaning.
func (f *facts) note(e csm.Event) {
	f.meant = nothing
	switch e := e.(type) {
	case csm.SessionReady:
		f.session = true
	case csm.AudioPrimed:
		f.audio = true
	case csm.AudioReady:
		f.capturing = true
	case csm.ConnReady:
		f.noteReady(e.Epoch)
	case csm.ConnLost:
		if f.connected && e.Epoch == f.epoch {
			f.connected, f.meant = false, broke
		}
	case csm.SpeechStarted:
		if e.Epoch == f.epoch && f.open == 0 {
			f.open, f.meant = e.Utterance, onset
		}
	case csm.SpeechStopped:
		if e.Utterance == f.open {
			f.open = 0
			f.pending++
		}
	case csm.Partial:
		if e.Utterance == f.open && e.Class == csm.Content && e.Words > 0 {
			f.meant = counts
		}
	case csm.Final:
		f.noteFinal(e)
	case csm.CopilotSent, csm.CopilotDelta, csm.CopilotSegment, csm.CopilotDone:
		f.noteAnswer(e)
	case csm.SpeechBuffered, csm.SpeechPlayed, csm.SpeechDrained, csm.SpeechFlushed:
		f.noteSpeech(e)
	case csm.SessionClosed, csm.AudioClosed, csm.ConnClosed:
		if f.closing--; f.closing == 0 {
			f.meant = closedAll
		}
	}
}

func (f *facts) noteReady(epoch uint32) {
	if epoch != f.epoch {
		return
	}
	f.connected, f.meant = true, restored
	f.reasons &^= csm.SuspendConnection
	if f.line == linePaused && f.prior == csm.PhaseSpeaking {
		f.line, f.meant = lineBuffering, respoken
		f.gen++
	}
}

func (f *facts) noteFinal(e csm.Final) {
	if e.Epoch != f.epoch || f.pending == 0 {
		return
	}
	f.pending--
	switch {
	case e.Class == csm.Content && e.Words > 0:
		f.meant = content
	case e.Class == csm.Stop:
		f.meant = stopWord
	}
}

func (f *facts) noteAnswer(e csm.Event) {
	switch e := e.(type) {
	case csm.CopilotSent:
		if e.Request == f.request && !f.cancelled {
			f.meant = attempted
		}
	case csm.CopilotDelta:
		if e.Request == f.request && !f.cancelled {
			f.meant = progressed
		}
	case csm.CopilotSegment:
		if e.Request == f.request && !f.cancelled {
			f.meant = progressed
			f.segments++
			if f.line == lineClosed {
				f.line = lineBuffering
			}
		}
	case csm.CopilotDone:
		if e.Request == f.request && f.live {
			if !f.cancelled {
				f.meant, f.whole = finished, true
			}
			f.live = false
		}
	}
}

func (f *facts) noteSpeech(e csm.Event) {
	switch e := e.(type) {
	case csm.SpeechBuffered:
		if e.Gen == f.gen && f.line == lineBuffering && f.open == 0 && f.pending == 0 && f.played < f.segments {
			f.line, f.meant = linePlaying, started
		}
	case csm.SpeechPlayed:
		if e.Gen == f.gen && e.Seq == f.played+1 {
			f.played = e.Seq
		}
	case csm.SpeechDrained:
		if e.Gen != f.gen {
			return
		}
		f.played = max(f.played, e.Seq)
		f.line, f.meant = lineBuffering, underrun
		if f.whole && f.played == f.segments {
			f.line, f.meant = lineClosed, drained
		}
	case csm.SpeechFlushed:
		if e.Gen == f.gen-1 {
			f.meant = restored
		}
	}
}

// enter is a rival's entry action.
func (f *facts) enter(from, to csm.Phase) {
	switch to {
	case csm.PhasePreparing:
		f.epoch++
	case csm.PhaseAnalysing:
		if f.line == linePaused { // what the user spoke over
			f.flush()
		}
		f.request++
		f.live, f.cancelled, f.whole = true, false, false
	case csm.PhaseInterrupted:
		if f.line = linePaused; f.meant != onset {
			f.flush()
		}
	case csm.PhaseSuspended:
		f.prior, f.line = from, linePaused
		f.reasons |= csm.SuspendConnection
		f.epoch++
	case csm.PhaseTerminating, csm.PhaseFaulted:
		f.closing = 3
	case csm.PhaseIdle:
		*f = facts{epoch: f.epoch, request: f.request, gen: f.gen, segments: f.segments, played: f.segments}
	}
}

func (f *facts) flush() {
	f.cancelled, f.line, f.played = true, lineClosed, f.segments
	f.gen++
}

func (f *facts) primed() bool    { return f.session && f.audio }
func (f *facts) hearing() bool   { return f.capturing && f.connected }
func (f *facts) exhausted() bool { return f.meant == finished && f.played == f.segments }
func (f *facts) failed() bool {
	return f.meant == finished && f.played < f.segments && f.line == lineClosed
}

// rival is an implementation of the conversation's region.
type rival interface {
	step(csm.Event) error
	phase() csm.Phase
	again() // restarts from Idle
}

// bare is the chart in the library, with no more code than it requires.
type bare struct {
	m *stateless.StateMachine
	f facts
}

func (r *bare) phase() csm.Phase { return r.m.MustState().(csm.Phase) }

func (r *bare) again() { r.f = facts{} }

func (r *bare) step(e csm.Event) error {
	r.f.note(e)
	return r.m.Fire(csm.KindOf(e))
}

func newBare() rival {
	r := &bare{}
	f := &r.f
	r.m = stateless.NewStateMachineWithMode(csm.PhaseIdle, stateless.FiringImmediate)
	r.m.OnUnhandledTrigger(func(context.Context, stateless.State, stateless.Trigger, []string) error { return nil })
	when := func(holds func() bool) stateless.GuardFunc {
		return func(context.Context, ...any) bool { return holds() }
	}
	means := func(m meaning) stateless.GuardFunc { return func(context.Context, ...any) bool { return f.meant == m } }
	for p := range csm.NumPhases {
		c := r.m.Configure(p)
		if isSub(p) {
			c.SubstateOf(csm.PhaseProcessing)
		}
		if p != csm.PhaseProcessing {
			c.OnEntry(func(ctx context.Context, _ ...any) error {
				f.enter(stateless.GetTransition(ctx).Source.(csm.Phase), p)
				return nil
			})
		}
		if p.Active() && !isSub(p) {
			c.Permit(csm.KindUserStop, csm.PhaseTerminating).
				Permit(csm.KindSessionFailed, csm.PhaseFaulted).Permit(csm.KindAudioFailed, csm.PhaseFaulted)
		}
		if p.Active() && !isSub(p) && p != csm.PhasePreparing && p != csm.PhaseSuspended {
			c.Permit(csm.KindConnLost, csm.PhaseSuspended, means(broke)).Permit(csm.KindSuspend, csm.PhaseSuspended)
		}
	}
	r.m.Configure(csm.PhaseIdle).
		Permit(csm.KindSessionReady, csm.PhasePreparing, when(f.primed)).Permit(csm.KindAudioPrimed, csm.PhasePreparing, when(f.primed))
	r.m.Configure(csm.PhasePreparing).
		Permit(csm.KindAudioReady, csm.PhaseListening, when(f.hearing)).Permit(csm.KindConnReady, csm.PhaseListening, when(f.hearing)).
		Permit(csm.KindConnFailed, csm.PhaseFaulted)
	r.m.Configure(csm.PhaseListening).
		Permit(csm.KindFinal, csm.PhaseAnalysing, means(content)).Permit(csm.KindUserText, csm.PhaseAnalysing).
		Permit(csm.KindQueueNext, csm.PhaseAnalysing, when(func() bool { return f.queue > 0 })).
		Permit(csm.KindSpeechBuffered, csm.PhaseSpeaking, means(started)).
		InternalTransition(csm.KindPartial, func(context.Context, ...any) error { return nil })
	r.m.Configure(csm.PhaseAnalysing).Permit(csm.KindCopilotSent, csm.PhaseWaitingForCopilot, means(attempted))
	r.m.Configure(csm.PhaseWaitingForCopilot).
		Permit(csm.KindCopilotDelta, csm.PhaseGeneratingResponse, means(progressed)).
		Permit(csm.KindCopilotSegment, csm.PhaseGeneratingResponse, means(progressed))
	r.m.Configure(csm.PhaseGeneratingResponse).
		Permit(csm.KindSpeechBuffered, csm.PhaseSpeaking, means(started)).Permit(csm.KindCopilotDone, csm.PhaseListening, when(f.exhausted))
	r.m.Configure(csm.PhaseProcessing).
		Permit(csm.KindFinal, csm.PhaseListening, means(stopWord)).Permit(csm.KindUserInterrupt, csm.PhaseListening).
		Permit(csm.KindCopilotDone, csm.PhaseListening, when(f.failed)).
		InternalTransition(csm.KindUserText, func(context.Context, ...any) error { f.queue++; return nil })
	r.m.Configure(csm.PhaseSpeaking).
		Permit(csm.KindSpeechDrained, csm.PhaseListening, means(drained)).
		Permit(csm.KindSpeechDrained, csm.PhaseGeneratingResponse, means(underrun)).
		Permit(csm.KindSpeechStarted, csm.PhaseInterrupted, means(onset)).Permit(csm.KindUserInterrupt, csm.PhaseInterrupted).
		Permit(csm.KindSpeechFailed, csm.PhaseListening)
	r.m.Configure(csm.PhaseInterrupted).
		Permit(csm.KindSpeechFlushed, csm.PhaseListening, means(restored)).Permit(csm.KindTimerFired, csm.PhaseListening).
		Permit(csm.KindPartial, csm.PhaseListening, means(counts))
	r.m.Configure(csm.PhaseSuspended).
		Permit(csm.KindConnReady, csm.PhaseListening, means(restored)).Permit(csm.KindConnReady, csm.PhaseGeneratingResponse, means(respoken)).
		Permit(csm.KindConnFailed, csm.PhaseFaulted)
	r.m.Configure(csm.PhaseFaulted).
		Permit(csm.KindSessionReady, csm.PhasePreparing, when(f.primed)).
		Permit(csm.KindFatal, csm.PhaseTerminating).Permit(csm.KindUserStop, csm.PhaseTerminating)
	r.m.Configure(csm.PhaseTerminating).
		Permit(csm.KindReset, csm.PhaseIdle).Permit(csm.KindTimerFired, csm.PhaseIdle)
	return r
}

func isSub(p csm.Phase) bool { return p != csm.PhaseProcessing && p.In(csm.PhaseProcessing) }

// byHand is the chart as a switch.
type byHand struct {
	at csm.Phase
	f  facts
}

func newByHand() rival { return &byHand{} }

func (r *byHand) phase() csm.Phase { return r.at }

func (r *byHand) again() { r.f = facts{} }

func (r *byHand) step(e csm.Event) error {
	r.f.note(e)
	if to := r.next(csm.KindOf(e)); to != r.at {
		from := r.at
		r.at = to
		r.f.enter(from, to)
	}
	return nil
}

// next returns the phase that an event leads to.
func (r *byHand) next(k csm.Kind) csm.Phase {
	f := &r.f
	switch r.at {
	case csm.PhaseIdle:
		if (k == csm.KindSessionReady || k == csm.KindAudioPrimed) && f.primed() {
			return csm.PhasePreparing
		}
		return r.at
	case csm.PhaseFaulted:
		switch {
		case (k == csm.KindSessionReady || k == csm.KindAudioPrimed) && f.primed():
			return csm.PhasePreparing
		case k == csm.KindFatal, k == csm.KindUserStop:
			return csm.PhaseTerminating
		}
		return r.at
	case csm.PhaseTerminating:
		if k == csm.KindReset || k == csm.KindTimerFired {
			return csm.PhaseIdle
		}
		return r.at
	}
	switch k {
	case csm.KindUserStop:
		return csm.PhaseTerminating
	case csm.KindSessionFailed, csm.KindAudioFailed:
		return csm.PhaseFaulted
	case csm.KindSuspend, csm.KindConnLost:
		if r.at != csm.PhasePreparing && r.at != csm.PhaseSuspended && (k == csm.KindSuspend || f.meant == broke) {
			return csm.PhaseSuspended
		}
	}
	return r.active(k)
}

// active is next within a conversation.
func (r *byHand) active(k csm.Kind) csm.Phase {
	f := &r.f
	switch r.at {
	case csm.PhasePreparing:
		switch {
		case (k == csm.KindAudioReady || k == csm.KindConnReady) && f.hearing():
			return csm.PhaseListening
		case k == csm.KindConnFailed:
			return csm.PhaseFaulted
		}
	case csm.PhaseListening:
		switch {
		case f.meant == content, k == csm.KindUserText, k == csm.KindQueueNext && f.queue > 0:
			return csm.PhaseAnalysing
		case f.meant == started:
			return csm.PhaseSpeaking
		}
	case csm.PhaseAnalysing, csm.PhaseWaitingForCopilot, csm.PhaseGeneratingResponse:
		return r.processing(k)
	case csm.PhaseSpeaking:
		switch {
		case f.meant == drained, k == csm.KindSpeechFailed:
			return csm.PhaseListening
		case f.meant == underrun:
			return csm.PhaseGeneratingResponse
		case f.meant == onset, k == csm.KindUserInterrupt:
			return csm.PhaseInterrupted
		}
	case csm.PhaseInterrupted:
		if k == csm.KindTimerFired || f.meant == counts || k == csm.KindSpeechFlushed && f.meant == restored {
			return csm.PhaseListening
		}
	case csm.PhaseSuspended:
		switch {
		case k == csm.KindConnReady && f.meant == restored:
			return csm.PhaseListening
		case f.meant == respoken:
			return csm.PhaseGeneratingResponse
		case k == csm.KindConnFailed:
			return csm.PhaseFaulted
		}
	}
	return r.at
}

// processing is next within the three substates of Processing.
func (r *byHand) processing(k csm.Kind) csm.Phase {
	f := &r.f
	switch {
	case r.at == csm.PhaseAnalysing && f.meant == attempted:
		return csm.PhaseWaitingForCopilot
	case r.at == csm.PhaseWaitingForCopilot && f.meant == progressed:
		return csm.PhaseGeneratingResponse
	case r.at == csm.PhaseGeneratingResponse && f.meant == started:
		return csm.PhaseSpeaking
	case r.at == csm.PhaseGeneratingResponse && f.exhausted(),
		f.meant == stopWord, k == csm.KindUserInterrupt, f.failed():
		return csm.PhaseListening
	case k == csm.KindUserText:
		f.queue++
	}
	return r.at
}

var rivals = []struct {
	name string
	make func() rival
}{{"StatelessChart", newBare}, {"SwitchChart", newByHand}}

// The comparison is only meaningful if the rivals take the core's transitions.
func TestRivalsTakeTheSameTransitions(t *testing.T) {
	events := conversationEvents(t)
	want := phases(events)
	if seen := slices.Compact(slices.Clone(want)); len(seen) < 20 {
		t.Fatalf("the conversation has only %d transitions: %v", len(seen), seen)
	}
	for _, rv := range rivals {
		t.Run(rv.name, func(t *testing.T) {
			r := rv.make()
			for n := range 2 * len(events) {
				i := n % len(events)
				e := events[i]
				if i == 0 {
					r.again()
				}
				if err := r.step(e.Event); err != nil {
					t.Fatalf("event %d, %v: %v", i, csm.KindOf(e.Event), err)
				}
				if got := r.phase(); got != want[i] {
					t.Fatalf("after event %d, %v: in %v, the core is in %v", i, csm.KindOf(e.Event), got, want[i])
				}
			}
		})
	}
}

// BenchmarkRival measures the cost of an event in each rival.
func BenchmarkRival(b *testing.B) {
	events := conversationEvents(b)
	for _, rv := range rivals {
		b.Run(rv.name, func(b *testing.B) {
			r := rv.make()
			measure(b, len(events), r.again, func(i int) {
				if err := r.step(events[i].Event); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkStatelessFire measures the library alone: external storage, a guard that holds
// and one that does not, an entry action, two states.
func BenchmarkStatelessFire(b *testing.B) {
	state := stateless.State(0)
	m := stateless.NewStateMachineWithExternalStorage(
		func(context.Context) (stateless.State, error) { return state, nil },
		func(_ context.Context, s stateless.State) error { state = s; return nil },
		stateless.FiringImmediate)
	for s := range 2 {
		m.Configure(s).
			Permit("go", 1-s, func(context.Context, ...any) bool { return true }).
			Permit("go", 2, func(context.Context, ...any) bool { return false }).
			OnEntry(func(context.Context, ...any) error { return nil })
	}
	ctx := context.Background()
	measure(b, 1, func() {}, func(int) {
		if err := m.FireCtx(ctx, "go"); err != nil {
			b.Fatal(err)
		}
	})
}

var conversationFile = flag.String("conversation", "", "write the compared conversation to this file, for implementations that are not in Go")

// sharedEvent is a line of that file: the event and the core's phase after it.
type sharedEvent struct {
	Seq     uint64          `json:"seq"`
	At      float64         `json:"at"` // milliseconds
	Event   string          `json:"event"`
	Data    json.RawMessage `json:"data"`
	Phase   string          `json:"phase"`
	Effects int             `json:"effects"`
}

// The written conversation is complete: decoding it gives the same events.
func TestSharedConversationRoundTrip(t *testing.T) {
	var lines []byte
	s := csm.Initial()
	for i, e := range conversationEvents(t) {
		var fx []csm.Effect
		s, fx = csm.Step(s, e)
		data, err := json.Marshal(e.Event)
		if err != nil {
			t.Fatal(err)
		}
		back, err := csm.DecodeEvent(csm.KindOf(e.Event), data)
		if err != nil || !reflect.DeepEqual(back, e.Event) {
			t.Fatalf("event %d, %v, is %+v when it is read back (%v), and was %+v", i, csm.KindOf(e.Event), back, err, e.Event)
		}
		line, err := json.Marshal(sharedEvent{
			Seq: e.Seq, At: float64(e.At) / float64(ms), Event: csm.KindOf(e.Event).String(), Data: data,
			Phase: s.Phase().String(), Effects: len(fx),
		})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	if *conversationFile == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(*conversationFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*conversationFile, lines, 0o644); err != nil {
		t.Fatal(err)
	}
}
