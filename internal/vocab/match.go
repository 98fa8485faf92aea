package vocab

import (
	"cmp"
	"slices"
	"strings"
)

// match is a run of heard words and its candidate name.
type match struct {
	from, to int // word range
	term     int
	features features
}

// The features of a match, which distinguish a spoken name from words that happen to
// sound like one.
const (
	fWeight   = iota // of the name's sound
	fDistance        // between the heard sound and the name's
	fRatio           // of distance to weight
	fLetters         // letters that differ
	fSpelling        // share of letters that differ
	fCued            // a preceding word announces a name
	fKind            // the following word names the kind of the name
	fBefore          // the preceding word is ordinary and announces nothing
	fAfter           // the following word is ordinary
	fBegins          // it begins the sentence
	fEdges           // function words at an end of the run that the name lacks
	fSame            // exactly the words of a name of ordinary words
	fPlain           // ordinary words in the run that the name lacks
	fRare            // other words in the run that the name lacks
	fUnlike          // weight of both
	fExact           // share of the name's words that were heard
	fHeard           // share of the name's weight in words that were heard
	fStart           // the run begins with the name's first word
	fEnd             // the run ends with the name's last word
	fHead            // share of the name's sounds at the start of the run
	fTail            // share of the name's sounds at the end of the run
	fWords           // of the name
	fRunWords        // of the run
	fEvidence        // for the name over the words as heard
	fMargin          // lead in evidence over other names at the same place
	numFeatures
)

type features [numFeatures]float64

// Limits of the search.
const (
	furthest = 0.4 // maximum distance as a share of the sound
	kept     = 4   // candidates per run, those with the most evidence
	farAhead = 20  // maximum margin
)

// Evidence is the log odds of a name against the words as heard. selfEvidence is the
// share of a sound's weight that supports the sound when it was heard.
const selfEvidence = 0.43

// cues announce a name, directly or before function words: "the function X", "jump to X".
var cues = set(`function func method class type struct interface variable constant field property file folder package module
	dependency library branch test tests symbol identifier named called call calls calling rename open import parameter argument
	enum trait component hook constructor macro command table column flag checkout merge rebase replace move delete explain
	definition declaration implementation callers usages usage references breakpoint jump inline refactor simplify instantiate uses`)

// kinds classify the name before them: "the X function".
var kinds = set(`function func method class type struct interface variable constant field property file folder package module
	dependency library branch test tests parameter argument enum component hook constructor macro`)

// little holds function words, which do not begin or end a misheard name.
var little = set(`the a an of in to and or is it i for on at by with this that as be do we you my me if so but are was not no
	from what how why where which please now then there here into can will would should could have has does did`)

// stronger orders matches by descending evidence.
func stronger(a, b match) int {
	return cmp.Or(cmp.Compare(b.features[fEvidence], a.features[fEvidence]), a.term-b.term, (a.to-a.from)-(b.to-b.from), a.from-b.from)
}

// matches returns the runs of words that may be a name: the likeliest match of each run,
// unless another name has more evidence for some of its words.
func (v *Vocabulary) matches(said []word) (out []match) {
	from := make([][]match, len(said)) // by first word
	row := make([]int32, 0, 64)
	for i := range said {
		r := run{}
		for j := i; j < len(said) && j < i+maxWords && !said[j].known; j++ {
			r.add(said[j])
			r.context = surroundings(said, i, j+1)
			from[i] = append(from[i], v.nearest(&r, match{from: i, to: j + 1}, row)...)
		}
	}
	for i := range from {
		near := slices.Concat(from[max(0, i-maxWords+1):min(i+maxWords, len(from))]...)
		for _, m := range from[i] {
			if v.leads(&m, near) && !m.meansItself() {
				out = append(out, m)
			}
		}
	}
	return out
}

// leads reports whether no other match has more evidence for the words of m, and sets the
// margin of m.
func (v *Vocabulary) leads(m *match, near []match) bool {
	margin := min(m.features[fEvidence], farAhead)
	for _, o := range near {
		if o.from >= m.to || m.from >= o.to {
			continue
		}
		if stronger(o, *m) < 0 {
			return false
		}
		if v.keys[o.term] != v.keys[m.term] {
			margin = min(margin, m.features[fEvidence]-o.features[fEvidence])
		}
	}
	m.features[fMargin] = margin
	return true
}

// meansItself reports whether the match is ordinary words that were heard correctly and
// do not mean a name.
func (m *match) meansItself() bool {
	f := &m.features
	return f[fSame] > 0 && f[fCued]+f[fKind] == 0 && f[fWords] < 3
}

// run is a sequence of consecutive words.
type run struct {
	sound, spelling string
	words           []word
	plain           float64 // evidence for the words as heard
	context         features
}

