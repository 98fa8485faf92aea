package vocab

import (
	"slices"
	"strings"
	"unicode"
)

// Kind says where a name comes from.
type Kind string

// The kinds. Own is from the user's list.
const (
	Own        Kind = "own"
	Open       Kind = "open" // the file that is open, and its symbols
	Symbol     Kind = "symbol"
	File       Kind = "file"
	Branch     Kind = "branch"
	Dependency Kind = "dependency"
)

// Term is a name as it is written.
type Term struct {
	Text string `json:"text"`
	Kind Kind   `json:"kind"`
}

// Replacement has words that were heard written in another way, always.
type Replacement struct{ Heard, Written string }

// Change is a run of heard words that was replaced.
type Change struct{ Heard, Written string }

// Vocabulary finds names in what was heard. The zero value has none.
type Vocabulary struct {
	terms        []Term
	forms        []form
	byWeight     []int // of forms, by the weight of their sound
	written      map[string]bool
	replacements []replacement
	exact        map[string]bool // spellings of forms
}

// form is a way to say a name.
type form struct {
	term     int
	sound    string
	weight   float64
	spelling string // without spaces
	words    int
	starts   string // its first word
	ends     string
	common   bool // all of its words are ordinary
	profile  profile
}

type replacement struct {
	heard   []string
	written string
}

// maxWords is the most words that a name is said in.
const maxWords = 12

// New makes a vocabulary. Of names that sound the same the first counts.
func New(terms []Term, replacements []Replacement) *Vocabulary {
	v := &Vocabulary{written: map[string]bool{}, exact: map[string]bool{}}
	for _, t := range terms {
		if v.written[t.Text] || len(words(t.Text)) == 0 {
			continue
		}
		v.written[t.Text] = true
		v.terms = append(v.terms, t)
		for _, said := range forms(t.Text) {
			f := newForm(len(v.terms)-1, said)
			v.forms, v.exact[f.spelling] = append(v.forms, f), true
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
	f := form{term: term, words: len(parts), spelling: strings.Join(parts, ""), starts: parts[0], ends: parts[len(parts)-1], common: true}
	for _, p := range parts {
		f.sound += sound(p)
		f.common = f.common && (ordinary(p) || isDigits(p))
	}
	f.weight, f.profile = weight(f.sound), profileOf(f.sound)
	return f
}

// Terms are the names, for hot words and prompts, those that count most first.
func (v *Vocabulary) Terms() []Term {
	if v == nil {
		return nil
	}
	return v.terms
}

// word is a word that was heard, and where.
type word struct {
	from, to int // in the text, without punctuation
	parts    []string
	sound    string
	text     string // the parts together
	known    bool   // is a name as it is written, or was replaced
	common   bool
}

// heardWords are the words of a text as they are compared.
func heardWords(text string) (out []string) {
	for _, w := range heard(text) {
		out = append(out, strings.Join(w.parts, ""))
	}
	return out
}

// heard are the words of a text. Text between spaces is one word.
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

// What speaks for a name and against it. The weights are of a logistic regression over
// the sets tune and tune2 of testdata (BenchmarkWeights); none is chosen by the set test.
const (
	fBias     = iota
	fWeight   // of the name's sound
	fDistance // of what was heard from it
	fSpelling // share of letters that differ
	fCued     // a word before it announces a name
	fEdges    // little words at an end of the run that the name does not have
	fSame     // the very words of a name of ordinary words
	fPlain    // ordinary words in the run
	fWords    // of the name
	numFeatures
)

type features [numFeatures]float64

// weights has a bias 1.5 below the one that was fitted, so that a name has to be four
// times as likely as none.
var weights = features{-5.48, 0.499, -2.026, -4.596, 1.827, -1.422, 0.248, 0.613, 0.939}

func (f features) score() (s float64) {
	for i, x := range f {
		s += x * weights[i]
	}
	return s
}

// furthest is the share of a sound beyond which a name is not looked at.
const furthest = 0.32

// cues announce a name, directly or before little words: "the function X", "jump to X".
var cues = set(`function func method class type struct interface variable constant field property file folder package module
	dependency library branch test tests symbol identifier named called call calls calling rename open import parameter argument
	enum trait component hook constructor macro command table column flag checkout merge rebase replace move delete explain
	definition declaration implementation callers usages usage references breakpoint jump inline refactor simplify instantiate uses`)

// kinds say of the name before them what it is: "the X function".
var kinds = set(`function func method class type struct interface variable constant field property file folder package module
	dependency library branch test tests parameter argument enum component hook constructor macro`)

// cued says whether the words around a run, from before to after, mark it as a name.
func cued(said []word, from, to int) bool {
	if to < len(said) && kinds[said[to].text] {
		return true
	}
	for i := from - 1; i >= max(0, from-3); i-- {
		if cues[said[i].text] {
			return true
		}
		if !little[said[i].text] {
			return false
		}
	}
	return false
}

// little words begin or end no name that was misheard.
var little = set(`the a an of in to and or is it i for on at by with this that as be do we you my me if so but are was not no
	from what how why where which please now then there here into can will would should could have has does did`)

func set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// match is a run of heard words and the name that it may be.
type match struct {
	from, to int // words
	term     int
	score    float64
	features features
}

// Correct replaces what sounds like a name by the name, and says what it changed.
func (v *Vocabulary) Correct(text string) (string, []Change) {
	if v == nil {
		return text, nil
	}
	said := heard(text)
	var taken []match
	replaced := make([]bool, len(said))
	written := map[int]string{}
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
				written[i] = r.written
				taken = append(taken, match{from: i, to: i + len(r.heard), term: -1})
			}
		}
	}
	for i := range said {
		name := text[said[i].from:said[i].to]
		said[i].known = replaced[i] || v.written[name] && name != said[i].text
	}
	matches := v.matches(said, 0)
	slices.SortStableFunc(matches, func(a, b match) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.term - b.term
	})
	for _, m := range matches {
		if !slices.ContainsFunc(taken, func(o match) bool { return m.from < o.to && o.from < m.to }) {
			taken = append(taken, m)
		}
	}
	slices.SortFunc(taken, func(a, b match) int { return a.from - b.from })
	var out strings.Builder
	var changes []Change
	at := 0
	for _, m := range taken {
		from, to := said[m.from].from, said[m.to-1].to
		name := written[m.from]
		if m.term >= 0 {
			name = v.terms[m.term].Text
		}
		if text[from:to] == name {
			continue
		}
		out.WriteString(text[at:from] + name)
		changes = append(changes, Change{text[from:to], name})
		at = to
	}
	out.WriteString(text[at:])
	return out.String(), changes
}

