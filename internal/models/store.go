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

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/sherpa"
	"github.com/agentvoice/agentvoice-daemon/internal/filelock"
)

// What a Store calls its own files and folders.
const (
	lockFile    = ".lock"
	stagePrefix = ".install-"
	oldPrefix   = ".old-"
	// SumsFile has the checksums of an installed model, as sha256sum writes and reads
	// them.
	SumsFile = "SHA256SUMS"
)

// Event is a report for the user interface.
type Event struct {
	Event string `json:"event"` // one of the kinds below
	Name  string `json:"name"`  // of the model, or EngineName
	File  string `json:"file,omitempty"`
	// Done and Total are bytes of the whole model.
	Done    int64  `json:"done,omitempty"`
	Total   int64  `json:"total,omitempty"`
	Message string `json:"message,omitempty"`
}

// The kinds of events.
const (
	Progress  = "progress"
	Note      = "note"      // such as a mirror that does not answer
	Installed = "installed" // also when it was before
)

// Options say where a Store is and how it downloads.
type Options struct {
	Dir    string // of the models
	Assets string // of the engine's library
	// Manifest is the default one where it is nil.
	Manifest *Manifest
	// Mirrors are base URLs that are tried first, with the paths of the manifest's.
	Mirrors []string
	Report  func(Event) // may be nil
}

// Store is a folder of models. Its methods that change something hold its lock.
type Store struct {
	Options
	client       *http.Client
	stall, retry time.Duration
}

// Open makes a Store. Nothing is written before something is installed.
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
			return nil, fmt.Errorf("--mirror: %w; give a URL such as https://mirror.example", err)
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

// errBusy is the error of a second process.
var errBusy = errors.New("another command is changing the models; wait until it has ended, or stop it")

// lock keeps other processes from changing a folder, which is made if need be.
func lock(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, localError{err}
	}
	file, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, localError{err}
	}
	ok, err := filelock.Try(file)
	if err == nil && !ok {
		err = errBusy
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}

// change locks the folder of models and puts back what an earlier process that was
// killed has left between two renames.
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

// Folder is where an installed model is.
func (s *Store) Folder(name string) string { return filepath.Join(s.Dir, name) }

func (s *Store) stage(name string) string { return filepath.Join(s.Dir, stagePrefix+name) }
func (s *Store) old(name string) string   { return filepath.Join(s.Dir, oldPrefix+name) }

// replace puts a complete model in its place. The old one stays until then, and comes
// back if the new one cannot be put there.
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
		s.Report(Event{Event: Note, Name: name, Message: "the old files could not be removed; the next command tries again"})
	}
	return nil
}

// inUse is the failure to move or remove a model. On Windows, a model that is loaded
// cannot be moved.
func inUse(name string, err error) error {
	var link *os.LinkError
	if errors.As(err, &link) {
		err = link.Err
	}
	return fmt.Errorf("cannot replace the model %s: %w; end conversations that use it, and run the command again", name, err)
}

// needSpace fails unless a folder has room for so many bytes.
func needSpace(dir string, bytes int64) error {
	const reserve = 50 << 20 // for everybody else
	free, err := freeSpace(dir)
	if err != nil {
		return localError{err}
	}
	if need := uint64(max(bytes, 0)) + reserve; bytes > 0 && free < need {
		return fmt.Errorf("%s are needed on the disk and %s are free; free some space and run the command again, it continues where it was",
			FormatSize(int64(min(need, 1<<62))), FormatSize(int64(min(free, 1<<62))))
	}
	return nil
}

// FormatSize is a number of bytes for people.
func FormatSize(bytes int64) string {
	switch {
	case bytes >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
	case bytes >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.0f kB", float64(bytes)/1e3)
}

// List names the folders of installed models, in alphabetical order.
func (s *Store) List() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, localError{err}
	}
	var list []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(s.Folder(e.Name()), sherpa.DescriptionFile)); err == nil && names.MatchString(e.Name()) {
			list = append(list, e.Name())
		}
	}
	return list, nil
}

// installed is the name of an installed model, or an error.
func (s *Store) installed(name string) error {
	list, err := s.List()
	if err == nil && !slices.Contains(list, name) {
		err = fmt.Errorf("no model %q is installed; `agentvoice-daemon models list` names those that are", name)
	}
	return err
}

// Remove removes an installed model, or what is downloaded of one.
func (s *Store) Remove(name string) error {
	if !names.MatchString(name) {
		return s.installed(name)
	}
	unlock, err := s.change()
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(s.stage(name)); err == nil {
		if err := os.RemoveAll(s.stage(name)); err != nil {
			return inUse(name, err)
		}
		if s.installed(name) != nil {
			return nil
		}
	}
	if err := s.installed(name); err != nil {
		return err
	}
	// In one step it is no model any more, whatever happens then.
	if err := os.Rename(s.Folder(name), s.stage(name)); err != nil {
		return inUse(name, err)
	}
	if err := os.RemoveAll(s.stage(name)); err != nil {
		return inUse(name, err)
	}
	return nil
}
