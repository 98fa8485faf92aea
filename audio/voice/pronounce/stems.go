package pronounce

import "strings"

// Symbols that the endings depend on.
const (
	voiceless  = "ptkfθ"
	sibilants  = "szʃʒʧʤ"
	voicelessD = "pkfθʃsʧ"
	// flapping are the American sounds after which a t becomes a flap.
	flapping = "AIOWYiuæɑəɛɪɹʊʌ"
)

// prefixes are the beginnings that a known word can have, with their American symbols.
var prefixes = []struct{ written, symbols string }{
	{"un", "ˌʌn"}, {"re", "ɹˌi"}, {"pre", "pɹˌi"}, {"non", "nˌɑn"}, {"de", "dˌi"}, {"dis", "dˌɪs"}, {"mis", "mˌɪs"}, {"sub", "sˌʌb"}, {"over", "ˌOvəɹ"}, {"under", "ˌʌndəɹ"},
	{"auto", "ˌɔɾO"}, {"multi", "mˌʌlti"}, {"micro", "mˌIkɹO"}, {"mono", "mˌɑnO"}, {"super", "sˌupəɹ"}, {"inter", "ˌɪntəɹ"}, {"pseudo", "sˌudO"}, {"meta", "mˌɛɾə"}, {"hyper", "hˌIpəɹ"}, {"anti", "ˌæntI"},
}

// inflected returns the symbols of a word whose stem is in the lists: parsers, parser's,
// linted, unmarshals.
func (d *Dictionary) inflected(word string) (string, bool) {
	if len(word) < 3 {
		return "", false
	}
	lower := word
	if strings.ToLower(word[1:]) == word[1:] {
		lower = strings.ToLower(word)
	}
	for _, try := range []func(string) (string, bool){d.withS, d.withED, d.withING, d.withER, d.withLY, d.withPrefix} {
		if s, ok := try(lower); ok {
			return s, true
		}
	}
	return "", false
}

// stem looks up the first of the stems that is known.
func (d *Dictionary) stem(stems ...string) (string, bool) {
	for _, w := range stems {
		if len(w) < 2 {
			continue
		}
		if s, ok := d.lookUp(w); ok {
			return s, true
		}
		if upper := strings.ToUpper(w); upper == w && len(w) <= maxAcronym { // APIs
			return d.spelled(w), true
		}
	}
	return "", false
}

// doubled returns a stem without its doubled last consonant: committ, commit.
func doubled(stem string) string {
	n := len(stem)
	if n > 2 && stem[n-1] == stem[n-2] && strings.IndexByte("bdgklmnprtvz", stem[n-1]) >= 0 {
		return stem[:n-1]
	}
	return ""
}

func (d *Dictionary) withS(word string) (string, bool) {
	base, possessive := strings.CutSuffix(word, "'s")
	if !possessive {
		var ok bool
		if base, ok = strings.CutSuffix(word, "s"); !ok || strings.HasSuffix(base, "s") {
			return "", false
		}
	}
	s, ok := d.stem(base)
	if !ok && possessive { // a stem of its own: "kubelets's"
		s = d.pronounced(base, "")
		ok = s != ""
	}
	if e, es := strings.CutSuffix(base, "e"); !ok && es {
		s, ok = d.stem(e)
		if i, ies := strings.CutSuffix(e, "i"); !ok && ies {
			s, ok = d.stem(i + "y")
		}
	}
	if !ok {
		s, ok = d.inflectedStem(base)
	}
	if !ok {
		return "", false
	}
	return d.withPlural(s), true
}

// withPlural adds the ending s.
func (d *Dictionary) withPlural(s string) string {
	switch {
	case endsIn(s, voiceless):
		return s + "s"
	case endsIn(s, sibilants):
		return s + d.reduced() + "z"
	}
	return s + "z"
}

// inflectedStem finds a stem that is itself inflected: linters, unmarshals.
func (d *Dictionary) inflectedStem(word string) (string, bool) {
	for _, try := range []func(string) (string, bool){d.withER, d.withING, d.withPrefix} {
		if s, ok := try(word); ok {
			return s, true
		}
	}
	return "", false
}

