// Package record writes the published session data of a daemon into the registry.
//
// # Model
//
// Writes wait for the disk and for other daemons, but the conversation must not, so
// every method queues its work on one goroutine. If the disk is unusable, the user is
// told once, and the record continues in memory. With agentvoice.privacy.persist off,
// it is in memory from the start; switching it off in a running daemon moves what this
// daemon wrote from disk to memory.
package record

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session"
	"github.com/agentvoice/agentvoice-daemon/session/registry"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// Limit is how many sessions are listed.
const Limit = 200

// Recorder is a daemon's record. It implements daemon.Recorder.
type Recorder struct {
	path   string // "" for memory only
	daemon string
	log    zerolog.Logger
	warn   func(protocol.ErrorCode, string)
	stop   func()
	begun  time.Time
	spent  atomic.Bool // a budget is used up

	// Used by the queue's goroutine only.
	q       *daemon.Queue
	store   *registry.Registry // nil before Open, and if even memory is unavailable
	onDisk  bool
	persist bool
	live    live
	budget  protocol.BudgetSettings
	told    map[string]bool // budget warnings already given, by period
}

// live is the most recently recorded session.
type live struct {
	wire     string // id on the wire
	id       string // id in the record
	provider string
	state    session.State
	costs    bool // it may cost something
	stopped  bool // its budget is spent
	reserved usage.Nano
}

// New returns the record of one daemon. path is the file, which need not exist; ""
// keeps the record in memory.
func New(path string, log zerolog.Logger) *Recorder {
	return &Recorder{path: path, daemon: registry.NewID(), log: log, begun: time.Now(), told: map[string]bool{}}
}

// ID returns the daemon's id in the record: its sessions are ID-1, ID-2 and so on.
func (r *Recorder) ID() string { return r.daemon }

// Open implements daemon.Recorder.
func (r *Recorder) Open(s protocol.Settings, warn func(protocol.ErrorCode, string), stop func()) {
	r.warn, r.stop, r.persist, r.budget = warn, stop, s.Privacy.Persist, s.Budget
	r.q = daemon.NewQueue(func() { r.log.Warn().Msg("the record of sessions does not keep up; it will have gaps") })
	r.q.Do(func() {
		if r.persist && r.path != "" {
			r.openDisk()
		}
		if r.store == nil {
			r.openMemory()
		}
	})
}

// openDisk opens the file, and tells the user if that fails.
func (r *Recorder) openDisk() {
	disk, err := r.open(r.path)
	if err != nil {
		r.unavailable(err)
		return
	}
	r.store, r.onDisk = disk, true
	if file := disk.Damaged(); file != "" {
		r.log.Warn().Msg("the record of sessions was damaged and set aside")
		r.warn(protocol.CodeRecordDamaged, filepath.Base(file))
	}
	for _, s := range disk.Stale() {
		r.log.Info().Str("was", s.State.String()).Msg("a session of a daemon that crashed was reset")
	}
}

func (r *Recorder) openMemory() {
	memory, err := r.open("")
	if err != nil {
		r.log.Error().Err(err).Msg("sessions cannot be recorded in memory")
		return
	}
	r.store, r.onDisk = memory, false
}

func (r *Recorder) open(path string) (*registry.Registry, error) {
	return registry.Open(context.Background(), registry.Options{Path: path, Daemon: r.daemon})
}

// unavailable tells the user that the disk is unusable.
func (r *Recorder) unavailable(err error) {
	r.log.Warn().Err(reason(err)).Msg("sessions cannot be recorded on disk")
	r.warn(protocol.CodeRecordUnavailable, reason(err).Error())
}

// reason removes the path from an error.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Configure implements daemon.Recorder.
func (r *Recorder) Configure(s protocol.Settings) {
	r.q.Do(func() {
		r.budget = s.Budget
		if s.Privacy.Persist == r.persist || r.path == "" {
			return
		}
		r.persist = s.Privacy.Persist
		before := r.store
		if r.persist {
			if r.openDisk(); r.store != before {
				r.move(before, false)
			}
		} else if r.onDisk {
			r.openMemory()
			r.move(before, true)
		}
	})
}

