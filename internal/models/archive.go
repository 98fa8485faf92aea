package models

import (
	"archive/tar"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Limits for archives and folders. The largest models that sherpa-onnx can load are
// below them.
const (
	maxBytes = 8 << 30
	maxFiles = 10_000
)

// isArchive reports whether unpack supports an archive, by its name.
func isArchive(name string) bool {
	return decompressor(name) != nil
}

// decompressor returns nil for a name that is not an archive's.
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
	file, err := os.Open(archive)
	if err != nil {
		return 0, archiveError(archive, errors.Unwrap(err))
	}
	defer file.Close()
	plain, err := decompressor(archive)(file)
	if err != nil {
		return 0, archiveError(archive, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, localError{err}
	}
	defer func() { _ = root.Close() }()
	total, err := extract(ctx, tar.NewReader(plain), root, want)
	if err != nil {
		return total, archiveError(archive, err)
	}
	return total, nil
}

func extract(ctx context.Context, archive *tar.Reader, root *os.Root, want func(string) bool) (int64, error) {
	var total int64
	for entries := 0; ; entries++ {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return total, nil
		case err != nil:
			return total, err
		case entries == maxFiles:
			return total, fmt.Errorf("it contains more than %d files", maxFiles)
		case ctx.Err() != nil:
			return total, ctx.Err()
		}
		name := path.Clean(header.Name)
		if name == "." || header.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return total, fmt.Errorf("%q leads outside of it", header.Name)
		}
		switch header.Typeflag {
		case tar.TypeDir:
			continue // created with its files
		case tar.TypeReg:
		default:
			return total, fmt.Errorf("%q is neither a file nor a folder", header.Name)
		}
		if !want(name) {
			continue
		}
		if total += header.Size; total > maxBytes {
			return total, fmt.Errorf("it contains more than %d bytes", int64(maxBytes))
		}
		if err := writeEntry(root, filepath.FromSlash(name), io.LimitReader(archive, header.Size)); err != nil {
			return total, err
		}
	}
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
