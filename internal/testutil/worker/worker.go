// Package worker runs a worker of package engine within a test.
package worker

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// Load loads the model in a folder, with two threads, until the test ends. The function that
// it returns returns the worker's replies since the last call.
func Load(t *testing.T, dir string, load engine.Loader) (engine.Worker, func() []engine.Reply) {
	t.Helper()
	m, err := engine.ReadModel(dir)
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := load([]engine.Model{m}, engine.Options{Runtime: runtime, Threads: 2}, engine.NewLink(&out))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, func() (replies []engine.Reply) {
		t.Helper()
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
