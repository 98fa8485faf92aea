package live

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// fakeDetector counts what is done to it.
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

// TestDetectorsAreKept between conversations, without what they remember; a broken
// one is not.
func TestDetectorsAreKept(t *testing.T) {
	var loaded atomic.Int32
	made := make(chan *fakeDetector, 100)
	p := newDetectors(func() (vad.Detector, error) {
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
	for d := range again { // that were out at the end
		_ = (&lent{Detector: d, from: p}).Close()
	}
	for range spareDetectors + 1 {
		if d := <-made; !d.closed {
			t.Error("a detector was not freed")
		}
	}
}

// TestDetectorsThatCannotBeLoaded: whoever takes one is told, also while the
// background tries, and may try again.
func TestDetectorsThatCannotBeLoaded(t *testing.T) {
	missing, there := errors.New("the model is missing"), atomic.Bool{}
	p := newDetectors(func() (vad.Detector, error) {
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

// TestDetectorsShutWhileLoading leaves nothing behind.
func TestDetectorsShutWhileLoading(t *testing.T) {
	begun, release := make(chan struct{}, spareDetectors), make(chan struct{})
	d := &fakeDetector{}
	p := newDetectors(func() (vad.Detector, error) {
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
	if err := p.shut(); err != nil { // though one is being loaded
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