func (r *run) add(w word) {
	r.sound, r.spelling, r.words = r.sound+w.sound, r.spelling+w.text, append(r.words, w)
	r.plain += max(0, 2*selfEvidence*weight(w.sound)-surprise(w))
}

// surprise returns the negative log of a word's prior probability.
func surprise(w word) float64 {
	switch {
	case little[w.text]:
		return 5
	case w.common:
		return 9
	}
	return 12
}

// surroundings returns the features of the context of words i to j-1.
func surroundings(said []word, i, j int) (f features) {
	if i == 0 {
		f[fBegins] = 1
	} else if w := said[i-1]; w.common && !little[w.text] && !cues[w.text] {
		f[fBefore] = 1
	}
	for k := i - 1; k >= max(0, i-3); k-- {
		if cues[said[k].text] {
			f[fCued] = 1
			break
		}
		if !little[said[k].text] {
			break
		}
	}
	if j < len(said) {
		if w := said[j]; kinds[w.text] {
			f[fKind] = 1
		} else if w.common && !little[w.text] {
			f[fAfter] = 1
		}
	}
	return f
}

// nearest returns the names with the most evidence for a run.
func (v *Vocabulary) nearest(r *run, at match, row []int32) (out []match) {
	w, p := weight(r.sound), profileOf(r.sound)
	low, _ := slices.BinarySearchFunc(v.forms, w*(1-furthest), func(f form, w float64) int {
		if f.weight < w {
			return -1
		}
		return 1
	})
	type candidate struct {
		form               *form
		distance, evidence float64
	}
	var best [kept]candidate // the first n, in order of descending evidence
	n, least := 0, 0.0
	for i := low; i < len(v.forms); i++ {
		f := &v.forms[i]
		if f.weight > w/(1-furthest) {
			break
		}
		most := selfEvidence*(w+f.weight) - r.plain
		limit := min(furthest*max(f.weight, w), most-least)
		if p.apart(f.profile) > limit {
			continue
		}
		d := distance(r.sound, f.sound, limit, row)
		if d > limit {
			continue
		}
		c := candidate{f, d, most - d}
		if c.evidence <= least {
			continue
		}
		n = min(n+1, kept)
		k := n - 1
		for ; k > 0 && best[k-1].evidence < c.evidence; k-- {
			best[k] = best[k-1]
		}
		best[k] = c
		if n == kept {
			least = best[n-1].evidence
		}
	}
	for _, c := range best[:n] {
		m := at
		m.term, m.features = c.form.term, r.context
		m.features[fDistance], m.features[fEvidence] = c.distance, c.evidence
		m.features.compare(r, c.form, row)
		out = append(out, m)
	}
	return out
}

// compare sets the features of a run and a spoken form.
func (x *features) compare(r *run, f *form, row []int32) {
	x[fWeight], x[fRatio] = f.weight, x[fDistance]/f.weight
	x[fSpelling] = misspelled(r.spelling, f.spelling, row)
	x[fLetters] = x[fSpelling] * float64(max(len(r.spelling), len(f.spelling)))
	x[fWords], x[fRunWords] = float64(len(f.words)), float64(len(r.words))
	starts, ends := r.words[0].text, r.words[len(r.words)-1].text
	if little[starts] && starts != f.words[0] {
		x[fEdges]++
	}
	if len(r.words) > 1 && little[ends] && ends != f.words[len(f.words)-1] {
		x[fEdges]++
	}
	at, same := 0, 0
	for k, w := range r.words {
		n := slices.Index(f.words[at:], w.text)
		switch {
		case n >= 0:
			if k == 0 && n == 0 {
				x[fStart] = 1
			}
			at, same = at+n+1, same+1
			if k == len(r.words)-1 && at == len(f.words) {
				x[fEnd] = 1
			}
			x[fHeard] += weight(w.sound) / f.weight
			continue
		case w.common:
			x[fPlain]++
		default:
			x[fRare]++
		}
		x[fUnlike] += weight(w.sound)
	}
	x[fExact] = float64(same) / float64(len(f.words))
	short := min(len(r.sound), len(f.sound))
	head, tail := 0, 0
	for head < short && r.sound[head] == f.sound[head] {
		head++
	}
	for tail < short && r.sound[len(r.sound)-1-tail] == f.sound[len(f.sound)-1-tail] {
		tail++
	}
	x[fHead], x[fTail] = float64(head)/float64(len(f.sound)), float64(tail)/float64(len(f.sound))
	if f.common && r.spelling == f.spelling {
		x[fSame] = 1
	}
}

// misspelled returns the share of letters that differ.
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

func set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}
