package models

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// ErrNoChecksums is returned by Verify for a model that was copied to its folder by hand.
var ErrNoChecksums = errors.New("no checksums; import the model with `agentvoice-daemon models import`")

// Verify compares each file of an installed model with its checksum, and calls load
// to test the model.
func (s *Store) Verify(ctx context.Context, name string, load func(engine.Model) error) error {
	if err := s.installed(name); err != nil {
		return err
	}
	m, err := engine.ReadModel(s.Folder(name))
	if err != nil {
		return err
	}
	if err := s.compare(ctx, name); err != nil {
		return err
	}
	return load(m)
}

func (s *Store) compare(ctx context.Context, name string) error {
	file, err := os.Open(filepath.Join(s.Folder(name), SumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoChecksums
	}
	if err != nil {
		return fmt.Errorf("cannot read %s of %s: %w; check its permissions", SumsFile, name, errors.Unwrap(err))
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if err := ctx.Err(); err != nil {
			return err
		}
		want, path, ok := strings.Cut(lines.Text(), "  ")
		if !ok || !filepath.IsLocal(filepath.FromSlash(path)) {
			return fmt.Errorf("%s of %s is damaged; install the model again", SumsFile, name)
		}
		switch sum, err := sumOf(filepath.Join(s.Folder(name), filepath.FromSlash(path))); {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s of %s is missing; install the model again", path, name)
		case err != nil:
			return fmt.Errorf("cannot read %s of %s: %w; check its permissions", path, name, errors.Unwrap(err))
		case sum != want:
			return fmt.Errorf("%s of %s is damaged; install the model again", path, name)
		}
	}
	if lines.Err() != nil { // such as a line without end
		return fmt.Errorf("%s of %s is damaged; install the model again", SumsFile, name)
	}
	return nil
}
