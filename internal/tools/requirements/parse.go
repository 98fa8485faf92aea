package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// requirement is one promise of the specifications.
type requirement struct {
	id, text   string
	group      string
	line       int
	proofs     []proof
	also       []mention
	owed       []string // what is missing, each in a line
	superseded string   // why nothing has to hold any more
	about      string   // what it speaks of: aboutProduct or aboutCore; "" is not known
}

// What a requirement speaks of: what a user meets, or how the core is built.
const (
	aboutProduct = "product"
	aboutCore    = "core"
)

// proof is a test that fails when the requirement does not hold.
type proof struct {
	pkg  string   // folder from the root
	test string   // with its subtests, TestX/sub
	file string   // of a scenario, and
	name string   // its name, both "" for a test
	mut  []string // the mutants under which it fails
	line int
}

// mention is a test of another language or kind that shows the requirement too: a
// text that a file holds.
type mention struct {
	path, text string
	line       int
}

// The statuses.
const (
	proved     = "proved"
	owed       = "owed"
	superseded = "superseded"
)

// status is proved when there are proofs and nothing is missing; owed as long as
// anything is.
func (r requirement) status() string {
	switch {
	case len(r.owed) > 0:
		return owed
	case r.superseded != "":
		return superseded
	case len(r.proofs) > 0:
		return proved
	}
	return ""
}

func (p proof) String() string {
	if p.file != "" {
		return "scenario " + p.name
	}
	return p.pkg + ":" + p.test
}

var idLine = regexp.MustCompile(`^([A-Z]{2,3}-\d{3}|(?:\d{3}|design)\.[A-Za-z0-9._]+)\s+(\S.*)$`)

// parse reads the list. A line that begins with == names a group; one with an id
// begins a requirement, in words of our own; the indented lines below it say what
// is known of it:
//
//	REQ-002  Idle becomes Preparing only with a session and audio.
//	    proved csm:TestREQ002PreparingNeedsSessionAndDevices under start-without-audio
//	    proved scenario req-002-003-preparing under start-without-audio, start-without-session
//	    also   extension/test/acceptance.test.ts "AC-001"
//	SEC-002  Nothing is kept of a conversation where the user forbids it.
//	    about  product
//	    owed   the registry does not ask for the flag
//	CON-001  The machine runs in the extension host.
//	    superseded it runs in the daemon, beside the editor
//
// The line "about product" says that the requirement speaks of what a user meets:
// it is proved only where one of its proofs runs the live daemon or the extension
// (runs.go). "about core" says that it speaks of how the core is built. Below a
// group, before its first id, it holds for all ids of the group without one.
//
// A line may go on in further lines that are indented deeper. Lines that begin
// with # are comments.
func parse(path, text string) (list []requirement, problems []string) {
	fail := func(line int, format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%s:%d: %s", path, line, fmt.Sprintf(format, args...)))
	}
	group, about := "", ""
	for _, l := range joined(text) {
		if name, ok := strings.CutPrefix(l.text, "== "); ok {
			group, about = strings.TrimSpace(name), ""
			continue
		}
		if m := idLine.FindStringSubmatch(l.text); m != nil {
			if i := slices.IndexFunc(list, func(r requirement) bool { return r.id == m[1] }); i >= 0 {
				fail(l.no, "%s is in line %d already", m[1], list[i].line)
			}
			list = append(list, requirement{id: m[1], text: m[2], group: group, line: l.no, about: about})
			continue
		}
		if of, ok := strings.CutPrefix(l.text, "about "); ok && (len(list) == 0 || list[len(list)-1].group != group) {
			if about = strings.TrimSpace(of); about != aboutProduct && about != aboutCore {
				fail(l.no, "the group %s is about %q; write about product or about core", group, about)
			}
			continue
		}
		if !l.indented || len(list) == 0 {
			fail(l.no, "%q is neither a group (== NAME), an id with its text (REQ-001 TEXT) nor an indented line below one", l.text)
			continue
		}
		if err := list[len(list)-1].add(l); err != nil {
			fail(l.no, "%s: %v", list[len(list)-1].id, err)
		}
	}
	for _, r := range list {
		switch {
		case r.status() == "":
			fail(r.line, "%s has no status; add a line: proved PACKAGE:TEST under MUTANT, owed WHAT IS MISSING, or superseded WHY", r.id)
		case r.superseded != "" && len(r.owed)+len(r.proofs) > 0:
			fail(r.line, "%s is superseded and yet proved or owed; it can only be one of both", r.id)
		}
	}
	return list, problems
}

// logical is a line of the list with those that go on from it.
type logical struct {
	no       int
	indented bool
	text     string
}

func joined(text string) (out []logical) {
	depth := 0 // of the last line
	for i, raw := range strings.Split(text, "\n") {
		line := strings.TrimSpace(raw)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		indent := len(raw) - len(strings.TrimLeft(raw, " "))
		if depth > 0 && indent > depth {
			out[len(out)-1].text += " " + line
			continue
		}
		depth = indent
		out = append(out, logical{no: i + 1, indented: indent > 0, text: line})
	}
	return out
}

// add reads a line about the requirement.
func (r *requirement) add(l logical) error {
	word, rest, _ := strings.Cut(l.text, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case proved:
		p, err := parseProof(rest)
		p.line = l.no
		r.proofs = append(r.proofs, p)
		return err
	case "also":
		path, text, ok := strings.Cut(rest, " ")
		text = strings.TrimSpace(text)
		if n := len(text); !ok || n < 3 || text[0] != '"' || text[n-1] != '"' {
			return fmt.Errorf("%q is not: also FILE \"TEXT THAT IT HOLDS\"", l.text)
		}
		r.also = append(r.also, mention{path, text[1 : len(text)-1], l.no})
	case "about":
		if rest != aboutProduct && rest != aboutCore {
			return fmt.Errorf("about %q; write about product or about core", rest)
		}
		r.about = rest
	case owed:
		if rest == "" {
			return fmt.Errorf("owed without what is missing; say it in the line")
		}
		r.owed = append(r.owed, rest)
	case superseded:
		if rest == "" {
			return fmt.Errorf("superseded without the reason; say it in the line")
		}
		r.superseded = rest
	default:
		return fmt.Errorf("%q begins with none of proved, also, owed, superseded, about", l.text)
	}
	return nil
}

var proofTest = regexp.MustCompile(`^([a-z0-9/-]+):(Test[A-Za-z0-9_]+(/.+)?)$`)

// parseProof reads PACKAGE:TEST under MUTANT, MUTANT or scenario NAME under ....
func parseProof(text string) (proof, error) {
	what, under, ok := strings.Cut(text, " under ")
	p := proof{}
	for name := range strings.SplitSeq(under, ",") {
		if name = strings.TrimSpace(name); name != "" {
			p.mut = append(p.mut, name)
		}
	}
	if !ok || len(p.mut) == 0 {
		return p, fmt.Errorf("%q names no mutant; write \"under NAME\" with one that makes the test fail", text)
	}
	what = strings.TrimSpace(what)
	if name, ok := strings.CutPrefix(what, "scenario "); ok {
		base, _, _ := strings.Cut(name, "/")
		p.pkg, p.test, p.file, p.name = scenarioPkg, scenarioTest+"/"+base+".txt", base+".txt", name
		return p, nil
	}
	m := proofTest.FindStringSubmatch(what)
	if m == nil {
		return p, fmt.Errorf("%q is neither PACKAGE:TestName nor scenario NAME", what)
	}
	p.pkg, p.test = m[1], m[2]
	return p, nil
}
