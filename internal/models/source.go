package models

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// source is a folder that a model is imported from. Its author may be hostile: a link to a
// private file would make a copy of that file in the folder of models.
type source struct {
	folder *workspace.Folder
	blobs  *workspace.Folder // of a Hugging Face cache, whose snapshots are links to them; or nil
}

func openSource(dir string) (*source, error) {
	folder, err := workspace.Open(dir)
	if err != nil {
		return nil, err
	}
	s := &source{folder: folder}
	snapshots := filepath.Dir(folder.Path())
	if filepath.Base(snapshots) != "snapshots" {
		return s, nil
	}
	path := filepath.Join(filepath.Dir(snapshots), "blobs")
	if blobs, err := workspace.Open(path); err == nil {
		if blobs.Path() == path { // no link itself
			s.blobs = blobs
		} else {
			blobs.Close()
		}
	}
	return s, nil
}

func (s *source) close() {
	s.folder.Close()
	if s.blobs != nil {
		s.blobs.Close()
	}
}

// open opens a regular file of the folder. A link is followed inside the folder, and to the
// blobs of a cache.
func (s *source) open(name string) (*os.File, fs.FileInfo, error) {
	file, info, err := s.folder.Open(name)
	if s.blobs == nil || !errors.Is(err, workspace.ErrOutside) {
		return file, info, err
	}
	target, failed := filepath.EvalSymlinks(filepath.Join(s.folder.Path(), filepath.FromSlash(name)))
	if failed != nil {
		return nil, nil, err
	}
	blob, failed := filepath.Rel(s.blobs.Path(), target)
	if failed != nil {
		return nil, nil, err
	}
	return s.blobs.Open(filepath.ToSlash(blob))
}
