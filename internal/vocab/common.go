package vocab

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed common.txt
var commonWords string

// common holds the ordinary words of English, without inflected forms.
var common = sync.OnceValue(func() map[string]bool { return set(commonWords) })

// endings are suffixes of inflected forms; the second element replaces the suffix.
var endings = [][2]string{
	{"s", ""}, {"es", ""}, {"ed", ""}, {"ed", "e"}, {"ing", ""}, {"ing", "e"}, {"ies", "y"}, {"ly", ""}, {"er", ""}, {"er", "e"},
}

// ordinary reports whether a word, in lower case, is an everyday word rather than a name.
func ordinary(word string) bool {
	all := common()
	if all[word] {
		return true
	}
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(word, e[0]); ok && len(stem)+len(e[1]) > 2 && all[stem+e[1]] {
			return true
		}
	}
	return false
}
