package moonshine

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// modelFiles returns the folder of the model.
func modelFiles(tb testing.TB) string {
	tb.Helper()
	dir, err := assets.Recogniser()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

var vocabularyOnce = sync.OnceValues(func() (*vocabulary, error) {
	dir, err := assets.Recogniser()
	if err != nil {
		return nil, err
	}
	return readVocabulary(filepath.Join(dir, "tokenizer.bin"))
})

// realVocabulary returns the model's vocabulary.
func realVocabulary(tb testing.TB) *vocabulary {
	tb.Helper()
	modelFiles(tb)
	v, err := vocabularyOnce()
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// recording is a WAV file with its words.
type recording struct {
	name, words string
	pcm         []int16
}

func (r recording) seconds() float64 { return float64(len(r.pcm)) / SampleRate }

// readRecordings returns the recordings in a folder, 16 kHz and mono.
func readRecordings(tb testing.TB, dir string) (out []recording) {
	tb.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.wav"))
	if len(files) == 0 {
		tb.Fatalf("no recordings in %s", filepath.Base(dir))
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		words, err := os.ReadFile(strings.TrimSuffix(f, ".wav") + ".txt")
		if err != nil {
			tb.Fatal(err)
		}
		_, data, ok := bytes.Cut(data, []byte("data"))
		if !ok || len(data) < 4 {
			tb.Fatalf("%s is not a WAV file", filepath.Base(f))
		}
		r := recording{strings.TrimSuffix(filepath.Base(f), ".wav"), strings.TrimSpace(string(words)), nil}
		for data = data[4:]; len(data) >= 2; data = data[2:] {
			r.pcm = append(r.pcm, int16(binary.LittleEndian.Uint16(data)))
		}
		out = append(out, r)
	}
	return out
}

func readRecording(tb testing.TB, name string) recording {
	tb.Helper()
	for _, r := range readRecordings(tb, "testdata") {
		if r.name == name {
			return r
		}
	}
	tb.Fatalf("no recording %s", name)
	return recording{}
}
