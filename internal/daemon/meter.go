package daemon

import (
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// meterEvery is how often the time of an open session is recorded, and how much of it is reserved.
const meterEvery = 15 * time.Second

// Meter records the time of a session that is paid by the minute: at once what its creation costs, then
// what exceeds that, and reserves the time until it records again. Its methods are safe for concurrent use.
type Meter struct {
	d   *Daemon
	use usage.Use

	// Guarded by the mutex of the daemon's meters.
	known    time.Duration // session time, by the service's report
	since    time.Duration // when known applied
	recorded time.Duration
	stop     func() // stops the next recording; nil after Close
}

// meters are those of the open sessions: one, and during a renewal two.
type meters struct {
	mu   sync.Mutex
	open map[*Meter]bool
}

// opened records that a service has created a session, and returns its meter; nil if it is not paid by
// the minute.
func (d *Daemon) opened(u usage.Use) *Meter {
	u = Priced(d.settings(), u)
	price, _ := u.Rate()
	if price.SessionMinute == 0 {
		return nil
	}
	m := &Meter{d: d, use: u, since: d.cfg.Clock.Now()}
	d.meters.mu.Lock()
	defer d.meters.mu.Unlock()
	if d.meters.open == nil {
		d.meters.open = map[*Meter]bool{}
	}
	d.meters.open[m] = true
	m.record(time.Duration(price.StartSeconds) * time.Second)
	m.use.More = true
	m.wait()
	return m
}

// Reported corrects the time by the service's own count, which is what it charges.
func (m *Meter) Reported(total time.Duration) {
	m.d.meters.mu.Lock()
	defer m.d.meters.mu.Unlock()
	if m.stop != nil && total > 0 {
		m.known, m.since = total, m.d.cfg.Clock.Now()
	}
}

// Close records the rest of the time, and reserves no more. Later calls do nothing.
func (m *Meter) Close() {
	m.d.meters.mu.Lock()
	defer m.d.meters.mu.Unlock()
	if m.stop == nil {
		return
	}
	m.stop()
	m.stop = nil
	m.record(m.time())
	delete(m.d.meters.open, m)
	m.d.reserve()
}

// wait reserves the next part and records it when it is over. The caller holds the mutex.
func (m *Meter) wait() {
	m.stop = m.d.cfg.Clock.AfterFunc(meterEvery, func() {
		m.d.meters.mu.Lock()
		defer m.d.meters.mu.Unlock()
		if m.stop != nil {
			m.record(m.time())
			m.wait()
		}
	})
	m.d.reserve()
}

func (m *Meter) time() time.Duration { return m.known + m.d.cfg.Clock.Now() - m.since }

// record records the time so far, unless it is already paid.
func (m *Meter) record(total time.Duration) {
	if u := m.use; total > m.recorded || !u.More {
		u.Open = max(total-m.recorded, 0)
		m.recorded = total
		m.d.used(u)
	}
}

// reserve reserves the next part of all open sessions. The caller holds the mutex of the meters.
func (d *Daemon) reserve() {
	if d.cfg.Record == nil {
		return
	}
	var ahead usage.Nano
	for m := range d.meters.open {
		next := m.use
		next.Open = meterEvery
		cost, _ := next.Cost()
		ahead += cost
	}
	d.cfg.Record.Reserve(ahead, d.wall(d.cfg.Clock.Now()).Time)
}
