package vocab

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/git"
	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// Limits of Collect.
const (
	maxListed  = 20_000    // file names examined
	maxScanned = 600       // files read
	maxFile    = 128 << 10 // bytes per file
	maxTerms   = 2_000
	maxBranch  = 40
	maxEntries = 100_000 // of folders, outside of repositories
	maxDepth   = 32
)

// source holds the extensions of the files from which symbols are read.
var source = map[string]bool{
	".go": true, ".ts": true, ".tsx": true, ".js": true, ".jsx": true, ".mjs": true, ".py": true, ".rs": true, ".java": true,
	".kt": true, ".c": true, ".h": true, ".cc": true, ".cpp": true, ".hpp": true, ".cs": true, ".rb": true, ".php": true,
	".swift": true, ".scala": true, ".lua": true, ".sh": true, ".sql": true, ".proto": true, ".vue": true, ".svelte": true, ".dart": true,
}

// Collect returns the names in a folder: files, branches, dependencies, and the symbols
// of source files, most recently changed first. In a repository it skips files that git
// ignores; elsewhere it skips hidden folders, node_modules and vendor.
func Collect(ctx context.Context, dir string) []Term {
	folder, err := workspace.Open(dir)
	if err != nil {
		return nil
	}
	defer folder.Close()
	files, branches := listed(ctx, folder)
	c := collection{count: map[string]int{}, kind: map[string]Kind{}}
	for _, b := range branches {
		c.add(Branch, b, 50)
	}
	type dated struct {
		name string
		at   time.Time
	}
	var sources []dated
	for _, f := range files {
		base := path.Base(f)
		c.add(File, base, 5)
		if read := dependencies[base]; read != nil {
			c.read(folder, f, func(text []byte) {
				for _, name := range read(text) {
					c.add(Dependency, name, 20)
				}
			})
		}
		if source[path.Ext(base)] {
			if info, err := folder.Lstat(f); err == nil && info.Mode().IsRegular() {
				sources = append(sources, dated{f, info.ModTime()})
			}
		}
	}
	slices.SortStableFunc(sources, func(a, b dated) int { return b.at.Compare(a.at) })
	for _, s := range sources[:min(len(sources), maxScanned)] {
		if ctx.Err() != nil {
			break
		}
		c.read(folder, s.name, c.symbols)
	}
	return c.terms()
}

// listed returns the files of a folder as slash-separated relative paths, and the branches of
// its repository.
func listed(ctx context.Context, folder *workspace.Folder) (files, branches []string) {
	if r, err := git.Find(ctx, folder.Path()); err == nil {
		defer r.Close()
		if files, err = r.Files(ctx); err == nil {
			branches, _ = r.Branches(ctx, maxBranch) // a new repository has none
			return files[:min(len(files), maxListed)], branches
		}
	}
	// A folder with more entries gives those that were found first.
	_ = folder.Walk(ctx, ".", workspace.Limits{Entries: maxEntries, Depth: maxDepth}, func(name string, d fs.DirEntry) error {
		switch base := d.Name(); {
		case len(files) >= maxListed:
			return fs.SkipAll
		case d.IsDir() && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "vendor"):
			return fs.SkipDir
		case !d.IsDir():
			files = append(files, name)
		}
		return nil
	})
	return files, nil
}

var (
	required = regexp.MustCompile(`(?m)^\s*(?:require\s+)?([\w.-]+\.[\w.-]+(?:/[\w.~-]+)+)\s+v\d`)
	npmName  = regexp.MustCompile(`(?m)^\s+"(?:@[\w.-]+/)?([\w.-]+)":\s*"(?:[\^~>=<*\d]|workspace:|npm:|file:|git)`)
	plain    = regexp.MustCompile(`(?m)^\s*([A-Za-z][\w.-]+)\s*(?:[=<>~!;\[]|$)`)
	major    = regexp.MustCompile(`^v\d+$`)
)

// dependencies maps the files that list dependencies to their parsers.
var dependencies = map[string]func([]byte) []string{
	"go.mod": func(text []byte) (out []string) {
		for _, m := range required.FindAllSubmatch(text, -1) {
			name := string(m[1])
			if major.MatchString(path.Base(name)) {
				name = path.Dir(name)
			}
			out = append(out, path.Base(name))
		}
		return out
	},
	"package.json":     func(text []byte) []string { return first(npmName, text) },
	"requirements.txt": func(text []byte) []string { return first(plain, text) },
	"Cargo.toml": func(text []byte) []string {
		_, deps, _ := bytes.Cut(text, []byte("dependencies]"))
		return first(plain, deps)
	},
}

func first(re *regexp.Regexp, text []byte) (out []string) {
	for _, m := range re.FindAllSubmatch(text, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

// collection counts names.
type collection struct {
	count map[string]int
	kind  map[string]Kind
}

func (c *collection) add(k Kind, name string, weight int) {
	if !Speakable(name) {
		return
	}
	if c.kind[name] == "" {
		c.kind[name] = k
	}
	c.count[name] += weight
}

func (c *collection) read(folder *workspace.Folder, name string, use func([]byte)) {
	// A link has the names of its target a second time, or leads outside.
	if info, err := folder.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return
	}
	if text, err := folder.Head(name, maxFile); err == nil && bytes.IndexByte(text, 0) < 0 {
		use(text)
	}
}

var (
	symbol = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]{2,47}`)
	// defined matches the name that a line defines, in most languages.
	defined = regexp.MustCompile(`^\s*(?:export |public |private |static |async |pub |abstract |final |default )*(?:func(?: \([^)]*\))?|function|def|class|type|interface|struct|enum|const|let|var|fn|trait|impl|module|message|service) +([A-Za-z_]\w{2,47})`)
)

// symbols collects names from a source file: definitions and compound names.
func (c *collection) symbols(text []byte) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxFile+1)
	for lines.Scan() {
		line := lines.Bytes()
		if m := defined.FindSubmatch(line); m != nil {
			c.add(Symbol, string(m[1]), 4)
		}
		for _, name := range symbol.FindAll(line, -1) {
			if compound(name) {
				c.add(Symbol, string(name), 1)
			}
		}
	}
}

// compound reports whether a name visibly has several parts: an inner underscore or
// digit, or a capital after a lower-case letter.
func compound(name []byte) bool {
	for i := 1; i < len(name); i++ {
		switch b, before := name[i], name[i-1]; {
		case b == '_', b >= '0' && b <= '9', b >= 'A' && b <= 'Z' && before >= 'a' && before <= 'z':
			return true
		}
	}
	return false
}

// terms returns the names in order of importance.
func (c *collection) terms() []Term {
	out := make([]Term, 0, len(c.count))
	for name := range c.count {
		out = append(out, Term{Text: name, Kind: c.kind[name]})
	}
	slices.SortFunc(out, func(a, b Term) int {
		return cmp.Or(cmp.Compare(c.count[b.Text], c.count[a.Text]), strings.Compare(a.Text, b.Text))
	})
	return out[:min(len(out), maxTerms)]
}
