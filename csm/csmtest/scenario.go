package csmtest

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Scenario is one conversation in a scenario file.
type Scenario struct {
	File   string // path of the file
	Line   int    // line of its start
	Name   string // FILE or FILE/NAME, without folder and extension
	Title  string // first comment, "" if none
	Proves []string

	lines  []line // starting with the file's prelude
	golden []string
}

// line is a line of a scenario that has an effect.
type line struct {
	no      int
	text    string
	prelude bool // precedes the first scenario and applies to all
}

// Markers in a scenario file.
const (
	markScenario = "---"
	markGolden   = ">>>"
	markProves   = "proves:"
)

// Scenarios reads all scenario files below a root, in order of their names.
func Scenarios(fsys fs.FS) ([]Scenario, error) {
	var out []Scenario
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(p) != ".txt" {
			return err
		}
		b, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		s, err := Parse(p, string(b))
		out = append(out, s...)
		return err
	})
	return out, err
}

// Parse parses the scenarios of one file.
func Parse(file, text string) ([]Scenario, error) {
	base := strings.TrimSuffix(path.Base(file), ".txt")
	all := Scenario{File: file, Name: base, Line: 1} // the prelude of all scenarios
	var out []Scenario
	cur, inGolden := &all, false
	for i, text := range strings.Split(text, "\n") {
		text = strings.TrimRight(text, " \t")
		name, mark := strings.CutPrefix(text, markScenario)
		switch {
		case mark:
			if name = strings.TrimSpace(name); name == "" {
				return nil, fmt.Errorf("%s:%d: the scenario has no name; write \"--- name\"", file, i+1)
			}
			if len(out) == 0 {
				for j := range all.lines {
					all.lines[j].prelude = true
				}
			}
			out = append(out, Scenario{File: file, Line: i + 1, Name: base + "/" + strings.ReplaceAll(name, " ", "-"), Title: name,
				Proves: slices.Clone(all.Proves), lines: slices.Clone(all.lines)})
			cur, inGolden = &out[len(out)-1], false
		case text == markGolden:
			inGolden = true
		case inGolden:
			cur.golden = append(cur.golden, text)
		default:
			cur.read(i+1, text)
		}
	}
	if len(out) == 0 {
		out = []Scenario{all}
	}
	for i := range out {
		for n := len(out[i].golden); n > 0 && out[i].golden[n-1] == ""; n-- {
			out[i].golden = out[i].golden[:n-1]
		}
	}
	return out, nil
}

func (s *Scenario) read(no int, text string) {
	text = strings.TrimSpace(text)
	if ids, ok := strings.CutPrefix(text, markProves); ok {
		s.Proves = append(s.Proves, strings.Fields(ids)...)
		return
	}
	if c, ok := strings.CutPrefix(text, "#"); ok {
		if s.Title == "" {
			s.Title = strings.TrimSpace(c)
		}
		return
	}
	if text != "" {
		s.lines = append(s.lines, line{no: no, text: text})
	}
}

// rewrite returns the text of a file with new golden traces.
func rewrite(text string, traces [][]string) string {
	var out []string
	n, inGolden := -1, false
	named := strings.HasPrefix(text, markScenario+" ") || strings.Contains(text, "\n"+markScenario+" ")
	if !named {
		n = 0
	}
	flush := func() {
		for len(out) > 0 && out[len(out)-1] == "" {
			out = out[:len(out)-1]
		}
		if n >= 0 {
			out = append(append(out, markGolden), traces[n]...)
		}
		out = append(out, "")
	}
	for _, l := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(l, markScenario):
			flush()
			out = append(out, l)
			n, inGolden = n+1, false
		case strings.TrimSpace(l) == markGolden:
			inGolden = true
		case !inGolden:
			out = append(out, strings.TrimRight(l, " \t"))
		}
	}
	flush()
	return strings.Join(out, "\n")
}
