//go:build cgo

package live

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// command returns a synthetic word at 48 kHz with its labels.
func command(t *testing.T, text string) ([]int16, speechdata.Label) {
	t.Helper()
	synth, err := voice.Flite()()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = synth.Close() }()
	var low []int16
	from := 0
	if err := synth.Speak(context.Background(), "kal16", text, func(piece []int16, rate int) error {
		low, from = append(low, piece...), rate
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	pcm, err := speechdata.Resample(low, from, audio.SampleRate)
	if err != nil {
		t.Fatal(err)
	}
	label, ok := speechdata.LabelOf(pcm)
	if !ok {
		t.Fatalf("%q is silent", text)
	}
	clear(pcm[:label.Onset]) // the voice murmurs before some words
	return pcm, label
}

// headset is a microphone and headphones that run in lockstep, one rendered frame per
// captured frame, so that a busy machine does not shift them against each other. Its
// wearer says pcm a fixed number of frames after the headphones are first audible.
type headset struct {
	pcm   []int16
	after int
	empty chan *audio.Frame // a frame to render into
	full  chan struct{}     // the rendered frame
	began chan int64        // the position at which the wearer starts
	end   atomic.Int64      // of the last frame that was delivered
}

func newHeadset(pcm []int16, after int) *headset {
	return &headset{pcm: pcm, after: after, empty: make(chan *audio.Frame), full: make(chan struct{}), began: make(chan int64, 1)}
}

func (h *headset) Open(ctx context.Context) error { return ctx.Err() }
func (h *headset) Close() error                   { return nil }

func (h *headset) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	pacer := audio.NewPacer(speed)
	sounded := false
	for pos := int64(0); ; pos += audio.FrameSamples {
		if err := pacer.Wait(ctx); err != nil {
			return err
		}
		var out audio.Frame
		select {
		case <-ctx.Done():
			return ctx.Err()
		case h.empty <- &out:
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-h.full:
		}
		sounded = sounded || audio.LevelOf(out[:]).Peak > -60
		if sounded {
			h.after--
		}
		var f audio.Frame
		if h.after <= 0 {
			if h.after == 0 {
				h.began <- pos
			}
			h.pcm = h.pcm[copy(f[:], h.pcm):]
		}
		h.end.Store(pos + audio.FrameSamples)
		deliver(pos, &f)
	}
}

type headphones struct{ *headset }

func (h headphones) Latency() time.Duration { return 0 }

func (h headphones) Run(ctx context.Context, render func(*audio.Frame)) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case f := <-h.empty:
			render(f)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case h.full <- struct{}{}:
			}
		}
	}
}

// TestACommandInterruptsTheFirstWordsOfTheFirstAnswer, with headphones, with and
// without processing: each word reaches the core within 250 ms of its onset as
// captured, and half of them within 150 ms.
//
//test:long
func TestACommandInterruptsTheFirstWordsOfTheFirstAnswer(t *testing.T) {
	var decided []time.Duration
	for name, processing := range map[string]func(protocol.Settings) dsp.Config{
		"unprocessed": nil,
		"processed":   func(protocol.Settings) dsp.Config { return dsp.Default() },
	} {
		for _, word := range []string{"stop", "no", "wait"} {
			t.Run(name+"/"+word, func(t *testing.T) {
				pcm, label := command(t, word)
				head := newHeadset(pcm, 10)
				tk := newTalkOver(t, func(s *protocol.Settings) { s.Cues.Enabled = false }, Config{
					Source: func(protocol.Settings) (audio.Source, error) { return head, nil },
					Sink:   func(protocol.Settings) (audio.Sink, error) { return headphones{head}, nil },
					Speed:  speed, Processing: processing,
				})

				type onset struct{ pos, decided int64 } // in samples: these devices wait for the daemon
				onsets := make(chan onset, 1000)
				posted := func(e csm.Event) { // on the source's goroutine
					if s, ok := e.(csm.SpeechStarted); ok {
						onsets <- onset{s.Pos, head.end.Load()}
					}
				}
				tk.posted.Store(&posted)
				tk.agent.become(says(strings.Repeat("This answer is long enough to be interrupted. ", 12)))
				tk.sendText("tell me a long story")
				tk.answered()
				limit := time.After(patience)
				var begin int64
				select {
				case begin = <-head.began:
				case <-limit:
					t.Fatal("the answer never sounded")
				}
				select {
				case s := <-onsets:
					// Between a weak "s" and the vowel there is a stop.
					const near = 60 * time.Millisecond
					if early, late := audio.Duration(begin+label.Onset-s.pos), audio.Duration(s.pos-begin-label.Strong); early > near || late > near {
						t.Errorf("the onset is put %v before the sound, %v after its loud part", early, late)
					}
					late := audio.Duration(s.decided - begin - label.Onset)
					if decided = append(decided, late); late > 250*time.Millisecond {
						t.Errorf("decided %v after the onset", late)
					}
					tk.want(protocol.StateInterrupted)
				case <-limit:
					t.Fatal("the word was never decided")
				}
			})
		}
	}
	slices.Sort(decided)
	if n := len(decided); n > 0 && decided[n/2] > 150*time.Millisecond {
		t.Errorf("decided %v after the onset (median), want 150 ms: %v", decided[n/2], decided)
	}
}
