package offline

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// maxLines is how many lines of a declaration are shown, and maxSource how long a file is that is
// searched, in bytes.
const (
	maxLines  = 12
	maxSource = 1 << 20
)

// languages are the files that are searched, with the language of their code block.
var languages = map[string]string{
	".go": "go", ".py": "python", ".rs": "rust", ".js": "js", ".ts": "ts", ".tsx": "tsx", ".java": "java", ".kt": "kotlin",
	".swift": "swift", ".cs": "csharp", ".c": "c", ".h": "c", ".cpp": "cpp", ".rb": "ruby",
}

// kinds say what a keyword declares; others are named by the keyword.
var kinds = map[string]string{
	"func": "function", "def": "function", "fn": "function", "const": "constant", "var": "variable", "let": "variable", "enum": "enumeration",
}

// leads come before a name, as in "where is split fields".
var leads = []string{"where is ", "where are ", "find ", "show me ", "what is ", "what does ", "explain "}

// besides are words beside a name.
var besides = []string{"the", "function", "type", "method", "do", "does", "please", "defined"}

// saidName returns a pattern for the name that was said, in words or by itself, or "".
// Spaces in it may be underscores, or nothing.
func saidName(text string) string {
	for _, lead := range leads {
		if _, rest, found := strings.Cut(text, lead); found {
			text = rest
		}
	}
	words := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return slices.Contains(besides, w) })
	if len(words) == 0 {
		return ""
	}
	return "(?i:" + strings.Join(words, "_?") + ")" // words have letters and digits only
}

// symbol describes the declaration of the first name that matches a pattern; "" if none
// does.
func (a *Adapter) symbol(ctx context.Context, pattern string) (answer string) {
	if a.opts.Dir == "" {
		return ""
	}
	declares := regexp.MustCompile(`(?m)^[ \t]*(?:(?:export|pub|async|static|public|private|default)[ \t]+)*` +
		`(func|function|def|fn|type|class|interface|struct|enum|trait|const|var|let)[ \t]+(\([^)\n]*\)[ \t]*)?(` + pattern + `)\b`)
	folder, err := workspace.Open(a.opts.Dir)
	if err != nil {
		return ""
	}
	defer folder.Close()
	// What cannot be read is skipped, and so are files beyond the limits.
	_ = folder.Walk(ctx, ".", workspace.Limits{Entries: maxEntries, Depth: maxDepth}, func(path string, d fs.DirEntry) error {
		switch {
		case d.IsDir() && (skipped[d.Name()] || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || languages[filepath.Ext(path)] == "":
			return nil
		}
		source, err := folder.Read(path, maxSource)
		if err != nil {
			return nil
		}
		if at := declares.FindSubmatchIndex(source); at != nil {
			answer = describe(path, source, at)
			return fs.SkipAll
		}
		return nil
	})
	return answer
}

// describe says where a declaration is and what its comment says, and shows it. at are
// the positions of the match and of its keyword, receiver and name.
func describe(path string, source []byte, at []int) string {
	kind, name := string(source[at[2]:at[3]]), source[at[6]:at[7]]
	switch {
	case at[4] >= 0:
		kind = "method"
	case kinds[kind] != "":
		kind = kinds[kind]
	}
	article := "a"
	if strings.ContainsRune("aeiou", rune(kind[0])) {
		article = "an"
	}
	lines := strings.Split(string(source), "\n")
	line := bytes.Count(source[:at[0]], []byte("\n"))
	answer := fmt.Sprintf("`%s` is %s %s in `%s`, line %d.", name, article, kind, filepath.Base(path), line+1)
	if says := comment(lines[:line]); says != "" {
		answer += " " + says
	}
	return answer + "\n\n```" + languages[filepath.Ext(path)] + "\n" + strings.Join(declaration(lines[line:]), "\n") + "\n```\n"
}

// comment returns the first sentence of the comment at the end of lines.
func comment(lines []string) string {
	first := len(lines)
	for first > 0 {
		text := strings.TrimSpace(lines[first-1])
		if !strings.HasPrefix(text, "//") && !strings.HasPrefix(text, "#") {
			break
		}
		first--
	}
	var words []string
	for _, line := range lines[first:] {
		words = append(words, strings.Fields(strings.TrimLeft(strings.TrimSpace(line), "/#"))...)
	}
	text := strings.Join(words, " ")
	if sentence, _, more := strings.Cut(text, ". "); more {
		text = sentence + "."
	}
	return text
}

// declaration returns the lines of a declaration: up to the line that closes it at its
// own indent, or to a line without an indent.
func declaration(lines []string) []string {
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }
	for i, line := range lines {
		switch text := strings.TrimSpace(line); {
		case i == maxLines:
			return append(lines[:i:i], "…")
		case i == 0 || text == "" || indent(line) > indent(lines[0]):
		case strings.ContainsAny(text[:1], ")}]"):
			return lines[:i+1]
		default:
			return trimmed(lines[:i])
		}
	}
	return trimmed(lines)
}

// trimmed drops blank lines at the end.
func trimmed(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
