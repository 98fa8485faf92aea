package models

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/internal/filelock"
)

// Names of a Store's own files and folders.
const (
	lockFile    = ".lock"
	stagePrefix = ".install-"
	oldPrefix   = ".old-"
	// SumsFile has the checksums of an installed model, in the format of sha256sum.
	SumsFile = "SHA256SUMS"
)

// Event is a progress report for the user interface.
type Event struct {
	Event string `json:"event"` // one of the kinds below
	Name  string `json:"name"`  // name of the model, or EngineName
	File  string `json:"file,omitempty"`
	// Done and Total are bytes of the whole model.
	Done    int64  `json:"done,omitempty"`
	Total   int64  `json:"total,omitempty"`
	Message string `json:"message,omitempty"`
}

// The kinds of events.
const (
	Progress  = "progress"
	Note      = "note"      // for example a mirror that does not respond
	Installed = "installed" // also if it was installed before
)

// Options configures the location and the downloads of a Store.
type Options struct {
	Dir    string // folder of the models
	Assets string // folder of the engine's library
	// Manifest defaults to DefaultManifest if nil.
	Manifest *Manifest
	// Mirrors are base URLs to try first, with the paths of the manifest's URLs.
	Mirrors []string
	Report  func(Event) // may be nil
}

// Store is a folder of models. Methods that change it hold its lock.
type Store struct {
	Options
	client       *http.Client
	stall, retry time.Duration
}

// Open returns a Store. It writes nothing until something is installed.
func Open(o Options) (*Store, error) {
	if o.Manifest == nil {
		m, err := DefaultManifest()
		if err != nil {
			return nil, err
		}
		o.Manifest = m
	}
	for i, m := range o.Mirrors {
		if err := checkURLs([]string{m}); err != nil {
			return nil, fmt.Errorf("--mirror: %w; use a URL such as https://mirror.example", err)
		}
		o.Mirrors[i] = strings.TrimSuffix(m, "/")
	}
	if o.Report == nil {
		o.Report = func(Event) {}
	}
	// The proxy is that of the environment (HTTPS_PROXY, NO_PROXY).
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableCompression: true,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 30 * time.Second, ResponseHeaderTimeout: 30 * time.Second, IdleConnTimeout: time.Minute,
	}
	return &Store{Options: o, client: &http.Client{Transport: transport}, stall: time.Minute, retry: 500 * time.Millisecond}, nil
}

// errBusy is returned while another process holds the lock.
var errBusy = errors.New("another command is changing the models; wait for it, or stop it")

// lock locks a folder against changes by other processes, and creates it if missing.
func lock(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, localError{err}
	}
	file, ok, err := filelock.Acquire(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, localError{err}
	}
	if !ok {
		_ = file.Close()
		return nil, errBusy
	}
	return func() { _ = filelock.Remove(file) }, nil
}

// change locks the folder of models, and restores a model that a killed process left
// between two renames.
func (s *Store) change() (unlock func(), err error) {
	unlock, err = lock(s.Dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		unlock()
		return nil, localError{err}
	}
	for _, e := range entries {
		name, old := strings.CutPrefix(e.Name(), oldPrefix)
		if !old {
			continue
		}
		_, err := os.Stat(s.Folder(name))
		if errors.Is(err, fs.ErrNotExist) {
			err = os.Rename(s.old(name), s.Folder(name))
		} else {
			err = os.RemoveAll(s.old(name))
		}
		if err != nil {
			unlock()
			return nil, localError{err}
		}
	}
	return unlock, nil
}

// Folder returns the folder of an installed model.
func (s *Store) Folder(name string) string { return filepath.Join(s.Dir, name) }

func (s *Store) stage(name string) string { return filepath.Join(s.Dir, stagePrefix+name) }
func (s *Store) old(name string) string   { return filepath.Join(s.Dir, oldPrefix+name) }

// replace moves a complete model into place. The old one stays until then, and is
// restored if the move fails.
func (s *Store) replace(name string) error {
	_, err := os.Stat(s.Folder(name))
	replaces := err == nil
	if replaces {
		if err := os.Rename(s.Folder(name), s.old(name)); err != nil {
			return inUse(name, err)
		}
	}
	if err := os.Rename(s.stage(name), s.Folder(name)); err != nil {
		if replaces {
			err = errors.Join(err, os.Rename(s.old(name), s.Folder(name)))
		}
		return inUse(name, err)
	}
	if err := os.RemoveAll(s.old(name)); err != nil {
		s.Report(Event{Event: Note, Name: name, Message: "cannot remove the old files; the next command tries again"})
	}
	return nil
}

// inUse wraps a failure to move or remove a model. On Windows a loaded model cannot
// be moved.
func inUse(name string, err error) error {
	var link *os.LinkError
	if errors.As(err, &link) {
		err = link.Err
	}
	return fmt.Errorf("cannot replace the model %s: %w; end conversations that use it, then run the command again", name, err)
}

// needSpace returns an error unless a folder has room for the given number of bytes.
func needSpace(dir string, bytes int64) error {
	const reserve = 50 << 20 // for other programs
	free, err := freeSpace(dir)
	if err != nil {
		return localError{err}
	}
	if need := uint64(max(bytes, 0)) + reserve; bytes > 0 && free < need {
		return fmt.Errorf("need %s of disk space, but only %s are free; free some space and run the command again to resume",
			FormatSize(int64(min(need, 1<<62))), FormatSize(int64(min(free, 1<<62))))
	}
	return nil
}

// FormatSize formats a number of bytes for display.
func FormatSize(bytes int64) string {
	switch {
	case bytes >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
	case bytes >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.0f kB", float64(bytes)/1e3)
}

// List returns the names of installed models, in alphabetical order.
func (s *Store) List() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder of models: %w; check its permissions", errors.Unwrap(err))
	}
	var list []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(s.Folder(e.Name()), engine.DescriptionFile)); err == nil && names.MatchString(e.Name()) {
			list = append(list, e.Name())
		}
	}
	return list, nil
}

// installed checks that a model is installed, and returns its name.
func (s *Store) installed(name string) error {
	list, err := s.List()
	if err == nil && !slices.Contains(list, name) {
		err = fmt.Errorf("model %q is not installed; `agentvoice-daemon models list` lists installed models", name)
	}
	return err
}

// Remove removes an installed or partly downloaded model.
func (s *Store) Remove(name string) error {
	if !names.MatchString(name) {
		return s.installed(name)
	}
	unlock, err := s.change()
	if err != nil {
		return err
	}
	defer unlock()
	for _, partly := range []string{s.stage(name), s.archive(Entry{Name: name})} {
		if _, err := os.Stat(partly); err != nil {
			continue
		}
		if err := os.RemoveAll(partly); err != nil {
			return inUse(name, err)
		}
		if s.installed(name) != nil {
			return nil
		}
	}
	if err := s.installed(name); err != nil {
		return err
	}
	// The rename removes the model atomically.
	if err := os.Rename(s.Folder(name), s.stage(name)); err != nil {
		return inUse(name, err)
	}
	if err := os.RemoveAll(s.stage(name)); err != nil {
		return inUse(name, err)
	}
	return nil
}
