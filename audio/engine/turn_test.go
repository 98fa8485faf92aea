package engine_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/turns/sound"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

func tone(hz float64) []int16 {
	pcm := make([]int16, 16000)
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*hz*float64(i)/16000))
	}
	return pcm
}

// TestTurnEnd checks that a real model in a real child judges by sound, and that a
// killed child is restarted.
func TestTurnEnd(t *testing.T) {
	e := newEngine(t, model(t, tonemodel.TurnEnd))
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	listener := sound.Engine(e, func(err error) { t.Errorf("reported: %v", err) })()
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
	dead, _ := e.Dead()
	if err := e.Child().Kill(); err != nil {
		t.Fatal(err)
	}
	<-dead
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
			if err := spoil(m.Path("model")); err != nil {
				t.Fatal(err)
			}
			var reports []error
			listener := sound.Engine(newEngine(t, m), func(err error) { reports = append(reports, err) })()
			for range 3 {
				if p, err := listener.Complete(nil, tone(400)); err == nil {
					t.Errorf("it answers %v", p)
				}
			}
			if err := listener.Close(); err != nil {
				t.Error(err)
			}
			if len(reports) != 1 || strings.Contains(reports[0].Error(), m.Dir()) || !strings.Contains(reports[0].Error(), "install") {
				t.Errorf("reported: %v", reports)
			}
		})
	}
}

// BenchmarkTurnEnd measures a judgement by the child with a nearly free model: the
// features, the pipe and the runtime.
func BenchmarkTurnEnd(b *testing.B) {
	listener := sound.Engine(newEngine(b, model(b, tonemodel.TurnEnd)), func(err error) { b.Error(err) })()
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
