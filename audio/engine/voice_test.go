package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// otherVoice is the tests' fallback, which records what it speaks.
type otherVoice struct{ said []string }

func (v *otherVoice) factory() (voice.Synthesizer, error) { return v, nil }
func (v *otherVoice) SetRate(float64)                     {}
func (v *otherVoice) Voices() []string                    { return []string{"other"} }
func (v *otherVoice) Close() error                        { return nil }
func (v *otherVoice) Speak(_ context.Context, _, text string, emit func([]int16, int) error) error {
	v.said = append(v.said, text)
	return emit(make([]int16, 160), 16000)
}

func newVoice(t testing.TB, e *engine.Engine, other *otherVoice) (voice.Synthesizer, *[]error) {
	t.Helper()
	reported := &[]error{}
	s, err := voice.Engine(e, "", other.factory, func(err error) { *reported = append(*reported, err) })()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, reported
}

// speak returns the audio of text.
func speak(t testing.TB, s voice.Synthesizer, text string) (pcm []int16) {
	t.Helper()
	if err := s.Speak(t.Context(), "", text, func(p []int16, rate int) error {
		if rate != tonemodel.VoiceRate && rate != 16000 || len(p) > rate/10 {
			t.Errorf("%d samples at %d Hz", len(p), rate)
		}
		pcm = append(pcm, p...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return pcm
}

// The voice speaks the given text, faster on request, and begins with the first
// sentence before the others are synthesised.
func TestVoiceSpeaks(t *testing.T) {
	s, reported := newVoice(t, newEngine(t, voiceModel(t)), &otherVoice{})
	short := speak(t, s, "The test fails.")
	long := speak(t, s, "The test fails. Open the settings file in main.go and look at line 12!")
	if len(short) < tonemodel.VoiceRate/5 || len(long) < 3*len(short) {
		t.Errorf("%d and %d samples", len(short), len(long))
	}
	loud := slices.ContainsFunc(short, func(v int16) bool { return math.Abs(float64(v)) > 8000 })
	if !loud || !slices.Equal(long[:len(short)/2], short[:len(short)/2]) {
		t.Errorf("the beginnings differ, or nothing is loud: %v", loud)
	}
	if again := speak(t, s, "   ...\n"); len(again) != 0 {
		t.Errorf("%d samples of nothing", len(again))
	}
	if len(*reported) > 0 {
		t.Error(*reported)
	}
	if err := s.Speak(t.Context(), "bella", "No.", nil); !errors.Is(err, voice.ErrUnknownVoice) {
		t.Errorf("an unknown voice: %v", err)
	}
}

// A voice of the fallback is offered, and spoken by the fallback.
func TestVoiceOfTheFallback(t *testing.T) {
	other := &otherVoice{}
	s, reported := newVoice(t, newEngine(t, voiceModel(t)), other)
	if names := s.Voices(); names[len(names)-1] != "other" || len(names) < 2 {
		t.Errorf("the voices are %q", names)
	}
	if err := s.Speak(t.Context(), "other", "One. Two.", func([]int16, int) error { return nil }); err != nil {
		t.Error(err)
	}
	if !slices.Equal(other.said, []string{"One. Two."}) || len(*reported) > 0 {
		t.Errorf("the fallback said %q; reported %v", other.said, *reported)
	}
}

// A listener that leaves stops the voice, and the next text is spoken.
func TestVoiceStops(t *testing.T) {
	s, _ := newVoice(t, newEngine(t, voiceModel(t)), &otherVoice{})
	ctx, cancel := context.WithCancel(t.Context())
	pieces := 0
	err := s.Speak(ctx, "", "One two three. Four five six. Seven.", func([]int16, int) error {
		pieces++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || pieces != 1 {
		t.Errorf("%v after %d pieces", err, pieces)
	}
	full := errors.New("full")
	if err := s.Speak(t.Context(), "", "One.", func([]int16, int) error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
	if len(speak(t, s, "Seven.")) == 0 {
		t.Error("nothing is said afterwards")
	}
}

// A child that is killed between two sentences is restarted, and each sentence is
// spoken once.
func TestVoiceSurvivesKill(t *testing.T) {
	e := newEngine(t, voiceModel(t))
	other := &otherVoice{}
	s, reported := newVoice(t, e, other)
	whole := speak(t, s, "The test fails. Open the settings file.")
	var pcm []int16
	killed := false
	if err := s.Speak(t.Context(), "", "The test fails. Open the settings file.", func(p []int16, _ int) error {
		if !killed {
			killed = true
			dead, _ := e.Dead()
			_ = e.Child().Kill()
			<-dead
		}
		pcm = append(pcm, p...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(pcm) != len(whole) || len(other.said) > 0 || len(*reported) > 0 {
		t.Errorf("%d of %d samples; the fallback said %q; reported %v", len(pcm), len(whole), other.said, *reported)
	}
}

// A voice that does not answer in time is replaced for the rest of the conversation, before
// its process is given up, and the reason is reported.
func TestLateVoiceIsReplaced(t *testing.T) {
	e := newEngine(t, voiceModel(t))
	other := &otherVoice{}
	s, reported := newVoice(t, e, other)
	if speak(t, s, "One."); len(other.said) > 0 {
		t.Fatalf("the fallback said %q", other.said)
	}
	if err := stop(e.Child()); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	speak(t, s, "Two. Three.")
	speak(t, s, "Four.")
	if !slices.Equal(other.said, []string{"Two.", "Three.", "Four."}) || len(*reported) != 1 {
		t.Errorf("the fallback said %q; reported %v", other.said, *reported)
	}
	if took := time.Since(begin); took > engine.ReplyTimeout {
		t.Errorf("it took %v", took)
	}
	if err := e.Child().Kill(); err != nil { // it cannot end by itself
		t.Fatal(err)
	}
}

// While a voice is loading, the fallback speaks, which is no failure.
func TestVoiceThatIsLoading(t *testing.T) {
	e := newEngine(t, voiceModel(t))
	other := &otherVoice{}
	s, reported := newVoice(t, e, other)
	if err := stop(e.Child()); err != nil {
		t.Fatal(err)
	}
	speak(t, s, "One.")
	if !slices.Equal(other.said, []string{"One."}) || len(*reported) > 0 {
		t.Errorf("the fallback said %q; reported %v", other.said, *reported)
	}
	if err := resume(e.Child()); err != nil {
		t.Fatal(err)
	}
	if err := e.Load(); err != nil {
		t.Fatal(err)
	}
	if speak(t, s, "Two."); len(other.said) != 1 || len(*reported) > 0 {
		t.Errorf("the fallback said %q; reported %v", other.said, *reported)
	}
}

// A voice that cannot be loaded is replaced, and the reason is reported.
func TestDamagedVoiceIsReplaced(t *testing.T) {
	m := voiceModel(t)
	damage(t, m, "model", func(b []byte) []byte { return b[:len(b)/2] })
	other := &otherVoice{}
	s, reported := newVoice(t, newEngine(t, m), other)
	begin := time.Now()
	speak(t, s, "One. Two.")
	if !slices.Equal(other.said, []string{"One.", "Two."}) || len(*reported) != 2 {
		t.Errorf("the fallback said %q; reported %v", other.said, *reported)
	}
	t.Logf("after %v: %v", time.Since(begin), (*reported)[0])
}

// counting is the kind of a model that stands for a voice whose audio differs from run to run.
// Its words are numbers, and the samples of a word have its value.
const counting = "kokoro-onnx"

// counter dies in its first run after two words, and is four times as fast in the next one.
type counter struct {
	to    *engine.Link
	again bool
}

func loadCounter(models []engine.Model, _ engine.Options, to *engine.Link) (engine.Worker, error) {
	ran := filepath.Join(models[0].Dir(), "ran")
	_, err := os.Stat(ran)
	return &counter{to, err == nil}, os.WriteFile(ran, nil, 0o600)
}

func (c *counter) Close() error { return nil }

func (c *counter) Work(f engine.Frame) {
	var s engine.Sentence
	if f.Kind != engine.Text || json.Unmarshal(f.Payload, &s) != nil {
		return
	}
	length := map[bool]int{false: 400, true: 100}[c.again]
	for i, r := range s.Text {
		if r < '0' || r > '9' {
			continue
		}
		if !c.again && r == '3' {
			syscall.Exit(1)
		}
		c.to.Send(engine.Reply{Stream: f.Stream, Audio: engine.Bytes(slices.Repeat([]int16{int16(r - '0')}, length)), Rate: 16000, End: i + 1})
	}
	c.to.Send(engine.Reply{Stream: f.Stream, Done: true})
}

// A voice that dies within a sentence speaks the words that are left, or the fallback does:
// no word is lost or repeated, although the new audio is shorter.
func TestVoiceResumesWithinASentence(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  bool // the model cannot be loaded again
		values []int16
		other  []string
	}{
		"again":    {false, []int16{1, 2, 3, 4, 5, 6}, nil},
		"fallback": {true, []int16{1, 2, 0}, []string{" 3 4.", "5 6."}},
	} {
		t.Run(name, func(t *testing.T) {
			m := model(t, func(dir string) error {
				const description = `{"name":"counter","kind":"` + counting + `","files":{"model":"x","vocabulary":"x","speakers":"x","pronunciations":"x"}}`
				return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "x"), nil, 0o600),
					os.WriteFile(filepath.Join(dir, engine.DescriptionFile), []byte(description), 0o600))
			})
			other := &otherVoice{}
			s, reported := newVoice(t, newEngine(t, m), other)
			var values []int16
			if err := s.Speak(t.Context(), "", "1 2 3 4. 5 6.", func(pcm []int16, _ int) error {
				if c.spoil {
					_ = os.Remove(filepath.Join(m.Dir(), "x")) // it may be gone
				}
				values = append(values, pcm...)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if got := slices.Compact(values); !slices.Equal(got, c.values) || !slices.Equal(other.said, c.other) {
				t.Errorf("it said %v and the fallback %q, want %v and %q", got, other.said, c.values, c.other)
			}
			if (len(*reported) > 0) != c.spoil {
				t.Errorf("reported %v", *reported)
			}
		})
	}
}
