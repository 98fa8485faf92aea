package engine

import (
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestADeadlineCountsWhatTheChildCouldDo: a child that waits for the processor is not late, one
// that hangs or computes for ever is, and none is waited for without a bound.
func TestADeadlineCountsWhatTheChildCouldDo(t *testing.T) {
	const limit = 30 * time.Second
	for _, c := range []struct {
		name string
		work func(passed time.Duration) (time.Duration, bool)
		want time.Duration // when the child is late
	}{
		{"hangs", func(time.Duration) (time.Duration, bool) { return time.Minute, true }, limit},
		{"hangs, with Go's runtime", func(d time.Duration) (time.Duration, bool) { return d / 100, true }, limit},
		{"is not known", func(time.Duration) (time.Duration, bool) { return 0, false }, limit},
		{"computes for ever", func(d time.Duration) (time.Duration, bool) { return d, true }, limit},
		{"computes for ever with four threads", func(d time.Duration) (time.Duration, bool) { return 4 * d, true }, limit},
		// The first step counts whole: there is nothing to compare with.
		{"gets a half", func(d time.Duration) (time.Duration, bool) { return d / 2, true }, 2*limit - time.Second},
		{"gets a twentieth", func(d time.Duration) (time.Duration, bool) { return d / 20, true }, mostPatience * limit},
		{"starves, then hangs", func(d time.Duration) (time.Duration, bool) { return min(d, 40*time.Second) / 4, true }, 40*time.Second + limit - time.Second - 39*time.Second/4 + time.Second/4*3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, late := time.Now(), make(chan time.Duration, 1)
				d := newDeadline(limit, func() (time.Duration, bool) { return c.work(time.Since(began)) }, func() { late <- time.Since(began) })
				defer d.stop()
				if got := <-late; got.Round(time.Second) != c.want.Round(time.Second) {
					t.Errorf("late after %v, want %v", got, c.want)
				}
			})
		})
	}
}

// TestAStoppedDeadlineIsNotLate: whenever it is stopped.
func TestAStoppedDeadlineIsNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []time.Duration{0, time.Millisecond, time.Second, 2500 * time.Millisecond} {
			d := newDeadline(3*time.Second, func() (time.Duration, bool) { return 0, true }, func() { t.Errorf("late although stopped after %v", after) })
			time.Sleep(after)
			d.stop()
			time.Sleep(time.Hour)
		}
	})
}

// TestWorkGrows: the time that a process has computed is known where the system tells it.
func TestWorkGrows(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	before, known := workOf(self)
	if !known {
		return // a system that tells only C
	}
	for now := before; now == before; {
		if now, known = workOf(self); !known || now < before {
			t.Fatalf("%v after %v, known: %v", now, before, known)
		}
	}
	if _, known := workOf(&os.Process{Pid: 1 << 30}); known {
		t.Error("the work of a process that does not exist is known")
	}
}
