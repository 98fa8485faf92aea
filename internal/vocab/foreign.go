package vocab

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// Names of a workspace are chosen by whoever wrote it. This file keeps them from changing what
// the user said: they are names by their form, and a correction to one of them neither adds nor
// removes a word that decides what a sentence means.

// maxSpaces limits the spaces in a name of a workspace, so that a sentence is none.
const maxSpaces = 2

// Speakable reports whether a name of a workspace is worth recognising. A single ordinary word
// is transcribed correctly anyway, and generated names are never spoken. A name has letters,
// digits and the marks of names and paths.
func Speakable(name string) bool {
	if len(name) < 3 || len(name) > 48 || !workspace.Shows(name) || !named(name) {
		return false
	}
	parts, numbers := words(name), 0
	for _, p := range parts {
		if isDigits(p) {
			numbers++
		}
	}
	return len(parts) > 0 && len(parts) <= 8 && numbers <= 2 && numbers < len(parts) && (len(parts) > 1 || !ordinary(parts[0]))
}

// besideLatin are the scripts whose letters look like no Latin ones.
var besideLatin = []*unicode.RangeTable{unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Common, unicode.Inherited}

// named reports whether the characters are those of names, and whether letters of different
// scripts are mixed only where they do not look alike.
func named(name string) bool {
	const fullwidth, fullwidthEnd = '\uFF00', '\uFFEF'
	spaces, latin, other := 0, false, false
	for _, r := range name {
		switch {
		case r == ' ':
			spaces++
		case r >= fullwidth && r <= fullwidthEnd:
			return false
		case unicode.IsLetter(r):
			latin = latin || unicode.Is(unicode.Latin, r)
			other = other || !unicode.In(r, besideLatin...)
		case !unicode.IsDigit(r) && !strings.ContainsRune("_-./$@+#~", r):
			return false
		}
	}
	return spaces <= maxSpaces && !(latin && other)
}

// decisive are words that turn the meaning of a sentence: answers, negations, the extent of an
// action, and actions that cannot be undone.
var decisive = set(`yes yeah yep no nope not never nothing none neither nor ok okay sure stop wait cancel
	dont cannot cant wont isnt arent wasnt werent doesnt didnt hasnt havent shouldnt wouldnt couldnt mustnt
	all any every everything everyone anything only except without unless instead always
	delete remove drop destroy erase wipe purge force reset kill discard overwrite allow approve accept deny reject
	ja nein nicht nichts kein keine keinen keiner nie niemals ohne außer alle alles allen jede jeden jedes immer
	lösche löschen entferne entfernen verwirf verwerfen erlaube erlauben`)

// decides reports whether a word or its stem is decisive.
func decides(word string) bool {
	return decisive[word] || slices.ContainsFunc(endings, func(e [2]string) bool {
		stem, ok := strings.CutSuffix(word, e[0])
		return ok && decisive[stem+e[1]] && len(stem+e[1]) > 3
	})
}

func decisiveOf(parts []string) (out []string) {
	for _, p := range parts {
		if decides(p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// opposites are the beginnings of words that turn their meaning.
var opposites = []string{"un", "dis", "de", "in", "non", "anti"}

// opposed reports whether a word of one list is the opposite of a word of the other.
func opposed(heard, name []string) bool {
	for _, h := range heard {
		for _, n := range name {
			for _, o := range opposites {
				if h == o+n || n == o+h {
					return true
				}
			}
		}
	}
	return false
}

// Decides reports whether a name has a word that turns the meaning of a sentence.
func Decides(name string) bool { return len(decisiveOf(words(name))) > 0 }

// keepsMeaning reports whether a correction keeps what was said. The user's own names always do.
// A name of a workspace has to have the same decisive words, or the same letters, as in "no op"
// and noop. One with a decisive word never begins a sentence, where it could be an answer.
func (v *Vocabulary) keepsMeaning(said []word, m match) bool {
	t := v.terms[m.term]
	if t.Kind == Own {
		return true
	}
	var heard []string
	for _, w := range said[m.from:m.to] {
		heard = append(heard, w.parts...)
	}
	name := slices.DeleteFunc(words(t.Text), func(p string) bool { return p == "." })
	before, after := decisiveOf(heard), decisiveOf(name)
	if m.from == 0 && len(before)+len(after) > 0 || opposed(heard, name) {
		return false
	}
	return slices.Equal(before, after) || strings.Join(heard, "") == strings.Join(name, "")
}

// Foreign reports whether a change writes a name of a workspace.
func (v *Vocabulary) Foreign(c Change) bool {
	return v != nil && slices.ContainsFunc(v.terms, func(t Term) bool { return t.Text == c.Written && t.Kind != Own })
}
