package pronounce

import (
	"strings"
	"unicode/utf8"
)

// phones are the symbols of the phones of Flite's letter-to-sound rules.
var phones = map[string]string{
	"aa": "ɑ", "ae": "æ", "ah": "ʌ", "ao": "ɔ", "aw": "W", "ax": "ə", "ay": "I", "eh": "ɛ", "er": "ɜɹ", "ey": "A", "ih": "ɪ", "iy": "i", "ow": "O", "oy": "Y", "uh": "ʊ", "uw": "u",
	"b": "b", "ch": "ʧ", "d": "d", "dh": "ð", "f": "f", "g": "ɡ", "hh": "h", "jh": "ʤ", "k": "k", "l": "l", "m": "m", "n": "n", "ng": "ŋ", "p": "p", "r": "ɹ", "s": "s", "sh": "ʃ", "t": "t", "th": "θ", "v": "v", "w": "w", "y": "j", "z": "z", "zh": "ʒ",
}

// fromPhones converts phones such as "k", "ah1" to symbols. A word without stress gets one
// on its first vowel.
func fromPhones(list []string) string {
	var b strings.Builder
	for _, p := range list {
		name := strings.TrimRight(p, "012")
		symbol := phones[name]
		switch p[len(name):] {
		case "1":
			b.WriteString(primary)
		case "2":
			b.WriteString(secondary)
		case "0":
			switch name {
			case "ah":
				symbol = "ə"
			case "er":
				symbol = "əɹ"
			}
		}
		b.WriteString(symbol)
	}
	return stressed(b.String(), primary)
}

// rhotics are American vowels with r and their British equivalents where no vowel follows.
var rhotics = strings.NewReplacer("ɜɹ", "ɜː", "əɹ", "ə", "ɑɹ", "ɑː", "ɔɹ", "ɔː", "ɛɹ", "ɛː", "ɪɹ", "ɪə", "ʊɹ", "ʊə", "Iɹ", "Iə", "Wɹ", "Wə", "iɹ", "ɪə")

// british converts American symbols to British ones.
func british(s string) string {
	var b strings.Builder
	for at := 0; at < len(s); {
		c, size := utf8.DecodeRuneInString(s[at:])
		rest := s[at+size:]
		if strings.HasPrefix(rest, "ɹ") && !beforeVowel(rest[len("ɹ"):]) {
			if pair := s[at : at+size+len("ɹ")]; rhotics.Replace(pair) != pair {
				b.WriteString(rhotics.Replace(pair))
				at += len(pair)
				continue
			}
		}
		switch c {
		case 'O':
			b.WriteRune('Q')
		case 'æ':
			b.WriteRune('a')
		case 'ɑ':
			b.WriteRune('ɒ')
		case 'ɾ':
			b.WriteRune('t')
		case 'ᵻ':
			b.WriteRune('ɪ')
		case 'ɔ', 'u':
			b.WriteString(string(c) + "ː")
		case 'ɜ':
			b.WriteString("ɜː")
		case 'i':
			if strings.HasSuffix(b.String(), primary) || strings.HasSuffix(b.String(), secondary) {
				b.WriteString("iː")
			} else {
				b.WriteRune('i')
			}
		default:
			b.WriteRune(c)
		}
		at += size
	}
	return b.String()
}

// beforeVowel reports whether symbols begin with a vowel.
func beforeVowel(s string) bool { return follow(s).vowel }
