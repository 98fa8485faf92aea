package daemon

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// schedule is what happens to a conversation. It is drawn before the bubble begins, since
// rapid ends a run by a panic.
type schedule struct {
	First, Ends, Fails, Cuts int
	Steps                    []scheduled
}

type scheduled struct {
	After   int // ms
	Do      string
	Answers bool // what the words before were asked is answered first
}

func drawSchedule(rt *rapid.T) schedule {
	step := rapid.Custom(func(rt *rapid.T) scheduled {
		return scheduled{
			After: rapid.IntRange(0, 700).Draw(rt, "after"), Answers: rapid.Bool().Draw(rt, "answers"),
			Do: rapid.SampledFrom([]string{
				"partial", "partial", "partial", "pause", "pause", "pause", "settled", "settled", "final", "final", "final",
				"other", "nothing", "resume", "interrupt", "stop", "hold", "mute",
			}).Draw(rt, "do"),
		}
	})
	return schedule{
		First: rapid.IntRange(0, 1200).Draw(rt, "first"), Ends: rapid.IntRange(0, 1500).Draw(rt, "ends"),
		Fails: rapid.IntRange(2, 9).Draw(rt, "fails"), Cuts: rapid.IntRange(2, 9).Draw(rt, "cuts"),
		Steps: rapid.SliceOfN(step, 15, 50).Draw(rt, "steps"),
	}
}

// play makes a schedule happen.
func (g *guess) play(s schedule) {
	g.chat.first, g.chat.ends = time.Duration(s.First)*time.Millisecond, time.Duration(s.Ends)*time.Millisecond
	g.chat.fails = func(n int) bool { return n%s.Fails == 0 }
	g.chat.cuts = func(n int) bool { return n%s.Cuts == 0 }
	words, speaking := "", false
	for i, step := range s.Steps {
		if !speaking {
			g.post(csm.UserStart{})
			g.post(csm.Resume{Reason: csm.SuspendUser})
			g.d.Mute(protocol.MuteParams{})
			if step.Answers {
				g.after(3000)
			}
			g.begin()
			speaking, words = true, fmt.Sprintf("question %d", i)
		}
		g.after(step.After)
		switch step.Do {
		case "partial":
			words += " more"
			g.partial(words)
		case "pause":
			g.pause()
		case "resume":
			g.resume()
		case "settled":
			g.d.heardSettled(1, g.last, Transcript{Text: words})
			g.settle()
		case "interrupt":
			g.post(csm.UserInterrupt{})
		case "stop":
			g.post(csm.UserStop{})
			speaking = false
		case "hold":
			g.post(csm.Suspend{Reason: csm.SuspendUser})
		case "mute":
			g.d.Mute(protocol.MuteParams{Muted: true})
			g.settle()
		default:
			g.final(map[string]string{"final": words, "other": words + " last", "nothing": ""}[step.Do])
			speaking = false
		}
	}
}

// Whatever the order of partial and final words, pauses, commands, faults and late
// answers: never are two requests open, each request of the core ends once and with the
// answer to its own words, and no answer to other words is shown.
func TestSpeculationUnderAnySchedule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSchedule(rt)
		synctest.Test(t, func(t *testing.T) {
			g := newGuess(t, nil, nil)
			g.play(s)
			g.end()
			if t.Failed() { // ends the whole test
				t.Logf("%+v", s)
			}
		})
	})
}
