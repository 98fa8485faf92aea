package shellcmd

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	subcommand = regexp.MustCompile(`^[a-z][a-z0-9-]{0,29}$`)
	assignment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)=`)
	version    = regexp.MustCompile(`-?[0-9][0-9.]*$`)
)

// optionLike matches a value that looks like an option. Text, such as an item of a list,
// and numbers do not.
var optionLike = regexp.MustCompile(`^-[^\s0-9]`)

// systemFolder matches paths in the folders that programs are found in by their names.
var systemFolder = regexp.MustCompile(`^((/usr)?/s?bin|/usr/local/s?bin|/opt/homebrew/bin)/[^/]+$`)

// find returns the row of a program that is called by its bare name.
func find(name string) *row {
	if r := programs()[name]; r != nil && !strings.Contains(name, " ") {
		return r
	}
	if r := programs()[version.ReplaceAllString(name, "")]; r != nil && r.is["versions"] {
		return r
	}
	return nil
}

// lookup returns the row of a program, and how the program is called in the reading. One
// that is written with a path is another than the one of that name.
func (x *reader) lookup(text string) (r *row, said string) {
	if x.shell == Windows {
		return x.lookupWindows(text)
	}
	if !strings.Contains(text, "/") {
		return find(text), text
	}
	base := path.Base(text)
	if r := programs()[x.local(text)]; r != nil {
		return r, base
	}
	if r = find(base); r != nil && systemFolder.MatchString(text) {
		return r, base
	}
	x.speak = true
	x.letters(text)
	if r != nil || outside(x.local(text)) || x.left {
		x.r.Destructive = true
		return r, text
	}
	return nil, base
}

// run analyzes the words of a call.
func (x *reader) run(args []arg) {
	if len(args) == 0 {
		return
	}
	first := args[0]
	if first.text == "" || !first.known || first.pattern && first.text != "[" {
		x.opaque()
		if first.known && first.text != "" {
			x.program(path.Base(first.text))
		}
		return
	}
	if x.nested >= maxNested {
		x.program(path.Base(first.text))
		x.opaque()
		return
	}
	x.nested++
	r, said := x.lookup(first.text)
	x.apply(r, said, args[1:])
	x.nested--
}

// unknown records arguments that are not understood: they are spoken, unless one may be
// a script or the program may read one.
func (x *reader) unknown(args []arg) {
	x.speak, x.r.Destructive = true, true
	if x.stdin || x.left {
		x.opaque()
	}
	x.spoken(args)
	for _, a := range args {
		if farFile.MatchString(x.local(a.text)) || protected.MatchString(a.text) {
			x.r.Protected = true // it may be written
		}
	}
}

// spoken checks that arguments can be spoken.
func (x *reader) spoken(args []arg) {
	x.speak = true
	for _, a := range args {
		x.letters(a.text)
		if mayBeCode(a) {
			x.opaque()
		}
	}
}

// call is a call of a program of the table.
type call struct {
	*row
	said       string
	options    set // that were given
	positional []arg
	dashes     int   // number of positional arguments before "--", -1 without it
	rest       []arg // the subcommand or the program that it runs, and its arguments
	writes     bool  // the positional arguments are overwritten
	scripted   bool  // an option gave the script
	strange    bool  // an argument is not understood
	ends       bool  // an option makes it end before it runs anything
}

// apply analyzes a call of a program by its row.
func (x *reader) apply(r *row, said string, args []arg) {
	if r == nil {
		x.program(said)
		x.unknown(args)
		return
	}
	if !r.is["subs"] && !slices.Contains(r.first, 'T') && r.others != 'T' {
		x.subprogram(said)
	}
	x.within(r)
	switch {
	case r.is["closed"]:
		x.opaque()
		return
	case r.is["find"]:
		x.find(args)
		return
	case r.is["shell"]:
		x.sh(args)
		return
	case r.is["eval"]:
		x.eval(args)
		return
	}
	c := &call{row: r, said: said, options: set{}, dashes: -1}
	x.parse(c, args)
	x.effects(c)
	x.operands(c)
	if c.strange {
		x.unknown(args)
	}
	x.starts(c)
}

// within judges the folder that a program works in.
func (x *reader) within(r *row) {
	switch {
	case r.is["reads"]:
	case x.left && r.name != "cd":
		x.opaque() // what it does depends on the other folder
	case x.folder != "" && !r.is["anywhere"]:
		x.speak = true // it may find there what it runs
		if ofGit(r) {
			x.opaque()
		}
	}
}

// ofGit reports whether a row is one of Git. It runs what the settings of a repository
// say, and a clone may have another repository in one of its folders.
func ofGit(r *row) bool { return r.name == "git" || strings.HasPrefix(r.name, "git ") }

// parse sorts the arguments of a call.
func (x *reader) parse(c *call, args []arg) {
	ended := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		set := assignment.FindStringSubmatch(a.text)
		if !a.known || a.leading && !ended && !c.is["reads"] {
			x.opaque()
		}
		switch {
		case c.is["assigns"] && !ended && set != nil:
			x.variable(set[1], arg{text: a.text[len(set[0]):], known: a.known})
		case a.text == "--" && !ended:
			ended, c.dashes = true, len(c.positional)
		case !ended && len(a.text) > 1 && a.text[0] == '-':
			var next *arg
			if i+1 < len(args) {
				next = &args[i+1]
			}
			module := c.options["-m"]
			if x.option(c, a, next) {
				i++
			}
			if !module && c.options["-m"] && c.row.options["-m"].kind == 'M' {
				c.rest = args[min(i, len(args)-1):]
				return
			}
		case c.is["subs"], (c.is["runs"] || c.is["xargs"] || c.is["remote"]) && len(c.positional) == len(c.first):
			c.rest = args[i:]
			return
		default:
			c.positional = append(c.positional, a)
			ended = ended || c.is["posix"] && !c.is["runs"] && !c.is["remote"]
		}
	}
}

// option analyzes an option, and reports whether its value is the next argument.
func (x *reader) option(c *call, a arg, next *arg) (takes bool) {
	name, value, joined := strings.Cut(a.text, "=")
	if c.is["golong"] && strings.HasPrefix(name, "--") {
		name = name[1:]
	}
	o, ok := c.row.options[name]
	switch {
	case ok && (len(name) > 2 || c.is["golong"]):
		c.given(name, o)
		switch {
		case joined && (o.kind != 0 || c.is["golong"]):
			kind := o.kind
			if kind == 0 { // such as -race=true
				kind = 'n'
			}
			x.value(c, kind, arg{text: value, known: a.known, pattern: a.pattern})
		case joined:
			c.strange = true
		case o.kind != 0 && !o.joined:
			return x.next(c, o, next)
		}
		return false
	case strings.HasPrefix(name, "--") || c.is["golong"]:
		x.strange(c, a)
		return false
	}
	for i := 1; i < len(a.text); i++ {
		o, ok := c.row.options["-"+a.text[i:i+1]]
		if !ok {
			x.strange(c, a)
			return false
		}
		c.given("-"+a.text[i:i+1], o)
		rest := a.text[i+1:]
		switch {
		case o.kind == 0:
		case rest != "":
			x.value(c, o.kind, arg{text: rest, known: a.known, pattern: a.pattern})
			return false
		case o.joined:
			return false
		default:
			return x.next(c, o, next)
		}
	}
	return false
}

// next analyzes the next argument as the value of an option.
func (x *reader) next(c *call, o option, next *arg) bool {
	if next == nil {
		x.opaque() // another program may append it
		return false
	}
	if next.pattern || !next.known { // it may be several words
		x.opaque()
	}
	if optionLike.MatchString(next.text) { // the program may take it for an option
		x.strange(c, *next)
	}
	x.value(c, o.kind, *next)
	return true
}

func (c *call) given(name string, o option) {
	c.options[name] = true
	c.writes = c.writes || o.writes
	if o.final {
		c.options["!"] = true
	}
	c.ends = c.ends || o.ends
}

// strange handles an option that the row does not have.
func (x *reader) strange(c *call, a arg) {
	switch {
	case c.is["reads"]:
		x.value(c, c.others, a)
	case c.is["click"]:
		x.opaque()
	default:
		c.strange = true
	}
}

// effects records what a program does whatever its positional arguments.
func (x *reader) effects(c *call) {
	dry := c.options["--dry-run"] || c.name == "git clean" && c.options["-n"]
	names := strings.ContainsAny(string(append([]byte{c.last, c.others}, c.first...)), "wd")
	if c.is["deletes"] && !dry {
		x.r.Deletes = true
	}
	if c.is["final"] && !dry || c.options["!"] || c.writes {
		x.r.Destructive = true
	}
	if c.is["say"] || c.options["!"] || c.writes || (c.is["final"] || c.is["deletes"]) && (!names || len(c.positional) == 0) {
		x.speak = true
	}
	if c.is["stdin"] && len(c.positional) == 0 && len(c.rest) == 0 && !c.ends {
		x.opaque() // it runs its input
	}
}

// operands analyzes the positional arguments.
func (x *reader) operands(c *call) {
	switch c.name {
	case "tar", "unzip": // what they extract is not in the text
		if !c.options["-c"] && !c.options["-t"] && !c.options["-l"] && !c.options["-d"] {
			x.opaque()
		}
	case "cd", "pushd":
		x.enter(c)
		return
	case "popd":
		x.folder, x.speak = "", true
	}
	first := c.first
	if c.scripted && len(first) > 0 && first[0] == 'S' {
		first = first[1:]
	}
	for i, a := range c.positional {
		if c.dashes >= 0 && i >= c.dashes && strings.HasPrefix(a.text, "-") && !c.is["reads"] {
			x.speak = true // an option for what it starts
		}
		kind := c.others
		if a.pattern && !c.is["reads"] && (i < len(c.first) || c.last != 0 && i == len(c.positional)-1 || kind == 'p' || kind == 'k') {
			x.opaque() // it may be several words, or one that means something else
		}
		a.pattern = a.pattern || ofGit(c.row) && strings.ContainsAny(a.text, `*?[\`)
		switch {
		case i < len(first):
			kind = first[i]
		case c.writes:
			kind = 'w'
		case c.name == "tee" && (c.options["-a"] || c.options["--append"]):
			kind = 'a'
		case c.last != 0 && i > 0 && i == len(c.positional)-1:
			kind = c.last
		}
		if kind != 'p' && ofGit(c.row) && strings.HasPrefix(a.text, ":") {
			x.opaque() // it may mean all files but this one
		}
		switch kind {
		case 0:
			if c.is["click"] {
				x.opaque()
			} else {
				c.strange = true
			}
		case 'T':
			x.target(c, i, a)
		case 'p', 'c':
			x.revision(c, i, a, kind)
		default:
			x.value(c, kind, a)
		}
	}
	if (c.others == 'T') && (len(c.positional) == 0 || !subcommand.MatchString(c.positional[0].text)) {
		x.subprogram(c.said)
	}
}

// starts analyzes what a call runs: a subcommand or another program.
func (x *reader) starts(c *call) {
	switch {
	case c.is["subs"]:
		x.subcommand(c)
	case c.options["-m"] && c.row.options["-m"].kind == 'M':
		x.module(c)
	case c.is["remote"]:
		x.remote(c)
	case c.options["-v"] && c.name == "command" || c.options["-V"] && c.name == "command": // it prints where the program is
	case c.is["runs"]:
		if len(c.rest) > 0 {
			x.run(c.rest)
		} else if !c.is["alone"] {
			x.opaque() // such as an interactive shell
		}
	case c.is["xargs"] && len(c.rest) > 0:
		if r := find(c.rest[0].text); r == nil || !r.is["reads"] {
			x.opaque() // the arguments may be options
		}
		x.run(c.rest)
	}
}

// subcommand analyzes a subcommand.
func (x *reader) subcommand(c *call) {
	if len(c.rest) == 0 {
		x.subprogram(c.said)
		return
	}
	sub, args := c.rest[0], c.rest[1:]
	if !sub.known || !subcommand.MatchString(sub.text) {
		x.subprogram(c.said)
		if c.is["click"] {
			x.opaque()
		}
		x.unknown(c.rest)
		return
	}
	if r := programs()[c.name+" "+sub.text]; r != nil {
		x.apply(r, c.said+" "+sub.text, args)
		return
	}
	x.subprogram(c.said + " " + sub.text)
	switch {
	case c.is["scripts"]:
		x.spoken(args)
		if find(sub.text) != nil {
			x.run(c.rest)
		}
	case c.is["click"]:
		x.opaque()
	default:
		x.unknown(args)
	}
}

// value analyzes an argument by its kind.
func (x *reader) value(c *call, kind byte, a arg) {
	if !a.known || kind != 't' && c != nil && strings.HasPrefix(c.name, "git ") && strings.Contains(a.text, "::") { // such as ext::
		x.opaque()
	}
	if kind == 'f' || kind == 'F' {
		a.text = x.local(a.text)
	}
	switch kind {
	case 't':
	case 'n':
		x.reads(a)
	case 's':
		x.letters(a.text)
		x.speak = true
		if scripted.MatchString(a.text) {
			x.opaque()
		}
	case 'w':
		x.file(a, &x.r.Overwrites)
	case 'a':
		x.file(a, &x.r.Writes)
	case 'd':
		x.file(a, &x.r.Removes)
	case 'm':
		var moved []string
		x.speak = true
		x.file(a, &moved)
	case 'f':
		x.speak = true
		x.letters(a.text)
		if a.pattern || a.text == "" || a.text[0] == '-' || outside(a.text) || harmlessFiles.MatchString(a.text) {
			x.opaque()
		}
	case 'F':
		x.speak = true
		x.letters(a.text)
		if a.pattern || a.text == "" || outside(a.text) || ofGit(c.row) && path.Clean(a.text) != "." {
			x.opaque()
		}
	case 'S':
		c.scripted = true
		if !plainSed(a.text) {
			x.opaque()
		}
	case 'A':
		if !plainAwk.MatchString(a.text) {
			x.opaque()
		}
	case 'b':
		if !plainOperand.MatchString(a.text) || a.pattern && !strings.Contains("[ = ==", a.text) {
			x.opaque()
		}
		x.reads(a)
	case 'P':
		if !plainFormat.MatchString(a.text) {
			x.opaque()
		}
	case 'i':
		if !plainNumber.MatchString(a.text) {
			x.opaque()
		}
	case 'y':
		if !plainGoFlags.MatchString(a.text) {
			x.opaque()
		}
	case 'k':
		if file, writes := strings.CutPrefix(a.text, "of="); writes {
			x.file(arg{text: file, known: a.known, pattern: a.pattern}, &x.r.Overwrites)
		} else {
			x.reads(a)
		}
	case 'M':
	default:
		x.opaque()
	}
}

// reads analyzes a name or a file that is read. One outside of the workspace is spoken.
func (x *reader) reads(a arg) {
	x.letters(a.text)
	a.text = x.local(a.text)
	if !harmlessFiles.MatchString(a.text) && (x.left || protected.MatchString(a.text) || reference.MatchString(a.text) || x.shell == Windows && strings.ContainsAny(a.text, ":%")) {
		x.speak = true
	}
}

// enter analyzes a change of the folder.
func (x *reader) enter(c *call) {
	if c.strange {
		x.opaque()
	}
	to := arg{text: "-"} // the one before, or the home folder
	if len(c.positional) == 1 {
		to = c.positional[0]
	}
	folder := x.local(to.text)
	if folder != to.text { // absolute, and in the workspace
		x.folder, x.left = "", false
	}
	if x.left || strings.HasPrefix(to.text, "-") || strings.HasPrefix(to.text, "+") || to.pattern || outside(folder) || outside(path.Join(x.folder, folder)) || x.shell == Windows && strings.Contains(folder, ":") {
		x.left, x.speak = true, true
		return
	}
	x.letters(folder)
	if x.folder = path.Join(x.folder, folder); x.folder == "." {
		x.folder = ""
	}
	x.speak = x.speak || !x.sure
}

// target analyzes what make makes: the first target is part of the name.
func (x *reader) target(c *call, i int, a arg) {
	set := assignment.FindStringSubmatch(a.text)
	switch {
	case set != nil:
		x.variable(set[1], arg{text: a.text[len(set[0]):], known: a.known})
	case strings.Contains(a.text, "="):
		x.opaque()
	case i == 0 && a.known && subcommand.MatchString(a.text):
		x.subprogram(c.said + " " + a.text)
	default:
		x.spoken([]arg{a})
	}
}

// revision analyzes what git pushes or checks out.
func (x *reader) revision(c *call, i int, a arg, kind byte) {
	x.reads(a)
	if kind == 'p' {
		if i == 0 && a.text != "origin" || strings.ContainsAny(a.text, "+:") {
			x.speak = true
		}
		if strings.ContainsAny(a.text, "+:") {
			x.r.Destructive = true
		}
		if strings.Contains(a.text, "::") {
			x.opaque()
		}
		return
	}
	x.speak = true
	switch {
	case c.options["-b"] || c.options["-B"] || c.options["--orphan"] || c.options["--track"] || c.options["-t"]:
	case i > 0 || c.dashes == 0 || strings.ContainsAny(a.text, ".*:") && i == 0 && len(c.positional) == 1:
		x.file(a, &x.r.Overwrites)
	}
}
