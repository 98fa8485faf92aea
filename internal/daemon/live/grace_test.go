package live

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Audio that is ready within leastGrace of the user's silence is reported at its end, and nothing else
// waits. Without a voice, or where no pause ends a turn, nothing does.
func TestGrace(t *testing.T) {
	const ms = time.Millisecond
	ready := csm.SpeechBuffered{Gen: 1, Seq: 1}
	type at struct {
		after time.Duration
		event csm.Event
	}
	for name, c := range map[string]struct {
		events  []at
		applies bool
		want    []string
	}{
		"an answer that is ready at once": {[]at{{0, csm.SpeechStarted{}}, {500 * ms, csm.SpeechPaused{}}, {100 * ms, csm.SpeechStopped{}}, {200 * ms, ready}}, true,
			[]string{"100ms vad.start", "600ms vad.pause", "700ms vad.end", "1.5s tts.bufferReady"}},
		"one that takes its time": {[]at{{0, csm.SpeechStarted{}}, {500 * ms, csm.SpeechStopped{}}, {leastGrace, ready}}, true,
			[]string{"100ms vad.start", "600ms vad.end", "1.5s tts.bufferReady"}},
		"the user goes on": {[]at{{0, csm.SpeechStarted{}}, {500 * ms, csm.SpeechPaused{}}, {300 * ms, ready}, {200 * ms, csm.SpeechResumed{}}}, true,
			[]string{"100ms vad.start", "600ms vad.pause", "1.1s vad.resume", "1.5s tts.bufferReady"}},
		"a typed text":               {[]at{{0, ready}}, true, []string{"100ms tts.bufferReady"}},
		"a key ended the turn":       {[]at{{0, csm.SpeechStarted{}}, {500 * ms, csm.SpeechStopped{}}, {0, ready}}, false, []string{"100ms vad.start", "600ms vad.end", "600ms tts.bufferReady"}},
		"a silence long before this": {[]at{{0, csm.SpeechStarted{}}, {500 * ms, csm.SpeechStopped{}}, {time.Hour, ready}}, true, []string{"100ms vad.start", "600ms vad.end", "1h0m0.6s tts.bufferReady"}},
	} {
		clock := &dispatch.Virtual{}
		var got []string
		post := func(e csm.Event) { got = append(got, fmt.Sprintf("%v %v", clock.Now(), csm.KindOf(e))) }
		g := grace{now: clock.Now, post: post, applies: func() bool { return c.applies }, after: func(d time.Duration, f func()) func() bool {
			clock.AfterFunc(d, f)
			return func() bool { return true }
		}}
		clock.Advance(100*ms, func() {})
		for _, e := range c.events {
			clock.Advance(e.after, func() {})
			if ready, ok := e.event.(csm.SpeechBuffered); ok {
				g.buffered(ready)
			} else {
				post(e.event)
				g.heard(e.event)
			}
		}
		clock.Advance(2*leastGrace, func() {})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestGraceIsForPausesThatMayNotBeMeant(t *testing.T) {
	for _, c := range []struct {
		mode      protocol.TurnMode
		eagerness string
		want      bool
	}{
		{protocol.TurnAutomatic, protocol.EagernessAuto, true}, {protocol.TurnPatient, protocol.EagernessAuto, true}, {protocol.TurnServer, protocol.EagernessAuto, true},
		{protocol.TurnPhrase, protocol.EagernessAuto, false}, {protocol.TurnPushToTalk, protocol.EagernessAuto, false}, {protocol.TurnAutomatic, protocol.EagernessHigh, false},
	} {
		set := protocol.DefaultSettings()
		set.TurnDetection.Mode, set.TurnDetection.Eagerness = string(c.mode), c.eagerness
		if got := takesGrace(set); got != c.want {
			t.Errorf("%s, eagerness %s: %v", c.mode, c.eagerness, got)
		}
	}
}