// move continues in the store what was recorded in from, and closes from.
func (r *Recorder) move(from *registry.Registry, forget bool) {
	if from == nil || from == r.store {
		return
	}
	err := r.store.Copy(context.Background(), from)
	if err != nil {
		err = errors.Join(err, r.again())
	}
	if r.live.reserved > 0 {
		err = errors.Join(err, r.store.Reserve(context.Background(), r.live.id, r.live.reserved))
	}
	if forget { // also what could not be copied
		err = errors.Join(err, from.Forget(context.Background()))
	}
	if err = errors.Join(err, from.Close()); err != nil {
		r.log.Warn().Err(reason(err)).Msg("the record of sessions was not moved as a whole")
	}
}

// again starts the live session in a store that does not contain it.
func (r *Recorder) again() (err error) {
	before := r.live
	if before.id == "" {
		return nil
	}
	if r.live.id, err = r.store.Begin(context.Background(), before.provider, time.Now()); err != nil {
		return err
	}
	r.live.state = session.Inactive
	return r.walk(context.Background(), before.state, time.Now())
}

// Session implements daemon.Recorder.
func (r *Recorder) Session(p protocol.SessionParams, costs bool, at time.Time) {
	r.q.Do(func() {
		defer r.checkBudget(at)
		err := r.record(p, costs, at)
		var guard *registry.GuardError
		switch {
		case err == nil:
		case errors.As(err, &guard): // the core keeps the guard map, so this is its fault
			r.log.Error().Err(err).Msg("a session was not recorded")
		case r.onDisk:
			r.fallBack(err)
			if err := r.record(p, costs, at); err != nil {
				r.log.Warn().Err(err).Msg("a session was not recorded")
			}
		default:
			r.log.Warn().Err(err).Msg("a session was not recorded")
		}
	})
}

// fallBack continues in memory after a disk failure.
func (r *Recorder) fallBack(err error) {
	r.unavailable(err)
	from := r.store
	r.openMemory()
	r.move(from, false)
}

// record writes the state of a session along the transitions of the guard map. A
// session that was never recorded, or whose record was lost, is started first.
func (r *Recorder) record(p protocol.SessionParams, costs bool, at time.Time) error {
	ctx := context.Background()
	to, err := session.Parse(string(p.State))
	if err != nil || r.store == nil {
		return err
	}
	if p.ID != r.live.wire && p.ID != "" {
		if err := r.walk(ctx, session.Inactive, at); err != nil {
			return err
		}
		id, err := r.store.Begin(ctx, string(p.Provider), at)
		if err != nil {
			return err
		}
		r.live = live{wire: p.ID, id: id, provider: string(p.Provider), costs: costs}
	}
	return r.walk(ctx, to, at)
}

func (r *Recorder) walk(ctx context.Context, to session.State, at time.Time) error {
	for _, next := range session.Path(r.live.state, to) {
		if err := r.store.Move(ctx, r.live.id, next, at); err != nil {
			return err
		}
		r.live.state = next
	}
	return nil
}

// Sessions lists the newest sessions of all daemons, or of this daemon only if nothing
// is kept on disk. It waits for pending writes.
func (r *Recorder) Sessions(ctx context.Context) (result protocol.SessionsResult, err error) {
	done := make(chan struct{})
	r.q.Do(func() {
		defer close(done)
		if r.store == nil {
			return
		}
		var list []registry.Session
		list, err = r.store.Sessions(ctx, Limit)
		result = Summaries(list)
	})
	select {
	case <-done:
		return result, err
	case <-ctx.Done():
		return protocol.SessionsResult{}, ctx.Err()
	}
}

// Summaries converts sessions to their wire form.
func Summaries(list []registry.Session) (result protocol.SessionsResult) {
	for _, s := range list {
		wire := protocol.SessionSummary{
			ID: s.ID, Provider: protocol.Provider(s.Provider), State: protocol.SessionState(s.State.String()),
			StartedAt: protocol.At(s.Started), Turns: s.Turns,
		}
		if !s.Ended.IsZero() {
			wire.EndedAt = protocol.At(s.Ended)
		}
		if s.Crashed {
			wire.CrashedIn = protocol.SessionState(s.Was.String())
		}
		result.Sessions = append(result.Sessions, wire)
	}
	return result
}

// Close implements daemon.Recorder.
func (r *Recorder) Close() (err error) {
	r.q.Close(func() {
		if r.store != nil {
			err = r.store.Close()
		}
	})
	return err
}
