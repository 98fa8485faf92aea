package live

import (
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/cue"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// cues plays short tones that indicate the state of the conversation. It is called from
// several goroutines.
type cues struct {
	mixer *cue.Mixer
	wake  func() // wakes the speaker
	began time.Time

	mu     sync.Mutex
	facts  cue.Facts
	policy cue.Policy
	timer  *time.Timer
	closed bool
}

func newCues(render func(*audio.Frame), wake func()) *cues {
	c := &cues{mixer: cue.NewMixer(render), wake: wake, began: time.Now(), facts: cue.Facts{Focused: true}}
	c.timer = time.AfterFunc(time.Hour, func() { c.tell(func(*cue.Facts) {}) })
	c.timer.Stop()
	return c
}

// configure sets the volume. Cues are off until then.
func (c *cues) configure(s protocol.CueSettings) {
	volume := s.Volume
	if !s.Enabled {
		volume = 0
	}
	c.mixer.SetVolume(volume)
}

// executed handles the effects that the core publishes.
func (c *cues) executed(e csm.Effect) {
	switch e := e.(type) {
	case csm.PublishState:
		c.tell(func(f *cue.Facts) { f.Phase = cuePhase(e.To) })
	case csm.PublishTool:
		c.tell(func(f *cue.Facts) {
			if f.Pending = 0; e.Status == csm.ToolPending {
				f.Pending = e.ToolCall
			}
		})
	}
}

// heard handles the voice events that the core receives.
func (c *cues) heard(e csm.Event) {
	switch e.(type) {
	case csm.SpeechStarted, csm.SpeechResumed:
		c.tell(func(f *cue.Facts) { f.UserSpeaks = true })
	case csm.SpeechPaused, csm.SpeechStopped:
		c.tell(func(f *cue.Facts) { f.UserSpeaks = false })
	}
}

// tell updates the facts and plays the resulting cue.
func (c *cues) tell(change func(*cue.Facts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	change(&c.facts)
	now := time.Since(c.began)
	next, order, changed := c.policy.Next(now, c.facts)
	c.policy = next
	if changed {
		c.wake()
		c.mixer.Play(order)
	}
	c.timer.Stop()
	if at, due := next.Due(); due {
		c.timer.Reset(max(at-now, time.Millisecond))
	}
}

func (c *cues) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.timer.Stop()
}

var cuePhases = map[csm.Phase]cue.Phase{
	csm.PhaseIdle: cue.PhaseIdle, csm.PhasePreparing: cue.PhasePreparing, csm.PhaseListening: cue.PhaseListening,
	csm.PhaseSpeaking: cue.PhaseSpeaking, csm.PhaseInterrupted: cue.PhaseInterrupted, csm.PhaseSuspended: cue.PhaseSuspended,
	csm.PhaseFaulted: cue.PhaseFaulted, csm.PhaseTerminating: cue.PhaseTerminating,
}

// cuePhase maps a phase to its cue; all phases of Processing share one.
func cuePhase(p csm.Phase) cue.Phase {
	if c, ok := cuePhases[p]; ok {
		return c
	}
	return cue.PhaseProcessing
}
