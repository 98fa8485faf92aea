package models

import (
	"archive/tar"
	"archive/zip"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// Limits for archives and folders. The largest models that sherpa-onnx can load are
// below them.
const (
	maxBytes = 8 << 30
	maxFiles = 10_000
)

// wheel is the suffix of a package of pip, a zip archive.
const wheel = ".whl"

// isZip reports whether an archive is a zip archive, by its name.
func isZip(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == wheel || ext == ".zip"
}

// isArchive reports whether unpack supports an archive, by its name.
func isArchive(name string) bool { return isZip(name) || decompressor(name) != nil }

// decompressor returns nil for a name that is not a tar archive's.
func decompressor(name string) func(io.Reader) (io.Reader, error) {
	switch name = strings.ToLower(name); {
	case strings.HasSuffix(name, ".tar.bz2"), strings.HasSuffix(name, ".tbz2"):
		return func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		return func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case strings.HasSuffix(name, ".tar"):
		return func(r io.Reader) (io.Reader, error) { return r, nil }
	}
	return nil
}

// archiveError wraps an error about an archive.
func archiveError(name string, err error) error {
	var local localError
	if errors.As(err, &local) || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("cannot unpack %s: %w; download it again", filepath.Base(name), err)
}

// unpack writes the files of an archive that want accepts to dir, which must exist,
// and returns their total size. It writes nothing outside of dir: only files and
// folders are accepted, and os.Root checks the paths.
func unpack(ctx context.Context, archive, dir string, want func(name string) bool) (int64, error) {
	file, _, err := workspace.OpenFile(archive)
	if err != nil {
		return 0, archiveError(archive, err)
	}
	defer file.Close()
	var all iter.Seq2[entry, error]
	if isZip(archive) {
		all, err = zipped(file)
	} else {
		var plain io.Reader
		if plain, err = decompressor(archive)(file); err == nil {
			all = packed(tar.NewReader(plain))
		}
	}
	if err != nil {
		return 0, archiveError(archive, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, localError{err}
	}
	defer func() { _ = root.Close() }()
	total, err := extract(ctx, all, root, want)
	if err != nil {
		return total, archiveError(archive, err)
	}
	return total, nil
}

// entry is a file, a folder or another entry of an archive.
type entry struct {
	name string
	mode fs.FileMode
	size int64
	open func() (io.Reader, error)
}

// packed returns the entries of a tar archive.
func packed(archive *tar.Reader) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		for {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			e := entry{open: func() (io.Reader, error) { return archive, nil }}
			if err == nil {
				if header.Typeflag == tar.TypeXGlobalHeader {
					continue
				}
				e.name, e.mode, e.size = header.Name, header.FileInfo().Mode(), header.Size
				if header.Typeflag == tar.TypeLink { // FileInfo takes it for a file
					e.mode |= fs.ModeIrregular
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// zipped returns the entries of a zip archive.
func zipped(file *os.File) (iter.Seq2[entry, error], error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(file, info.Size())
	if err != nil {
		return nil, err
	}
	return func(yield func(entry, error) bool) {
		for _, f := range archive.File {
			e := entry{f.Name, f.Mode(), int64(min(f.UncompressedSize64, maxBytes+1)), func() (io.Reader, error) { return f.Open() }}
			if !yield(e, nil) {
				return
			}
		}
	}, nil
}

func extract(ctx context.Context, all iter.Seq2[entry, error], root *os.Root, want func(string) bool) (int64, error) {
	var total int64
	entries := 0
	for e, err := range all {
		switch {
		case err != nil:
			return total, err
		case entries == maxFiles:
			return total, fmt.Errorf("it contains more than %d files", maxFiles)
		case ctx.Err() != nil:
			return total, ctx.Err()
		}
		entries++
		name := path.Clean(e.name)
		switch {
		case name == ".":
			continue
		case !filepath.IsLocal(filepath.FromSlash(name)):
			return total, fmt.Errorf("%q leads outside of it", e.name)
		case e.mode.IsDir():
			continue // created with its files
		case !e.mode.IsRegular():
			return total, fmt.Errorf("%q is neither a file nor a folder", e.name)
		case e.size < 0 || e.size > maxBytes-total:
			return total, fmt.Errorf("it contains more than %d bytes", int64(maxBytes))
		}
		total += e.size // what is skipped is unpacked too
		if !want(name) {
			continue
		}
		content, err := e.open()
		if err != nil {
			return total, err
		}
		if err := writeEntry(root, filepath.FromSlash(name), io.LimitReader(content, e.size)); err != nil {
			return total, err
		}
	}
	return total, nil
}

func writeEntry(root *os.Root, name string, from io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return localError{err}
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return localError{err}
	}
	return copyInto(file, from)
}

// copyInto writes and closes a file. It distinguishes errors of reading from errors of writing.
func copyInto(file *os.File, from io.Reader) error {
	defer file.Close()
	buffer := make([]byte, 256<<10)
	for {
		n, err := from.Read(buffer)
		if _, failed := file.Write(buffer[:n]); failed != nil {
			return localError{failed}
		}
		if errors.Is(err, io.EOF) {
			return flush(file)
		}
		if err != nil {
			return err
		}
	}
}
