//go:build cgo

package live

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// inMemory is a recogniser that counts those that are open.
type inMemory struct {
	hearing.Recognizer
	open *atomic.Int32
}

func (m inMemory) Close() error { m.open.Add(-1); return m.Recognizer.Close() }

// TestModelsOfASuspendedConversationAreFreed: the model of the embedded server is not in memory
// some time after the conversation was suspended, and what is said after it is heard as before.
// The same holds for a conversation after one that ended while it was suspended.
//
//test:long
func TestModelsOfASuspendedConversationAreFreed(t *testing.T) {
	var open atomic.Int32
	m := &mouth{}
	cfg := devicesOf(m, nil)
	cfg.KeepModels = time.Millisecond
	cfg.Engines = func(choice SpeechChoice) (localrealtime.Config, error) {
		e, err := engines(choice)
		real := e.Recognizer
		e.Recognizer = func() (hearing.Recognizer, error) {
			r, err := real()
			if err == nil {
				open.Add(1)
			}
			return inMemory{r, &open}, err
		}
		return e, err
	}
	agent := &answers{send: says("All tests pass.")}
	tk := talkTo(t, agent, agent, nil, cfg)
	for range 2 {
		tk.begin()
		tk.eventually("the model is loaded", func() bool { return open.Load() == 1 })
		tk.d.Post(csm.Suspend{Reason: csm.SuspendUser})
		tk.want(protocol.StateSuspended)
		tk.eventually("the model is freed", func() bool { return open.Load() == 0 })
		tk.d.Post(csm.Resume{Reason: csm.SuspendUser})
		tk.want(protocol.StateListening)
		tk.eventually("the model is loaded again", func() bool { return open.Load() == 1 })
		m.say(t, sentence)
		tk.answered()
		tk.want(protocol.StateListening)
		heard := tk.lastUserWords()
		if wrong, words := wer.Compute(sentenceIs, heard); wrong*100 > words*60 {
			t.Errorf("heard %q, want something like %q", heard, sentenceIs)
		}
		tk.d.Post(csm.Suspend{Reason: csm.SuspendUser})
		tk.want(protocol.StateSuspended)
		tk.end()
	}
}
