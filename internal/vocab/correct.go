package vocab

import (
	"slices"
	"strings"
	"unicode"
)

// Kind is the origin of a name.
type Kind string

// The kinds. Own names come from the user's list, List from a workspace's. Only own names are
// trusted.
const (
	Own        Kind = "own"
	List       Kind = "list"
	Open       Kind = "open" // the open file and its symbols
	Symbol     Kind = "symbol"
	File       Kind = "file"
	Branch     Kind = "branch"
	Dependency Kind = "dependency"
)

// Term is a name in its written form.
type Term struct {
	Text string `json:"text"`
	Kind Kind   `json:"kind"`
}

// Replacement is a user rule that always replaces heard words.
type Replacement struct{ Heard, Written string }

// Change is a run of heard words that was replaced.
type Change struct{ Heard, Written string }

// Vocabulary finds names in transcripts. The zero value contains no names.
type Vocabulary struct {
	terms        []Term
	forms        []form   // in order of the weight of their sound
	keys         []string // of the terms; names with equal keys are pronounced alike
	written      map[string]bool
	replacements []replacement
	undone       map[Change]bool // changes that are not made, with normal(Heard)
}

// form is a spoken form of a name.
type form struct {
	term     int
	sound    string
	weight   float64
	spelling string // spelling without spaces
	words    []string
	common   bool // consists of ordinary words
	profile  profile
}

type replacement struct {
	heard   []string
	written string
}

// maxWords limits the words of a spoken form.
const maxWords = 12

// New makes a vocabulary. Of names that sound the same, the first takes precedence.
func New(terms []Term, replacements []Replacement) *Vocabulary {
	v := &Vocabulary{written: map[string]bool{}}
	for _, t := range terms {
		if v.written[t.Text] || len(words(t.Text)) == 0 {
			continue
		}
		v.written[t.Text] = true
		v.terms, v.keys = append(v.terms, t), append(v.keys, strings.Join(words(t.Text), " "))
		for _, said := range forms(t.Text) {
			v.forms = append(v.forms, newForm(len(v.terms)-1, said))
		}
	}
	for _, r := range replacements {
		if heard := heardWords(r.Heard); len(heard) > 0 {
			v.replacements = append(v.replacements, replacement{heard, r.Written})
		}
	}
	slices.SortStableFunc(v.replacements, func(a, b replacement) int { return len(b.heard) - len(a.heard) })
	slices.SortStableFunc(v.forms, func(a, b form) int {
		switch {
		case a.weight < b.weight:
			return -1
		case a.weight > b.weight:
			return 1
		}
		return a.term - b.term
	})
	return v
}

func newForm(term int, said string) form {
	parts := strings.Fields(said)
	f := form{term: term, words: parts, spelling: strings.Join(parts, ""), common: true}
	for _, p := range parts {
		f.sound += sound(p)
		f.common = f.common && (ordinary(p) || isDigits(p))
	}
	f.weight, f.profile = weight(f.sound), profileOf(f.sound)
	return f
}

// Without returns a vocabulary that does not make the given changes: those words stay as
// heard, whatever their case and punctuation.
func (v *Vocabulary) Without(undone []Change) *Vocabulary {
	if v == nil {
		return nil
	}
	w := *v
	w.undone = map[Change]bool{}
	for _, c := range undone {
		w.undone[Change{normal(c.Heard), c.Written}] = true
	}
	return &w
}

// normal returns heard words in lower case, without punctuation.
func normal(text string) string {
	var parts []string
	for _, w := range heard(text) {
		parts = append(parts, w.parts...)
	}
	return strings.Join(parts, " ")
}

// Terms returns the names in order of importance, for hot words and prompts.
func (v *Vocabulary) Terms() []Term {
	if v == nil {
		return nil
	}
	return v.terms
}

// word is a heard word and its position.
type word struct {
	from, to int // byte range in the text, without punctuation
	parts    []string
	sound    string
	text     string // the parts joined
	known    bool   // already a written name, or replaced
	common   bool
}

