package headless

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// show is a stage that records its transitions, as "state@milliseconds".
type show struct {
	*Stage
	t      *testing.T
	states []string
	other  []any
}

func perform(t *testing.T, source string) *show {
	t.Helper()
	script, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	s := &show{t: t}
	s.Stage = New(script, &dispatch.Virtual{}, daemon.Config{
		Settings: protocol.DefaultSettings(), Verify: true, Log: zerolog.Nop(),
		Notify: func(_ string, params any) {
			if p, ok := params.(protocol.StateParams); ok {
				s.states = append(s.states, fmt.Sprintf("%s@%d", p.State, p.Since.Sub(Epoch).Milliseconds()))
				return
			}
			s.other = append(s.other, params)
		},
	})
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// start is the client's conversation/start. As over the wire, the script first runs as
// far as it can.
func (s *show) start() error {
	if err := s.Settle(); err != nil {
		return err
	}
	s.Daemon().Post(csm.UserStart{})
	s.Saw(protocol.MethodStart)
	return s.Settle()
}

// plays checks that a script passes through these transitions.
func plays(t *testing.T, source string, want ...string) *show {
	t.Helper()
	s := perform(t, source)
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.states, want) {
		t.Errorf("the states are\n%v, want\n%v", s.states, want)
	}
	return s
}

func TestAnEmptyScriptReachesListening(t *testing.T) {
	s := plays(t, "", "preparing@0", "listening@0")
	if now := s.Advance(90 * time.Second); now != 90*time.Second || len(s.states) != 2 {
		t.Errorf("at %v the states are %v", now, s.states)
	}
}

func TestTheScriptDoesEverythingByHand(t *testing.T) {
	plays(t, `
		auto session off
		auto audio off
		auto capture off
		auto connection off
		auto speech off
		auto flush off
		auto close off
		await conversation/start
		after 10ms
		session.ready
		after 10ms
		audio.primed
		after 10ms
		conn.ready
		after 10ms
		audio.ready
		await state listening
		vad.start
		stt.partial "explain"
		after 100ms
		vad.end
		after 50ms
		stt.final "explain the parser"
		after 10ms
		copilot.delta "It reads tokens and builds a tree."
		copilot.done
		after 30ms
		tts.bufferReady
		after 500ms
		vad.start
		after 60ms
		vad.end
		stt.final "stop"
		after 40ms
		tts.flushed
		session.failed sessionFailed
		after 500ms
	`, "preparing@20", "listening@40", "processing@190", "waitingForCopilot@190", "processing@200", "speaking@230",
		"interrupted@730", "speaking@790", "interrupted@790", "listening@830", "faulted@830")
}

func TestWhatIsHeardIsMeasured(t *testing.T) {
	s := plays(t, `
		auto speech 50ms 1s
		await state listening
		say "explain the parser"
		copilot.delta "It reads tokens and builds a tree. "
		copilot.delta "Then it checks the types of all of it."
		copilot.done
		after 1300ms
		vad.start
		after 300ms
		vad.end
		stt.final "only the types"
	`, "preparing@0", "listening@0", "processing@0", "waitingForCopilot@0", "processing@0", "speaking@50", "interrupted@1300", "listening@1550",
		"processing@1600", "waitingForCopilot@1600")
	// Of two segments of one second each, the first was heard, and a quarter of the
	// second.
	entries := transcript(s.Daemon())
	heard := entries[1].HeardChars
	first := len("It reads tokens and builds a tree.")
	if heard == nil || *heard <= first || *heard >= first+len("Then it checks") {
		t.Errorf("heard %v characters of %q", heard, entries[1].Text)
	}
}

func TestDevicesAndConnectionComeBack(t *testing.T) {
	plays(t, `
		auto connection 200ms
		await state preparing
		after 200ms
		device.lost
		after 100ms
		device.restored
		after 100ms
		conn.lost
		after 300ms
		auto connection off
		conn.lost
		after 1s
		conn.failed connectionFailed
	`, "preparing@0", "listening@200", "suspended@200", "listening@300", "suspended@400", "listening@600", "suspended@700", "faulted@1700")
}

