package sherpa

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/stt"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// childEnv makes the test binary run as the child process.
const childEnv = "AGENTVOICE_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "layout":
		printLayout()
	default:
		if err := Serve(os.Args[1:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func libraries(t testing.TB) Libraries {
	t.Helper()
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		t.Fatal(err)
	}
	library, err := assets.Sherpa()
	if err != nil {
		t.Fatal(err)
	}
	return Libraries{runtime, library}
}

func self(t testing.TB, mode string) func(args ...string) *exec.Cmd {
	return func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], args...)
		cmd.Env = append(os.Environ(), childEnv+"="+mode)
		return cmd
	}
}

// model writes a model and reads it back.
func model(t testing.TB, write func(dir string) error) Model {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "model")
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	m, err := ReadModel(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func voiceModel(t testing.TB) Model {
	t.Helper()
	return model(t, func(dir string) error {
		found, err := filepath.Glob("/usr/lib/*/espeak-ng-data")
		if err != nil || len(found) == 0 {
			return errors.New("espeak-ng-data is missing; install espeak-ng with `make deps-test`")
		}
		return tonemodel.Voice(dir, found[0])
	})
}

func engine(t testing.TB, models ...Model) *Engine {
	t.Helper()
	e := NewEngine(EngineConfig{Command: self(t, "engine"), Libraries: libraries(t), Models: models})
	t.Cleanup(func() {
		if e.users != 0 || e.child != nil {
			t.Errorf("%d users hold the engine, child %v", e.users, e.child)
		}
	})
	return e
}

func recognizers(t testing.TB, f stt.Factory) stt.Recognizer {
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
func hear(t testing.TB, r stt.Recognizer, text string) (stt.Result, []string) {
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
		models   []Model
		partials bool
	}{
		{"streaming", []Model{streaming}, true},
		{"CTC", []Model{ctc}, false},
		{"TDT", []Model{tdt}, false},
		{"streaming, then TDT", []Model{streaming, tdt}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := recognizers(t, Recognizers(engine(t, c.models...)))
			for _, text := range []string{"the quick brown fox jumps over the lazy dog", "why is the test failing"} {
				result, partials := hear(t, r, text)
				if result.Text != text {
					t.Errorf("heard %q, want %q", result.Text, text)
				}
				t.Logf("confidence %.3f, partials %q", result.Confidence, partials)
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
