package protect

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Place is where a path leads.
type Place struct {
	// Path is the path after all links, as far as it exists; absolute.
	Path string
	// Inside says that it is below the folder, after the folder's own links. Within is the
	// path from there, with slashes; empty if it is not inside.
	Inside bool
	Within string
	// Linked says that the path goes through a link.
	Linked bool
}

// Find returns where a path leads that an agent which works in a folder names: an absolute one, one
// below the folder, one that begins with ~, or a file: address. What does not exist yet leads to
// where it would be created. A path that cannot be followed is not inside.
func Find(folder, path string) Place {
	path, known := local(path)
	if !known || !filepath.IsAbs(folder) {
		return Place{Path: path}
	}
	if home, err := os.UserHomeDir(); err == nil && (path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`)) {
		path = filepath.Join(home, path[1:])
	}
	if strings.HasPrefix(path, "~") { // another user's home
		return Place{Path: path}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	path = filepath.Clean(path)
	target, followed := follow(path, 0)
	root, there := follow(filepath.Clean(folder), 0)
	p := Place{Path: target, Linked: !same(target, path) && !same(target, filepath.Join(root, strings.TrimPrefix(path, filepath.Clean(folder))))}
	if !followed || !there {
		return p
	}
	within, err := filepath.Rel(root, target)
	if err != nil || within == ".." || strings.HasPrefix(within, ".."+string(filepath.Separator)) {
		return p
	}
	p.Inside, p.Within = true, filepath.ToSlash(within)
	return p
}

// address matches an address that begins with the name of a protocol. A single letter is a drive.
var address = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:`)

// local returns the path of a file: address, and other paths as they are. known is false for an
// address of another kind or machine, and for one that programs read differently.
func local(path string) (file string, known bool) {
	scheme := address.FindString(path)
	if !strings.EqualFold(scheme, "file:") {
		return path, scheme == "" || !strings.HasPrefix(path[len(scheme):], "//")
	}
	u, err := url.Parse(path)
	if err != nil || u.Host != "" && u.Host != "localhost" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return path, false
	}
	file = u.Path
	if u.Opaque != "" {
		if file, err = url.PathUnescape(u.Opaque); err != nil {
			return path, false
		}
	}
	if drive := strings.TrimPrefix(file, "/"); filepath.VolumeName(drive) != "" {
		file = drive
	}
	return filepath.FromSlash(file), file != ""
}

// follow resolves the links of a path whose end need not exist. It does not open anything.
func follow(path string, depth int) (target string, ok bool) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target, true
	}
	if depth > 40 {
		return path, false
	}
	if to, err := os.Readlink(path); err == nil { // a link to something that does not exist
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		return follow(to, depth+1)
	}
	if _, err := os.Lstat(path); err == nil || !os.IsNotExist(err) {
		return path, false // it is there and cannot be followed
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path, false
	}
	target, ok = follow(parent, depth+1)
	return filepath.Join(target, filepath.Base(path)), ok
}

// same compares two paths as the most common file system of the system does.
func same(a, b string) bool {
	if runtime.GOOS == "linux" {
		return a == b
	}
	return strings.EqualFold(a, b)
}
