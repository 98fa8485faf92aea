// Package shellcmd determines what a shell command would run, so that the user can be
// asked for approval before it runs.
//
// # Model
//
// Read parses a command like Bash and collects every program that it names: in
// pipelines, lists, subshells, substitutions and loops, and as arguments of wrappers
// such as sudo, xargs, find -exec or bash -c. It errs on the safe side: anything that
// the text does not determine makes the reading Opaque, and a program that is known
// to delete or overwrite makes it Destructive. It never guesses that something is
// harmless.
//
// # Invariants
//
//   - Every word in command position whose value is visible in the text is in Programs.
//   - An Opaque reading is Destructive.
package shellcmd

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Reading is the result of analyzing a command.
type Reading struct {
	// Programs lists the program names, without folders, once each and in text order.
	// Those of git, go and the like include the subcommand.
	Programs []string
	// Overwrites lists the files that redirections and options replace.
	Overwrites []string
	// Deletes: a program removes files or other data.
	Deletes bool
	// Destructive: the effects may be irreversible.
	Destructive bool
	// Opaque: the text does not show everything that would run.
	Opaque bool
}

// Shell is the shell that would run a command.
type Shell int

// The shells.
const (
	Posix Shell = iota // sh, Bash, Zsh and similar shells
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

// Read analyzes a command line or a script.
func Read(text string, shell Shell) Reading {
	x := &reader{seen: set{}}
	if shell == Windows && !plain.MatchString(text) {
		x.r.Opaque = true
	}
	x.script(text)
	return x.result()
}

// ReadWords analyzes a command given as words, which no shell expands.
func ReadWords(words []string) Reading {
	x := &reader{seen: set{}}
	args := make([]arg, 0, len(words))
	for _, w := range words {
		args = append(args, arg{text: w, known: true})
	}
	x.run(args)
	return x.result()
}

// plain matches texts that PowerShell, cmd and Bash interpret the same way.
var plain = regexp.MustCompile(`^[\w./:=@,+ "';|&<>-]*$`)

// foreign matches syntax of PowerShell and cmd.
var foreign = regexp.MustCompile(`\$env:|%[A-Za-z_]{3,}%`)

// hidden matches characters that are invisible or change how the text is displayed.
var hidden = regexp.MustCompile(`[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{80}-\x{9f}\x{ad}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}\x{e0000}-\x{e0fff}\x{fffd}]`)

// reader collects a Reading.
type reader struct {
	r      Reading
	seen   set // programs
	depth  int // nesting of texts
	texts  int
	nested int    // nesting of run
	src    string // text that is being parsed
}

func (x *reader) result() Reading {
	x.r.Destructive = x.r.Destructive || x.r.Opaque || x.r.Deletes || len(x.r.Overwrites) > 0
	return x.r
}

func (x *reader) opaque() { x.r.Opaque = true }

// script analyzes the text of a script.
func (x *reader) script(text string) {
	x.texts++
	if x.depth >= maxDepth || x.texts > maxTexts || len(text) > maxText {
		x.opaque()
		return
	}
	if hidden.MatchString(text) || foreign.MatchString(text) || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
		x.opaque()
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		x.opaque()
	}
	if file == nil {
		return
	}
	src := x.src
	x.src = text
	x.depth++
	syntax.Walk(file, x.node)
	x.depth--
	x.src = src
}

// node visits a node of a script and its descendants.
func (x *reader) node(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Stmt:
		x.redirections(n)
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			x.run(x.args(n.Args))
		}
	case *syntax.Assign:
		if n.Name != nil {
			x.variable(n.Name.Value)
		}
	case *syntax.DeclClause:
		x.program(n.Variant.Value)
	case *syntax.LetClause:
		x.program("let")
	case *syntax.TimeClause:
		x.program("time")
	case *syntax.CoprocClause:
		x.program("coproc")
	case *syntax.FuncDecl:
		if n.Name != nil && !name.MatchString(n.Name.Value) {
			x.opaque()
		}
	case *syntax.Lit:
		if history.MatchString(n.Value) {
			x.opaque()
		}
	}
	return true
}

// history matches history expansion of interactive shells.
var history = regexp.MustCompile(`![A-Za-z0-9!$?#-]`)

// name matches ordinary program names. Letters of other scripts are excluded because
// they may look like these.
var name = regexp.MustCompile(`^[A-Za-z0-9_.+@:-]+$`)

// program adds a name, followed by the subcommand if there is one.
func (x *reader) program(p string, sub ...string) {
	if p == "" {
		x.opaque()
		return
	}
	if !name.MatchString(p) && p != "[" || len(p) > maxName {
		x.opaque()
	}
	x.add(strings.Join(append([]string{p}, sub...), " "))
}

// maxName is the longest program name that is spoken, in bytes.
const maxName = 40

func (x *reader) add(p string) {
	if !x.seen[p] {
		x.seen[p] = true
		x.r.Programs = append(x.r.Programs, p)
	}
}

// variables lists environment variables that change which programs run.
var variables = regexp.MustCompile(`^(PATH|IFS|ENV|BASH_ENV|SHELLOPTS|PROMPT_COMMAND|PS4|PAGER|EDITOR|VISUAL|SHELL|LD_.*|DYLD_.*|GIT_.*|NODE_OPTIONS|PYTHON.*|PERL5.*|RUBY.*)$`)

func (x *reader) variable(v string) {
	if variables.MatchString(v) {
		x.opaque()
	}
}

// redirections collects the files that a statement replaces.
func (x *reader) redirections(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.RdrClob, syntax.RdrInOut, syntax.RdrAll, syntax.RdrAllClob, syntax.DplOut:
			if a := x.arg(r.Word); r.Op != syntax.DplOut || !descriptor.MatchString(a.text) {
				x.overwrite(a)
			}
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			x.input(s, r)
		}
	}
}

var descriptor = regexp.MustCompile(`^[0-9]*-?$`)

// overwrite records that a file is replaced.
func (x *reader) overwrite(file arg) {
	switch {
	case file.known && (strings.HasPrefix(file.text, "/dev/std") || strings.HasPrefix(file.text, "/dev/fd/") || file.text == "/dev/null" || file.text == "/dev/tty" || file.text == "-"):
	case !slices.Contains(x.r.Overwrites, file.text):
		x.r.Overwrites = append(x.r.Overwrites, file.text)
	}
}

// input analyzes a script that a shell reads from standard input.
func (x *reader) input(s *syntax.Stmt, r *syntax.Redirect) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || !shells[key(x.arg(call.Args[0]).text)] {
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

func (x *reader) parts(b *strings.Builder, a *arg, parts []syntax.WordPart, quoted bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if !quoted && (strings.ContainsAny(p.Value, "*?[{") || strings.HasPrefix(p.Value, "=")) {
				a.pattern = true
			}
			b.WriteString(unescape(p.Value, quoted))
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				a.known = false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
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
