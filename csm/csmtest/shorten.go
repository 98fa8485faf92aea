package csmtest

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Shorten removes events from a log while broken still holds, first in large pieces, then
// event by event. The result is 1-minimal: broken does not hold without any one of its
// events. A log for which broken does not hold is returned unchanged.
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

// Replay replays the events of a log in a world that answers nothing, then the stale
// event, if any. It returns the first violation, including a conversation that gets
// stuck.
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

// progress returns an error if the conversation is not at rest and cannot advance: in a
// world that answers nothing, only the core's own events and deadlines remain.
func (w *World) progress() error {
	if w.Env.Posts.N > 0 {
		return nil
	}
	_, _, err := w.settle()
	return err
}
