package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// errStalled ends an attempt whose answer has stopped for too long.
var errStalled = &copilot.Error{Code: string(csm.CodeCopilotStalled), Message: "the assistant stopped before the end of its answer"}

// restFactor is how many times the stall time an answer may stop before it is given up.
const restFactor = 4

// tellTicks is the number of ticks in a stall time: the core must get a sign within it.
const tellTicks = 2

// stallWatch keeps the request of an answer that has stopped alive, because the rest often
// still comes: the core would cancel it after the stall time. It tells the user what is
// awaited, and ends the attempt after restFactor stall times. It starts with the first
// sign of an answer; before that, the core's response deadline applies.
type stallWatch struct {
	a       *assistant
	request uint64
	round   int
	every   time.Duration
	giveUp  context.CancelCauseFunc

	mu     sync.Mutex
	ticks  int    // since the last sign
	stop   func() // the timer; nil if none runs
	closed bool
}

// watchStall returns the watch of an attempt, and the context that it ends.
func (a *assistant) watchStall(ctx context.Context, e csm.SendCopilot) (context.Context, *stallWatch) {
	sending, giveUp := context.WithCancelCause(ctx)
	w := &stallWatch{a: a, request: e.Request, round: e.Round, every: a.stall() / time.Duration(tellTicks), giveUp: giveUp}
	if e.Round > 0 { // the core has no other deadline for it
		w.alive()
	}
	return sending, w
}

// alive handles a sign of the assistant.
func (w *stallWatch) alive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ticks >= tellTicks {
		w.a.resumed()
	}
	w.ticks = 0
	w.wait()
}

// wait restarts the timer. The caller holds mu.
func (w *stallWatch) wait() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
	if !w.closed {
		w.stop = w.a.clock.AfterFunc(w.every, w.tick)
	}
}

func (w *stallWatch) tick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	if w.ticks++; w.ticks >= restFactor*tellTicks {
		w.giveUp(errStalled)
		return
	}
	w.a.post(csm.CopilotDelta{Request: w.request, Round: w.round, Chars: w.a.content.extend(w.request, "")})
	if w.ticks == tellTicks {
		w.a.doing(copilot.Activity{ID: restID, Kind: copilot.Awaiting})
	}
	w.wait()
}

// close ends the watch with its attempt.
func (w *stallWatch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.wait()
	w.giveUp(nil)
	if w.ticks >= tellTicks {
		w.a.resumed()
	}
}

// restID is the id of the activity that awaits the rest of an answer.
const restID = "rest"
