// Package shellcmd determines what a shell command would run and write, so that the
// user can be asked for approval before it runs.
//
// # Model
//
// Read parses a command like Bash, of which it understands only what other shells read the
// same way, and compares each program in it with a table of what is
// understood: programs.txt has a row for each program and subcommand, with its options
// and what they read, write and start. There is no list of what is dangerous. What is in
// the table is named in the question, with the files that it writes. Anything else is
// not understood: it is spoken as it stands if it is short and each word stands for
// itself, and otherwise the reading is Opaque.
//
// # Invariants
//
//   - Every word in command position whose value is visible in the text is in Programs.
//   - If something is not understood, the reading has Spoken or is Opaque.
//   - A file that is written outside of the workspace, or that decides what programs
//     do later, is named and needs a click.
//   - An Opaque reading is Destructive.
package shellcmd

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Reading is the result of analyzing a command.
type Reading struct {
	// Programs lists the program names, once each and in text order, with their
	// subcommands. A program that is written with a path keeps it, unless it is a file of
	// the workspace that is not named like a program of the table.
	Programs []string
	// Overwrites, Writes and Removes list the files that are replaced or moved onto,
	// created or appended to, and deleted.
	Overwrites, Writes, Removes []string
	// Spoken is the whole command, if it has to be spoken as it stands.
	Spoken string
	// Deletes: a program removes files or other data.
	Deletes bool
	// Destructive: the effects may be irreversible.
	Destructive bool
	// Opaque: neither the names nor the text show everything that would run.
	Opaque bool
	// Long: the reading is opaque only because the command is too long to be spoken.
	Long bool
	// Protected: a file is written that only a click allows.
	Protected bool
}

// Shell is the shell that would run a command.
type Shell int

// The shells.
const (
	// Posix is sh, Bash, Zsh or a similar shell: Read understands only what means the same
	// in all of them.
	Posix Shell = iota
	// Windows is PowerShell or cmd, which have another grammar: Read accepts only
	// commands that mean the same in all shells.
	Windows
)

const (
	maxText   = 64 << 10 // maximum size of a command, in bytes
	maxDepth  = 8        // nesting of commands in arguments of commands
	maxTexts  = 100      // parsed texts per command, including such arguments
	maxNested = 32       // nesting of wrappers
)

// Place is where a command would run.
type Place struct {
	Shell Shell
	// Folder is the absolute path of the workspace that the command starts in, "" if it
	// is unknown. Then every absolute path counts as outside.
	Folder string
}

// Read analyzes a command line or a script.
func Read(text string, in Place) Reading {
	x := &reader{seen: set{}, shell: in.Shell, workspace: cleanFolder(in.Folder)}
	if in.Shell == Windows {
		text = x.forWindows(text)
	}
	if file := x.script(text); file != nil {
		x.text, x.fits = asItStands(file)
	}
	return x.result()
}

// ReadWords analyzes a command given as words, which no shell expands.
func ReadWords(words []string, in Place) Reading {
	x := &reader{seen: set{}, sure: true, workspace: cleanFolder(in.Folder)}
	args := make([]arg, 0, len(words))
	plain := true
	for _, w := range words {
		x.visible(w)
		args = append(args, arg{text: w, known: true})
		plain = plain && !strings.ContainsAny(w, "\n\t\\'")
		if strings.ContainsAny(w, " ;&|<>()$`*?[]{}!#~\"") || w == "" {
			w = "'" + w + "'"
		}
		x.text += " " + w
	}
	x.text = strings.TrimSpace(x.text)
	x.fits = plain && len(x.text) <= 10*maxSpokenWords && spokenWords(x.text) <= maxSpokenWords
	x.run(args)
	return x.result()
}

// foreign matches syntax of PowerShell and cmd.
var foreign = regexp.MustCompile(`\$env:|%[A-Za-z_]{3,}%`)

// reader collects a Reading.
type reader struct {
	r         Reading
	shell     Shell
	seen      set // programs
	depth     int // nesting of texts
	texts     int
	nested    int                       // nesting of run
	src       string                    // text that is being parsed
	text      string                    // the command as it stands
	fits      bool                      // and it can be spoken
	speak     bool                      // it has to be spoken
	workspace string                    // its absolute path, "" if it is unknown
	folder    string                    // where the next program works, below the workspace
	left      bool                      // the folder is outside of the workspace
	sure      bool                      // a change of the folder applies to what follows it
	piped     map[*syntax.CallExpr]bool // calls whose input is not the user's
	stdin     bool                      // the input of the current call is not the user's
	fed       bool                      // nor is that of the script
	batch     bool                      // the shell that reads the script is not interactive
}

func (x *reader) result() Reading {
	switch {
	case !x.speak || x.r.Opaque:
	case x.fits:
		x.r.Spoken = x.text
	default:
		x.r.Opaque, x.r.Long = true, true
	}
	x.r.Destructive = x.r.Destructive || x.r.Opaque || x.r.Deletes || x.r.Protected || len(x.r.Overwrites) > 0
	return x.r
}

