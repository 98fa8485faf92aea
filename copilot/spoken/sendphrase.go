package spoken

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// CutRefusal removes the refusal to send from the end of what was said: "do not send this yet",
// "ich will das noch nicht abschicken". phrase is the send phrase of the settings, "" for those of
// the grammar.
func (g *Grammar) CutRefusal(text, phrase string) (rest string, refused bool) {
	if at := joinedRefusal(text, phrase); at >= 0 {
		return strings.TrimRight(text[:at], " ,;:-–—、"), true
	}
	clauses, cut := clausesOf(text), -1
	var words []string
	for i := len(clauses) - 1; i >= 0; i-- {
		c := clauses[i]
		if len(words) > 0 && (c.ends || slices.ContainsFunc(c.words, func(w string) bool { return !denials[w] && !around[w] })) {
			break // "It does not work, send it."
		}
		for from := range c.words {
			if part := slices.Concat(c.words[from:], words); g.refuses(part, phrase) {
				cut = c.at[from]
				break
			}
		}
		words = slices.Concat(c.words, words)
	}
	if cut < 0 {
		return text, false
	}
	rest = strings.TrimRight(text[:cut], " ,;:-–—、")
	if !slices.ContainsFunc(wordsOf(rest), func(w string) bool { return !around[w] && !holds[w] }) {
		return "", true // "No, wait, don't send it."
	}
	return rest, true
}

// refuses reports whether words are nothing but a denial of a phrase that sends.
func (g *Grammar) refuses(words []string, phrase string) bool {
	if len(words) > maxCommandWords || !slices.ContainsFunc(words, func(w string) bool { return denials[w] }) {
		return false
	}
	bare := bareWords(words)
	if phrase != "" {
		want := bareWords(wordsOf(phrase))
		return bare != "" && bare == want
	}
	for p, c := range g.commands {
		if c == CommandSendPhrase && bareWords(strings.Fields(p)) == bare {
			return true
		}
	}
	return false
}

// bareWords returns words without denials and the words around them.
func bareWords(words []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return denials[w] || around[w] }), " ")
}

// joinedRefusal returns where a refusal begins in a script without spaces, or -1.
func joinedRefusal(text, phrase string) int {
	verb := "送信|送"
	if phrase != "" {
		verb = regexp.QuoteMeta(strings.TrimSpace(phrase))
	}
	m := regexp.MustCompile(`(?:まだ|今は|いまは|それは|これは|、)*(?:` + verb + `)\p{Hiragana}{0,4}(?:ない|なく|ません)\p{Hiragana}*[\s。．.！!]*$`).FindStringIndex(text)
	if m == nil {
		return -1
	}
	return m[0]
}

// clause is a part of a text between punctuation marks.
type clause struct {
	words []string
	at    []int // their offsets in the text
	ends  bool  // the clause ends a sentence
}

// clausesOf returns the clauses of a text that have words.
func clausesOf(text string) (out []clause) {
	var c clause
	begin := -1
	for i, r := range text + "\n" {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.M, r), r == '\'', r == '’':
			if begin < 0 {
				begin = i
			}
			continue
		case begin >= 0:
			c.words, c.at, begin = append(c.words, strings.Join(wordsOf(text[begin:i]), " ")), append(c.at, begin), -1
		}
		if !unicode.IsSpace(r) && r != '-' || r == '\n' {
			c.ends = strings.ContainsRune(".!?…。．！？\n", r)
			if len(c.words) > 0 {
				out, c = append(out, c), clause{}
			}
		}
	}
	return out
}

var (
	// denials take back what follows them.
	denials = set(`dont not never wont cant cannot shouldnt mustnt nicht nie niemals kein keinen keinesfalls`)
	// holds may come before them.
	holds = set(`wait hold stop okay halt warte moment stopp`)
	// around are words that may accompany the denial of a phrase and say nothing else.
	around = set(`i we you id im ill well would rather want wanted wanna to like need have having going gonna should shall must let lets do does did can could
		will am are be think please just now yet already again still right away immediately it that this them these those the message my all any of for me no
		ich wir sie du will möchte würde kann soll sollst sollen sollte wollte mag es das dies dieses die nachricht noch jetzt sofort gleich schon mehr bitte
		lieber so hier mir uns einfach auf fall besser nein but and aber und um umm uh uhm er erm hm hmm ah äh ähm`)
)
