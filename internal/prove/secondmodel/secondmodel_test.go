package secondmodel

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// split separates what write has joined.
func TestTracesAreSplit(t *testing.T) {
	one := trace{Name: "one thing/after another", Rows: make([][columns]int, 2)}
	two := trace{Name: "two", Rows: make([][columns]int, 1)}
	got := split(string(write([]trace{one, two})))
	if want := []string{string(write([]trace{one})), string(write([]trace{two}))}; !slices.Equal(got, want) {
		t.Errorf("cut into %q, and they were %q", got, want)
	}
}

// The duration of a voice is measured from its onset by positions, including pauses.
func TestAVoiceIsMeasuredByPositions(t *testing.T) {
	const ms = samplesMs
	confirm := csm.DefaultConfig().Confirm.Milliseconds()
	tr, err := read("a voice", []step{
		{csm.SpeechStarted{Utterance: 1, Pos: 100 * ms}, "Listening", nil},
		{csm.SpeechPaused{Utterance: 1, Pos: (100 + confirm - 1) * ms}, "Listening", nil},
		{csm.SpeechResumed{Utterance: 1, Pos: (100 + confirm) * ms}, "Listening", nil},
		{csm.SpeechStopped{Utterance: 1, Pos: (100 + confirm) * ms}, "Listening", nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	if short, long := tr.Rows[1][colC], tr.Rows[3][colC]; short != 1 || long != 0 {
		t.Errorf("1 ms before it counts it is short: %d, and when it counts: %d", short, long)
	}
}

// A published phase that differs from the resulting phase has no number.
func TestPublishedPhaseThatDiffers(t *testing.T) {
	for phase, want := range map[string]int{"Listening": phases["Listening"], "Speaking": -1} {
		tr, err := read("news", []step{{csm.UserInterrupt{}, phase, []csm.Effect{csm.PublishState{To: csm.PhaseListening}}}})
		if err != nil || tr.Rows[0][colPhase] != want {
			t.Errorf("Listening is told, and %s follows: %v, %v", phase, tr.Rows, err)
		}
	}
}

// The model has every event and every deadline of the core.
func TestModelHasEveryName(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/promela/conversation.pml")
	if err != nil {
		t.Fatal(err)
	}
	for k := range csm.KindSettled {
		if !slices.Contains(events, k.String()) {
			t.Errorf("the model has no event %v", k)
		}
	}
	for k := range csm.NumTimers {
		if name := "#define T_" + strings.ToUpper(k.String()) + " "; !strings.Contains(string(text), name) {
			t.Errorf("the model has no %q", name)
		}
	}
}
