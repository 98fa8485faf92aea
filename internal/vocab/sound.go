package vocab

import "strings"

// graphemes are spellings and their sounds, the longest first where one begins
// another. A sound is a letter: S as in she, C as in cheese, J as in jam, T as in
// thin, N as in sing; a vowel is the nearest of aeiou. A spelling that begins with ^
// stands at the beginning of a word, one that ends with $ at the end.
var graphemes = rules(
	"^kn n", "^gn n", "^wr r", "^ps s", "^x z", "^wh w", "^who hu",
	"tion Sun", "sion Sun", "cian Sun", "cious Sus", "tious Sus", "ture Cur", "sure Sur",
	"ough o", "augh o", "eigh e", "igh ai", "gh ", "dge J", "dg J", "tch C", "sch sk", "sci sai", "sc sk", "sce se",
	"ph f", "sh S", "ch C", "th T", "ck k", "cq k", "qu kw", "q k", "ng N", "nk Nk", "mb$ m",
	"ce se", "ci si", "cy si", "c k", "ge Je", "gi Ji", "gy Ji", "get get", "give giv", "gue$ g", "g g",
	"ee i", "ea i", "ie$ i", "ies$ is", "ey i", "eu u", "ew u", "ue$ u", "oo u", "ou au", "ow o", "oa o", "oe o", "oi oi", "oy oi",
	"ai e", "ay e", "ei e", "au o", "aw o", "all ol", "ssion Sun",
	"^y y", "y i", "x ks", "j J", "le$ ul", "es$ es", "ed$ d", "ted$ ted", "ded$ ded", "e$ ", "re$ r",
	"a a", "b b", "d d", "e e", "f f", "h h", "i i", "k k", "l l", "m m", "n n", "o o", "p p", "r r", "s s", "t t", "u u", "v v", "w w", "z z",
)

// rules are graphemes by their first letter.
func rules(list ...string) map[byte][][2]string {
	out := map[byte][][2]string{}
	for _, r := range list {
		spelling, sound, _ := strings.Cut(r, " ")
		first := strings.TrimPrefix(spelling, "^")[0]
		out[first] = append(out[first], [2]string{spelling, sound})
	}
	return out
}

// sound is a word as it sounds. A letter alone, a digit and a dot sound like their
// names.
func sound(word string) string {
	if r := []rune(word); len(r) == 1 {
		switch {
		case word == ".":
			word = "dot"
		case r[0] >= '0' && r[0] <= '9':
			word = digits[r[0]-'0']
		case letters[r[0]] != "":
			word = letters[r[0]]
		}
	} else if isDigits(word) {
		var out strings.Builder
		for _, w := range strings.Fields(number(word)) {
			out.WriteString(sound(w))
		}
		return out.String()
	}
	if irregular, known := exceptions[word]; known {
		return irregular
	}
	word = strings.Map(plainLetter, word)
	var out []byte
	for at := 0; at < len(word); {
		spelling, said := longest(word, at)
		for i := range len(said) {
			if n := len(out); n == 0 || out[n-1] != said[i] { // doubled letters sound once
				out = append(out, said[i])
			}
		}
		at += max(spelling, 1)
	}
	return string(out)
}

// exceptions are short words that are spelled otherwise than they sound.
var exceptions = map[string]string{
	"one": "wun", "two": "tu", "to": "tu", "too": "tu", "four": "for", "for": "for", "eight": "et", "ate": "et", "you": "yu",
	"are": "ar", "our": "ar", "of": "uv", "the": "Tu", "why": "wai", "eye": "ai", "i": "ai", "my": "mai", "by": "bai", "buy": "bai", "bye": "bai",
	"type": "taip", "file": "fail", "line": "lain", "size": "sais", "time": "taim", "write": "rait", "right": "rait", "five": "faiv", "nine": "nain",
	"use": "yus", "user": "yusur", "queue": "kyu", "cue": "kyu", "have": "hav", "some": "sum", "come": "kum", "do": "du", "who": "hu",
	"find": "faind", "client": "klaint", "aitch": "eC", "doubleyou": "dubulyu", "oh": "o", "ay": "e", "hey": "he", "they": "Te", "he": "hi", "she": "Si", "we": "wi",
	"be": "bi", "me": "mi", "see": "si", "sea": "si", "key": "ki", "no": "no", "know": "no", "go": "go", "so": "so", "said": "sed", "says": "ses",
	"code": "kod", "mode": "mod", "node": "nod", "state": "stet", "name": "nem", "make": "mek", "take": "tek", "case": "kes", "date": "det", "update": "updet",
	"base": "bes", "cache": "kaS", "cash": "kaS", "page": "peJ", "range": "renJ", "change": "CenJ", "value": "valyu", "null": "nul", "guess": "ges", "build": "bild",
}