// matches are the runs of words that are more likely a name than not.
func (v *Vocabulary) matches(said []word, least float64) (out []match) {
	row := make([]int32, 0, 64)
	var exact []match
	for i := range said {
		r := run{starts: said[i].text}
		for j := i; j < len(said) && j < i+maxWords && !said[j].known; j++ {
			r.add(said[j])
			if r.cued = cued(said, i, j+1); v.exact[r.spelling] && r.words > 1 {
				exact = append(exact, match{from: i, to: j + 1})
			}
			if m, ok := v.nearest(r, row); ok && m.score > least {
				m.from, m.to = i, j+1
				out = append(out, m)
			}
		}
	}
	// What was heard exactly as a name is said is no misheard other name, unless that
	// is much longer.
	return slices.DeleteFunc(out, func(m match) bool {
		return m.features[fDistance]+m.features[fSpelling] > 0 && slices.ContainsFunc(exact, func(e match) bool {
			return m.from < e.to && e.from < m.to && m.features[fWords] < float64(e.to-e.from+2)
		})
	})
}

// run is consecutive words.
type run struct {
	sound, spelling string
	starts, ends    string
	words, plain    int
	cued            bool
}

func (r *run) add(w word) {
	r.sound, r.spelling, r.ends, r.words = r.sound+w.sound, r.spelling+w.text, w.text, r.words+1
	if w.common {
		r.plain++
	}
}

// nearest is the name that a run is most likely.
func (v *Vocabulary) nearest(r run, row []int32) (best match, found bool) {
	w, p := weight(r.sound), profileOf(r.sound)
	low, _ := slices.BinarySearchFunc(v.forms, w*(1-furthest), func(f form, w float64) int {
		if f.weight < w {
			return -1
		}
		return 1
	})
	for i := low; i < len(v.forms); i++ {
		f := &v.forms[i]
		if f.weight > w/(1-furthest) {
			break
		}
		limit := furthest * max(f.weight, w)
		if p.apart(f.profile) > limit {
			continue
		}
		d := distance(r.sound, f.sound, limit, row)
		if d > limit {
			continue
		}
		m := match{term: f.term, features: features{fBias: 1, fWeight: f.weight, fDistance: d, fPlain: float64(r.plain), fWords: float64(f.words)}}
		m.features[fSpelling] = misspelled(r.spelling, f.spelling, row)
		if r.cued {
			m.features[fCued] = 1
		}
		if little[r.starts] && r.starts != f.starts {
			m.features[fEdges]++
		}
		if r.words > 1 && little[r.ends] && r.ends != f.ends {
			m.features[fEdges]++
		}
		if f.common && r.spelling == f.spelling {
			if !r.cued && f.words < 3 {
				continue // ordinary words that were heard right mean themselves
			}
			m.features[fSame] = 1
		}
		if m.score = m.features.score(); !found || m.score > best.score || m.score == best.score && f.term < best.term {
			best, found = m, true
		}
	}
	return best, found
}

// misspelled is the share of letters that differ.
func misspelled(a, b string, row []int32) float64 {
	row = append(row[:0], 0)
	for j := range len(b) {
		row = append(row, int32(j+1))
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			best := diagonal
			if a[i] != b[j] {
				best++
			}
			diagonal, row[j+1] = row[j+1], min(best, row[j+1]+1, row[j]+1)
		}
	}
	return float64(row[len(b)]) / float64(max(len(a), len(b), 1))
}
