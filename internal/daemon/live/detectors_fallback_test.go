package live

import (
	"errors"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// rememberer is a detector with a state.
type rememberer struct {
	fakeDetector
	remembered, recalled int
}

func (r *rememberer) Remember(*vad.Memory) { r.remembered++ }
func (r *rememberer) Recall(*vad.Memory)   { r.recalled++ }

// TestReplacedDetectorsAreNotKept: the next conversation tries the first choice again, which
// the pool keeps as soon as it works.
func TestReplacedDetectorsAreNotKept(t *testing.T) {
	broken, reports, loads := true, 0, 0
	p := newTestDetectors(t, vad.WithFallback(func() (vad.Detector, error) {
		if broken {
			return nil, errors.New("the model is missing")
		}
		loads++
		return &fakeDetector{}, nil
	}, func() (vad.Detector, error) { return &fakeDetector{}, nil }, func(error) { reports++ }))
	for i, missing := range []bool{true, false, false} {
		broken = missing
		d, err := p.take()
		if err != nil {
			t.Fatal(err)
		}
		if vad.Replaced(d.(*lent).Detector) != missing {
			t.Errorf("conversation %d: replaced %v", i, !missing)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if reports != 1 || loads != 1 {
		t.Errorf("%d reports and %d loads, want one each", reports, loads)
	}
	if err := p.shut(); err != nil {
		t.Error(err)
	}
}

// TestPooledDetectorsCopyTheirState: the tracker sees the state of the detector in the pool.
// Without it, detectors that skipped windows started with an old state.
func TestPooledDetectorsCopyTheirState(t *testing.T) {
	r := &rememberer{}
	p := newTestDetectors(t, vad.WithFallback(func() (vad.Detector, error) { return r, nil }, nil, nil))
	d, err := p.take()
	if err != nil {
		t.Fatal(err)
	}
	vad.Remember(d, &vad.Memory{})
	if r.remembered != 1 {
		t.Errorf("remembered %d times, want 1", r.remembered)
	}
	if err := errors.Join(d.Close(), p.shut()); err != nil {
		t.Error(err)
	}
}
