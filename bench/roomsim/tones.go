package roomsim

import (
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/cue"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// tones are the daemon's cues at the default volume. The echo canceller learns from
// them before the assistant says a word.
type tones struct {
	clock dispatch.Clock
	mixer *cue.Mixer

	mu     sync.Mutex
	facts  cue.Facts
	policy cue.Policy
}

func newTones(clock dispatch.Clock, speech func(*audio.Frame)) *tones {
	t := &tones{clock: clock, mixer: cue.NewMixer(speech), facts: cue.Facts{Focused: true}}
	t.mixer.SetVolume(0)
	if s := protocol.DefaultSettings().Cues; s.Enabled {
		t.mixer.SetVolume(s.Volume)
	}
	return t
}

var phases = map[csm.Phase]cue.Phase{
	csm.PhaseIdle: cue.PhaseIdle, csm.PhasePreparing: cue.PhasePreparing, csm.PhaseListening: cue.PhaseListening,
	csm.PhaseSpeaking: cue.PhaseSpeaking, csm.PhaseInterrupted: cue.PhaseInterrupted, csm.PhaseSuspended: cue.PhaseSuspended,
	csm.PhaseFaulted: cue.PhaseFaulted, csm.PhaseTerminating: cue.PhaseTerminating,
}

// entered handles a new phase of the conversation.
func (t *tones) entered(p csm.Phase) {
	to, ok := phases[p]
	if !ok {
		to = cue.PhaseProcessing
	}
	t.tell(func(f *cue.Facts) { f.Phase = to })
}

// user sets whether the user is speaking.
func (t *tones) user(speaks bool) { t.tell(func(f *cue.Facts) { f.UserSpeaks = speaks }) }

func (t *tones) tell(change func(*cue.Facts)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.facts)
	now := t.clock.Now()
	next, order, changed := t.policy.Next(now, t.facts)
	t.policy = next
	if changed {
		t.mixer.Play(order)
	}
	if at, due := next.Due(); due {
		t.clock.AfterFunc(max(at-now, time.Millisecond), func() { t.tell(func(*cue.Facts) {}) })
	}
}
