package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/engine/sherpa"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/turns/sound"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// damage modifies a file of a model.
func damage(t testing.TB, m engine.Model, part string, change func([]byte) []byte) {
	t.Helper()
	path := m.Path(part)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(b), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A faulty model ends the child but not this process, and the error says what is wrong
// and what to do, without a user's folder.
func TestDamagedModels(t *testing.T) {
	for _, c := range []struct {
		name   string
		write  func(string) error
		part   string
		change func([]byte) []byte
		want   string
	}{
		{"not a model", tonemodel.CTC, "model", func([]byte) []byte { return []byte("<html>404</html>") }, "model.onnx"},
		{"truncated", tonemodel.CTC, "model", func(b []byte) []byte { return b[:len(b)/2] }, "model.onnx"},
		{"truncated streaming", tonemodel.StreamingCTC, "model", func(b []byte) []byte { return b[:len(b)/3] }, "model.onnx"},
		{"truncated joiner", tonemodel.TDT, "joiner", func(b []byte) []byte { return b[:len(b)-100] }, "joiner.onnx"},
		{"empty", tonemodel.CTC, "model", func([]byte) []byte { return nil }, ""},
		{"no metadata", tonemodel.CTC, "model", func(b []byte) []byte {
			return bytes.Replace(b, []byte("vocab_size"), []byte("vocab_sizx"), 1)
		}, "vocab_size"},
		{"no tokens", tonemodel.CTC, "tokens", func([]byte) []byte { return nil }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := model(t, c.write)
			damage(t, m, c.part, c.change)
			e := newEngine(t, m)
			err := e.Check()
			if err == nil {
				t.Fatal("the model is loaded")
			}
			t.Log(err)
			for _, want := range []string{"cannot load " + m.Name, c.want, "; install the model again"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q has no %q", err, want)
				}
			}
			if strings.Contains(err.Error(), filepath.Dir(m.Dir())) {
				t.Errorf("%q shows a folder", err)
			}
		})
	}
}

// Only the pinned version is accepted, because other versions have other layouts.
func TestWrongLibraries(t *testing.T) {
	right := options(t, engine.Sherpa)
	for _, c := range []struct{ name, source, want string }{
		{"other version", `const char *SherpaOnnxGetVersionStr(void) { return "1.13.7"; }`, "wrong version: 1.13.7"},
		{"no functions", `const char *SherpaOnnxGetVersionStr(void) { return "` + sherpa.Version + `"; }`, "has no function SherpaOnnxCreateOffline"},
		{"not a library", "", "cannot load the library"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.Base(right.Library))
			if c.source == "" {
				if err := os.WriteFile(path, []byte("not a library"), 0o644); err != nil {
					t.Fatal(err)
				}
			} else {
				cc := exec.CommandContext(t.Context(), "gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", path)
				cc.Stdin = strings.NewReader(c.source)
				if out, err := cc.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			e := newEngine(t, model(t, tonemodel.CTC))
			e.Config().Library = path
			err := e.Check()
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "install it with") || strings.Contains(err.Error(), filepath.Dir(path)) {
				t.Errorf("got %v, want %q and a fix", err, c.want)
			}
		})
	}
}

// kill kills the child, as the system does when it runs out of memory.
func kill(t testing.TB, e *engine.Engine) {
	t.Helper()
	if err := e.Child().Kill(); err != nil {
		t.Fatal(err)
	}
}