// A lost speaker leaves the user heard; the microphone is shown as closed only while it is
// lost itself.
func TestOneDeviceIsLost(t *testing.T) {
	s := plays(t, `
		auto connection 200ms
		await state preparing
		after 300ms
		device.lost speaker
		after 100ms
		device.restored speaker
		after 100ms
		device.lost microphone
		after 100ms
		device.restored microphone
	`, "preparing@0", "listening@200", "suspended@500", "listening@600")
	var open []bool
	for _, p := range s.other {
		if mic, ok := p.(protocol.Microphone); ok {
			open = append(open, mic.Open)
		}
	}
	if len(open) < 3 || !slices.Equal(open[len(open)-3:], []bool{true, false, true}) {
		t.Errorf("the microphone is open: %v", open)
	}
}

// A statement that is invalid in the current state is reported with its line.
func TestStatementsOutOfPlace(t *testing.T) {
	for source, want := range map[string]string{
		"vad.start":                                                   "line 1: vad.start: there is no conversation",
		"await state listening\nvad.end":                              "line 2: vad.end: the user does not speak",
		"await state listening\nvad.start\nvad.start":                 "line 3: vad.start: the user speaks already",
		"await state listening\nstt.final \"a\"":                      "line 2: stt.final: no words are awaited",
		"await state listening\ncopilot.done":                         "line 2: copilot.done: no request is live",
		"await state listening\ntts.played":                           "line 2: tts.played: nothing is to be spoken",
		"await state listening\nsession.ready":                        "line 2: session.ready: it means nothing in the state Listening",
		"await state listening\ntts.bufferReady":                      "line 2: tts.bufferReady: nothing is to be spoken",
		"auto connection off\nauto session off\nafter 1s\nconn.ready": "line 4: conn.ready: there is no conversation",
	} {
		s := perform(t, source)
		err := s.start()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %s", source, err, want)
		}
		if again := s.Settle(); again == nil {
			t.Errorf("%q is forgotten", source)
		}
	}
}

// When the client advances the time, it stops where the script acts.
func TestTheClientMovesTimeBeyondTheScript(t *testing.T) {
	s := plays(t, "auto session 100ms\nawait state listening\nawait conversation/state\nafter 50ms\nsay \"hello there\"") // the time does not advance
	s.Advance(100 * time.Millisecond)
	s.Saw(protocol.MethodState)
	if now := s.Advance(time.Second); now != 1100*time.Millisecond {
		t.Errorf("time stands at %v", now)
	}
	if want := []string{"preparing@100", "listening@100", "processing@150", "waitingForCopilot@150"}; !slices.Equal(s.states, want) {
		t.Errorf("the states are %v, want %v", s.states, want)
	}
}

// At the time that a script waits for, everything else that is due runs first.
func TestTheScriptIsLastAtItsTime(t *testing.T) {
	plays(t, `
		auto session 120ms
		auto connection 80ms
		await conversation/start
		after 200ms
		say "hello there"
	`, "preparing@120", "listening@200", "processing@200", "waitingForCopilot@200")
}

// Stop gives resources that close slowly enough time.
func TestStopWaitsForTheConversation(t *testing.T) {
	s := plays(t, "auto close 200ms", "preparing@0", "listening@0")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"terminating@0", "idle@200"}; !slices.Equal(s.states[2:], want) {
		t.Errorf("the end is %v, want %v", s.states[2:], want)
	}
	if err := s.Settle(); err != nil {
		t.Error(err)
	}
}

func transcript(d *daemon.Daemon) (all []protocol.TranscriptEntry) {
	d.WithTranscript(0, func(r protocol.TranscriptResult) { all = r.Entries })
	return all
}
