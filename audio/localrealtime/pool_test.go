package localrealtime

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// counted is an engine that knows whether it is open.
type counted struct{ open *int }

func (c counted) Close() error { *c.open--; return nil }

// TestEnginesAreFreed: an engine is loaded for the first call, kept as long as there is
// one, freed a while after the last, and loaded again.
func TestEnginesAreFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, loads, freed := 0, 0, 0
		p := newPool(func() (counted, error) {
			time.Sleep(700 * time.Millisecond)
			loads++
			open++
			return counted{&open}, nil
		}, time.Minute, func() { freed++ })
		time.Sleep(time.Hour)
		if loads != 0 {
			t.Fatal("an engine was loaded before the first call")
		}
		for round := 1; round <= 3; round++ {
			p.use()
			p.use() // a call and its successor
			time.Sleep(time.Hour)
			p.release()
			time.Sleep(time.Hour)
			began := time.Now()
			e, err := p.take()
			if err != nil || time.Since(began) > 0 || open != 1 {
				t.Fatalf("round %d: %v, the engine came after %v, %d are loaded", round, err, time.Since(began), open)
			}
			if err := p.put(e); err != nil {
				t.Fatal(err)
			}
			p.release()
			time.Sleep(time.Minute - time.Second)
			if loads != round || freed != round-1 {
				t.Fatalf("round %d: %d were loaded and %d freed before their time", round, loads, freed)
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if open != 0 || freed != round {
				t.Fatalf("round %d: %d engines are in memory, and memory was returned %d times", round, open, freed)
			}
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
}

// TestEngineIsFreedThatNoCallUsed: it was loaded for a call that did not come.
func TestEngineIsFreedThatNoCallUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := 0
		missing := errors.New("the model is missing")
		p := newPool(func() (counted, error) {
			if missing != nil {
				return counted{}, missing
			}
			open++
			return counted{&open}, nil
		}, time.Minute, func() {})
		if err := p.ready(); !errors.Is(err, missing) {
			t.Fatalf("got %v", err)
		}
		missing = nil // it was installed
		if err := p.ready(); err != nil || open != 1 {
			t.Fatalf("got %v and %d engines", err, open)
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if open != 0 {
			t.Error("the engine is still in memory")
		}
	})
}
