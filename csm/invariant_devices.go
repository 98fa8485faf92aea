package csm

import (
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// checkDevices: a lost device takes away only its own side (invariants 4, 6 and 18).
// Without a speaker, nothing is synthesised or played; without a microphone, nothing is
// captured. Words are lost only with the microphone, and speech stops only with the
// speaker.
func checkDevices(before State, e Envelope, after State, fx []Effect) error {
	if !after.Conv.Phase().Active() {
		return nil
	}
	if after.Hold&SuspendSpeaker != 0 && speech.Audible(after.Speech) {
		return fmt.Errorf("invariant 4: speech is %v without a speaker", after.Speech)
	}
	for _, f := range fx {
		switch f.(type) {
		case Speak:
			if after.Hold&SuspendSpeaker != 0 {
				return fmt.Errorf("invariant 4: %s without a speaker", NameOf(f))
			}
		case ReleaseCapture:
			if after.Hold&SuspendMicrophone != 0 {
				return fmt.Errorf("invariant 18: %s without a microphone", NameOf(f))
			}
		default:
		}
	}
	lost, ok := e.Event.(AudioLost)
	if !ok || after.Counters.Stale > before.Counters.Stale {
		return nil
	}
	switch others := after.Hold &^ lost.Device.Reasons(); {
	case others != 0:
	case lost.Device == Speaker && !sameWords(before.Turn, after.Turn):
		return fmt.Errorf("invariant 6: the loss of the speaker loses words of the user")
	case lost.Device == Microphone && speech.Audible(before.Speech) && !speech.Audible(after.Speech):
		return fmt.Errorf("invariant 4: the loss of the microphone silences the assistant")
	}
	return nil
}

// sameWords says whether every utterance of a is open or awaited in b as well.
func sameWords(a, b turn.State) bool {
	sp, _ := a.(turn.UserSpeaking)
	for _, u := range append([]turn.Utterance{sp.Open}, turn.Pending(a)...) {
		if _, known := turn.Find(b, u.ID); u.ID != 0 && !known {
			return false
		}
	}
	return true
}
