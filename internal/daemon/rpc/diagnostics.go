package rpc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// report is what there is to know for a bug report: no words, secrets or paths.
func (s *server) report(c *call) {
	d := s.back.Daemon
	core, stats := d.State().Counters, s.asker.Stats()
	counters := s.seen.counters()
	for name, n := range map[string]uint64{
		"event.stale": core.Stale, "event.ignored": core.Ignored,
		"copilot.deltas": stats.Accepted, "copilot.repeated": stats.Repeated, "copilot.gaps": stats.Gaps,
		"copilot.strangers": stats.Strangers,
	} {
		counters[name] = int64(n)
	}
	d.WithSnapshot(func(now protocol.Snapshot) {
		c.reply(protocol.Report{
			ServerInfo: s.info(), ProtocolVersion: protocol.Version, Platform: runtime.GOOS + "/" + runtime.GOARCH,
			UptimeMs: s.cfg.Clock.Now().Milliseconds(), Provider: d.Settings().Provider, State: now.State,
			Session: now.Session.State, Connection: now.Connection, Queued: now.Queue.Count,
			Counters: counters, Latencies: s.seen.latencies(), LastErrors: s.seen.lastErrors(),
		})
	})
}

// journal writes what was recorded to a file.
func (s *server) journal(c *call, p protocol.JournalParams) {
	r := s.recorder
	switch {
	case r.w == nil:
		c.fail(protocol.CodeInvalidState, "agentvoice.privacy.journal is off")
		return
	case p.Content == protocol.JournalFull && !r.full():
		c.fail(protocol.CodeInvalidState, "agentvoice.privacy.journal was not full when the daemon started")
		return
	case p.Content == protocol.JournalRedacted && r.full():
		c.fail(protocol.CodeInvalidState, "the journal was recorded with its words; ask for full")
		return
	case s.cfg.JournalDir == "" || !s.back.Daemon.Settings().Privacy.Persist:
		c.fail(protocol.CodeInvalidState, "agentvoice.privacy.persist is off, or there is no folder for journals")
		return
	}
	write := func() {
		path, err := r.save(s.cfg.JournalDir)
		if err != nil {
			s.log.Warn().Err(err).Msg("the journal cannot be written")
			c.fail(protocol.CodeInternalError, "the journal cannot be written")
			return
		}
		c.reply(protocol.JournalResult{Path: path})
	}
	if s.back.Stage != nil {
		write()
		return
	}
	s.spawn(write)
}

// maxJournal is how much of the journal is kept in memory, in bytes: some hours.
// What comes later is not kept, so that what there is can be replayed.
const maxJournal = 16 << 20

// recorder keeps the journal of this process in memory.
type recorder struct {
	content journal.Content
	w       *journal.Writer // nil where nothing is recorded
	started time.Time

	mu   sync.Mutex
	kept []byte
	cut  bool // it was too long
}

func newRecorder(cfg Config, set protocol.Settings) (*recorder, error) {
	r := &recorder{content: journal.Redacted, started: cfg.Started}
	if set.Privacy.Journal == protocol.PrivacyJournalOff && cfg.Journal == nil {
		return r, nil
	}
	if set.Privacy.Journal == protocol.PrivacyJournalFull {
		r.content = journal.Full
	}
	var to io.Writer = r
	if cfg.Journal != nil {
		to = io.MultiWriter(r, cfg.Journal)
	}
	var err error
	r.w, err = journal.NewWriter(to, journal.Header{Build: cfg.Version, Content: r.content, Started: cfg.Started, Speed: 1})
	return r, err
}

func (r *recorder) full() bool { return r.w != nil && r.content == journal.Full }

// Write keeps what fits.
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = r.cut || len(r.kept)+len(p) > maxJournal
	if !r.cut {
		r.kept = append(r.kept, p...)
	}
	return len(p), nil
}

// save writes what was kept, up to its last whole line, to a new file that only
// the user can read.
func (r *recorder) save(dir string) (path string, err error) {
	r.mu.Lock()
	whole := r.kept
	r.mu.Unlock()
	for len(whole) > 0 && whole[len(whole)-1] != '\n' {
		whole = whole[:len(whole)-1]
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder for journals: %w", err)
	}
	path, err = filepath.Abs(filepath.Join(dir, "journal-"+time.Now().UTC().Format("20060102-150405.000000")+".jsonl"))
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, whole, 0o600)
}

func (r *recorder) close() error {
	if r.w == nil {
		return nil
	}
	if err := r.w.Close(); err != nil {
		return errors.Join(errors.New("the journal is not whole"), err)
	}
	return nil
}
