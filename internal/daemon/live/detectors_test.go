package live

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// fakeDetector counts its calls.
type fakeDetector struct {
	fails  bool
	resets int
	closed bool
}

func (d *fakeDetector) Reset()       { d.resets++ }
func (d *fakeDetector) Close() error { d.closed = true; return nil }
func (d *fakeDetector) Process([]int16) (float32, error) {
	if d.fails {
		return 0, errors.New("broken")
	}
	return 0.5, nil
}

func newTestDetectors(t *testing.T, load func() (vad.Detector, error)) *detectors {
	return newDetectors(load, time.Minute, func() { t.Error("detectors were freed before their time") })
}

// TestDetectorsAreFreed: detectors are closed some time after the last one was
// returned, and loaded again for the next conversation.
func TestDetectorsAreFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made []*fakeDetector
		var freed atomic.Int32
		p := newDetectors(func() (vad.Detector, error) {
			made = append(made, &fakeDetector{})
			return made[len(made)-1], nil
		}, time.Minute, func() { freed.Add(1) })
		for round := range int32(3) {
			p.preload()
			a, errA := p.take()
			b, errB := p.take()
			if err := errors.Join(errA, errB); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour) // a long conversation
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if freed.Load() != round {
				t.Fatalf("round %d: freed while one is lent", round)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute - time.Second)
			synctest.Wait()
			if int32(len(made)) != (round+1)*spareDetectors || freed.Load() != round {
				t.Fatalf("round %d: %d were loaded, and detectors were freed %d times before their time", round, len(made), freed.Load())
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			for _, d := range made {
				if !d.closed {
					t.Fatalf("round %d: a detector that nobody uses is still in memory", round)
				}
			}
			if freed.Load() != round+1 {
				t.Fatalf("round %d: memory was returned %d times", round, freed.Load())
			}
		}
		if err := p.shut(); err != nil {
			t.Error(err)
		}
	})
}

// TestDetectorsAreKept: detectors are reused by the next conversation with fresh state;
// a broken one is not.
func TestDetectorsAreKept(t *testing.T) {
	var loaded atomic.Int32
	made := make(chan *fakeDetector, 100)
	p := newTestDetectors(t, func() (vad.Detector, error) {
		loaded.Add(1)
		d := &fakeDetector{}
		made <- d
		return d, nil
	})
	p.preload()
	p.preload()
	var taken []vad.Detector
	for range spareDetectors {
		d, err := p.take()
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, d)
	}
	if n := loaded.Load(); n != spareDetectors {
		t.Fatalf("%d were loaded for the first conversation, want %d", n, spareDetectors)
	}
	broken := taken[1].(*lent).Detector.(*fakeDetector)
	broken.fails = true
	if _, err := taken[1].Process(nil); err == nil {
		t.Error("a failure of a detector is lost")
	}
	for _, d := range taken {
		if err := errors.Join(d.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
	if !broken.closed {
		t.Error("a broken detector was not freed")
	}
	again := map[vad.Detector]bool{}
	for range spareDetectors {
		d, err := p.take()
		if err != nil {
			t.Fatal(err)
		}
		again[d.(*lent).Detector] = true
	}
	if n := loaded.Load(); n != spareDetectors+1 || len(again) != spareDetectors || again[broken] {
		t.Errorf("%d were loaded in all, %d are in use, a broken one among them: %v", n, len(again), again[broken])
	}
	if err := p.shut(); err != nil {
		t.Error(err)
	}
	for d := range again { // that were in use at the end
		_ = (&lent{Detector: d, from: p}).Close()
	}
	for range spareDetectors + 1 {
		if d := <-made; !d.closed {
			t.Error("a detector was not freed")
		}
	}
}

// TestDetectorsThatCannotBeLoaded: take fails, also during background loading, and may
// be retried.
func TestDetectorsThatCannotBeLoaded(t *testing.T) {
	missing, there := errors.New("the model is missing"), atomic.Bool{}
	p := newTestDetectors(t, func() (vad.Detector, error) {
		if there.Load() {
			return &fakeDetector{}, nil
		}
		return nil, missing
	})
	p.preload()
	if _, err := p.take(); !errors.Is(err, missing) {
		t.Errorf("got %v", err)
	}
	there.Store(true)
	d, err := p.take()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Close(), p.shut()); err != nil {
		t.Error(err)
	}
}

// TestDetectorsShutWhileLoading: nothing is leaked.
func TestDetectorsShutWhileLoading(t *testing.T) {
	begun, release := make(chan struct{}, spareDetectors), make(chan struct{})
	d := &fakeDetector{}
	p := newTestDetectors(t, func() (vad.Detector, error) {
		begun <- struct{}{}
		<-release
		return d, nil
	})
	p.preload()
	<-begun
	waits := make(chan error)
	go func() {
		_, err := p.take()
		waits <- err
	}()
	if err := p.shut(); err != nil { // while one is being loaded
		t.Error(err)
	}
	if err := <-waits; !errors.Is(err, errClosed) {
		t.Errorf("who waits for a detector gets %v", err)
	}
	close(release)
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.loading > 0 {
		p.changed.Wait()
	}
	if !d.closed {
		t.Error("the detector that was being loaded is not closed")
	}
}
