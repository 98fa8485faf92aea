package spoken

import (
	"regexp"
	"strings"
)

// maxFolders is the number of parts of a path that are all said. Of a deeper path the last
// two are said, and of a package's name.
const maxFolders = 3

var (
	position    = regexp.MustCompile(`^(\S*[\w]\.\w+|\S*[/\\]\S*\w):(\d+)(?:[-–](\d+))?(?::\d+)?$`) // main.go:42
	parenthesis = regexp.MustCompile(`^(\S*[\w]\.\w+)\((\d+)(?:,\d+)?\)$`)                          // main.cs(42,7)
	fragment    = regexp.MustCompile(`^(\S*[\w]\.\w+)#L(\d+)(?:C\d+)?(?:-L?(\d+)(?:C\d+)?)?$`)      // main.go#L42
	address     = regexp.MustCompile(`^(?:\d{1,3}\.){3}\d{1,3}(:\d{1,5})?(/\d+)?$`)
	hostPort    = regexp.MustCompile(`^((?:localhost|(?:[\w-]+\.)+(?:com|org|net|io|dev|local|internal)))?:(\d{2,5})$`)
	hostPath    = regexp.MustCompile(`^(?:[\w-]+@)?((?:[\w-]+\.)+(?:com|org|net|io|dev))[/:][^\s"'<>]*$`)
	email       = regexp.MustCompile(`^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$`)
)

// positionIn splits a position in a file, such as main.go:42 or main.go:42:7, into file and
// line; last is the last line of a range.
func positionIn(code string) (file, line, last string) {
	if code == "" || !strings.ContainsAny(code, ":(#") || !isDigit(code[len(code)-1]) && code[len(code)-1] != ')' {
		return "", "", ""
	}
	for _, form := range []*regexp.Regexp{position, fragment} {
		if m := form.FindStringSubmatch(code); m != nil {
			return m[1], m[2], m[3]
		}
	}
	if m := parenthesis.FindStringSubmatch(code); m != nil {
		return m[1], m[2], ""
	}
	return "", "", ""
}

// sayPosition says a position in a file.
func (l *language) sayPosition(w string) (file, said string) {
	file, line, last := positionIn(w)
	switch {
	case line == "" || strings.Contains(file, "://"):
		return w, ""
	case last != "":
		return file, " " + l.lines + " " + line + " " + l.until + " " + last
	}
	return file, " " + l.line + " " + line
}

// shortPath returns the end of a path that has more parts than are said.
func shortPath(w string) string {
	if !strings.ContainsAny(w, `/\`) || strings.Contains(w, "://") {
		return w
	}
	trimmed := strings.TrimRight(w, `/\`)
	starts := []int{0}
	for i := range len(trimmed) {
		if (trimmed[i] == '/' || trimmed[i] == '\\') && i+1 < len(trimmed) {
			starts = append(starts, i+1)
		}
	}
	if trimmed[0] == '/' || trimmed[0] == '~' || strings.HasPrefix(trimmed, "./") || strings.HasPrefix(trimmed, "../") || strings.HasPrefix(trimmed[1:], `:\`) {
		starts = starts[1:]
	}
	if len(starts) <= maxFolders {
		return w
	}
	return trimmed[starts[len(starts)-2]:]
}

// isPath reports whether w is a file path: with a folder and an extension, a file with a
// line, or a folder.
func isPath(w string) bool {
	if strings.Contains(w, "://") || !onlyASCII(w) {
		return false
	}
	if _, line, _ := positionIn(w); line != "" && w[0] != ':' {
		return true
	}
	slash := strings.LastIndexAny(w, `/\`)
	if slash < 0 || strings.ContainsAny(w, "()<>|*?=,;") {
		return false
	}
	if dot := strings.IndexByte(w[slash+1:], '.'); dot >= 0 {
		ext := w[slash+1+dot+1:]
		return ext != "" && isLatin(rune(ext[0]))
	}
	return isFolder(w)
}

// isFolder reports whether a path without an extension is one: an absolute path, a path from
// here, or a deep one. "and/or" and "read/write/execute" are text, and so are separators alone.
func isFolder(w string) bool {
	if strings.Trim(w, `/\`) == "" {
		return false
	}
	slashes := strings.Count(w, "/") + strings.Count(w, `\`)
	if !isLatin(rune(w[len(w)-1])) && !isDigit(w[len(w)-1]) && w[len(w)-1] != '/' && w[len(w)-1] != '\\' {
		return false
	}
	switch {
	case len(w) > 3 && isLatin(rune(w[0])) && w[1] == ':' && w[2] == '\\':
		return true
	case w[0] == '/', w[0] == '~', strings.HasPrefix(w, "./"), strings.HasPrefix(w, "../"):
		return slashes > 1 && !strings.Contains(w, "//")
	}
	return slashes > maxFolders && isLatin(rune(w[0]))
}

// shortName returns the last two parts of a name with many dots, such as a Java class.
func shortName(w string) string {
	if strings.Count(w, ".") < maxFolders {
		return w
	}
	parts := strings.Split(w, ".")
	for _, p := range parts {
		if len(p) < 2 || !isTagName(strings.ToLower(strings.NewReplacer("_", "", "$", "").Replace(p))) {
			return w
		}
	}
	return strings.Join(parts[len(parts)-2:], ".")
}

// sayAddress says an address of the network: its host, and the port if there is one. ok is
// false for other words.
func (l *language) sayAddress(w string) (said string, ok bool) {
	if address.MatchString(w) {
		w, port, _ := strings.Cut(w, ":")
		w, bits, _ := strings.Cut(w, "/")
		said = l.dots(w)
		if p, b, found := strings.Cut(port, "/"); found {
			port, bits = p, b
		}
		if bits != "" {
			said += " " + l.symbols['/'] + " " + bits
		}
		if port != "" {
			said += " " + l.port + " " + port
		}
		return said, true
	}
	if m := hostPort.FindStringSubmatch(w); m != nil {
		return strings.TrimSpace(l.dots(m[1]) + " " + l.port + " " + m[2]), true
	}
	if m := hostPath.FindStringSubmatch(w); m != nil {
		return l.dots(m[1]), true
	}
	if w = strings.TrimPrefix(w, "mailto:"); email.MatchString(w) && strings.IndexByte(w, '@') > 0 && !isDigit(w[strings.IndexByte(w, '@')+1]) {
		return strings.Replace(l.dots(w), "@", " "+l.at+" ", 1), true
	}
	return "", false
}
