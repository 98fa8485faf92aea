package pronounce

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

type kind int

const (
	word      kind = iota // is looked up
	letters               // is spelled
	mark                  // punctuation that makes a pause
	paragraph             // an empty line
)

// item is a spoken word or a mark. Words that stand for one written number or symbol have
// its range in common.
type item struct {
	start, end int
	kind       kind
	text       string
}

// reader writes a text out as it is spoken.
type reader struct {
	*Dictionary
	text  string
	items []item

	// of the chunk being read, which is a run without blanks
	start, end int
	// folded is set if the characters of the chunk were replaced, so that the items have
	// the range of the whole chunk.
	folded bool
	// afterNumber is set if the last item ends a number.
	afterNumber bool
	// pendingCurrency is the currency of an amount in millions, which is spoken after them.
	pendingCurrency string
}

// read writes text out.
func (d *Dictionary) read(text string) []item {
	r := &reader{Dictionary: d, text: text}
	for at := 0; at < len(text); {
		c, size := utf8.DecodeRuneInString(text[at:])
		if unicode.IsSpace(c) {
			blank := strings.IndexFunc(text[at:], func(c rune) bool { return !unicode.IsSpace(c) })
			if blank < 0 {
				break
			}
			if strings.Count(text[at:at+blank], "\n") > 1 {
				r.start, r.end = at, at+blank
				r.mark("\n", at, at+blank)
			}
			at += blank
			continue
		}
		n := size
		for at+n < len(text) {
			c, size := utf8.DecodeRuneInString(text[at+n:])
			if unicode.IsSpace(c) {
				break
			}
			n += size
		}
		r.chunk(at, at+n)
		at += n
	}
	return r.items
}

// add appends words that begin at byte from of the chunk and end before to.
func (r *reader) add(k kind, from, to int, words ...string) {
	start, end := r.start+from, r.start+to
	if r.folded {
		start, end = r.start, r.end
	}
	for _, w := range words {
		r.items = append(r.items, item{start, end, k, w})
	}
	r.afterNumber = false
}

// strength orders marks; of adjacent marks the strongest stays.
var strength = map[string]int{",": 1, "—": 2, ":": 3, ";": 4, "…": 5, ".": 6, "!": 7, "?": 8, "\n": 9}

// mark appends a mark, unless nothing was spoken yet.
func (r *reader) mark(text string, from, to int) {
	if len(r.items) == 0 {
		return
	}
	k := mark
	if text == "\n" {
		k = paragraph
	} else {
		from, to = r.start+from, r.start+to
		if r.folded {
			from, to = r.start, r.end
		}
	}
	last := &r.items[len(r.items)-1]
	r.afterNumber = false
	switch {
	case last.kind == paragraph:
	case last.kind == mark && k == mark:
		if strength[text] > strength[last.text] {
			last.text = text
		}
		last.end = max(last.end, to)
	default:
		r.items = append(r.items, item{from, to, k, text})
	}
}

// before returns the word before, in lower case, or "".
func (r *reader) before() string {
	if n := len(r.items); n > 0 && r.items[n-1].kind == word {
		return strings.ToLower(r.items[n-1].text)
	}
	return ""
}

// folds are characters with equivalents that are spoken the same.
var folds = strings.NewReplacer(
	"‘", "'", "’", "'", "‛", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "\u2044", "/", "–", "—", "‐", "-", "‑", "-", "−", "-",
	"。", ".", "、", ",", "，", ",", "！", "!", "？", "?", "：", ":", "；", ";", "™", "", "®", "", "©", "",
	"ß", "ss", "æ", "ae", "Æ", "AE", "œ", "oe", "Œ", "OE", "ø", "o", "Ø", "O", "ł", "l", "Ł", "L", "đ", "d", "Đ", "D", "ı", "i", "þ", "th", "ð", "th",
)

// separator replaces a character that cannot be spoken.
const separator = '\x01'

// fold converts a chunk to ASCII and the signs with a name. It drops accents.
func fold(chunk string) string {
	ascii := true
	for i := range len(chunk) {
		ascii = ascii && chunk[i] < utf8.RuneSelf && chunk[i] > ' '
	}
	if ascii {
		return chunk
	}
	var b strings.Builder
	for _, c := range norm.NFKD.String(folds.Replace(chunk)) {
		switch {
		case unicode.Is(unicode.Mn, c), unicode.Is(unicode.Cf, c):
		case c > ' ' && c <= '~', c == '—', signs[c] != "":
			b.WriteRune(c)
		case c == '\u2044':
			b.WriteByte('/')
		default:
			b.WriteByte(separator)
		}
	}
	return b.String()
}

const (
	openers = "([{\"'`\x01"
	closers = ")]}\"'`\x01"
	ends    = ".,;:!?—"
)

// chunk reads the run without blanks from start to end.
func (r *reader) chunk(start, end int) {
	s := fold(r.text[start:end])
	r.start, r.end, r.folded = start, end, s != r.text[start:end]
	from := 0
	for from < len(s) && strings.IndexByte(openers, s[from]) >= 0 {
		if s[from] == '(' && !strings.HasPrefix(s[from:], "()") {
			r.mark(",", from, from+1)
		}
		from++
	}
	to := len(s)
	for to > from && !r.isSpecial(s[from:to]) {
		c, size := utf8.DecodeLastRuneInString(s[from:to])
		if !strings.ContainsRune(ends+closers, c) {
			break
		}
		to -= size
	}
	core := s[from:to]
	if r.isSpecial(core) {
		r.add(word, from, to, core)
	} else if core != "" {
		r.core(core, from)
	}
	r.tail(s, to, core == "" || strings.Contains(core, "("))
}

// tail reads the closing marks of a chunk. inWord is set if a closing bracket belongs to a word
// and makes no pause.
func (r *reader) tail(s string, at int, inWord bool) {
	if rest := s[at:]; strings.HasPrefix(rest, "...") || rest == ".." {
		r.mark("…", at, len(s))
		return
	}
	for at < len(s) {
		c, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case c == ')' && (at == 0 || s[at-1] != '('):
			if !inWord {
				r.mark(",", at, at+1)
			}
		case strings.ContainsRune(ends, c):
			r.mark(string(c), at, at+size)
		}
		at += size
	}
}

// isSpecial reports whether a chunk is one of the developers' words with punctuation or digits
// of its own, such as "c++", "i/o" or "e.g.".
func (r *reader) isSpecial(chunk string) bool {
	if len(chunk) > longestWord || !strings.ContainsAny(chunk, "./+#-&@0123456789") {
		return false
	}
	_, ok := r.developers(chunk)
	return ok && (strings.ToLower(chunk) != "no." || r.digitFollows())
}

// digitFollows reports whether the next chunk begins with a digit.
func (r *reader) digitFollows() bool {
	rest := strings.TrimLeftFunc(r.text[r.end:], unicode.IsSpace)
	return rest != "" && isDigit(rest[0])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
