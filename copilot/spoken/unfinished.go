package spoken

import (
	"slices"
	"strings"
	"unicode"
)

// withoutHesitation returns words without the sounds of thinking at their end.
func withoutHesitation(words []string) []string {
	for len(words) > 1 && hesitations[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	return words
}

// endsJoining reports whether words end with one that joins the next clause.
func endsJoining(words []string) bool {
	words = withoutHesitation(words)
	return len(words) > 1 && joins[words[len(words)-1]]
}

// endsOpen reports whether the last words require more: "yes, delete the".
func endsOpen(words []string) bool {
	words = withoutHesitation(words)
	for n := min(3, len(words)); n > 0; n-- {
		if wants[strings.Join(words[len(words)-n:], " ")] && len(words) > 1 {
			return !endsVerb(words)
		}
	}
	return endsJoining(words)
}

// endsVerb reports whether the last word is the separated part of a German verb: "führe es aus".
func endsVerb(words []string) bool {
	last := len(words) - 1
	return slices.ContainsFunc(separable[words[last]], func(verb string) bool {
		return slices.ContainsFunc(words[:last], func(w string) bool { return strings.HasPrefix(w, verb) })
	})
}

// ordered reports whether a word that names an action orders it. In a script without spaces, the
// word may go on with something else: "削除する前に" is "before you delete".
func ordered(word string) bool {
	runes := []rune(word)
	last := runes[len(runes)-1]
	switch {
	case !unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana) && last != 'ー':
		return true
	case slices.ContainsFunc(reservations, func(part string) bool { return strings.Contains(word, part) }):
		return false
	}
	return !unicode.Is(unicode.Hiragana, last) || slices.ContainsFunc(orders, func(end string) bool { return strings.HasSuffix(word, end) })
}

var (
	// joins are words that join the next clause: a sentence does not end with them.
	joins = set(`but and or because if unless except only although though before after until while
		aber und oder weil wenn falls außer sondern obwohl bevor nachdem bis
		だけど けれど けど でも ただ`)
	// wants are further words and phrases with which a yes does not end: articles, prepositions,
	// auxiliaries, and beginnings of a request. Those of connectives are left to Reply.Partly.
	wants = lacking(`the|a|my|your|our|their|its|another|every|each|no|to|in|of|into|onto|for|with|without|on|at|about|under|over|through|between|against|via
		use|using|is|are|was|were|be|will|would|should|could|must|has|have|had|does|did|not|just|lets|let us|instead of|which|whose
		can you|could you|would you|will you|i want you to|id like you to|i said|i say|yes you|yes it|yes i|yes we
		der|die|den|dem|des|diese|dieser|diesen|diesem|dieses|eine|einen|einem|einer|kein|keine|keinen|mein|meine|dein|deine|ihr|ihre|jede|jeden|jedes
		mit|für|auf|aus|in|im|an|am|vom|zum|zur|beim|nach|ohne|über|unter|durch|gegen|zwischen|vor|hinter|neben|statt|wegen|trotz|nur|zu
		ist|sind|war|wird|werden|würde|soll|sollte|muss|hat|haben|nicht|benutze|verwende|nimm|welche|dass
		ja kannst du|ja können sie|könntest du|könnten sie|würdest du|würden sie|ja du|ich sagte|lass uns
		の|を|に|で|と|は|も|が|へ|から|まで|より|この|その|あの`)
	// separable are parts of German verbs and phrases that look like prepositions, with the
	// beginnings of words before them.
	separable = map[string][]string{
		"aus": {"führ", "fuehr", "schalt", "mir"}, "auf": {"mach", "ruf", "räum"}, "an": {"leg", "wend", "pass", "häng", "fang", "zeig", "schau"},
		"zu": {"mach", "lass", "stimm", "schließ"}, "vor": {"lies", "lese"}, "durch": {"führ", "fuehr"}, "über": {"schreib"},
	}
	// reservations are parts of a word that deny or delay what it names.
	reservations = []string{"ない", "なく", "ません", "ずに", "前", "後", "代わり"}
	// orders end a word that orders what it names.
	orders = []string{"て", "んで", "ください", "下さい", "する", "む", "み", "り", "ます", "いい", "いいよ", "いいです", "ね", "よ", "どうぞ", "しろ", "しよう", "お願い", "お願いします"}
	// hesitations are sounds of thinking.
	hesitations = set(`um umm uh uhm er erm hm hmm mm like well äh ähm also えっと ええと あの`)
)

// lacking returns the phrases of lines, less the connectives.
func lacking(lines string) map[string]bool {
	m := phrases(lines)
	for word := range connectives {
		delete(m, word)
	}
	return m
}
