package localrealtime

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// counted is an engine that records whether it is open.
type counted struct{ open *atomic.Int32 }

func (c counted) Close() error { c.open.Add(-1); return nil }

// TestEnginesAreFreed checks that an engine is loaded for the first call, kept while
// there are calls, freed some time after the last one, and loaded again.
func TestEnginesAreFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, loads, freed atomic.Int32
		p := newPool(func() (counted, error) {
			time.Sleep(700 * time.Millisecond)
			loads.Add(1)
			open.Add(1)
			return counted{&open}, nil
		}, time.Minute, func() { freed.Add(1) })
		time.Sleep(time.Hour)
		if loads.Load() != 0 {
			t.Fatal("an engine was loaded before the first call")
		}
		for round := int32(1); round <= 3; round++ {
			p.use()
			p.use() // a call and its successor
			time.Sleep(time.Hour)
			p.release()
			time.Sleep(time.Hour)
			began := time.Now()
			e, err := p.take()
			if err != nil || time.Since(began) > 0 || open.Load() != 1 {
				t.Fatalf("round %d: %v, the engine came after %v, %d are loaded", round, err, time.Since(began), open.Load())
			}
			if err := p.put(e); err != nil {
				t.Fatal(err)
			}
			p.release()
			time.Sleep(time.Minute - time.Second)
			if loads.Load() != round || freed.Load() != round-1 {
				t.Fatalf("round %d: %d were loaded and %d freed before their time", round, loads.Load(), freed.Load())
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if open.Load() != 0 || freed.Load() != round {
				t.Fatalf("round %d: %d engines are in memory, and memory was returned %d times", round, open.Load(), freed.Load())
			}
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
}

// TestEngineIsFreedThatNoCallUsed covers an engine loaded for a call that never came.
func TestEngineIsFreedThatNoCallUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int32
		missing := errors.New("the model is missing")
		p := newPool(func() (counted, error) {
			if missing != nil {
				return counted{}, missing
			}
			open.Add(1)
			return counted{&open}, nil
		}, time.Minute, func() {})
		if err := p.ready(); !errors.Is(err, missing) {
			t.Fatalf("got %v", err)
		}
		missing = nil // it was installed
		if err := p.ready(); err != nil || open.Load() != 1 {
			t.Fatalf("got %v and %d engines", err, open.Load())
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if open.Load() != 0 {
			t.Error("the engine is still in memory")
		}
	})
}

// After a redial, or a renewal, one engine remains: the old call's if the new call has
// not taken one, else the new call's.
func TestRedialKeepsOneEngine(t *testing.T) {
	for _, overlap := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var open, loads, freed atomic.Int32
			p := newPool(func() (counted, error) {
				loads.Add(1)
				open.Add(1)
				return counted{&open}, nil
			}, time.Minute, func() { freed.Add(1) })
			take := func() counted {
				e, err := p.take()
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			p.use()
			first := take()
			p.use() // the caller redials
			var second counted
			if overlap {
				second = take()
			}
			if err := p.put(first); err != nil {
				t.Fatal(err)
			}
			p.release()
			if !overlap {
				second = take()
			}
			if want := map[bool]int32{true: 2, false: 1}[overlap]; open.Load() != 1 || loads.Load() != want || freed.Load() != want-1 {
				t.Errorf("overlap %v: %d engines are in memory, %d were loaded and %d times memory was returned", overlap, open.Load(), loads.Load(), freed.Load())
			}
			if err := p.discard(second); err != nil { // it fails, and the call gets another
				t.Error(err)
			}
			if err := p.put(take()); err != nil {
				t.Error(err)
			}
			p.release()
			time.Sleep(time.Minute - time.Second)
			if open.Load() != 1 {
				t.Errorf("overlap %v: after the last call, %d engines are in memory", overlap, open.Load())
			}
			if err := p.close(); err != nil || open.Load() != 0 {
				t.Errorf("closed with %v, %d engines are in memory", err, open.Load())
			}
		})
	}
}

// slow is an engine whose process takes two seconds to end.
type slow struct{ counted }

func (s slow) Close() error { time.Sleep(2 * time.Second); return s.counted.Close() }

// TestCloseWaitsForEnginesBeingFreed: a pool that is closed while its expiry frees an engine
// leaves no process behind.
func TestCloseWaitsForEnginesBeingFreed(t *testing.T) {
	for _, since := range []time.Duration{0, 500 * time.Millisecond, 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var open atomic.Int32
			p := newPool(func() (slow, error) {
				open.Add(1)
				return slow{counted{&open}}, nil
			}, time.Minute, func() {})
			p.use()
			e, err := p.take()
			if err == nil {
				err = p.put(e)
			}
			if err != nil {
				t.Fatal(err)
			}
			p.release()
			time.Sleep(time.Minute + since)
			synctest.Wait()
			if err := p.close(); err != nil {
				t.Error(err)
			}
			if open.Load() != 0 {
				t.Errorf("%v after the expiry: %d engines are left", since, open.Load())
			}
		})
	}
}
