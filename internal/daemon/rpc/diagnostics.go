package rpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// report returns the data for a bug report, without words, secrets or paths.
func (s *server) report(c *call) {
	d := s.back.Daemon
	core, stats := d.State().Counters, s.asker.Stats()
	counters := s.seen.counters()
	for name, n := range map[string]uint64{
		"event.stale": core.Stale, "event.ignored": core.Ignored, "session.rejected": core.Rejected,
		"copilot.deltas": stats.Accepted, "copilot.repeated": stats.Repeated, "copilot.gaps": stats.Gaps,
		"copilot.strangers": stats.Strangers,
	} {
		counters[name] = int64(n)
	}
	if s.back.Counters != nil {
		maps.Copy(counters, s.back.Counters())
	}
	floor := d.Interruptions()
	d.WithSnapshot(func(now protocol.Snapshot) {
		c.reply(protocol.Report{
			ServerInfo: s.info(), ProtocolVersion: protocol.Version, Platform: runtime.GOOS + "/" + runtime.GOARCH,
			UptimeMs: s.cfg.Clock.Now().Milliseconds(), Provider: d.Settings().Hears(), State: now.State,
			Session: now.Session.State, Connection: now.Connection, Queued: now.Queue.Count,
			Counters: counters, Latencies: s.seen.latencies(), LastErrors: s.seen.lastErrors(),
			Interruptions: floor,
		})
	})
}

// journal writes the recorded journal to a file.
func (s *server) journal(c *call, p protocol.JournalParams) {
	r := s.recorder
	content := r.recorded()
	switch {
	case content == journal.Off:
		c.fail(protocol.CodeInvalidState, "agentvoice.privacy.journal is off")
		return
	case p.Content == protocol.JournalFull && content != journal.Full:
		c.fail(protocol.CodeInvalidState, "agentvoice.privacy.journal is not full")
		return
	case p.Content == protocol.JournalRedacted && content == journal.Full:
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

// maxJournal limits the journal in memory, in bytes, to some hours. Older entries are
// dropped, and the rest begins with a snapshot.
const maxJournal = 16 << 20

// recorder keeps the journal of this process in memory and, if requested, on disk.
type recorder struct {
	w    *journal.Writer
	ring *journal.Ring

	mu      sync.Mutex
	content journal.Content
	disk    journal.Output // nil if nothing is kept on disk
}

func newRecorder(cfg Config, set protocol.Settings) (*recorder, error) {
	r := &recorder{ring: journal.NewRing(maxJournal)}
	outs := []journal.Output{r.ring}
	if set.Privacy.Persist && cfg.Journal != nil {
		r.disk = cfg.Journal
		outs = append(outs, r.disk)
	}
	r.content = r.wanted(set)
	head := r.content
	if head == journal.Off {
		head = journal.Redacted // in case it is switched on later
	}
	var err error
	if r.w, err = journal.New(journal.Header{Build: cfg.Version, Content: head, Started: cfg.Started, Speed: 1}, outs...); err != nil {
		return nil, err
	}
	r.w.SetContent(r.content)
	return r, nil
}

// wanted returns the journal content that the settings ask for. If the settings say off
// but the command line asks for a journal on disk, it is recorded without words.
func (r *recorder) wanted(set protocol.Settings) journal.Content {
	switch {
	case set.Privacy.Journal == protocol.PrivacyJournalFull:
		return journal.Full
	case set.Privacy.Journal == protocol.PrivacyJournalOff && r.disk == nil:
		return journal.Off
	}
	return journal.Redacted
}

func (r *recorder) recorded() journal.Content {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.content
}

func (r *recorder) full() bool { return r.recorded() == journal.Full }

// configured applies the settings at once, also to what was already recorded. A journal
// on disk is deleted if it contains words that must no longer be kept, or if nothing is
// to be kept.
func (r *recorder) configured(set protocol.Settings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	noWords := r.content == journal.Full && set.Privacy.Journal != protocol.PrivacyJournalFull
	if r.disk != nil && (noWords || !set.Privacy.Persist) {
		r.w.Forget(r.disk)
		r.disk = nil
	}
	if now := r.wanted(set); now != r.content {
		r.content = now
		r.w.SetContent(now)
	}
}

// save writes the kept journal to a new file that only the user can read.
func (r *recorder) save(dir string) (path string, err error) {
	r.w.Flush(context.Background())
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
	if err := r.w.Close(); err != nil {
		return errors.Join(errors.New("the journal is not whole"), err)
	}
	return nil
}
