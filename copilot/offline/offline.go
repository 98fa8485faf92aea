// Package offline is an assistant that needs no network and no key. It answers questions
// about its folder (files, branch, last commit, changes, the declaration of a name) and
// runs the folder's tests. It finds topics by keywords, does not guess at anything else,
// and then repeats what it understood.
//
// # Model
//
// Send picks an answer to the user's last message and emits it word by word, one each
// TokenInterval, as a model would. The answer depends only on the request, the time and
// the folder. Its only tool runs the tests, which the user has to allow like any call.
//
// # Invariants
//
//   - It only reads the folder: file names, the version line of go.mod, git, and source
//     files to find the name that was asked for. The tests are the only program of the
//     folder that it runs.
//   - It returns as soon as ctx is done.
package offline

import (
	"context"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// DefaultTokenInterval is the pace of a fast hosted model.
const DefaultTokenInterval = 40 * time.Millisecond

// Options configure the adapter; each zero field takes its default.
type Options struct {
	// TokenInterval is the pause between words; default DefaultTokenInterval, negative
	// for none.
	TokenInterval time.Duration
	// Dir is the folder for questions about the workspace; "" if there is none, which the
	// answers then say.
	Dir string
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Sleep waits for d, or returns the error of ctx when ctx is done; default a timer.
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

// Title implements copilot.Titled.
func (*Adapter) Title() string { return "Agent Voice" }

// Models implements copilot.Lister: there is one model.
func (*Adapter) Models(context.Context) ([]copilot.Model, error) {
	return []copilot.Model{{ID: "offline", Name: "Offline"}}, nil
}

// Send implements copilot.Adapter. It fails only if ctx is done. Tests are a tool call,
// and the next round reports their result.
func (a *Adapter) Send(ctx context.Context, r copilot.Request, emit func(text string)) error {
	answer := a.answer(ctx, r)
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
