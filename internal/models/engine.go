package models

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// EngineName is the name of the engine's library in commands and events.
const EngineName = "engine"

// EngineInstalled returns nil if the libraries that the models need are installed, or
// an error that says what is missing or damaged.
func (s *Store) EngineInstalled() error {
	p, err := s.Manifest.Engine.Package()
	if err != nil {
		return err
	}
	for _, find := range []func() (string, error){assets.SherpaRuntime, assets.Sherpa} {
		file, err := find()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(p.Files, func(f File) bool { return path.Base(f.Path) == filepath.Base(file) })
		if sum, err := sumOf(file); err != nil || i < 0 || sum != p.Files[i].SHA256 {
			return fmt.Errorf("the library %s is damaged or has another version; run `agentvoice-daemon models install engine`", filepath.Base(file))
		}
	}
	return nil
}

// InstallEngine downloads the sherpa-onnx library for this machine, unless it is
// installed. The user must have accepted its licence.
func (s *Store) InstallEngine(ctx context.Context) error {
	p, err := s.Manifest.Engine.Package()
	if err != nil {
		return err
	}
	unlock, err := lock(s.Assets)
	if err != nil {
		return err
	}
	defer unlock()
	if s.EngineInstalled() == nil {
		s.Report(Event{Event: Installed, Name: EngineName, Total: p.Size})
		return nil
	}
	stage := filepath.Join(s.Assets, stagePrefix+EngineName)
	if err := os.MkdirAll(stage, 0o755); err != nil {
		return localError{err}
	}
	archive := filepath.Join(stage, p.fileName())
	need := p.Size - min(max(sizeOf(archive), sizeOf(archive+partSuffix)), p.Size)
	for _, f := range p.Files {
		need += f.Size
	}
	if err := needSpace(stage, need); err != nil {
		return err
	}
	if len(p.URLs) == 0 {
		err = s.pip(ctx, p, archive)
	} else {
		d := s.downloader(EngineName, p.Size, new(int64))
		err = d.fetch(ctx, File{Path: path.Base(p.URLs[0]), Size: p.Size, SHA256: p.SHA256}, s.mirrored(p.URLs), archive)
	}
	if err != nil {
		return err
	}
	return s.placeEngine(ctx, p, archive, stage)
}

// fileName returns the name of the package's file until its libraries are unpacked.
func (p Package) fileName() string {
	if len(p.URLs) == 0 {
		return EngineName + wheel
	}
	return EngineName + ".tgz"
}

// placeEngine extracts the libraries from the package and removes the package.
func (s *Store) placeEngine(ctx context.Context, p Package, archive, stage string) error {
	dir := filepath.Join(stage, "unpacked")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return localError{err}
	}
	_, err := unpack(ctx, archive, dir, func(name string) bool {
		return slices.ContainsFunc(p.Files, func(f File) bool { return f.Path == name })
	})
	if err != nil {
		return err
	}
	for _, f := range p.Files {
		unpacked := filepath.Join(dir, filepath.FromSlash(f.Path))
		if sum, err := sumOf(unpacked); err != nil || sum != f.SHA256 {
			return fmt.Errorf("%s in the engine's package does not match its pinned checksum and was discarded; correct the manifest", path.Base(f.Path))
		}
		if err := os.Rename(unpacked, filepath.Join(s.Assets, path.Base(f.Path))); err != nil {
			return inUse(EngineName, err)
		}
	}
	if err := os.RemoveAll(stage); err != nil {
		return localError{err}
	}
	s.Report(Event{Event: Installed, Name: EngineName, Total: p.Size})
	return nil
}

// importEngine installs the engine from an archive, if that is its package.
func (s *Store) importEngine(ctx context.Context, archive string) (bool, error) {
	p, err := s.Manifest.Engine.Package()
	if err != nil || sizeOf(archive) != p.Size {
		return false, nil //nolint:nilerr // without an engine for this machine, no archive is its package
	}
	if sum, err := sumOf(archive); err != nil || sum != p.SHA256 {
		return false, nil //nolint:nilerr // the caller reports why
	}
	unlock, err := lock(s.Assets)
	if err != nil {
		return true, err
	}
	defer unlock()
	return true, s.placeEngine(ctx, p, archive, filepath.Join(s.Assets, stagePrefix+EngineName))
}
