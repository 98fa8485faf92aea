package csmtest

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Shorten leaves out of a log what is not needed for broken to hold of it, first
// in large pieces and at last event by event. The result is 1-minimal: without
// any one of its events broken does not hold. A log of which it does not hold is
// returned as it is.
func Shorten(log []csm.Envelope, broken func([]csm.Envelope) bool) []csm.Envelope {
	if !broken(log) {
		return log
	}
	for size := max(len(log)/2, 1); ; {
		shorter := false
		for i := 0; i < len(log); {
			if try := slices.Delete(slices.Clone(log), i, min(i+size, len(log))); broken(try) {
				log, shorter = try, true
				continue
			}
			i += size
		}
		switch {
		case size > 1:
			size /= 2
		case !shorter:
			return log
		}
	}
}

// Replay has the events of a log happen again in a world that answers nothing,
// and then the stale one, if there is one. The error is the first promise that is
// broken, the last being that something is still to come.
func Replay(log []csm.Envelope, stale csm.Event, step StepFunc) (*World, error) {
	w := NewWorld(func(string, int) int { return 0 })
	w.Step = step
	for _, env := range log {
		w.At = max(w.At, env.At)
		if err := w.Fire(env.Event); err != nil {
			return w, err
		}
	}
	if stale != nil {
		return w, w.Inject(stale)
	}
	return w, w.progress()
}

// progress says how nothing can come any more though the conversation is not at
// rest: only what the core asked of itself and deadlines are still to be counted
// on, in a world that answers nothing.
func (w *World) progress() error {
	if w.Env.Posts.N > 0 {
		return nil
	}
	_, _, err := w.settle()
	return err
}
