//go:build cgo && !race

package kokoro

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	testworker "github.com/agentvoice/agentvoice-daemon/internal/testutil/worker"
)

// TestWorkerUsesTheTimeAhead: the first piece of an answer is short, and that of a sentence
// after it is longer, while the listener still hears the one before.
func TestWorkerUsesTheTimeAhead(t *testing.T) {
	const text = "This sentence has several clauses, which are spoken one after another, until it ends."
	w, replies := testworker.Load(t, modelDir(t), LoadWorker)
	w.(*worker).model.now = func() time.Time { return time.Time{} } // however busy this machine is
	first := func(s engine.Sentence) int {
		t.Helper()
		payload, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		w.(*worker).model.pace.perSymbol.Store(int64(20 * time.Millisecond))
		w.Work(engine.Frame{Kind: engine.Text, Stream: 1, Payload: payload})
		all := replies()
		if len(all) < 2 || !all[len(all)-1].Done {
			t.Fatalf("%d replies: %+v", len(all), all)
		}
		return len(all[0].Audio)
	}
	alone := first(engine.Sentence{Text: text, Speed: 1})
	for name, s := range map[string]engine.Sentence{
		"that follows": {Text: text, Speed: 1, Follows: true}, "with audio ahead": {Text: text, Speed: 1, AheadMS: 5000},
	} {
		if got := first(s); got <= alone {
			t.Errorf("a sentence %s begins with %d bytes, one alone with %d", name, got, alone)
		}
	}
}

func TestWorkerReportsFailures(t *testing.T) {
	w, replies := testworker.Load(t, modelDir(t), LoadWorker)
	for _, payload := range []string{"{", `{"text":"Done.","speaker":"nobody","speed":1}`} {
		w.Work(engine.Frame{Kind: engine.Text, Stream: 1, Payload: []byte(payload)})
		if all := replies(); len(all) != 1 || all[0].Error == "" {
			t.Errorf("%s: %+v", payload, all)
		}
	}
}

func TestWorkerMeasuresItself(t *testing.T) {
	w, replies := testworker.Load(t, modelDir(t), LoadWorker)
	m, ok := w.(engine.Measured)
	if !ok || m.Measure() <= 0 || len(replies()) > 0 {
		t.Error("it measures nothing, or is heard")
	}
}
