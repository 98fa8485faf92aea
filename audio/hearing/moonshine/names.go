package moonshine

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameBonus is what each token of a name adds to the logarithm of a hypothesis's
// probability.
const nameBonus = 1.2

// Names are words and phrases that the user is likely to say. Transcribe prefers them where
// they are about as probable as what else was heard. Names can be shared by goroutines.
type Names struct {
	vocabulary *vocabulary
	root       *node
	first      []int32 // the tokens of root
}

// node is a node of a trie over tokens.
type node struct {
	next map[int32]*node
	name bool // a name ends here
}

// names makes a trie of names in spoken form. A name that begins with a lower-case letter
// is expected in the plural and at the beginning of a sentence too; one that begins with a
// capital, only as written.
func (v *vocabulary) names(list []string) *Names {
	n := &Names{vocabulary: v, root: &node{}}
	for _, name := range list {
		name = strings.Join(strings.Fields(name), " ")
		first, size := utf8.DecodeRuneInString(name)
		if !unicode.IsLower(first) {
			n.add(v.encode(name))
			continue
		}
		// Without the plural, its singular would be preferred to it.
		for _, form := range []string{name, plural(name)} {
			n.add(v.encode(form))
			n.add(v.encode(string(unicode.ToUpper(first)) + form[size:]))
		}
	}
	return n
}

func plural(name string) string {
	for _, end := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(name, end) {
			return name + "es"
		}
	}
	if stem, ok := strings.CutSuffix(name, "y"); ok && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeou") {
		return stem + "ies"
	}
	return name + "s"
}

func (n *Names) add(tokens []int32) {
	if len(tokens) == 0 {
		return
	}
	at := n.root
	for _, t := range tokens {
		next := at.next[t]
		if next == nil {
			if at.next == nil {
				at.next = map[int32]*node{}
			}
			next = &node{}
			at.next[t] = next
			if at == n.root {
				n.first = append(n.first, t)
			}
		}
		at = next
	}
	at.name = true
}

// place is how far a hypothesis is within a name. The zero value is outside of names.
type place struct {
	node  *node
	bonus float64 // given since the last complete name; taken back unless this one is completed
}

// advance returns where the token leads from a place, and the change of the hypothesis's
// bonus.
func (n *Names) advance(at place, token int32) (place, float64) {
	if n == nil {
		return place{}, 0
	}
	complete := at.node != nil && at.node.name && !n.spoils(token)
	if at.node != nil {
		if next := at.node.next[token]; next != nil {
			if complete {
				at.bonus = 0
			}
			return place{next, at.bonus + nameBonus}, nameBonus
		}
	}
	change := 0.0
	if !complete {
		change = -at.bonus
	}
	if next := n.root.next[token]; next != nil {
		return place{next, nameBonus}, change + nameBonus
	}
	return place{}, change
}

// endings are the tokens that may follow a name within its word, as in "linted".
var endings = map[string]bool{"s": true, "es": true, "d": true, "ed": true, "ing": true, "er": true, "ers": true}

// spoils reports whether a token makes another word of a name.
func (n *Names) spoils(token int32) bool {
	return n.vocabulary.continues(token) && !endings[n.vocabulary.text(token)]
}

// expected calls yield with the tokens that begin or continue a name.
func (n *Names) expected(at place, yield func(token int32)) {
	if n == nil {
		return
	}
	for _, t := range n.first {
		yield(t)
	}
	if at.node != nil {
		for t := range at.node.next {
			yield(t)
		}
	}
}

//go:embed terms.txt
var terms string

// Terms returns what people say about software and rarely elsewhere, and the verbs that
// begin requests about it, which are capitalised: they are expected only at the beginning
// of a sentence.
func Terms() []string {
	var list []string
	for line := range strings.Lines(terms) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for term := range strings.SplitSeq(line, ",") {
			if term = strings.TrimSpace(term); term != "" {
				list = append(list, term)
			}
		}
	}
	return list
}