func (d *Dictionary) withED(word string) (string, bool) {
	base, ok := strings.CutSuffix(word, "ed")
	if !ok || len(base) < 2 {
		return "", false
	}
	s, ok := d.stem(base+"e", base, doubled(base))
	if i, ied := strings.CutSuffix(base, "i"); !ok && ied {
		s, ok = d.stem(i + "y")
	}
	if !ok {
		s, ok = d.withPrefix(base)
	}
	switch {
	case !ok:
		return "", false
	case endsIn(s, voicelessD):
		return s + "t", true
	case endsIn(s, "d"):
		return s + d.reduced() + "d", true
	case endsIn(s, "t"):
		return d.flapped(s) + d.reduced() + "d", true
	}
	return s + "d", true
}

func (d *Dictionary) withING(word string) (string, bool) {
	base, ok := strings.CutSuffix(word, "ing")
	if !ok || len(base) < 2 {
		return "", false
	}
	if s, ok := d.stem(base, base+"e", doubled(base)); ok {
		return d.linked(d.flapped(s)) + "ɪŋ", true
	}
	if s, ok := d.withPrefix(base); ok {
		return d.linked(d.flapped(s)) + "ɪŋ", true
	}
	return "", false
}

func (d *Dictionary) withER(word string) (string, bool) {
	ending := "əɹ"
	if d.variant == British {
		ending = "ə"
	}
	base, ok := strings.CutSuffix(word, "er")
	if !ok || len(base) < 3 {
		if base, ok = strings.CutSuffix(word, "able"); !ok || len(base) < 3 {
			return "", false
		}
		ending = "əbᵊl"
	}
	s, ok := d.stem(base, base+"e", doubled(base))
	return d.linked(d.flapped(s)) + ending, ok
}

func (d *Dictionary) withLY(word string) (string, bool) {
	ending := "li"
	base, ok := strings.CutSuffix(word, "ly")
	if !ok {
		if base, ok = strings.CutSuffix(word, "ness"); ok {
			ending = "nəs"
		} else if base, ok = strings.CutSuffix(word, "less"); ok {
			ending = "ləs"
		}
	}
	if !ok || len(base) < 3 {
		return "", false
	}
	s, ok := d.stem(base)
	if !ok && ending == "li" {
		if s, ok = d.stem(base + "le"); ok { // configurably
			s = strings.TrimSuffix(strings.TrimSuffix(s, "l"), "ᵊ")
		}
	}
	return s + ending, ok
}

func (d *Dictionary) withPrefix(word string) (string, bool) {
	for _, p := range prefixes {
		base, ok := strings.CutPrefix(word, p.written)
		if base = strings.TrimPrefix(base, "-"); !ok || len(base) < 4 {
			continue
		}
		symbols := p.symbols
		if d.variant == British {
			symbols = british(symbols)
		}
		if s, ok := d.lookUp(base); ok {
			return symbols + s, true
		}
		for _, try := range []func(string) (string, bool){d.withED, d.withING, d.withER} {
			if s, ok := try(base); ok {
				return symbols + s, true
			}
		}
	}
	return "", false
}

// reduced is the vowel of an ending.
func (d *Dictionary) reduced() string {
	if d.variant == British {
		return "ɪ"
	}
	return "ᵻ"
}

// flapped turns an American t between vowels into a flap.
func (d *Dictionary) flapped(s string) string {
	if stem, ok := strings.CutSuffix(s, "t"); ok && d.variant == American && endsIn(stem, flapping) {
		return stem + "ɾ"
	}
	return s
}

// linked adds the r that British English speaks before a vowel.
func (d *Dictionary) linked(s string) string {
	if d.variant == British && (strings.HasSuffix(s, "ː") && !strings.HasSuffix(s, "iː") && !strings.HasSuffix(s, "uː") || strings.HasSuffix(s, "ə")) {
		return s + "ɹ"
	}
	return s
}

// endsIn reports whether s ends in one of the symbols.
func endsIn(s, symbols string) bool {
	for _, c := range symbols {
		if strings.HasSuffix(s, string(c)) {
			return true
		}
	}
	return false
}
