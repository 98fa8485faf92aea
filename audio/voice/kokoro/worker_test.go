//go:build cgo && !race

package kokoro

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// serve starts a worker, and returns it with a function that returns its replies since the
// last call.
func serve(t *testing.T) (engine.Worker, func() []engine.Reply) {
	t.Helper()
	m, err := engine.ReadModel(modelDir(t))
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := LoadWorker([]engine.Model{m}, engine.Options{Runtime: runtime, Threads: 2}, engine.NewLink(&out))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, func() (replies []engine.Reply) {
		for line := range strings.Lines(out.String()) {
			var r engine.Reply
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			replies = append(replies, r)
		}
		out.Reset()
		return replies
	}
}

// TestWorkerUsesTheTimeAhead: the first piece of an answer is short, and that of a sentence
// after it is longer, while the listener still hears the one before.
func TestWorkerUsesTheTimeAhead(t *testing.T) {
	const text = "This sentence has several clauses, which are spoken one after another, until it ends."
	w, replies := serve(t)
	first := func(s engine.Sentence) int {
		t.Helper()
		payload, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
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
	w, replies := serve(t)
	for _, payload := range []string{"{", `{"text":"Done.","speaker":"nobody","speed":1}`} {
		w.Work(engine.Frame{Kind: engine.Text, Stream: 1, Payload: []byte(payload)})
		if all := replies(); len(all) != 1 || all[0].Error == "" {
			t.Errorf("%s: %+v", payload, all)
		}
	}
}

func TestWorkerMeasuresItself(t *testing.T) {
	w, replies := serve(t)
	m, ok := w.(engine.Measured)
	if !ok || m.Measure() <= 0 || len(replies()) > 0 {
		t.Error("it measures nothing, or is heard")
	}
}
