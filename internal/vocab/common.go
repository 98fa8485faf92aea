package vocab

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed common.txt
var commonWords string

// common are the ordinary words of English, without forms that endings make.
var common = sync.OnceValue(func() map[string]bool { return set(commonWords) })

// endings make other forms of a word; the second one is what the word may end with
// instead.
var endings = [][2]string{
	{"s", ""}, {"es", ""}, {"ed", ""}, {"ed", "e"}, {"ing", ""}, {"ing", "e"}, {"ies", "y"}, {"ly", ""}, {"er", ""}, {"er", "e"},
}

// ordinary says whether a word, in lower case, is one that people say without meaning
// a name.
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
