package shellcmd

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var (
	// history matches history expansion of interactive shells.
	history = regexp.MustCompile(`![A-Za-z0-9!$?#-]`)
	// descriptor matches the number of a file, or that it is closed.
	descriptor = regexp.MustCompile(`^([0-9]|-)$`)
	// zshRange matches what is a redirection in Bash, and a pattern of numbers in Zsh.
	zshRange = regexp.MustCompile(`^[0-9]*-[0-9]*$`)
)

// alike reports whether sh (such as dash), Bash and Zsh read a node the same way, and
// nothing in it sets or computes something for what follows. It is an allow-list: the
// shell that will run a command is not known.
func (x *reader) alike(n syntax.Node) bool {
	switch n := n.(type) {
	case nil, *syntax.File, *syntax.Subshell, *syntax.Block, *syntax.IfClause, *syntax.WhileClause, *syntax.CaseClause,
		*syntax.CallExpr, *syntax.TimeClause, *syntax.Assign, *syntax.Word:
		return true
	case *syntax.Stmt:
		return !n.Coprocess && !n.Disown
	case *syntax.BinaryCmd:
		return n.Op == syntax.AndStmt || n.Op == syntax.OrStmt || n.Op == syntax.Pipe
	case *syntax.CaseItem:
		return n.Op == syntax.Break
	case *syntax.Redirect:
		return x.alikeRedirect(n)
	case *syntax.DeclClause:
		return n.Variant.Value == "export"
	case *syntax.Comment: // Zsh runs it when it is interactive
		return x.batch
	case *syntax.Lit:
		return !history.MatchString(n.Value)
	case *syntax.SglQuoted: // fish escapes the quote
		return !n.Dollar && !strings.HasSuffix(n.Value, `\`)
	case *syntax.DblQuoted:
		return !n.Dollar
	}
	return false
}

// alikeRedirect is alike for a redirection. One of a name in braces sets a variable.
func (x *reader) alikeRedirect(r *syntax.Redirect) bool {
	if r.N != nil && !descriptor.MatchString(r.N.Value) {
		return false
	}
	switch text := x.arg(r.Word).text; r.Op {
	case syntax.RdrOut, syntax.RdrClob, syntax.RdrInOut, syntax.AppOut:
		return !strings.HasPrefix(text, "!") // Zsh overwrites the next word
	case syntax.RdrIn:
		return !zshRange.MatchString(text)
	case syntax.DplIn, syntax.DplOut:
		return descriptor.MatchString(text)
	case syntax.Hdoc, syntax.DashHdoc:
		return true
	}
	return false
}
