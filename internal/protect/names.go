// Package protect judges paths: where they lead, and what acts on the files there.
//
// # Model
//
// A file is a secret if its name is one that programs give to keys and passwords. It is
// protected if a program or an agent acts on it unasked: a hook, a start-up file, a build
// file, instructions to agents. Kinds of files that are not known to be ordinary count as
// protected. Names are compared as the most lenient file system compares them, on every
// system.
//
// # Invariants
//
//   - Nothing here opens a file.
//   - The extension judges by the same table, which internal/gen writes for it.
package protect

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// fold reduces a name to what file systems compare: no case, compatible characters as one,
// without characters that do not show, streams, and dots and spaces at the end.
func fold(name string) string {
	name = strings.Map(func(r rune) rune {
		if ignorable(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(name))
	name = norm.NFKC.String(strings.ToLower(strings.ToUpper(strings.ToLower(name))))
	name, _, _ = strings.Cut(name, ":")
	return strings.TrimRight(name, ". ")
}

// ignorable reports whether a character does not show.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.C, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || !unicode.IsPrint(r) && !unicode.IsSpace(r)
}

// folded returns the folded names of a path.
func folded(path string) (parts []string) {
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		parts = append(parts, fold(part))
	}
	return parts
}

func match(all []*regexp.Regexp, name string) bool {
	for _, r := range all {
		if r.MatchString(name) {
			return true
		}
	}
	return false
}

// Secret reports whether a path names a file with secrets.
func Secret(path string) bool {
	parts := folded(path)
	if len(parts) == 0 {
		return false
	}
	name, folders := parts[len(parts)-1], parts[:len(parts)-1]
	above := ""
	for _, f := range folders {
		if secretFolders[f] {
			return true
		}
		above = f
	}
	if name == "config.json" && above == ".docker" || name == "hosts.yml" && above == "gh" {
		return true
	}
	return !harmless.MatchString(name) && (match(secretFiles, name) || secretWord.MatchString(name) && !code.MatchString(name))
}

// MayHoldToken reports whether a path names settings of a git repository, in which an address can
// contain a password.
func MayHoldToken(path string) bool {
	parts := folded(path)
	return len(parts) > 1 && slices.Contains(parts[:len(parts)-1], ".git") && strings.HasPrefix(parts[len(parts)-1], "config")
}

// Protected reports whether a program or an agent acts on a file without being asked, so
// that a change of it needs a click. path is the file's, below the folder that is open, and
// folder that folder's. A kind of file that is not known is protected.
func Protected(path, folder string) bool {
	parts := folded(path)
	if len(parts) == 0 {
		return true
	}
	name := parts[len(parts)-1]
	if !ordinary.MatchString(name) && !ordinaryNames.MatchString(name) || Acting(path) {
		return true
	}
	for _, part := range folded(folder) {
		if outer.MatchString(part) {
			return true
		}
	}
	return false
}

// Acting reports whether a path is of a kind that a program or an agent is known to act on without
// being asked, or is hidden.
func Acting(path string) bool {
	parts := folded(path)
	for i, part := range parts {
		last := i == len(parts)-1
		plainName := last && ordinaryNames.MatchString(part)
		if part == "" || actingFolders[part] || short.MatchString(part) || strings.HasPrefix(part, ".") && !plainName ||
			last && (match(actingFiles, part) || part == "package.json") {
			return true
		}
	}
	return false
}
