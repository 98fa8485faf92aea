package pronounce

import (
	_ "embed" // the developers' words
	"regexp"
	"strings"
)

//go:embed words.txt
var wordsFile string

// parseDevelopersWords reads words.txt: a word and its symbols in American English, or a word,
// '=' and the words that it is spoken as.
func parseDevelopersWords() map[string]string {
	own := map[string]string{}
	for line := range strings.Lines(wordsFile) {
		line, _, _ = strings.Cut(line, "//")
		if word, spoken, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			own[word] = spoken
		}
	}
	return own
}

// developers returns the symbols of a word of words.txt. A word in lower case there matches
// any case.
func (d *Dictionary) developers(word string) (string, bool) {
	spoken, ok := d.developerWords[word]
	if !ok {
		if spoken, ok = d.developerWords[strings.ToLower(word)]; !ok {
			return "", false
		}
	}
	words, respelled := strings.CutPrefix(spoken, "= ")
	if !respelled {
		if d.variant == British {
			return british(spoken), true
		}
		return spoken, true
	}
	var list []string
	names := ""
	for w := range strings.FieldsSeq(words) {
		if len(w) == 1 && isUpper(w[0]) {
			names += w
			continue
		}
		if names != "" {
			list, names = append(list, d.spelled(names)), ""
		}
		if symbols, ok := d.lookUp(w); ok {
			list = append(list, symbols)
		} else {
			symbols, _ := d.inflected(w)
			list = append(list, symbols)
		}
	}
	if names != "" {
		list = append(list, d.spelled(names))
	}
	return strings.Join(list, " "), true
}

// entryOf finds a word in the lists as written, in lower case, or capitalised.
func (d *Dictionary) entryOf(word string) (entry, bool) {
	if word == "" {
		return entry{}, false
	}
	lower := strings.ToLower(word)
	for _, w := range []string{word, lower, strings.ToUpper(word[:1]) + lower[1:]} {
		if len(w) == 1 && !isUpper(w[0]) && w != "a" {
			continue // the name of a letter
		}
		for _, l := range d.lists {
			if e, ok := l.find(w); ok && e.base != "" {
				return e, true
			}
		}
	}
	return entry{}, false
}

// listed returns the symbols of a word that is in the lists.
func (d *Dictionary) listed(word string) (string, bool) {
	e, ok := d.entryOf(word)
	return e.base, ok
}

// lookUp returns the symbols of a word that is in any list.
func (d *Dictionary) lookUp(word string) (string, bool) {
	if s, ok := d.developers(word); ok {
		return s, true
	}
	return d.listed(word)
}

// spelled returns the names of letters, stressed on the last one.
func (d *Dictionary) spelled(word string) string {
	var b strings.Builder
	for _, c := range strings.ToUpper(word) {
		if e, ok := d.entryOf(string(c)); ok {
			b.WriteString(e.base)
		}
	}
	s := strings.ReplaceAll(b.String(), primary, secondary)
	if at := strings.LastIndex(s, secondary); at >= 0 {
		s = s[:at] + primary + s[at+len(secondary):]
	}
	return s
}

// maxAcronym is the length up to which an unknown word in capitals is spelled.
const maxAcronym = 5

// maxSounded is the length up to which a word goes through the letter-to-sound rules in
// one piece.
const maxSounded = 24

// shortWord matches what up to three letters can be said as a word: foo, but not cpu.
var shortWord = regexp.MustCompile(`^[^aeiouy]?[aeiouy]{1,2}[^aeiouy]?$`)

// pronounced returns the symbols of a word of ASCII letters and apostrophes. part is its
// part of speech, or "".
func (d *Dictionary) pronounced(word, part string) string {
	if s, ok := d.developers(word); ok {
		return s
	}
	if base, ok := strings.CutSuffix(word, "s"); ok && len(base) > 1 && strings.ToUpper(base) == base { // APIs
		if s := d.pronounced(strings.TrimSuffix(base, "'"), ""); s != "" {
			return d.withPlural(s)
		}
	}
	capitals := len(word) > 1 && strings.ToUpper(word) == word
	if e, ok := d.entryOf(word); ok && !(capitals && len(word) <= 3 && d.onlySilver(word)) {
		return e.as(part)
	}
	if s, ok := d.inflected(word); ok {
		return s
	}
	plain := strings.ReplaceAll(word, "'", "")
	lower := strings.ToLower(plain)
	if capitals && len(plain) <= maxAcronym || !strings.ContainsAny(lower, "aeiouy") || len(plain) <= 3 && !shortWord.MatchString(lower) {
		return d.spelled(plain)
	}
	if s, ok := d.compound(lower); ok {
		return s
	}
	var parts []string
	for len(lower) > 0 {
		n := min(len(lower), maxSounded)
		if s := sounded(lower[:n]); strings.ContainsAny(s, vowels) {
			if d.variant == British {
				s = british(s)
			}
			parts = append(parts, s)
		} else {
			parts = append(parts, d.spelled(lower[:n]))
		}
		lower = lower[n:]
	}
	return strings.Join(parts, " ")
}

// onlySilver reports whether a word is absent from the first list.
func (d *Dictionary) onlySilver(word string) bool {
	_, ok := d.lists[0].find(strings.ToLower(word))
	return !ok
}

// minPart is the shortest part of a compound.
const minPart = 3

// compound pronounces a word of two known words, such as "codebase".
func (d *Dictionary) compound(word string) (string, bool) {
	for n := len(word) - minPart; n >= minPart; n-- {
		head, ok := d.lookUp(word[:n])
		if !ok || strings.Contains(head, " ") {
			continue
		}
		tail, ok := d.lookUp(word[n:])
		if !ok {
			tail, ok = d.inflected(word[n:])
		}
		if ok && !strings.Contains(tail, " ") {
			return head + strings.ReplaceAll(tail, primary, secondary), true
		}
	}
	return "", false
}

// longestWord is the length of the longest word of the lists. A longer run of letters is
// spoken in parts, so that none is too long for a voice.
const longestWord = 45

// name appends the words of a run of letters: one word, or those of a camelCase name.
func (r *reader) name(run string, offset int) {
	if len(run) <= longestWord && !r.isCamel(run) {
		r.add(word, offset, offset+len(run), run)
		return
	}
	from := 0
	for i := 1; i <= len(run); i++ {
		if i < len(run) && !startsWord(run, i) && i-from < longestWord {
			continue
		}
		part := run[from:i]
		if from > 0 && len(part) > 1 && !isUpper(part[1]) { // the capital only begins the word
			part = strings.ToLower(part)
		}
		r.add(word, offset+from, offset+i, part)
		from = i
	}
}

// isCamel reports whether a run of letters is a name of several words, and not a listed word
// such as GitHub or an inflected acronym such as APIs.
func (r *reader) isCamel(run string) bool {
	if !isMixed(run) {
		return false
	}
	if _, ok := r.lookUp(run); ok {
		return false
	}
	_, ok := r.inflected(run)
	return !ok
}

// isMixed reports whether a capital follows a lower-case letter or precedes one within the
// word.
func isMixed(run string) bool {
	for i := 1; i < len(run); i++ {
		if startsWord(run, i) {
			return true
		}
	}
	return false
}

// startsWord reports whether the letter at i begins a word of a camelCase name: fooBar,
// HTTPServer.
func startsWord(run string, i int) bool {
	if !isUpper(run[i]) || !isLetter(run[i-1]) {
		return false
	}
	return !isUpper(run[i-1]) || i+1 < len(run) && isLetter(run[i+1]) && !isUpper(run[i+1])
}
