//go:build cgo && !race

package kokoro

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

func modelDir(t *testing.T) string {
	t.Helper()
	dir, err := assets.Voice()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// filesIn returns the parts of a model in a folder, as set-up names them.
func filesIn(dir string) Files {
	return Files{
		Model: filepath.Join(dir, "model.onnx"), Vocabulary: filepath.Join(dir, "vocab.json"),
		Speakers: filepath.Join(dir, "voices"), Pronunciations: filepath.Join(dir, "pronunciations"),
	}
}

func load(t *testing.T) *Model {
	t.Helper()
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(filesIn(modelDir(t)), runtime, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if m.tensors != 0 {
			t.Errorf("%d tensors are left", m.tensors)
		}
		if ort.IsInitialized() {
			t.Error("the runtime outlives the model")
		}
		if err := m.Speak(context.Background(), "", "Done.", 1, 0, func(Piece) error { return nil }); !errors.Is(err, ErrClosed) {
			t.Errorf("a closed model: %v", err)
		}
	})
	return m
}

// say returns the pieces of a text.
func say(t *testing.T, m *Model, voice, text string, speed float64) []Piece {
	t.Helper()
	var pieces []Piece
	if err := m.Speak(context.Background(), voice, text, speed, 0, func(p Piece) error {
		pieces = append(pieces, p)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return pieces
}

// loudest returns the largest absolute value.
func loudest(pcm []int16) int16 {
	most := int16(0)
	for _, v := range pcm {
		most = max(most, v, -v)
	}
	return most
}

// TestSpeak covers what needs the model, in one test because loading it takes a second.
func TestSpeak(t *testing.T) {
	m := load(t)
	t.Run("voices", func(t *testing.T) {
		voices := m.Voices()
		if len(voices) < 8 || voices[0] != DefaultVoice {
			t.Errorf("voices are %q", voices)
		}
		for _, v := range voices {
			if !strings.HasPrefix(v, "a") && !strings.HasPrefix(v, "b") {
				t.Errorf("%s is not English", v)
			}
		}
		err := m.Speak(context.Background(), "ff_siwis", "Done.", 1, 0, nil)
		if !errors.Is(err, ErrUnknownVoice) || !strings.Contains(err.Error(), "af_heart, ") {
			t.Errorf("an unknown voice: %v", err)
		}
	})
	t.Run("pieces", func(t *testing.T) {
		text := "The build passes, but two tests are red."
		m.pace.perSymbol.Store(int64(10 * time.Millisecond))
		m.now = func() time.Time { return time.Time{} } // however busy this machine is
		defer func() { m.now = time.Now }()
		pieces := say(t, m, "bf_emma", text, 1)
		if len(pieces) != 2 || text[pieces[0].Start:pieces[0].End] != "The build passes, " || pieces[1].End != len(text) || pieces[1].Start != pieces[0].End {
			t.Fatalf("%d pieces, the first one %d to %d", len(pieces), pieces[0].Start, pieces[0].End)
		}
		for i, p := range pieces {
			sound := p.PCM[:len(p.PCM)-p.Pause]
			if loudest(sound) < 2000 || loudest(sound[:SampleRate*60/1000]) < 100 {
				t.Errorf("piece %d begins with silence", i)
			}
			if loudest(sound[len(sound)-SampleRate*80/1000:]) < 100 {
				t.Errorf("piece %d ends with silence", i)
			}
			if loudest(p.PCM[len(sound):]) != 0 {
				t.Errorf("piece %d has sound in its pause", i)
			}
		}
		if want := pauseAfter(",", 1); pieces[0].Pause != want {
			t.Errorf("the pause of a comma has %d samples, want %d", pieces[0].Pause, want)
		}
	})
	t.Run("speed", func(t *testing.T) {
		slow, fast := say(t, m, "", "Two tests failed.", 0.8)[0].PCM, say(t, m, "", "Two tests failed.", 1.6)[0].PCM
		if ratio := float64(len(slow)) / float64(len(fast)); ratio < 1.6 || ratio > 2.4 {
			t.Errorf("half the speed makes it %.2f times as long", ratio)
		}
	})
	t.Run("nothing to speak", func(t *testing.T) {
		for _, text := range []string{"", "...", "🎉"} {
			if pieces := say(t, m, "", text, 1); len(pieces) > 0 {
				t.Errorf("%q has %d pieces", text, len(pieces))
			}
		}
	})
	t.Run("an error of emit", func(t *testing.T) {
		want := errors.New("stop")
		n := 0
		if err := m.Speak(context.Background(), "", "Done. It is committed now, and the tests pass again.", 1, 0, func(Piece) error { n++; return want }); err != want || n != 1 {
			t.Errorf("%v after %d pieces", err, n)
		}
	})
	t.Run("cancel", func(t *testing.T) { testCancel(t, m) })
}

// testCancel stops in the middle of a long piece, and speaks again afterwards.
func testCancel(t *testing.T, m *Model) {
	text := strings.Repeat("The parser splits the line at each comma and drops the empty fields of it ", 3)
	p := plan{text: text, tokens: m.dictionaries[variantOf("af_heart")].Tokens(text)}
	long, _ := p.next(longestPiece)
	ctx, cancel := context.WithCancel(context.Background())
	var cancelled time.Time
	time.AfterFunc(300*time.Millisecond, func() {
		cancelled = time.Now()
		cancel()
	})
	_, err := m.speech(ctx, "af_heart", text, long, 1)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	late := time.Since(cancelled)
	t.Logf("computing stopped %v after the cancellation", late)
	if late > 500*time.Millisecond {
		t.Errorf("computing stopped %v after the cancellation", late)
	}
	if m.tensors != 0 {
		t.Errorf("%d tensors are left", m.tensors)
	}
	if err := m.Speak(ctx, "", "Done.", 1, 0, func(Piece) error { t.Error("emitted"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	if len(say(t, m, "", "Done.", 1)) != 1 {
		t.Error("nothing is spoken after a cancellation")
	}
}

func TestLoadNamesFilesWithoutFolders(t *testing.T) {
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		t.Fatal(err)
	}
	source, dir := modelDir(t), t.TempDir()
	want := func(text string) {
		t.Helper()
		_, err := Load(filesIn(dir), runtime, 1)
		if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), dir) {
			t.Errorf("%v, want %q", err, text)
		}
	}
	put := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if content != "" {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
		_ = os.Remove(filepath.Join(dir, name))
		if err := os.Symlink(filepath.Join(source, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	want("vocab.json")
	put("vocab.json", "{}")
	want("vocab.json is not a vocabulary")
	put("vocab.json", "")
	want("no English voice")
	put("voices/af_heart.bin", "short")
	want("us_gold.json")
	put("pronunciations/us_gold.json", "")
	put("pronunciations/us_silver.json", `{"a": "b"}`)
	want("model.onnx")
	silero, err := assets.Silero()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(silero, filepath.Join(dir, "model.onnx")); err != nil {
		t.Fatal(err)
	}
	want("model.onnx is not a Kokoro model")
	if ort.IsInitialized() {
		t.Error("the runtime stays loaded after a failure")
	}
}
