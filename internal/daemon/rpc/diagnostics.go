package rpc

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
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
	floor := d.Interruptions()
	d.WithSnapshot(func(now protocol.Snapshot) {
		c.reply(protocol.Report{
			ServerInfo: s.info(), ProtocolVersion: protocol.Version, Platform: runtime.GOOS + "/" + runtime.GOARCH,
			UptimeMs: s.cfg.Clock.Now().Milliseconds(), Provider: d.Settings().Provider, State: now.State,
			Session: now.Session.State, Connection: now.Connection, Queued: now.Queue.Count,
			Counters: counters, Latencies: s.seen.latencies(), LastErrors: s.seen.lastErrors(),
			Interruptions: floor,
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
// What is older leaves, and what is left begins with a snapshot.
const maxJournal = 16 << 20

// recorder keeps the journal of this process in memory, and on disk where that is
// wanted.
type recorder struct {
	content journal.Content
	w       *journal.Writer // nil where nothing is recorded
	ring    *journal.Ring
	disk    journal.Output // nil where nothing is kept on disk
	log     zerolog.Logger
}

func newRecorder(cfg Config, set protocol.Settings) (*recorder, error) {
	r := &recorder{content: journal.Redacted, log: cfg.Log}
	if set.Privacy.Persist {
		r.disk = cfg.Journal
	}
	if set.Privacy.Journal == protocol.PrivacyJournalOff && r.disk == nil {
		return r, nil
	}
	if set.Privacy.Journal == protocol.PrivacyJournalFull {
		r.content = journal.Full
	}
	r.ring = journal.NewRing(maxJournal)
	outs := []journal.Output{r.ring}
	if r.disk != nil {
		outs = append(outs, r.disk)
	}
	var err error
	r.w, err = journal.New(daemon.JournalHeader(cfg.Version, r.content, cfg.Started, 1, set), outs...)
	return r, err
}

func (r *recorder) full() bool { return r.w != nil && r.content == journal.Full }

// configured takes the journal off the disk when conversations are no longer to be
// kept there.
func (r *recorder) configured(set protocol.Settings) {
	if r.disk != nil && !set.Privacy.Persist {
		r.w.Forget(r.disk)
		r.disk = nil
	}
}

// save writes what was kept to a new file that only the user can read.
func (r *recorder) save(dir string) (path string, err error) {
	r.w.Flush()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder for journals: %w", err)
	}
	path, err = filepath.Abs(filepath.Join(dir, "journal-"+time.Now().UTC().Format("20060102-150405.000000")+".jsonl"))
	if err != nil {
		return "", err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", fmt.Errorf("create the journal: %w", err)
	}
	to := bufio.NewWriter(file)
	return path, errors.Join(r.ring.Save(to), to.Flush(), file.Close())
}

func (r *recorder) close() error {
	if r.w == nil {
		return nil
	}
	err := r.w.Close()
	if n := r.w.Refused(); n > 0 {
		r.log.Warn().Int("strings", n).Msg("events held text where a code belongs; the journal says internalError there")
	}
	if err != nil {
		return errors.Join(errors.New("the journal is not whole"), err)
	}
	return nil
}
