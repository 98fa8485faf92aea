//go:build cgo && !race

package moonshine

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// TestCloseFrees: the runtime is unloaded, calls fail, and many runs do not grow the process.
func TestCloseFrees(t *testing.T) {
	m := loadModel(t, 1)
	names := m.Names(Terms())
	r := readRecording(t, "undo")
	use := func(n int) int {
		for range n {
			s := encode(t, m, r.pcm)
			mustTranscribe(t, m, s, names)
			if _, err := m.Score(s, []string{"Yes.", "No."}); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		return resident(t)
	}
	before := use(10)
	if after := use(25); after > before+10<<20 {
		t.Errorf("25 utterances take %d MB", (after-before)>>20)
	}
	s := encode(t, m, r.pcm)
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if ort.IsInitialized() {
		t.Error("ONNX Runtime is still loaded")
	}
	_, encodeErr := m.Encode(r.pcm)
	_, transcribeErr := m.Transcribe(s, names)
	_, scoreErr := m.Score(s, []string{"Yes."})
	_, recognizeErr := m.Recognize(r.pcm, names)
	for _, err := range []error{encodeErr, transcribeErr, scoreErr, recognizeErr} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("a closed model: %v", err)
		}
	}
}

// resident returns the memory of the process, in bytes, or 0 where it is not known.
func resident(tb testing.TB) int {
	tb.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages := 0
	for _, c := range fields[1] {
		pages = 10*pages + int(c-'0')
	}
	return pages * os.Getpagesize()
}

// TestDamagedMoonshine: errors name the file and no folder, and nothing stays loaded.
func TestDamagedMoonshine(t *testing.T) {
	lib, err := assets.ONNXRuntime()
	if err != nil {
		t.Fatal(err)
	}
	good := modelFiles(t)
	files := []string{vocabularyFile, encoderFile, decoderFile}
	for i, bad := range files {
		for _, content := range []string{"missing", "truncated", "another model"} {
			dir := t.TempDir()
			for j, name := range files {
				source := filepath.Join(good, name)
				if j == i && content == "another model" {
					source = filepath.Join(good, files[(i+1)%3])
				}
				data, err := os.ReadFile(source)
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case j == i && content == "missing":
					continue
				case j == i && content == "truncated":
					data = data[:len(data)/2]
				}
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			m, err := Load(dir, lib, 1)
			if err == nil {
				err = m.Close()
				t.Errorf("%s: %s loads: %v", bad, content, err)
				continue
			}
			if strings.Contains(err.Error(), dir) || !strings.HasPrefix(err.Error(), "cannot load Moonshine: ") {
				t.Errorf("%s: %s: %v", bad, content, err)
			}
			if ort.IsInitialized() {
				t.Errorf("%s: %s: ONNX Runtime stays loaded", bad, content)
			}
		}
	}
}
