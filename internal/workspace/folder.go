package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The reasons for which a file is not read.
var (
	ErrOutside    = errors.New("it leads outside of the folder")
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("file too large")
	ErrTooMany    = errors.New("the folder has too many entries")
)

// maxTotal limits the bytes that one Folder reads in all.
const maxTotal = 256 << 20

// Folder reads files below one folder. It is for one goroutine.
type Folder struct {
	root *os.Root
	path string // absolute, without links
	left int64  // bytes that may still be read
}

// Open opens the folder itself, which may be a link.
func Open(dir string) (*Folder, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, cause(err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, cause(err)
	}
	// OpenRoot would wait for a named pipe.
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return nil, errors.Join(cause(err), fs.ErrInvalid)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, cause(err)
	}
	return &Folder{root, path, maxTotal}, nil
}

// Close closes the folder.
func (f *Folder) Close() { _ = f.root.Close() }

// Path returns the absolute path of the folder, without links.
func (f *Folder) Path() string { return f.path }

// Open opens a regular file of the folder for reading, and returns what was opened. The name is
// relative, with slashes. Its links are followed inside the folder.
func (f *Folder) Open(name string) (*os.File, fs.FileInfo, error) {
	inside, err := f.resolve(name)
	if err != nil {
		return nil, nil, err
	}
	// Opening some devices has an effect, so look first. What counts is checked below.
	if info, err := f.root.Lstat(inside); err != nil || !info.Mode().IsRegular() {
		return nil, nil, unusable(err)
	}
	// The root follows no link that leads outside, even if it was created after resolve.
	file, err := f.root.OpenFile(inside, os.O_RDONLY|nonBlocking, 0)
	return opened(file, err)
}

// resolve returns the path of a file inside the folder, without links.
func (f *Folder) resolve(name string) (string, error) {
	name = filepath.FromSlash(name)
	if !filepath.IsLocal(name) {
		return "", ErrOutside
	}
	target, err := filepath.EvalSymlinks(filepath.Join(f.path, name))
	if err != nil {
		return "", cause(err)
	}
	inside, err := filepath.Rel(f.path, target)
	if err != nil || !filepath.IsLocal(inside) {
		return "", ErrOutside
	}
	return inside, nil
}

// opened returns an opened file if it is regular, and closes it otherwise.
func opened(file *os.File, err error) (*os.File, fs.FileInfo, error) {
	if err != nil {
		return nil, nil, cause(err)
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil, nil, unusable(err)
	}
	return file, info, nil
}

// unusable returns the reason for which something is not read: the error, or that it is not
// what it should be.
func unusable(err error) error {
	if err != nil {
		return cause(err)
	}
	return ErrNotRegular
}

// Read returns the content of a file of at most limit bytes.
func (f *Folder) Read(name string, limit int64) ([]byte, error) {
	return f.read(name, limit, false)
}

// Head returns the first limit bytes of a file.
func (f *Folder) Head(name string, limit int64) ([]byte, error) {
	return f.read(name, limit, true)
}

func (f *Folder) read(name string, limit int64, cut bool) ([]byte, error) {
	file, info, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if f.left <= 0 {
		return nil, ErrTooLarge
	}
	text, err := content(file, info, min(limit, f.left), cut)
	f.left -= int64(len(text))
	return text, err
}

// Has reports whether the folder contains a regular file of this name.
func (f *Folder) Has(name string) bool {
	inside, err := f.resolve(name)
	if err != nil {
		return false
	}
	info, err := f.root.Lstat(inside)
	return err == nil && info.Mode().IsRegular()
}

// Lstat describes an entry of the folder, without following it if it is a link.
func (f *Folder) Lstat(name string) (fs.FileInfo, error) {
	info, err := f.root.Lstat(filepath.FromSlash(name))
	return info, cause(err)
}

// OpenFile opens a file of the user's own for reading. It may be anywhere, and a link, but it is
// regular.
func OpenFile(path string) (*os.File, fs.FileInfo, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, nil, unusable(err)
	}
	return opened(os.OpenFile(path, os.O_RDONLY|nonBlocking, 0))
}

// ReadFile returns the content of a file of the user's own, of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) { return readFile(path, limit, false) }

// HeadFile returns the first limit bytes of a file of the user's own.
func HeadFile(path string, limit int64) ([]byte, error) { return readFile(path, limit, true) }

func readFile(path string, limit int64, cut bool) ([]byte, error) {
	file, info, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return content(file, info, limit, cut)
}

// content reads a file up to its limit. A file can grow while it is read, and files of some
// file systems have no size.
func content(file *os.File, info fs.FileInfo, limit int64, cut bool) ([]byte, error) {
	if !cut && info.Size() > limit {
		return nil, ErrTooLarge
	}
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, cause(err)
	}
	if int64(len(text)) <= limit {
		return text, nil
	}
	if cut {
		return text[:limit], nil
	}
	return nil, ErrTooLarge
}

// cause returns an error without the path in its text.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s: %w", path.Op, path.Err)
	}
	return err
}
