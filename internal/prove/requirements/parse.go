package requirements

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// requirement is one requirement of the specifications.
type requirement struct {
	id, text   string
	group      string
	line       int
	proofs     []proof
	also       []mention
	owed       []string // what is missing, one per line
	superseded string   // why it no longer applies
	about      string   // aboutProduct or aboutCore; "" if unknown
}

// What a requirement is about: the product as users see it, or the design of the core.
const (
	aboutProduct = "product"
	aboutCore    = "core"
)

// proof is a test that fails if the requirement does not hold.
type proof struct {
	pkg  string   // folder relative to the root
	test string   // including subtests, TestX/sub
	file string   // file of a scenario,
	name string   // and its name; both "" for a test
	mut  []string // mutants under which it fails
	line int
}

// mention is a test in another language, or of another kind, that covers the
// requirement too: a text that a file contains.
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

// status is proved if there are proofs and nothing is missing, and owed as long as
// anything is missing.
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

// parse parses the list. A line that starts with == names a group; a line that starts
// with an id is a requirement in our own words; the indented lines below it say what
// is known about it:
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
// "about product" means that the requirement is about what users see: it counts as
// proved only if one of its proofs runs the live daemon or the extension (runs.go).
// "about core" means that it is about the design of the core. Below a group, before
// its first id, the line applies to all ids of the group without their own.
//
// A line may continue on further lines with deeper indentation. Lines that start with
// # are comments.
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
				fail(l.no, "%s is already on line %d", m[1], list[i].line)
			}
			list = append(list, requirement{id: m[1], text: m[2], group: group, line: l.no, about: about})
			continue
		}
		if of, ok := strings.CutPrefix(l.text, "about "); ok && (len(list) == 0 || list[len(list)-1].group != group) {
			if about = strings.TrimSpace(of); about != aboutProduct && about != aboutCore {
				fail(l.no, "the group %s is about %q; use about product or about core", group, about)
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
			fail(r.line, "%s is superseded, but also proved or owed; remove one of them", r.id)
		}
	}
	return list, problems
}

// logical is a line of the list including its continuation lines.
type logical struct {
	no       int
	indented bool
	text     string
}

func joined(text string) (out []logical) {
	depth := 0 // indentation of the last line
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

// add parses a line about the requirement.
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
			return fmt.Errorf("%q is not of the form: also FILE \"TEXT IN IT\"", l.text)
		}
		r.also = append(r.also, mention{path, text[1 : len(text)-1], l.no})
	case "about":
		if rest != aboutProduct && rest != aboutCore {
			return fmt.Errorf("about %q; use about product or about core", rest)
		}
		r.about = rest
	case owed:
		if rest == "" {
			return fmt.Errorf("owed without a description of what is missing; add it to the line")
		}
		r.owed = append(r.owed, rest)
	case superseded:
		if rest == "" {
			return fmt.Errorf("superseded without a reason; add it to the line")
		}
		r.superseded = rest
	default:
		return fmt.Errorf("%q starts with none of proved, also, owed, superseded, about", l.text)
	}
	return nil
}

var proofTest = regexp.MustCompile(`^([a-z0-9/-]+):(Test[A-Za-z0-9_]+(/.+)?)$`)

// parseProof parses PACKAGE:TEST under MUTANT, MUTANT or scenario NAME under ....
func parseProof(text string) (proof, error) {
	what, under, ok := strings.Cut(text, " under ")
	p := proof{}
	for name := range strings.SplitSeq(under, ",") {
		if name = strings.TrimSpace(name); name != "" {
			p.mut = append(p.mut, name)
		}
	}
	if !ok || len(p.mut) == 0 {
		return p, fmt.Errorf("%q names no mutant; add \"under NAME\" with a mutant that makes the test fail", text)
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
