package models

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// Install downloads a model of the manifest, and resumes an earlier partial download.
// It does nothing if the model is installed and complete. The user must have accepted
// its licence.
func (s *Store) Install(ctx context.Context, name string) error {
	e, err := s.Manifest.Find(name)
	if err != nil {
		return err
	}
	unlock, err := s.change()
	if err != nil {
		return err
	}
	defer unlock()
	if s.has(ctx, e) {
		s.Report(Event{Event: Installed, Name: e.Name, Total: e.Size()})
		return nil
	}
	if e.Archive != nil {
		return s.installArchive(ctx, e)
	}
	if err := s.download(ctx, e, s.stage(e.Name)); err != nil {
		return err
	}
	if err := prune(s.stage(e.Name), e.Files); err != nil {
		return err
	}
	return s.finish(e.Name, e.description())
}

// installArchive downloads and unpacks the archive of a model. It keeps an archive that it
// cannot unpack for want of space.
func (s *Store) installArchive(ctx context.Context, e Entry) error {
	dir := s.archive(e)
	if err := s.download(ctx, e, dir); err != nil {
		return err
	}
	if _, err := s.importArchive(ctx, filepath.Join(dir, e.Archive.Path), e.Archive.Size, ImportOptions{entry: &e}); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return localError{err}
	}
	return nil
}

// archive returns the folder of a model's archive until it is unpacked.
func (s *Store) archive(e Entry) string { return s.stage(e.Name + ".archive") }

// has reports whether a model of the manifest is installed and complete.
func (s *Store) has(ctx context.Context, e Entry) bool {
	if _, err := engine.ReadModel(s.Folder(e.Name)); err != nil {
		return false
	}
	if e.Archive != nil {
		return s.compare(ctx, e.Name) == nil
	}
	for _, f := range e.Files {
		if sum, err := sumOf(filepath.Join(s.Folder(e.Name), filepath.FromSlash(f.Path))); err != nil || sum != f.SHA256 {
			return false
		}
	}
	return true
}

// download downloads the files of a model to dir.
func (s *Store) download(ctx context.Context, e Entry, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return localError{err}
	}
	missing := e.Size()
	for _, f := range e.downloads() {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		missing -= min(max(sizeOf(path), sizeOf(path+partSuffix)), f.Size)
	}
	if err := needSpace(dir, missing); err != nil {
		return err
	}
	var before int64
	d := s.downloader(e.Name, e.Size(), &before)
	for _, f := range e.downloads() {
		if err := d.fetch(ctx, f, s.mirrored(e.urls(f)), filepath.Join(dir, filepath.FromSlash(f.Path))); err != nil {
			return err
		}
		before += f.Size
	}
	return nil
}

// prune removes files of an earlier version of the model from its stage.
func prune(dir string, files []File) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || slices.ContainsFunc(files, func(f File) bool { return f.Path == filepath.ToSlash(name) }) {
			return err
		}
		return os.Remove(path)
	})
	if err != nil {
		return localError{err}
	}
	return nil
}

// downloader returns a downloader that reports progress. total is the size of the
// download, before the size of the files before the current one.
func (s *Store) downloader(name string, total int64, before *int64) *downloader {
	return &downloader{
		client: s.client, stall: s.stall, retry: s.retry,
		progress: func(path string, done int64) {
			s.Report(Event{Event: Progress, Name: name, File: path, Done: *before + done, Total: total})
		},
		note: func(text string) { s.Report(Event{Event: Note, Name: name, Message: text}) },
	}
}

// mirrored puts the user's mirrors before the URLs of the manifest.
func (s *Store) mirrored(urls []string) []string {
	var list []string
	for _, m := range s.Mirrors {
		for _, u := range urls[:min(len(urls), 1)] {
			if parsed, err := url.Parse(u); err == nil {
				list = append(list, m+parsed.EscapedPath())
			}
		}
	}
	return append(list, urls...)
}

// finish writes the description of a model whose files are in its stage, and moves it into place.
func (s *Store) finish(name string, m engine.Model) error {
	dir := s.stage(name)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := write(filepath.Join(dir, engine.DescriptionFile), append(text, '\n')); err != nil {
		return err
	}
	if _, err := engine.ReadModel(dir); err != nil {
		return fmt.Errorf("the installed files are not a valid model: %w", err)
	}
	sums, err := checksums(dir)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(dir, SumsFile), []byte(sums)); err != nil {
		return err
	}
	if err := s.replace(name); err != nil {
		return err
	}
	s.Report(Event{Event: Installed, Name: name})
	return nil
}

// write writes a small file and syncs it to disk.
func write(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return localError{err}
	}
	return copyInto(file, strings.NewReader(string(text)))
}

// checksums returns the checksums of all files below a folder, in the format of sha256sum.
func checksums(dir string) (string, error) {
	var list strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == SumsFile {
			return err
		}
		sum, err := sumOf(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		fmt.Fprintf(&list, "%s  %s\n", sum, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return "", localError{err}
	}
	return list.String(), nil
}
