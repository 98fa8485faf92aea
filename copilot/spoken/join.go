package spoken

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Join returns two utterances of one message as one text. Recognisers end each with a full stop.
// One inside a sentence goes: before a word that joins a clause to the one before, and after a word
// that no sentence ends with.
func Join(first, second string) string {
	first, second = strings.TrimSpace(first), strings.TrimSpace(second)
	if first == "" || second == "" {
		return first + second
	}
	before, after := replyWords(first), replyWords(second)
	if len(before) == 0 || len(after) == 0 || strings.HasSuffix(first, "..") {
		return first + " " + second
	}
	begun, rest := first, strings.TrimSuffix(first, ".")
	joined := joins[after[0]] || continues[after[0]]
	if rest != first && (joined || joins[before[len(before)-1]] || unfinished[before[len(before)-1]]) {
		begun = rest
		if joined || connectives[after[0]] || unfinished[after[0]] {
			r, n := utf8.DecodeRuneInString(second)
			second = string(unicode.ToLower(r)) + second[n:]
		}
	}
	return begun + " " + second
}

var (
	// continues are words that go on with a sentence, and seldom begin one.
	continues = set(`to of for from with without into onto by than that which who whose in at on as
		dass welche welcher welches zu mit ohne für von aus als damit`)
	// unfinished are words that no sentence ends with.
	unfinished = set(`the a an to of for from with into by my your our their its this these every each whether which whose is are was were
		der die das den dem des ein eine einen einem einer mit für von zu dass ob mein dein`)
)
