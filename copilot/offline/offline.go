// Package offline is the adapter that needs no network and no key: it says that
// it is offline, reflects what it heard, and answers some questions about this
// machine and the folder it works in. It is honest rather than clever: it finds
// its few topics by the words of the question and leaves all else to an
// assistant that is online.
//
// # Model
//
// Send picks an answer from the last message of the user and emits it word by
// word, as a model would, one each TokenInterval. The same request at the same
// time in the same folder has the same answer.
//
// # Invariants
//
//   - It reads names of files, the version line of go.mod and the branch in
//     .git/HEAD, and nothing else of the user's folder.
//   - It returns as soon as ctx is done.
package offline

import (
	"context"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// DefaultTokenInterval is about the pace of a fast hosted model.
const DefaultTokenInterval = 40 * time.Millisecond

// Options configure the adapter; each zero field takes its default.
type Options struct {
	// TokenInterval is the pause between two words; default
	// DefaultTokenInterval, negative for none.
	TokenInterval time.Duration
	// Dir is the folder that questions about the workspace mean; without it such
	// questions are answered by saying so.
	Dir string
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Sleep waits for d or until ctx is done, whose error it then returns;
	// default a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Adapter implements copilot.Adapter. It is safe for concurrent use.
type Adapter struct{ opts Options }

// New returns an adapter.
func New(o Options) *Adapter {
	switch {
	case o.TokenInterval == 0:
		o.TokenInterval = DefaultTokenInterval
	case o.TokenInterval < 0:
		o.TokenInterval = 0
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return &Adapter{o}
}

// Name returns "offline".
func (*Adapter) Name() string { return "offline" }

// Title implements copilot.Titled: the program answers by itself.
func (*Adapter) Title() string { return "Agent Voice" }

// Models implements copilot.Lister: there is one.
func (*Adapter) Models(context.Context) ([]copilot.Model, error) {
	return []copilot.Model{{ID: "offline", Name: "Offline"}}, nil
}

// Send implements copilot.Adapter. It never fails but by ctx.
func (a *Adapter) Send(ctx context.Context, r copilot.Request, emit func(text string)) error {
	answer := a.answer(ctx, r.Messages)
	for i, word := range strings.SplitAfter(answer, " ") {
		if i > 0 {
			if err := a.opts.Sleep(ctx, a.opts.TokenInterval); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		emit(word)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