// opaque records that something would run that the text does not show.
func (x *reader) opaque() { x.r.Opaque = true }

// visible records text with characters that are not seen.
func (x *reader) visible(text string) {
	if hasInvisible(text) {
		x.opaque()
		x.fits = false
	}
}

// script analyzes the text of a script.
func (x *reader) script(text string) *syntax.File {
	x.texts++
	if x.depth >= maxDepth || x.texts > maxTexts || len(text) > maxText {
		x.opaque()
		return nil
	}
	x.visible(text)
	if foreign.MatchString(text) || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
		x.opaque()
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		x.opaque()
	}
	if file == nil {
		return nil
	}
	src, sure, fed := x.src, x.sure, x.fed
	x.src, x.sure, x.fed = text, inSequence(file) && (x.depth == 0 || x.sure), x.fed || x.stdin
	if x.piped == nil {
		x.piped = map[*syntax.CallExpr]bool{}
	}
	x.depth++
	syntax.Walk(file, x.node)
	x.depth--
	x.src, x.sure, x.fed = src, sure, fed
	if err != nil {
		return nil
	}
	return file
}

// inSequence reports whether a script is a list of commands of which each runs only
// after the one before it succeeded.
func inSequence(file *syntax.File) bool {
	if len(file.Stmts) != 1 {
		return false
	}
	sure := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			sure = sure && n.Op == syntax.AndStmt
		case *syntax.Stmt:
			sure = sure && !n.Background && !n.Coprocess
		case *syntax.Subshell, *syntax.Block, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.FuncDecl, *syntax.CmdSubst, *syntax.ProcSubst:
			sure = false
		}
		return sure
	})
	return sure
}

// node visits a node of a script and its descendants.
func (x *reader) node(n syntax.Node) bool {
	if !x.alike(n) {
		x.opaque()
	}
	switch n := n.(type) {
	case *syntax.Stmt:
		x.redirections(n)
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			x.pipe(n.Y)
		}
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			x.stdin = x.fed || x.piped[n]
			x.run(x.args(n.Args))
		}
	case *syntax.Assign:
		x.assign(n)
	case *syntax.DeclClause:
		x.program(n.Variant.Value)
	case *syntax.LetClause:
		x.program("let")
	case *syntax.TimeClause:
		x.program("time")
		if n.Stmt == nil { // without the word of the shell, a program of that name
			x.opaque()
		}
	case *syntax.CoprocClause:
		x.program("coproc")
	}
	return true
}

// pipe records that a statement reads what another program writes, or a file.
func (x *reader) pipe(s *syntax.Stmt) {
	syntax.Walk(s, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			x.piped[call] = true
		}
		return true
	})
}

// name matches ordinary program names. Letters of other scripts are excluded because
// they may look like these.
var name = regexp.MustCompile(`^[A-Za-z0-9_.+@:/~-]+$`)

// program adds a name.
func (x *reader) program(p string) {
	if p == "" {
		x.opaque()
		return
	}
	if !name.MatchString(p) && p != "[" || len(p) > maxName {
		x.opaque()
	}
	x.add(p)
}

// withSubcommand matches the name of a program of the table with its subcommands.
var withSubcommand = regexp.MustCompile(`^([A-Za-z0-9_.+@:/~-]+|\[)( [a-z][a-z0-9-]{0,29})*$`)

// subprogram adds a program of the table, with its subcommands.
func (x *reader) subprogram(p string) {
	if !withSubcommand.MatchString(p) || len(p) > maxName {
		x.opaque()
	}
	x.add(p)
}

// maxName is the longest name of a program or a file that is spoken, in bytes.
const maxName = 40

func (x *reader) add(p string) {
	if !x.seen[p] {
		x.seen[p] = true
		x.r.Programs = append(x.r.Programs, p)
	}
}

// assign checks an assignment of a script.
func (x *reader) assign(n *syntax.Assign) {
	if n.Name == nil { // export computes its name
		x.opaque()
		return
	}
	value, known := "", n.Array == nil && n.Index == nil && !n.Append && (!n.Naked || n.Value == nil)
	if n.Value != nil {
		a := x.arg(n.Value)
		value, known = a.text, known && a.known
	}
	x.variable(n.Name.Value, arg{text: value, known: known})
}

// variables lists the environment variables that are understood: they change how a
// program works and what it prints, and not what it runs.
var variables = words(`CI DEBUG NO_COLOR FORCE_COLOR CLICOLOR GOOS GOARCH GOMAXPROCS GORACE CGO_ENABLED NODE_ENV LANG LC_ALL TZ PORT
	RUST_BACKTRACE RUST_LOG COLUMNS VERBOSE LOG_LEVEL PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RAILS_ENV RACK_ENV APP_ENV FLASK_ENV V`)

