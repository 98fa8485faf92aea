package csm

import "testing"

// TestWordsDuringAStopWaitForTheFlush: after a stop by hand, what the user says meanwhile is answered once the
// old answer is silent, not over it.
func TestWordsDuringAStopWaitForTheFlush(t *testing.T) {
	d := configured(t, func(c *Config) { c.Interruption = Confirmed }).toSpeaking(1)
	d.do(UserInterrupt{}).want(PhaseInterrupted)
	d.do(SpeechStarted{Epoch: 1, Utterance: 8, Pos: 4800}).want(PhaseInterrupted)
	d.do(SpeechStopped{Epoch: 1, Utterance: 8, Pos: 9600}, Final{Epoch: 1, Utterance: 8, Words: 3}).want(PhaseInterrupted)
	d.do(TimerFired{TimerInterrupt, d.s.Timers[TimerInterrupt].Gen})
	if p := d.s.Phase(); p == PhaseInterrupted || p == PhaseSpeaking {
		t.Errorf("after the flush: %v", p)
	}
}
