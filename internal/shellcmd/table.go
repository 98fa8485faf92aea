package shellcmd

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed programs.txt
var programsText string

// programs returns the table of the programs that are understood, by name and
// subcommands. It is parsed when the first command is read.
var programs = sync.OnceValue(func() map[string]*row { return parseTable(programsText) })

// set is a set of words.
type set map[string]bool

// row says what a program does with its arguments. programs.txt explains the fields.
type row struct {
	name    string // of the program, with its subcommands
	options map[string]option
	first   []byte // kinds of the first positional arguments
	last    byte   // kind of the last one, 0 if it has none of its own
	others  byte   // kind of the others, 0 if there are none
	is      set    // attributes
}

// option is an option of a program.
type option struct {
	kind   byte // of its value, 0 if it has none
	joined bool // the value is part of the word
	final  bool // it cannot be undone
	writes bool // the positional arguments are overwritten
	ends   bool // the program ends before it runs anything
}

const (
	attributes = " reads click say final deletes anywhere golong subs runs versions posix stdin scripts alone assigns closed find shell xargs remote eval "
	kinds      = "tnwadmfFsxSAMTbypckPi"
)

func parseTable(text string) map[string]*row {
	table := map[string]*row{}
	for n, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		names, tokens, more := strings.Cut(line, ": ")
		if !more {
			names = strings.TrimSuffix(names, ":")
		}
		r := parseRow(strings.Fields(tokens), n+1)
		for _, name := range strings.Split(names, ", ") {
			name = strings.Trim(name, `"`)
			if table[name] != nil {
				panic(fmt.Sprintf("programs.txt:%d: %s has two rows", n+1, name))
			}
			of := *r
			of.name = name
			table[name] = &of
		}
	}
	return table
}

func parseRow(tokens []string, line int) *row {
	r := &row{options: map[string]option{}, is: set{}}
	for _, t := range tokens {
		if t[0] != '-' && strings.Contains(attributes, " "+t+" ") {
			r.is[t] = true
		}
	}
	for _, t := range tokens {
		switch {
		case r.is[t]:
		case t[0] == '-' && len(t) > 1:
			r.option(t)
		case len(t) == 2 && strings.IndexByte(kinds, t[1]) >= 0 && t[0] == '*':
			r.others = t[1]
		case len(t) == 2 && strings.IndexByte(kinds, t[1]) >= 0 && t[0] == '$':
			r.last = t[1]
		case len(t) == 2 && strings.IndexByte(kinds, t[1]) >= 0 && t[0] == byte('1'+len(r.first)):
			r.first = append(r.first, t[1])
		default:
			panic(fmt.Sprintf("programs.txt:%d: %q has no meaning", line, t))
		}
	}
	return r
}

// option adds the options of a token.
func (r *row) option(t string) {
	var o option
	if rest, ok := strings.CutSuffix(t, "^"); ok {
		t, o.writes = rest, true
	}
	if rest, ok := strings.CutSuffix(t, "%"); ok {
		t, o.ends = rest, true
	}
	if rest, ok := strings.CutSuffix(t, "!"); ok {
		t, o.final = rest, true
	}
	if n := len(t); n > 3 && (t[n-2] == '=' || t[n-2] == '?') {
		o.kind, o.joined = t[n-1], t[n-2] == '?'
		if strings.IndexByte(kinds, o.kind) < 0 {
			panic("programs.txt: " + t + " has no kind")
		}
		r.options[t[:n-2]] = o
		return
	}
	if strings.HasPrefix(t, "--") || r.is["golong"] {
		r.options[t] = o
		return
	}
	for i := 1; i < len(t); i++ {
		r.options["-"+t[i:i+1]] = o
	}
}
