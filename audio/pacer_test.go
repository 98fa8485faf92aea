package audio

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestPacerKeepsTime(t *testing.T) {
	for speed, want := range map[float64]time.Duration{0: 10 * time.Second, 1: 10 * time.Second, 4: 2500 * time.Millisecond, 0.5: 20 * time.Second, math.Inf(1): 0, math.NaN(): 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			p := NewPacer(speed)
			begin := time.Now()
			for i := range 1000 {
				if err := p.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				if i%10 == 0 && want > 0 {
					time.Sleep(want / 2000) // work of half a tick makes no drift
				}
			}
			if took := time.Since(begin); took != want {
				t.Errorf("1000 ticks at speed %v took %v, want %v", speed, took, want)
			}
		})
	}
}

func TestPacerCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPacer(1)
		begin := time.Now()
		for i := range 100 {
			if err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			if i == 9 {
				time.Sleep(500 * time.Millisecond)
			}
			if late := time.Since(begin) - time.Duration(i+1)*FrameTime; i > 60 && late != 0 {
				t.Fatalf("tick %d is off by %v", i, late)
			}
		}
	})
}

func TestPacerStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Millisecond)
		defer cancel()
		p := NewPacer(1)
		if err := p.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if err := p.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait gives %v", err)
		}
		if err := p.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait gives %v after the end", err)
		}
	})
}

func TestLevel(t *testing.T) {
	for _, c := range []struct {
		name      string
		pcm       []int16
		peak, rms float64
	}{
		{"nothing", nil, SilenceLevel, SilenceLevel},
		{"silence", make([]int16, 480), SilenceLevel, SilenceLevel},
		{"full scale sine", sine(SampleRate, 1000, 32767, 480), 0, -3.01},
		{"most negative", []int16{math.MinInt16, math.MinInt16}, 0, 0},
		{"one step", []int16{1, -1}, -90.3, -90.3},
	} {
		if l := LevelOf(c.pcm); math.Abs(l.Peak-c.peak) > 0.02 || math.Abs(l.RMS-c.rms) > 0.02 {
			t.Errorf("%s: %+v, want %.2f and %.2f", c.name, l, c.peak, c.rms)
		}
	}
}
