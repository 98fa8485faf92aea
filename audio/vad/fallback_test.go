package vad

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// scripted is a detector that fails with a given window, and records what it is given.
type scripted struct {
	fails  int // the window, from 1; 0 for none
	with   error
	heard  []int16 // the first sample of each window
	state  float32
	resets int
	closed bool
}

func (s *scripted) Process(w []int16) (float32, error) {
	s.heard = append(s.heard, w[0])
	if len(s.heard) != s.fails {
		return 0.5, nil
	}
	if s.with == nil {
		return float32(math.NaN()), nil
	}
	return 0, s.with
}
func (s *scripted) Reset()       { s.resets++ }
func (s *scripted) Close() error { s.closed = true; return nil }

// stateful is a scripted detector whose state can be copied.
type stateful struct{ scripted }

func (s *stateful) Remember(to *Memory)          { to.state[0], to.known = s.state, true }
func (s *stateful) Recall(from *Memory)          { s.state = from.state[0] }
func always(d Detector) func() (Detector, error) { return func() (Detector, error) { return d, nil } }
func never(err error) func() (Detector, error) {
	return func() (Detector, error) { return nil, err }
}

// numbered returns a window that starts with n.
func numbered(n int) []int16 {
	w := make([]int16, WindowSamples)
	w[0] = int16(n)
	return w
}

// TestADetectorThatCannotBeLoadedIsReplaced: the fallback is there from the start, and the
// failure is reported.
func TestADetectorThatCannotBeLoadedIsReplaced(t *testing.T) {
	missing := errors.New("no model")
	var reported []error
	second := &scripted{}
	d, err := WithFallback(never(missing), always(second), func(err error) { reported = append(reported, err) })()
	if err != nil {
		t.Fatal(err)
	}
	if p, err := d.Process(numbered(1)); p != 0.5 || err != nil {
		t.Errorf("%v, %v", p, err)
	}
	d.Reset()
	if !slices.Equal(reported, []error{missing}) || !Replaced(d) || second.resets != 1 {
		t.Errorf("reported %v, replaced %v", reported, Replaced(d))
	}
	if err := d.Close(); err != nil || !second.closed {
		t.Errorf("closed %v: %v", second.closed, err)
	}
	also := errors.New("no memory")
	if d, err := WithFallback(never(missing), never(also), nil)(); d != nil || !errors.Is(err, missing) || !errors.Is(err, also) {
		t.Errorf("without any: %v, %v", d, err)
	}
}

// TestADetectorThatFailsIsReplaced: the fallback hears the last two seconds and the window
// that failed. It keeps its own failures.
func TestADetectorThatFailsIsReplaced(t *testing.T) {
	for name, with := range map[string]error{"an error": errors.New("out of memory"), "no number": nil} {
		const failing = 100
		var reported []error
		first, second := &scripted{fails: failing, with: with}, &scripted{fails: recentWindows + 2, with: errors.New("broken")}
		d, err := WithFallback(always(first), always(second), func(err error) { reported = append(reported, err) })()
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= failing; n++ {
			if p, err := d.Process(numbered(n)); p != 0.5 || err != nil {
				t.Fatalf("%s: window %d: %v, %v", name, n, p, err)
			}
			if Replaced(d) != (n == failing) {
				t.Errorf("%s: window %d: replaced %v", name, n, Replaced(d))
			}
		}
		var want []int16
		for n := failing - recentWindows; n <= failing; n++ {
			want = append(want, int16(n))
		}
		if !slices.Equal(second.heard, want) || len(reported) != 1 || !first.closed {
			t.Errorf("%s: the fallback heard %v; reported %v", name, second.heard, reported)
		}
		if _, err := d.Process(numbered(1)); err == nil || len(reported) != 1 {
			t.Errorf("%s: the failure of the fallback is lost", name)
		}
	}
}

// TestAudioBeforeAResetIsForgotten: a fallback does not hear it, and it does not stay in memory.
func TestAudioBeforeAResetIsForgotten(t *testing.T) {
	second := &scripted{}
	d, err := WithFallback(always(&scripted{fails: 3, with: errors.New("broken")}), always(second), func(error) {})()
	if err != nil {
		t.Fatal(err)
	}
	_, first := d.Process(numbered(1))
	kept := d.(*replaceable).recent
	d.Reset()
	_, next := d.Process(numbered(2))
	_, last := d.Process(numbered(3))
	if err := errors.Join(first, next, last); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(second.heard, []int16{2, 3}) || slices.Max(kept[:WindowSamples]) != 0 {
		t.Errorf("the fallback heard %v", second.heard)
	}
}

// TestStatesAreCopiedBetweenDetectorsOfAKind: a detector without a state neither leaves an old
// one in a memory nor takes one over.
func TestStatesAreCopiedBetweenDetectorsOfAKind(t *testing.T) {
	with := func(first Detector) Detector {
		d, err := WithFallback(always(first), never(errors.New("none")), nil)()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	a, b := &stateful{scripted{state: 7}}, &stateful{}
	var m Memory
	Remember(with(a), &m)
	Recall(with(&scripted{}), &m)
	Recall(with(b), &m)
	if b.state != 7 {
		t.Errorf("the state is %v, want 7", b.state)
	}
	Remember(with(&scripted{}), &m)
	b.state = 8
	if Recall(with(b), &m); b.state != 8 {
		t.Errorf("the state of a detector without one was recalled: %v", b.state)
	}
}
