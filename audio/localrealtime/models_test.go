//go:build cgo

package localrealtime

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// children is the file with the ids of the child processes that a test has started.
type children string

func (c children) command(args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", `echo $$ >>"$0"; exec "$@"`, string(c), os.Args[0]}, args...)...)
	cmd.Env = append(os.Environ(), childEnv+"=engine")
	return cmd
}

func (c children) ids(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(string(c))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// kill kills the last child with kill -9.
func (c children) kill(t *testing.T) {
	t.Helper()
	ids := c.ids(t)
	if out, err := exec.Command("kill", "-9", ids[len(ids)-1]).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// toneEngines makes the server recognise and speak with sherpa-onnx and tone models.
func toneEngines(t *testing.T, ears, mouth children) func(*Config) {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(tonemodel.StreamingCTC(filepath.Join(dir, "streaming")), tonemodel.TDT(filepath.Join(dir, "tdt")),
		tonemodel.Voice(filepath.Join(dir, "voice"))); err != nil {
		t.Fatal(err)
	}
	list, damaged, err := engine.Installed(dir)
	if err != nil || damaged != nil {
		t.Fatal(err, damaged)
	}
	set := engine.Choose(list)
	var o engine.Options
	if o.Library, err = assets.Sherpa(); err != nil {
		t.Fatal(err)
	}
	if o.Runtime, err = assets.SherpaRuntime(); err != nil {
		t.Fatal(err)
	}
	report := func(error) {}
	of := func(c children, models []engine.Model) *engine.Engine {
		return engine.NewProcess(engine.Config{Command: c.command, Options: o}).Engine(models...)
	}
	return func(c *Config) {
		c.Recognizer = hearing.WithFallback(hearing.Engine(of(ears, set.Hearing)),
			func() (hearing.Recognizer, error) { return nil, errors.New("the fallback is not wanted here") }, report)
		c.Synthesizer = voice.Engine(of(mouth, set.Voice), "",
			func() (voice.Synthesizer, error) { return nil, errors.New("the fallback is not wanted here") }, report)
	}
}

// Killing the recogniser's process with kill -9 in the middle of an utterance received
// over RTP loses nothing: the utterance is transcribed once and completely.
//
//test:long
func TestKilledRecognizerLosesNothing(t *testing.T) {
	dir := t.TempDir()
	ears, mouth := children(filepath.Join(dir, "hearing")), children(filepath.Join(dir, "voice"))
	h := start(t, toneEngines(t, ears, mouth), func(c *Config) { c.Speed = 1 })
	p := h.call(t, transcribing())
	const text = "open the settings file"
	said := tonemodel.Say(text)
	for i, at := range []int{0, len(said) / 3, 2 * len(said) / 3} {
		if at > 0 {
			p.say(said[:at], 5*time.Millisecond)
			ears.kill(t)
		}
		p.say(said[at:], 5*time.Millisecond)
		all, deltas := withoutDeltas(p.until("conversation.item.input_audio_transcription.completed"))
		wantTypes(t, all, turnEvents...)
		if got := all[5].Transcript; got != text || deltas == "" {
			t.Errorf("transcript %q with deltas %q, want %q", got, deltas, text)
		}
		t.Logf("%d children; transcript %v after speech_stopped", len(ears.ids(t)), all[5].at.Sub(all[1].at).Round(time.Millisecond))
		if len(ears.ids(t)) != i+1 {
			t.Errorf("%d children were started, want %d", len(ears.ids(t)), i+1)
		}
	}
}

// An answer is spoken by the installed voice, and a killed voice process is restarted.
func TestInstalledVoiceAnswers(t *testing.T) {
	dir := t.TempDir()
	ears, mouth := children(filepath.Join(dir, "hearing")), children(filepath.Join(dir, "voice"))
	h := start(t, toneEngines(t, ears, mouth), func(c *Config) { c.Speed = 4 })
	p := h.call(t, transcribing())
	for i := range 2 {
		p.speak("All tests pass. Nothing is left to do.", "none", nil)
		wantTypes(t, p.until("output_audio_buffer.stopped"), answerEvents...)
		p.heard(20)
		for len(p.packets) > 0 {
			<-p.packets
		}
		if len(mouth.ids(t)) != i+1 {
			t.Errorf("%d children were started", len(mouth.ids(t)))
		}
		mouth.kill(t)
	}
}

// noting is a recogniser that records its hot words.
type noting struct {
	hearing.Recognizer
	told func(words []string)
}

func (n noting) SetWords(words []string) { n.told(words) }

// TestNamesReachTheRecogniser checks that each utterance gets the current names.
func TestNamesReachTheRecogniser(t *testing.T) {
	dir := t.TempDir()
	ears, mouth := children(filepath.Join(dir, "hearing")), children(filepath.Join(dir, "voice"))
	names, told := make(chan []string, 2), make(chan []string, 2)
	h := start(t, toneEngines(t, ears, mouth), func(c *Config) {
		c.Speed, c.Words = 1, func() []string { return <-names }
		engine := c.Recognizer
		c.Recognizer = func() (hearing.Recognizer, error) {
			r, err := engine()
			return noting{r, func(words []string) { told <- words }}, err
		}
	})
	p := h.call(t, transcribing())
	for _, want := range [][]string{{"parse config"}, {"load tree", "gest"}} {
		names <- want
		p.say(tonemodel.Say("run it"), 5*time.Millisecond)
		p.until("conversation.item.input_audio_transcription.completed")
		if got := <-told; !slices.Equal(got, want) {
			t.Errorf("the recogniser was given %q, want %q", got, want)
		}
	}
}
