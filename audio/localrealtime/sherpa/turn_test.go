package sherpa

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// reference returns 3 s of an integer signal: a triangle, a square and noise.
func reference() []int16 {
	pcm, r := make([]int16, 48000), 12345
	for i := range pcm {
		r = (r*1103515245 + 12345) % (1 << 31)
		triangle := (i*7)%1600 - 800
		if triangle < 0 {
			triangle = -triangle
		}
		square := -1500
		if (i*3/100)%2 != 0 {
			square = 1500
		}
		pcm[i] = int16((triangle-400)*8 + square*((i/4000)%3) + (r>>16)%512 - 256)
	}
	return pcm
}

// TestLogMel compares the features with those that another program computed from the
// definition, without an FFT, for frames before, at and after the onset and at both
// ends.
func TestLogMel(t *testing.T) {
	text, err := os.ReadFile("testdata/mel.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]float64
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	got := logMel(reference())
	if len(got) != melBins*melFrames || len(want) != 10 {
		t.Fatalf("%d features and %d frames to compare", len(got), len(want))
	}
	for frame, bins := range want {
		at, _ := strconv.Atoi(frame)
		for b, v := range bins {
			if g := float64(got[b*melFrames+at]); math.Abs(g-v) > 1e-5 {
				t.Errorf("frame %d bin %d is %.6f, want %.6f", at, b, g, v)
			}
		}
	}
	longer := append(slices.Repeat([]int16{9000, -9000}, turnSamples), slices.Concat(make([]int16, turnSamples-48000), reference())...)
	if !slices.Equal(logMel(longer), got) {
		t.Error("audio before the last 8 s changes the features")
	}
}

// TestLayoutOfTheRuntime compares ortSlots with the header of the pinned binding that
// the voice detector uses.
func TestLayoutOfTheRuntime(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yalue/onnxruntime_go").Output()
	if err != nil {
		t.Fatal(err)
	}
	header, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "onnxruntime_c_api.h"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(header), "struct OrtApi {")
	table = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`).ReplaceAllString(table, "")
	slots := map[string]int{}
	for i, m := range regexp.MustCompile(`ORT_API2_STATUS\(\s*(\w+)|ORT_CLASS_RELEASE\(\s*(\w+)\)|ORT_API_CALL\s*\*\s*(\w+)\)`).FindAllStringSubmatch(table, -1) {
		name := m[1] + m[3]
		if m[2] != "" {
			name = "Release" + m[2]
		}
		slots[name] = i
	}
	for name, slot := range ortSlots {
		if at, known := slots[name]; !known || at != slot || slot >= len(ortTable{}) {
			t.Errorf("%s has the place %d, and %d in the header (known: %v)", name, slot, at, known)
		}
	}
}

func tone(hz float64) []int16 {
	pcm := make([]int16, 16000)
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*hz*float64(i)/16000))
	}
	return pcm
}

func turnEngine(t testing.TB, m Model) *Engine {
	return NewEngine(EngineConfig{Command: self(t, "serve"), Libraries: Libraries{Runtime: libraries(t).Runtime}, Models: []Model{m}})
}

// TestTurnEnd checks that a real model in a real child judges by sound, and that a
// killed child is restarted.
func TestTurnEnd(t *testing.T) {
	e := turnEngine(t, model(t, tonemodel.TurnEnd))
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	listener := TurnEnds(e, func(err error) { t.Errorf("reported: %v", err) })()
	defer func() { _ = listener.Close() }()
	judge := func() {
		t.Helper()
		for hz, complete := range map[float64]bool{400: true, 3000: false} {
			if p, err := listener.Complete(nil, tone(hz)); err != nil || (p >= 0.5) != complete {
				t.Errorf("a tone of %v Hz is complete with %v (%v)", hz, p, err)
			}
		}
	}
	judge()
	c, err := e.running()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-c.dead
	judge()
}

// TestTurnEndFails checks that a failed judgement is an error, which is reported once.
func TestTurnEndFails(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"empty":       func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"no model":    func(path string) error { return os.WriteFile(path, []byte("Not Found"), 0o600) },
		"half a file": func(path string) error { return os.Truncate(path, 300) },
		"other model": func(path string) error {
			dir := t.TempDir()
			if err := tonemodel.CTC(dir); err != nil {
				return err
			}
			return os.Rename(filepath.Join(dir, "model.onnx"), path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := model(t, tonemodel.TurnEnd)
			if err := spoil(m.path("model")); err != nil {
				t.Fatal(err)
			}
			var reports []error
			listener := TurnEnds(turnEngine(t, m), func(err error) { reports = append(reports, err) })()
			for range 3 {
				if p, err := listener.Complete(nil, tone(400)); err == nil {
					t.Errorf("it answers %v", p)
				}
			}
			if err := listener.Close(); err != nil {
				t.Error(err)
			}
			if len(reports) != 1 || strings.Contains(reports[0].Error(), m.dir) || !strings.Contains(reports[0].Error(), "install") {
				t.Errorf("reported: %v", reports)
			}
		})
	}
}

// BenchmarkTurnEnd measures a judgement by the child with a nearly free model: the
// features, the pipe and the runtime.
func BenchmarkTurnEnd(b *testing.B) {
	listener := TurnEnds(turnEngine(b, model(b, tonemodel.TurnEnd)), func(err error) { b.Error(err) })()
	defer func() { _ = listener.Close() }()
	pcm := slices.Repeat(tone(400), 8)
	var took []time.Duration
	for b.Loop() {
		begun := time.Now()
		if _, err := listener.Complete(nil, pcm); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}