// Killing the child at any point of an utterance loses nothing of it.
func TestKilledInAnUtterance(t *testing.T) {
	const text = "kill me if you can"
	pcm := tonemodel.Say(text)
	e := newEngine(t, model(t, tonemodel.StreamingCTC), model(t, tonemodel.TDT))
	reported := 0
	none := func() (hearing.Recognizer, error) { return nil, errors.New("no fallback; it is not needed") }
	r := recognizers(t, hearing.WithFallback(hearing.Engine(e), none, func(error) { reported++ }))
	random := rand.New(rand.NewPCG(1, 2))
	const kills = 20
	for i := range kills {
		at := random.IntN(len(pcm)/1600 + 2) // from before the first piece to between the last one and the end
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		for n := 0; n*1600 < len(pcm); n++ {
			if n == at {
				kill(t, e)
			}
			if err := r.Write(pcm[n*1600 : min((n+1)*1600, len(pcm))]); err != nil {
				t.Fatalf("killed at %d: %v", at, err)
			}
		}
		if at > len(pcm)/1600 {
			kill(t, e)
		}
		result, err := r.Finish()
		if err != nil || result.Text != text {
			t.Errorf("kill %d at %d ms: heard %q, %v", i, at*100, result.Text, err)
		}
	}
	if reported != kills {
		t.Errorf("%d failures reported, want %d", reported, kills)
	}
}

// If the engine does not restart, the fallback recognises the utterance from its
// beginning, and the next utterance starts with the engine again.
func TestFallbackHearsTheUtterance(t *testing.T) {
	const text = "all of it"
	pcm := tonemodel.Say(text)
	first, second := model(t, tonemodel.StreamingCTC), model(t, tonemodel.CTC)
	e, spare := newEngine(t, first), newEngine(t, second)
	var reported []error
	r := recognizers(t, hearing.WithFallback(hearing.Engine(e), hearing.Engine(spare), func(err error) { reported = append(reported, err) }))
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(pcm[:len(pcm)/2]); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(first.Path("model"))
	if err != nil {
		t.Fatal(err)
	}
	damage(t, first, "model", func([]byte) []byte { return []byte("gone") })
	kill(t, e)
	if err := r.Write(pcm[len(pcm)/2:]); err != nil {
		t.Fatal(err)
	}
	if result, err := r.Finish(); err != nil || result.Text != text {
		t.Errorf("heard %q, %v", result.Text, err)
	}
	if spare.Child() == nil || len(reported) != 2 {
		t.Errorf("reported %v", reported)
	}
	damage(t, first, "model", func([]byte) []byte { return whole })
	e.SetNow(func() time.Time { return time.Now().Add(time.Minute) }) // the backoff has passed
	if result, _ := hear(t, r, text); result.Text != text || spare.Child() != nil {
		t.Errorf("heard %q; the fallback is still in use: %v", result.Text, spare.Child() != nil)
	}
}

// After several consecutive failures the engine waits longer and longer before a
// restart, and immediately returns the error meanwhile.
func TestRestartBacksOff(t *testing.T) {
	m := model(t, tonemodel.CTC)
	damage(t, m, "model", func([]byte) []byte { return []byte("gone") })
	starts := 0
	now := time.Now()
	e := engine.NewProcess(engine.Config{Options: options(t, engine.Sherpa), Command: func(args ...string) *exec.Cmd {
		starts++
		return self(t, "engine")(args...)
	}}).Engine(m)
	e.Acquire()
	defer e.Release()
	e.SetNow(func() time.Time { return now })
	var waits []time.Duration
	for range 8 {
		before := starts
		now = e.Retry()
		if err := e.Load(); err == nil || starts != before+1 {
			t.Fatalf("%d starts after the delay: %v", starts-before, err)
		}
		waits = append(waits, e.Retry().Sub(now))
		if now = e.Retry().Add(-1); waits[len(waits)-1] == 0 {
			continue
		}
		if err := e.Load(); err == nil || !strings.Contains(err.Error(), "cannot load") || starts != before+1 {
			t.Errorf("%d starts within the delay: %v", starts-before-1, err)
		}
	}
	want := []time.Duration{0, engine.FirstDelay, 2 * engine.FirstDelay, 4 * engine.FirstDelay, 8 * engine.FirstDelay, 16 * engine.FirstDelay, 32 * engine.FirstDelay, 64 * engine.FirstDelay}
	if !slices.Equal(waits, want) {
		t.Errorf("the delays are %v, want %v", waits, want)
	}
}