// heardWords returns the words of a text, normalised for comparison.
func heardWords(text string) (out []string) {
	for _, w := range heard(text) {
		out = append(out, strings.Join(w.parts, ""))
	}
	return out
}

// heard returns the words of a text, split at spaces.
func heard(text string) (out []word) {
	at := 0
	for at < len(text) {
		n := strings.IndexFunc(text[at:], unicode.IsSpace)
		if n < 0 {
			n = len(text) - at
		}
		if n > 0 {
			field := text[at : at+n]
			inner := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
			if inner != "" {
				from := at + strings.Index(field, inner)
				w := word{from: from, to: from + len(inner), common: true}
				for _, p := range words(strings.ReplaceAll(strings.ReplaceAll(inner, "'", ""), "’", "")) {
					w.parts = append(w.parts, p)
					w.sound += sound(p)
					w.common = w.common && (ordinary(p) || isDigits(p))
				}
				w.text = strings.Join(w.parts, "")
				if w.text != "" {
					out = append(out, w)
				}
			}
		}
		at += n + 1
	}
	return out
}

// Correct replaces words that sound like a name with the name, writes numbers in digits
// where code has them, and returns the changes.
func (v *Vocabulary) Correct(text string) (string, []Change) {
	if v == nil {
		return text, nil
	}
	said := heard(text)
	own := v.own(said)
	v.mark(said, text, own)
	var likely []match
	for _, m := range v.matches(said) {
		if m.features.likely() > sure && v.keepsMeaning(said, m) {
			likely = append(likely, m)
		}
	}
	return v.rewrite(text, said, own, likely)
}

// change is a replacement of a range of words.
type change struct {
	from, to int // words
	written  string
}

// own returns the changes from the user's replacements.
func (v *Vocabulary) own(said []word) (out []change) {
	replaced := make([]bool, len(said))
	for _, r := range v.replacements {
		for i := 0; i+len(r.heard) <= len(said); i++ {
			fits := true
			for j, h := range r.heard {
				fits = fits && !replaced[i+j] && said[i+j].text == h
			}
			if fits {
				for j := range r.heard {
					replaced[i+j] = true
				}
				out = append(out, change{i, i + len(r.heard), r.written})
			}
		}
	}
	return out
}

// mark marks the words that need no correction.
func (v *Vocabulary) mark(said []word, text string, own []change) {
	for i := range said {
		name := text[said[i].from:said[i].to]
		said[i].known = v.written[name] && name != said[i].text
	}
	for _, c := range own {
		for i := c.from; i < c.to; i++ {
			said[i].known = true
		}
	}
}

// rewrite applies the user's own changes, each match that does not overlap a match with
// more evidence, and the numbers that overlap neither.
func (v *Vocabulary) rewrite(text string, said []word, own []change, matches []match) (string, []Change) {
	taken := slices.Clone(own)
	take := func(made change) {
		if !slices.ContainsFunc(taken, func(c change) bool { return made.from < c.to && c.from < made.to }) {
			taken = append(taken, made)
		}
	}
	slices.SortStableFunc(matches, stronger)
	for _, m := range matches {
		take(change{m.from, m.to, v.terms[m.term].Text})
	}
	for _, c := range spokenNumbers(text, said) {
		take(c)
	}
	slices.SortFunc(taken, func(a, b change) int { return a.from - b.from })
	var out strings.Builder
	var changes []Change
	at := 0
	for _, c := range taken {
		from, to := said[c.from].from, said[c.to-1].to
		if text[from:to] == c.written || v.undone[Change{normal(text[from:to]), c.written}] {
			continue
		}
		out.WriteString(text[at:from] + c.written)
		changes = append(changes, Change{text[from:to], c.written})
		at = to
	}
	out.WriteString(text[at:])
	return out.String(), changes
}
