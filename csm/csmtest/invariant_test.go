package csmtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

type effects = []csm.Effect

// without returns the effects except those of a name, and whether there were any.
func without(fx effects, name string) (effects, bool) {
	out := slices.DeleteFunc(slices.Clone(fx), func(f csm.Effect) bool { return csm.NameOf(f) == name })
	return out, len(out) < len(fx)
}

// askedBy returns the call whose question is open before a step, unless the step is the user's click.
func askedBy(before csm.State, e csm.Event) (copilot.Call, bool) {
	w, open := before.Copilot.(copilot.WaitingForApproval)
	if csm.KindOf(e) == csm.KindUserApprove || !open || !before.Asking() {
		return copilot.Call{}, false
	}
	return w.Calls[0], true
}

// calls adds the call of a tool to a step that has none.
func calls(call copilot.Call, fx *effects) bool {
	if _, runs := without(*fx, "CallTool"); runs {
		return false
	}
	*fx = append(slices.Clone(*fx), csm.CallTool{ToolCall: call.ID})
	return true
}

// deciding says whether a yes may still be taken back.
func deciding(s csm.State) bool { return s.Approval.State.String() == csm.ApprovalDeciding.String() }

// quiet says whether the user is silent, and no words are awaited.
func quiet(s csm.State) bool { _, idle := s.Turn.(turn.Idle); return idle && s.Hold == 0 }

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
	"the microphone is not held": {"captured audio flows: true", func(_ csm.State, _ csm.Event, _ *csm.State, fx *effects) (ok bool) {
		*fx, ok = without(*fx, "HoldCapture")
		return ok
	}},
	"the microphone is let go with a reason left": {"captured audio flows: true", func(before csm.State, _ csm.Event, after *csm.State, fx *effects) bool {
		both := before.Phase().Active() && after.Phase().Active() && before.Hold&^csm.SuspendSpeaker != 0 && after.Hold&^csm.SuspendSpeaker != 0
		*fx = append(slices.Clone(*fx), csm.ReleaseCapture{})
		return both
	}},
	"the microphone stays open after a fault": {"invariant 18: the microphone stays open in Faulted", func(before csm.State, _ csm.Event, after *csm.State, fx *effects) (ok bool) {
		*fx, ok = without(*fx, "CloseAudio")
		return ok && before.Phase().Active() && after.Phase() == csm.PhaseFaulted
	}},
	"a pause by the user ends with another": {"invariant 18: ", func(_ csm.State, e csm.Event, after *csm.State, fx *effects) bool {
		if k := csm.KindOf(e); !after.UserPaused() || after.Conv.Phase() != csm.PhaseListening || k != csm.KindAudioRestored && k != csm.KindSessionRenewed {
			return false
		}
		after.Hold, *fx = 0, append(slices.Clone(*fx), csm.ReleaseCapture{})
		return true
	}},
	"a call runs before its question was heard": {"invariant 14: call", func(before csm.State, e csm.Event, _ *csm.State, fx *effects) bool {
		call, asked := askedBy(before, e)
		return asked && !before.Approval.Heard && !deciding(before) && calls(call, fx)
	}},
	"a pause of the answer makes its question heard": {"invariant 14: stt.final makes", func(before csm.State, e csm.Event, after *csm.State, _ *effects) bool {
		line, open := speech.LineOf(before.Speech)
		if _, said := e.(csm.Final); !said || !after.Asking() || !before.Asking() || before.Approval.Heard || after.Approval.Heard || open && line.Played >= len(line.Segments)-1 {
			return false
		}
		after.Approval.Heard = true
		return true
	}},
	"a call runs while the user speaks": {"invariant 14: call", func(before csm.State, e csm.Event, after *csm.State, fx *effects) bool {
		call, asked := askedBy(before, e)
		return asked && deciding(before) && !quiet(*after) && csm.KindOf(e) == csm.KindSpeechStarted && calls(call, fx)
	}},
	"a call runs without a yes": {"invariant 14: call", func(before csm.State, e csm.Event, after *csm.State, fx *effects) bool {
		call, asked := askedBy(before, e)
		final, said := e.(csm.Final)
		return asked && before.Approval.Heard && !deciding(before) && quiet(*after) && said && final.Class == csm.Backchannel && calls(call, fx)
	}},
	"a call runs before the yes could be taken back": {"invariant 14: call", func(before csm.State, e csm.Event, after *csm.State, fx *effects) bool {
		call, asked := askedBy(before, e)
		return asked && !call.Reads && !deciding(before) && deciding(*after) && quiet(*after) && calls(call, fx)
	}},
	"a yes outlasts what followed it": {"invariant 14: a yes outlasts", func(before csm.State, e csm.Event, after *csm.State, fx *effects) bool {
		call, asked := askedBy(before, e)
		return asked && deciding(before) && !deciding(*after) && csm.KindOf(e) == csm.KindRecognitionLost && calls(call, fx)
	}},
	"a yes outlasts a hold": {"invariant 14: a yes outlasts", func(before csm.State, e csm.Event, after *csm.State, fx *effects) bool {
		call, asked := askedBy(before, e)
		return asked && deciding(before) && before.Hold == 0 && after.Hold&^csm.SuspendSpeaker != 0 && calls(call, fx)
	}},
	"an answer is heard without a speaker": {"invariant 4: ", func(before csm.State, _ csm.Event, after *csm.State, _ *effects) bool {
		lost := after.Hold&^before.Hold == csm.SuspendSpeaker && speech.Audible(before.Speech)
		after.Speech = before.Speech
		return lost
	}},
	"the loss of the microphone silences the answer": {"invariant 4: ", func(before csm.State, _ csm.Event, after *csm.State, _ *effects) bool {
		lost := after.Hold&^before.Hold == csm.SuspendMicrophone && speech.Audible(before.Speech) && speech.Audible(after.Speech)
		after.Speech, _ = speech.Pause(after.Speech)
		return lost
	}},
	"the loss of the speaker loses words": {"invariant 6: the loss of the speaker", func(before csm.State, _ csm.Event, after *csm.State, fx *effects) bool {
		lost := after.Hold == csm.SuspendSpeaker && before.Hold == 0 && before.Turn.String() == after.Turn.String() && turn.Speaking(before.Turn)
		after.Turn, after.Timers[csm.TimerUtterance].Armed = turn.Idle{}, false
		*fx = append(slices.Clone(*fx), csm.Notify{Code: csm.CodeUtteranceLost})
		_, doubt := after.Conv.(csm.Interrupted)
		return lost && !doubt
	}},
	"an interrupt leaves words that were begun": {"invariant 15: utterance", func(before csm.State, e csm.Event, after *csm.State, _ *effects) bool {
		if csm.KindOf(e) != csm.KindUserInterrupt || before.Turn.String() != after.Turn.String() || before.Turn.String() == (turn.Idle{}).String() {
			return false
		}
		after.Turn = before.Turn
		return true
	}},
	"words from before an interrupt are sent": {"invariant 15: utterance", func(before csm.State, e csm.Event, after *csm.State, _ *effects) bool {
		final, said := e.(csm.Final)
		u, _ := turn.Find(before.Turn, final.Utterance)
		after.Queue = []uint64{final.Utterance}
		return said && u.Dropped && after.Current.ID == 0 && after.Phase() == csm.PhaseListening
	}},
	"an utterance waits behind a paused voice": {"invariant 16: nothing ends", func(_ csm.State, e csm.Event, after *csm.State, _ *effects) bool {
		after.Queue = []uint64{1}
		armed := slices.ContainsFunc(after.Timers[:], func(t csm.TimerState) bool { return t.Armed })
		_, paused := after.Speech.(speech.Paused)
		return csm.KindOf(e) == csm.KindUserPlayback && after.VoicePaused && after.Phase() == csm.PhaseSpeaking && paused && !armed
	}},
	"what was said later is sent first": {"invariant 17: ", func(_ csm.State, _ csm.Event, after *csm.State, _ *effects) bool {
		after.Queue = slices.Clone(after.Queue)
		slices.Reverse(after.Queue)
		return len(after.Queue) > 1 && after.Phase() != csm.PhaseTerminating
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
