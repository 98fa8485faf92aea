package engine_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/engine/sherpa"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/turns/smartturn"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// childEnv makes the test binary run as the child process.
const childEnv = "AGENTVOICE_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	default:
		if err := engine.Serve(os.Args[1:], os.Stdin, os.Stdout, loader); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		// As production ends. Under the race detector, os.Exit first runs the destructors of
		// the C++ libraries, beneath a worker that is still loading its models.
		syscall.Exit(0)
	}
}

// loader returns what loads a model in the child.
func loader(m engine.Model) engine.Loader {
	if m.Kind == counting {
		return loadCounter
	}
	if m.Computer() == engine.ONNXRuntime {
		return smartturn.Load
	}
	return sherpa.Load
}

// options are the libraries that compute a model.
func options(t testing.TB, of engine.Computer) (o engine.Options) {
	t.Helper()
	var err error
	if of == engine.ONNXRuntime {
		o.Runtime, err = assets.ONNXRuntime()
	} else if o.Runtime, err = assets.SherpaRuntime(); err == nil {
		o.Library, err = assets.Sherpa()
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func self(t testing.TB, mode string) func(args ...string) *exec.Cmd {
	return func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], args...)
		cmd.Env = append(os.Environ(), childEnv+"="+mode)
		return cmd
	}
}

// model writes a model and reads it back.
func model(t testing.TB, write func(dir string) error) engine.Model {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "model")
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	m, err := engine.ReadModel(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func voiceModel(t testing.TB) engine.Model {
	t.Helper()
	return model(t, tonemodel.Voice)
}

// newEngine returns an engine in a process of its own.
func newEngine(t testing.TB, models ...engine.Model) *engine.Engine {
	t.Helper()
	p := engine.NewProcess(engine.Config{Command: self(t, "engine"), Options: options(t, models[0].Computer())})
	e := p.Engine(models...)
	t.Cleanup(func() {
		if e.Users() != 0 || e.Child() != nil {
			t.Errorf("%d users hold the engine, child %v", e.Users(), e.Child())
		}
	})
	return e
}

func recognizers(t testing.TB, f hearing.Factory) hearing.Recognizer {
	t.Helper()
	r, err := f()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// hear recognises the audio of text, in pieces of 100 ms, and returns the partial
// results seen.
func hear(t testing.TB, r hearing.Recognizer, text string) (hearing.Result, []string) {
	t.Helper()
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	var partials []string
	pcm := tonemodel.Say(text)
	for len(pcm) > 0 {
		n := min(len(pcm), 1600)
		if err := r.Write(pcm[:n]); err != nil {
			t.Fatal(err)
		}
		pcm = pcm[n:]
		// The child is another process, so its results arrive slightly later.
		time.Sleep(2 * time.Millisecond)
		if p := r.Partial(); len(partials) == 0 || p != partials[len(partials)-1] {
			partials = append(partials, p)
		}
	}
	result, err := r.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return result, partials
}

// Each architecture recognises exactly what was said, alone and in two passes,
// repeatedly.
func TestRecognizers(t *testing.T) {
	streaming, ctc, tdt := model(t, tonemodel.StreamingCTC), model(t, tonemodel.CTC), model(t, tonemodel.TDT)
	for _, c := range []struct {
		name     string
		models   []engine.Model
		partials bool
	}{
		{"streaming", []engine.Model{streaming}, true},
		{"CTC", []engine.Model{ctc}, false},
		{"TDT", []engine.Model{tdt}, false},
		{"streaming, then TDT", []engine.Model{streaming, tdt}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := recognizers(t, hearing.Engine(newEngine(t, c.models...)))
			for _, text := range []string{"the quick brown fox jumps over the lazy dog", "why is the test failing"} {
				result, partials := hear(t, r, text)
				if result.Text != text {
					t.Errorf("heard %q, want %q", result.Text, text)
				}
				t.Logf("probabilities %.3f, partials %q", result.Probs, partials)
				if reported := c.models[len(c.models)-1].Kind == "nemo-transducer"; reported && len(result.Probs) != len(strings.Fields(text)) || !reported && result.Probs != nil {
					t.Errorf("%q has the probabilities %v", text, result.Probs)
				}
				for _, p := range partials {
					if !strings.HasPrefix(text, p) {
						t.Errorf("partial %q of %q", p, text)
					}
				}
				if grown := len(partials) > 3; grown != c.partials {
					t.Errorf("%d different partials", len(partials))
				}
			}
		})
	}
}