// A child that was stopped because nobody used it has not failed, also if it answered nothing.
func TestStoppingIsNoFailure(t *testing.T) {
	e := newEngine(t, model(t, tonemodel.CTC))
	for range 4 {
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if !e.Retry().IsZero() {
		t.Errorf("the next attempt waits until %v", e.Retry())
	}
}

// Engines of a process share its child. The models of one are freed and loaded again while
// another is in use, and what is damaged in one does not disturb the other.
func TestEnginesShareAChild(t *testing.T) {
	p := engine.NewProcess(engine.Config{Command: self(t, "engine"), Options: options(t, engine.ONNXRuntime)})
	damaged := model(t, tonemodel.TurnEnd)
	damage(t, damaged, "model", func([]byte) []byte { return []byte("gone") })
	first, second, third := p.Engine(model(t, tonemodel.TurnEnd)), p.Engine(model(t, tonemodel.TurnEnd)), p.Engine(damaged)
	judge := func(e *engine.Engine) {
		t.Helper()
		listener := sound.Engine(e, func(err error) { t.Error(err) })()
		defer func() { _ = listener.Close() }()
		if p, err := listener.Complete(nil, tone(400)); err != nil || p < 0.5 {
			t.Errorf("complete with %v, %v", p, err)
		}
	}
	first.Acquire()
	judge(first)
	child := first.Child()
	for range 3 {
		judge(second)
		if err := third.Check(); err == nil || !strings.Contains(err.Error(), "cannot load") {
			t.Errorf("a damaged model: %v", err)
		}
		judge(first)
	}
	if first.Child() != child {
		t.Error("the child was replaced")
	}
	first.Release()
	if first.Child() != nil || first.Users() != 0 {
		t.Errorf("%d users are left", first.Users())
	}
}

// A child that does not respond is killed.
func TestHangingChild(t *testing.T) {
	e := newEngine(t, model(t, tonemodel.CTC))
	e.Acquire()
	defer e.Release()
	s, err := e.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(e.Child()); err != nil {
		t.Fatal(err)
	}
	dead, _ := e.Dead()
	if _, err := s.Next(nil, 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "in time") {
		t.Errorf("got %v", err)
	}
	<-dead
}

// The child exits with its parent: when its input ends, whatever it is doing.
func TestChildEndsWithItsInput(t *testing.T) {
	for _, doing := range []string{"loading", "waiting"} {
		t.Run(doing, func(t *testing.T) {
			e := newEngine(t, model(t, tonemodel.CTC))
			r, err := hearing.Engine(e)()
			if err != nil {
				t.Fatal(err)
			}
			if doing == "waiting" {
				hear(t, r, "one")
			}
			dead, status := e.Dead()
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			<-dead
			if code := status(); code != 0 && doing == "waiting" { // else it may not have begun to read
				t.Errorf("the child exits with %d", code)
			}
			if err := r.Start(); !errors.Is(err, hearing.ErrClosed) {
				t.Error(err)
			}
		})
	}
}

// Two calls share one child, and their utterances do not mix.
func TestTwoCallsShareAChild(t *testing.T) {
	e := newEngine(t, model(t, tonemodel.StreamingCTC), model(t, tonemodel.TDT))
	a, b := recognizers(t, hearing.Engine(e)), recognizers(t, hearing.Engine(e))
	texts := []string{"one for me", "two for you"}
	said := [][]int16{tonemodel.Say(texts[0]), tonemodel.Say(texts[1])}
	for i, r := range []hearing.Recognizer{a, b} {
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		said[i] = append(said[i], make([]int16, 64000)...)
	}
	for n := 0; n < 60000; n += 1600 {
		for i, r := range []hearing.Recognizer{a, b} {
			if err := r.Write(said[i][n : n+1600]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, r := range []hearing.Recognizer{a, b} {
		if result, err := r.Finish(); err != nil || result.Text != texts[i] {
			t.Errorf("heard %q, %v", result.Text, err)
		}
	}
}

func TestModelDescriptions(t *testing.T) {
	for description, want := range map[string]string{
		`{`:                               "is not valid",
		`{"name":"x","kind":"telepathy"}`: `unknown kind "telepathy", want one of kokoro-onnx`,
		`{"kind":"nemo-ctc"}`:             "gives no name",
		`{"name":"x","kind":"nemo-ctc","files":{"model":"a.onnx"}}`:                                          "names no file for tokens",
		`{"name":"x","kind":"nemo-ctc","files":{"model":"a.onnx","tokens":"a.onnx"}}`:                        "a.onnx is missing",
		`{"name":"x","kind":"nemo-ctc","files":{"model":"../a.onnx","tokens":"model.json"}}`:                 "outside of the folder",
		`{"name":"x","kind":"nemo-ctc","files":{"model":"model.json","tokens":"model.json","soul":"model"}}`: "has no part soul",
	} {
		root := t.TempDir()
		dir := filepath.Join(root, "mine")
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, engine.DescriptionFile), []byte(description), 0o644)); err != nil {
			t.Fatal(err)
		}
		list, damaged, err := engine.Installed(root)
		if err != nil || len(list) > 0 {
			t.Errorf("%s: %v, %v", description, list, err)
		}
		if got := fmt.Sprint(damaged); !strings.Contains(got, want) || !strings.HasPrefix(got, "model mine: ") || !strings.HasSuffix(got, "; install it again") || strings.Contains(got, root) {
			t.Errorf("%s: %s, want %q", description, got, want)
		}
	}
}

// If several models have the same use, the first is used; other folders are ignored.
func TestInstalledModels(t *testing.T) {
	root := t.TempDir()
	for name, write := range map[string]func(string) error{
		"a-streaming": tonemodel.StreamingCTC, "b-tdt": tonemodel.TDT, "c-ctc": tonemodel.CTC,
		".part": func(dir string) error { return os.Mkdir(dir, 0o755) },
	} {
		if err := write(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	list, damaged, err := engine.Installed(root)
	if err != nil || damaged != nil || len(list) != 3 {
		t.Fatal(list, err, damaged)
	}
	set := engine.Choose(list)
	if len(set.Hearing) != 2 || set.Hearing[0].Name != "tone-streaming" || set.Hearing[1].Name != "tone-tdt" || len(set.Voice) != 0 {
		t.Errorf("%+v", set)
	}
	// Another computer's model does not join them.
	if err := os.MkdirAll(filepath.Join(root, "0-moonshine"), 0o755); err != nil {
		t.Fatal(err)
	}
	description := `{"name":"moonshine","kind":"moonshine-onnx","files":{"encoder":"model.json","decoder":"model.json","tokenizer":"model.json"}}`
	if err := os.WriteFile(filepath.Join(root, "0-moonshine", engine.DescriptionFile), []byte(description), 0o644); err != nil {
		t.Fatal(err)
	}
	if list, _, err = engine.Installed(root); err != nil {
		t.Fatal(err)
	}
	if set := engine.Choose(list); len(set.Hearing) != 1 || set.Hearing[0].Name != "moonshine" {
		t.Errorf("%+v; want Moonshine alone", set)
	}
	// Nor does it keep a model of the same computer out.
	if set := engine.Choose([]engine.Model{list[1], list[0], list[2]}); len(set.Hearing) != 2 || set.Hearing[1].Name != "tone-tdt" {
		t.Errorf("%+v; want both tone models", set)
	}
	if list, damaged, err := engine.Installed(filepath.Join(root, "none")); err != nil || damaged != nil || len(list) > 0 {
		t.Error(list, damaged, err)
	}
}

func TestKnows(t *testing.T) {
	for _, c := range []struct {
		languages []string
		language  string
		want      bool
	}{
		{[]string{"en", "de"}, "de-AT", true},
		{[]string{"en-US"}, "en", true},
		{[]string{"en"}, "de", false},
		{[]string{"en"}, "", true},
		{nil, "de", true},
	} {
		if got := (engine.Model{Languages: c.languages}).Knows(c.language); got != c.want {
			t.Errorf("%v knows %q: %v", c.languages, c.language, got)
		}
	}
}