func words(list string) set {
	s := set{}
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}

var plainValue = regexp.MustCompile(`^[A-Za-z0-9_.,@+-]*$`)

// variable checks an assignment, which is spoken.
func (x *reader) variable(name string, value arg) {
	x.speak = true
	if !variables[name] || !value.known || !plainValue.MatchString(value.text) {
		x.opaque()
	}
}

// redirections collects the files that a statement reads and writes.
func (x *reader) redirections(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.RdrClob, syntax.RdrInOut, syntax.RdrAll, syntax.RdrAllClob, syntax.DplOut:
			if a := x.arg(r.Word); r.Op != syntax.DplOut || !descriptor.MatchString(a.text) {
				x.file(a, &x.r.Overwrites)
			}
		case syntax.AppOut, syntax.AppClob, syntax.AppAll, syntax.AppAllClob:
			x.file(x.arg(r.Word), &x.r.Writes)
		case syntax.RdrIn, syntax.DplIn:
			if a := x.arg(r.Word); r.Op != syntax.DplIn || !descriptor.MatchString(a.text) {
				x.pipe(s)
				x.reads(a)
			}
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			x.pipe(s)
			x.input(s, r)
		}
	}
}

// file records a file that is written or deleted.
func (x *reader) file(file arg, in *[]string) {
	text := x.local(file.text)
	switch {
	case !file.known:
		x.opaque()
		return
	case text == "{}": // a file that find finds
		x.speak, x.r.Destructive = true, true
		return
	case harmlessFiles.MatchString(text):
		return
	case x.left, outside(text), protected.MatchString(text):
		x.r.Protected = true
	case text != "" && x.folder != "":
		text = path.Join(x.folder, text)
		x.r.Protected = x.r.Protected || outside(text) || protected.MatchString(text)
	}
	if file.pattern || !x.hasName(text) {
		x.speak = true
	}
	x.letters(text)
	if !slices.Contains(*in, text) {
		*in = append(*in, text)
	}
}

// fileName matches a name of a file that can be said by itself.
var fileName = regexp.MustCompile(`^[\pL\pN._@+-]+( [\pL\pN._@+-]+)*$`)

// hasName reports whether a path ends with such a name.
func (x *reader) hasName(file string) bool {
	if x.shell == Windows {
		file = strings.ReplaceAll(file, `\`, "/")
	}
	base := path.Base(file)
	return len(base) <= maxName && fileName.MatchString(base) && !strings.Contains(file, `\`)
}

// letters checks the letters of a name.
func (x *reader) letters(text string) {
	if isASCII(text) {
		return
	}
	x.speak = true
	if strings.ContainsFunc(text, lookalike) {
		x.opaque()
	}
}

// input analyzes a script that a shell reads from standard input.
func (x *reader) input(s *syntax.Stmt, r *syntax.Redirect) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	if p := programs()[path.Base(x.arg(call.Args[0]).text)]; p == nil || !p.is["shell"] {
		return
	}
	body := r.Hdoc
	if r.Op == syntax.WordHdoc {
		body = r.Word
	}
	if body != nil {
		x.inner(x.arg(body))
	}
}

// inner analyzes a word that is a script.
func (x *reader) inner(a arg) {
	if !a.known {
		x.opaque()
	}
	x.script(a.text)
}

// arg is a word as a program receives it. If its value is unknown, text is its source
// in the script.
type arg struct {
	text    string
	known   bool
	pattern bool // it may expand to other words
	leading bool // and these may be options
}

func (x *reader) args(words []*syntax.Word) []arg {
	out := make([]arg, 0, len(words))
	for _, w := range words {
		out = append(out, x.arg(w))
	}
	return out
}

func (x *reader) arg(w *syntax.Word) arg {
	a := arg{known: true}
	var b strings.Builder
	x.parts(&b, &a, w.Parts, false)
	a.text = b.String()
	return a
}

// expands matches a literal that is a pattern, a brace expansion or, in Zsh, the path of
// a program.
var expands = regexp.MustCompile(`^(=|([^\\*?\[{]|\\.)*[*?\[{])`)

func (x *reader) parts(b *strings.Builder, a *arg, parts []syntax.WordPart, quoted bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if !quoted && p.Value != "{}" && expands.MatchString(p.Value) {
				a.pattern = true
				a.leading = a.leading || b.Len() == 0 && strings.ContainsAny(p.Value[:1], "*?[{=")
			}
			b.WriteString(unescape(p.Value, quoted))
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				a.known = false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			a.known = a.known && !p.Dollar // it may be translated
			x.parts(b, a, p.Parts, true)
		default:
			a.known = false
			if from, to := p.Pos().Offset(), p.End().Offset(); from <= to && to <= uint(len(x.src)) {
				b.WriteString(x.src[from:to])
			}
		}
	}
}

// unescape removes the backslashes from a literal. Inside quotes a backslash escapes
// only characters that are special there.
func unescape(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
