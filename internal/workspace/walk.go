package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits bound a walk.
type Limits struct {
	Entries int // examined in all
	Depth   int // of folders below the first
}

// Walk calls visit for each file and folder below a folder, in the order of their names. It
// passes their paths with slashes, relative to f. It leaves out links, devices, pipes and
// sockets, names that do not show as they are, and folders that cannot be read. If visit returns
// fs.SkipDir, the folder is skipped; if fs.SkipAll, the walk ends. Walk returns ErrTooMany where
// the limit of entries ends it.
func (f *Folder) Walk(ctx context.Context, from string, l Limits, visit func(name string, d fs.DirEntry) error) error {
	w := walk{f: f, ctx: ctx, left: l.Entries, depth: l.Depth, visit: visit}
	err := w.folder(path.Clean(from), 0)
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

type walk struct {
	f           *Folder
	ctx         context.Context
	left, depth int
	visit       func(name string, d fs.DirEntry) error
}

func (w *walk) folder(name string, depth int) error {
	entries, more, err := w.f.Entries(name, w.left)
	if err != nil {
		if depth == 0 {
			return err
		}
		return nil // skip what cannot be read
	}
	w.left -= len(entries)
	for _, e := range entries {
		if w.ctx.Err() != nil {
			return fs.SkipAll
		}
		if !Shows(e.Name()) || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		child := path.Join(name, e.Name())
		switch err := w.visit(child, e); {
		case errors.Is(err, fs.SkipDir) && e.IsDir():
			continue
		case err != nil:
			return err
		}
		if e.IsDir() && depth < w.depth {
			if err := w.folder(child, depth+1); err != nil {
				return err
			}
		}
	}
	if more {
		return ErrTooMany
	}
	return nil
}

// Entries returns up to limit entries of a folder, sorted by name, and whether it has more. It
// includes entries of every type and name. It reads the folder in parts: one of a million entries
// would have to fit in memory otherwise.
func (f *Folder) Entries(name string, limit int) (entries []fs.DirEntry, more bool, err error) {
	const part = 256
	if info, err := f.Lstat(name); err != nil || !info.IsDir() {
		return nil, false, unusable(err)
	}
	dir, err := f.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, false, cause(err)
	}
	defer func() { _ = dir.Close() }()
	for {
		some, err := dir.ReadDir(part)
		if n := limit - len(entries); len(some) > n {
			entries, more = append(entries, some[:n]...), true
			break
		}
		entries = append(entries, some...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, cause(err)
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, more, nil
}

// Shows reports whether a name is shown as it is: it has no control characters, no characters
// without a glyph, such as those that change the direction of writing, and no space but U+0020.
func Shows(name string) bool {
	return utf8.ValidString(name) && strings.IndexFunc(name, hidden) < 0
}

// Shown returns a name without the characters that do not show.
func Shown(name string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
}

// hidden reports whether a character has no glyph of its own, by its Unicode properties.
func hidden(r rune) bool {
	const brailleBlank = '\u2800' // a symbol without dots
	return !unicode.IsGraphic(r) || r != ' ' && unicode.IsSpace(r) || r == brailleBlank ||
		unicode.Is(unicode.Zs, r) && r != ' ' || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r)
}
