package csmtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

type effects = []csm.Effect

// without returns the effects except those of a name, and whether there were any.
func without(fx effects, name string) (effects, bool) {
	out := slices.DeleteFunc(slices.Clone(fx), func(f csm.Effect) bool { return csm.NameOf(f) == name })
	return out, len(out) < len(fx)
}

// faults modify a step, and return false if they do not apply to it.
var faults = map[string]struct {
	want string
	put  func(before csm.State, e csm.Event, after *csm.State, fx *effects) bool
}{
	"a segment is spoken twice": {"invariant 3: segment", func(_ csm.State, _ csm.Event, _ *csm.State, fx *effects) bool {
		i := slices.IndexFunc(*fx, func(f csm.Effect) bool { return csm.NameOf(f) == "Speak" })
		if i >= 0 {
			*fx = append(slices.Clone(*fx), (*fx)[i])
		}
		return i >= 0
	}},
	"a segment of an earlier line is spoken": {"invariant 3: segment", func(_ csm.State, _ csm.Event, _ *csm.State, fx *effects) bool {
		i := slices.IndexFunc(*fx, func(f csm.Effect) bool { s, ok := f.(csm.Speak); return ok && s.Gen > 0 })
		if i >= 0 {
			s := (*fx)[i].(csm.Speak)
			s.Gen--
			*fx = slices.Clone(*fx)
			(*fx)[i] = s
		}
		return i >= 0
	}},
	"a segment of the line is not spoken": {"invariant 8: segment", func(_ csm.State, _ csm.Event, _ *csm.State, fx *effects) (ok bool) {
		*fx, ok = without(*fx, "Speak")
		return ok
	}},
	"words are lost silently": {"invariant 6: ", func(_ csm.State, e csm.Event, _ *csm.State, fx *effects) (ok bool) {
		if k := csm.KindOf(e); k != csm.KindRecognitionLost && k != csm.KindSuspend {
			return false
		}
		*fx, ok = without(*fx, "Notify")
		return ok
	}},
	"a turn failed and nothing says so": {"invariant 6: turn", func(_ csm.State, _ csm.Event, after *csm.State, _ *effects) bool {
		after.Current.Failed = csm.CodeCopilotFailed
		return after.Phase() == csm.PhaseWaitingForCopilot
	}},
	"the microphone is not held": {"invariant 14: in Suspended captured audio flows", func(_ csm.State, _ csm.Event, _ *csm.State, fx *effects) (ok bool) {
		*fx, ok = without(*fx, "HoldCapture")
		return ok
	}},
	"the microphone is let go with a reason left": {"invariant 14: in Suspended captured audio flows", func(before csm.State, _ csm.Event, after *csm.State, fx *effects) bool {
		both := before.Phase() == csm.PhaseSuspended && after.Phase() == csm.PhaseSuspended
		*fx = append(slices.Clone(*fx), csm.ReleaseCapture{})
		return both
	}},
	"the microphone stays open after a fault": {"invariant 14: the microphone stays open in Faulted", func(before csm.State, _ csm.Event, after *csm.State, fx *effects) (ok bool) {
		*fx, ok = without(*fx, "CloseAudio")
		return ok && before.Phase().Active() && after.Phase() == csm.PhaseFaulted
	}},
	"a pause by the user ends with another": {"invariant 14: ", func(_ csm.State, e csm.Event, after *csm.State, fx *effects) bool {
		if k := csm.KindOf(e); !after.UserPaused() || after.Phase() != csm.PhaseSuspended || k != csm.KindAudioRestored && k != csm.KindSessionRenewed {
			return false
		}
		after.Hold, *fx = 0, append(slices.Clone(*fx), csm.ReleaseCapture{})
		return true
	}},
	"a deadline is taken over by what waits next": {"invariant 8: deadline speech", func(before csm.State, _ csm.Event, after *csm.State, fx *effects) bool {
		was, is := before.Timers[csm.TimerSpeech], &after.Timers[csm.TimerSpeech]
		flushed := slices.ContainsFunc(*fx, func(f csm.Effect) bool { return csm.NameOf(f) == "Flush" })
		*is = was
		return was.Armed && flushed && after.Needs(csm.TimerSpeech)
	}},
}

// Each of these faults, injected into every step it applies to, is detected by its
// invariant.
func TestInvariantsDetectFaults(t *testing.T) {
	t.Parallel()
	begun := logs(t)
	for name, c := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := 0
			for _, log := range begun {
				s := csm.Initial()
				for _, e := range log {
					after, fx := csm.Step(s, e)
					broken, bfx := after, fx
					if c.put(s, e.Event, &broken, &bfx) {
						found++
						if err := csm.CheckStep(s, e, broken, bfx); err == nil || !strings.Contains(err.Error(), c.want) {
							t.Fatalf("%v in %v: %v; want %q", csm.KindOf(e.Event), s.Phase(), err, c.want)
						}
					}
					s = after
				}
			}
			if found == 0 {
				t.Error("no scenario has a step to which it applies")
			}
		})
	}
}