func plainLetter(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return r
	case strings.ContainsRune("äàáâå", r):
		return 'a'
	case strings.ContainsRune("éèêë", r):
		return 'e'
	case strings.ContainsRune("öôóò", r):
		return 'o'
	case strings.ContainsRune("üûúù", r):
		return 'u'
	case r == 'ß':
		return 's'
	}
	return -1
}

// longest is the longest spelling at a place, its length and its sound.
func longest(word string, at int) (length int, said string) {
	for _, g := range graphemes[word[at]] {
		spelling := g[0]
		if rest, begins := strings.CutPrefix(spelling, "^"); begins {
			if at > 0 {
				continue
			}
			spelling = rest
		}
		body, ends := strings.CutSuffix(spelling, "$")
		if !strings.HasPrefix(word[at:], body) || (ends && at+len(body) != len(word)) || (ends && at == 0) {
			continue
		}
		if len(spelling) > length || length == 0 {
			length, said = len(spelling), g[1]
			if ends {
				length--
			}
		}
	}
	return length, said
}

// vowel says whether a sound is one.
func vowel(s byte) bool { return s == 'a' || s == 'e' || s == 'i' || s == 'o' || s == 'u' }

// alike are sounds that recognisers take for one another.
var alike = func() (out [128][128]bool) {
	for _, group := range []string{"pb", "td", "kg", "fv", "sz", "SC", "SJ", "CJ", "mn", "nN", "Tt", "Td", "Tf", "Tv", "Ts", "lr", "lw", "rw", "Ss", "Ct", "Jd", "Jz", "vb", "fp", "kt", "pt", "gd"} {
		a, b := group[0], group[1]
		out[a][b], out[b][a] = true, true
	}
	return out
}()

// Costs of an alignment, in hundredths. A vowel says little: recognisers and spellings
// vary most in them.
const (
	unit          = 100
	costVowel     = 25 // for another vowel
	costVowelLost = 40
	costAlike     = 40
	costWeakLost  = 40 // h, w, y
	costLost      = 80
	costOther     = 100
)

// lost and swapped are what a sound costs, and one for another.
var lost, swapped = costs()

func costs() (lost [128]int32, swapped [128][128]int32) {
	for s := range lost {
		switch {
		case vowel(byte(s)):
			lost[s] = costVowelLost
		case s == 'h', s == 'w', s == 'y':
			lost[s] = costWeakLost
		default:
			lost[s] = costLost
		}
	}
	for a := range swapped {
		for b := range swapped[a] {
			switch {
			case a == b:
			case vowel(byte(a)) && vowel(byte(b)):
				swapped[a][b] = costVowel
			case alike[a][b]:
				swapped[a][b] = costAlike
			case vowel(byte(a)) != vowel(byte(b)):
				swapped[a][b] = lost[a] + lost[b]
			default:
				swapped[a][b] = costOther
			}
		}
	}
	return lost, swapped
}

// weight is what it would cost to lose all of a sound.
func weight(s string) float64 {
	w := int32(0)
	for i := range len(s) {
		w += lost[s[i]&127]
	}
	return float64(w) / unit
}

// distance is the cheapest alignment of two sounds, or more than limit.
func distance(a, b string, limit float64, row []int32) float64 {
	row = append(row[:0], 0)
	for j := range len(b) {
		row = append(row, row[j]+lost[b[j]&127])
	}
	most := int32(limit * unit)
	for i := range len(a) {
		costs, gone := &swapped[a[i]&127], lost[a[i]&127]
		diagonal, least := row[0], row[0]+gone
		row[0] = least
		left := least
		for j := range len(b) {
			s, above := b[j]&127, row[j+1]
			left = min(diagonal+costs[s], above+gone, left+lost[s])
			diagonal, row[j+1] = above, left
			least = min(least, left)
		}
		if least > most {
			return float64(least) / unit
		}
	}
	return float64(row[len(b)]) / unit
}

// profile counts the consonants of a sound by how they are made. It is a quick way to
// tell sounds apart that share little.
type profile [6]int8

var profileClass = func() (out [128]int8) {
	for c, group := range []string{"pbfv", "tdT", "kg", "szSCJ", "mnN", "lr"} {
		for i := range len(group) {
			out[group[i]] = int8(c) + 1
		}
	}
	return out
}()

func profileOf(s string) (p profile) {
	for i := range len(s) {
		if c := profileClass[s[i]&127]; c > 0 {
			p[c-1]++
		}
	}
	return p
}

// apart is about the least that an alignment of two sounds costs.
func (p profile) apart(o profile) float64 {
	var more, less int8
	for i := range p {
		if d := p[i] - o[i]; d > 0 {
			more += d
		} else {
			less -= d
		}
	}
	return 0.7 * float64(max(more, less))
}
