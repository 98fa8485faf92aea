package record

import (
	"context"
	"fmt"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session"
	"github.com/agentvoice/agentvoice-daemon/session/registry"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// nearly is the fraction of a budget above which the user is warned.
const nearly = 0.8

// Used implements daemon.Recorder.
func (r *Recorder) Used(u usage.Use, at time.Time) {
	r.q.Do(func() {
		if r.store == nil || r.live.id == "" {
			return
		}
		if cost, known := u.Cost(); cost > 0 || !known {
			r.live.costs = true
		}
		if err := r.store.Use(context.Background(), r.live.id, u, at); err != nil {
			r.log.Warn().Err(err).Msg("the usage of a service was not recorded")
			if r.onDisk {
				r.fallBack(err)
				err = r.store.Use(context.Background(), r.live.id, u, at)
			}
			if err != nil {
				return
			}
		}
		r.checkBudget(at)
	})
}

// Reserve implements daemon.Recorder.
func (r *Recorder) Reserve(cost usage.Nano, at time.Time) {
	r.q.Do(func() {
		if r.store == nil || r.live.id == "" {
			return
		}
		r.live.reserved = cost
		if err := r.store.Reserve(context.Background(), r.live.id, cost); err != nil {
			r.log.Warn().Err(err).Msg("the cost of a session was not reserved")
			return
		}
		r.checkBudget(at)
	})
}

// checkBudget warns the user about a budget that is nearly used up, and ends a paid
// conversation once one is exceeded. The expected cost of the current turn and of the
// next seconds of a session already counts. Conversations without a known cost only update Spent.
func (r *Recorder) checkBudget(at time.Time) {
	if r.store == nil {
		return
	}
	tells := r.live.costs && !r.live.stopped && r.live.state != session.Inactive && r.live.state != session.Deactivating
	over := false
	at = at.Local()
	for _, b := range []struct {
		period string
		limit  float64
		since  time.Time
	}{
		{at.Format("2006-01-02"), r.budget.Day, time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.Local)},
		{at.Format("2006-01"), r.budget.Month, month(at)},
	} {
		if b.limit <= 0 {
			continue
		}
		spent, err := r.store.Spent(context.Background(), b.since)
		if err != nil {
			r.log.Warn().Err(err).Msg("the budget cannot be checked")
			return
		}
		figures := fmt.Sprintf("%s: %.2f / %.2f USD", b.period, spent.Dollars(), b.limit)
		switch {
		case spent.Dollars() >= b.limit:
			over = true
			if tells {
				tells, r.live.stopped = false, true
				r.warn(protocol.CodeBudgetSpent, figures)
				r.stop()
			}
		case tells && spent.Dollars() >= nearly*b.limit && !r.told[b.period]:
			r.told[b.period] = true
			r.warn(protocol.CodeBudgetNearlySpent, figures)
		}
	}
	r.spent.Store(over)
}

// Spent implements daemon.Recorder.
func (r *Recorder) Spent() bool { return r.spent.Load() }

// month returns the start of the month of at.
func month(at time.Time) time.Time {
	return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.Local)
}

// Month returns the start of the current month.
func Month() time.Time { return month(time.Now()) }

// Usage returns the total of this month for all daemons, or for this process if nothing
// is kept on disk. It waits for pending writes.
func (r *Recorder) Usage(ctx context.Context) (result protocol.UsageResult, err error) {
	done := make(chan struct{})
	r.q.Do(func() {
		defer close(done)
		if r.store == nil {
			return
		}
		since := Month()
		if !r.onDisk {
			since = r.begun
		}
		var total registry.Total
		total, err = r.store.Used(ctx, since)
		result = Summary(total, since)
	})
	select {
	case <-done:
		return result, err
	case <-ctx.Done():
		return protocol.UsageResult{}, ctx.Err()
	}
}

// Summary converts usage to its wire form.
func Summary(t registry.Total, since time.Time) protocol.UsageResult {
	r := protocol.UsageResult{Since: protocol.At(since), Sessions: t.Sessions, Turns: t.Turns}
	var priced, unpriced int64
	var cost usage.Nano
	for _, u := range t.Models {
		m := protocol.ModelUsage{
			Provider: protocol.Provider(u.Provider), Model: u.Model, Requests: u.Requests, Unpriced: u.Unpriced,
			AudioInMs: u.AudioIn.Milliseconds(), AudioOutMs: u.AudioOut.Milliseconds(),
			InputTokens: u.Input(), OutputTokens: u.Output(), Characters: u.Characters, Cost: amount(u.Cost, u.Priced),
		}
		r.Models = append(r.Models, m)
		r.AudioInMs += m.AudioInMs
		r.AudioOutMs += m.AudioOutMs
		r.InputTokens += m.InputTokens
		r.OutputTokens += m.OutputTokens
		priced, unpriced, cost = priced+u.Priced, unpriced+u.Unpriced, cost+u.Cost
	}
	r.Unpriced, r.Cost = unpriced, amount(cost, priced)
	return r
}

// amount returns the cost of records, or nil if none of them has a price.
func amount(cost usage.Nano, priced int64) *protocol.Cost {
	if priced == 0 {
		return nil
	}
	return &protocol.Cost{Amount: cost.Dollars(), Currency: "USD"}
}
