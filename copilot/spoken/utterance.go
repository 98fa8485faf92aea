package spoken

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// UtteranceClass classifies an utterance for the conversation.
type UtteranceClass string

// The classes of utterances.
const (
	// UtteranceContent is meant for the assistant.
	UtteranceContent UtteranceClass = "content"
	// UtteranceEmpty contains no meaningful word: a cough, a recogniser's "[noise]" or
	// "the".
	UtteranceEmpty UtteranceClass = "empty"
	// UtteranceBackchannel shows attention and asks for nothing: "mm-hm".
	UtteranceBackchannel UtteranceClass = "backchannel"
	// UtteranceCommand is addressed to the conversation itself.
	UtteranceCommand UtteranceClass = "command"
)

// Utterance is the result of Classify.
type Utterance struct {
	Class   UtteranceClass
	Command Command // of UtteranceCommand only
	Number  float64 // the command's number, for commands that take one
	// Agrees marks a backchannel that is also an answer to a question: "okay".
	Agrees bool
	// Refuses marks a command after a no: "no, go on". It is no consent.
	Refuses bool
}

// annotation matches how recognisers mark non-speech: [noise], (coughs), <unk>, *laughs*.
var annotation = regexp.MustCompile(`\[[^\]]*\]|\([^)]*\)|<[^>]*>|\*[^*]*\*`)

// Classify classifies the final transcript of one utterance, without user phrases.
func Classify(text string) Utterance { return Default.Classify(text) }

// Classify classifies the final transcript of one utterance. Only a whole utterance is a
// command: "stop" is one, "stop the server" is content. Case, punctuation, fillers,
// politeness and repetition ("no, no, no") are ignored.
func (g *Grammar) Classify(text string) Utterance {
	text = annotation.ReplaceAllString(text, " ")
	words := wordsOf(text)
	if !slices.ContainsFunc(words, func(w string) bool { return !particles[w] }) {
		return Utterance{Class: UtteranceEmpty}
	}
	if g.isBackchannel(words, "") {
		return Utterance{Class: UtteranceBackchannel, Agrees: g.agrees(words)}
	}
	if u := g.commandOf(words); u.Command != "" {
		if g.goesOn(u.Command, words) { // "yes, but"
			return Utterance{Class: UtteranceContent}
		}
		u.Class = UtteranceCommand
		return u
	}
	if len(words) <= maxCommandWords {
		if u := g.matched(wordsOf(decimal.ReplaceAllString(text, "$1 point $2"))); u.Command != "" {
			u.Class = UtteranceCommand
			return u
		}
	}
	if g.isBackchannel(replyWords(text), CommandYes) { // "yes, exactly"
		return Utterance{Class: UtteranceBackchannel, Agrees: true}
	}
	return Utterance{Class: UtteranceContent}
}

// goesOn reports whether a command that may answer a question is not finished.
func (g *Grammar) goesOn(c Command, words []string) bool {
	switch c {
	case CommandYes:
		return endsOpen(words) && !g.endsWith(c, words)
	case CommandNo, CommandContinue:
		return endsJoining(words)
	}
	return false
}

// endsWith reports whether the last words are a phrase of a command: "um, sure, why not".
func (g *Grammar) endsWith(c Command, words []string) bool {
	for i := range words {
		if g.commands[strings.Join(words[i:], " ")] == c {
			return true
		}
	}
	return false
}

// Begins reports whether words may be the beginning of a longer command.
func (g *Grammar) Begins(text string) bool {
	return g.begun[strings.Join(g.strip(wordsOf(annotation.ReplaceAllString(text, " "))), " ")]
}

// decimal matches fractions as recognisers write them.
var decimal = regexp.MustCompile(`([0-9０-９])[.,．]([0-9０-９])`)

// particles are words without meaning of their own. Recognisers produce them from a cough
// or a breath.
var particles = map[string]bool{"the": true, "an": true, "and": true, "but": true, "of": true}

// wordsOf returns the words in lower case without punctuation. Apostrophes are dropped
// ("don't" becomes dont), and hyphens separate words.
func wordsOf(text string) []string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\'', r == '’':
			return -1
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.M, r):
			return unicode.ToLower(r)
		}
		return ' '
	}, text)
	return strings.Fields(text)
}

// OneSpelling returns letters with a first "OK" as "okay".
func OneSpelling(letters string) string {
	if rest, short := strings.CutPrefix(letters, "ok"); short && !strings.HasPrefix(rest, "ay") && !strings.HasPrefix(rest, "ey") {
		return "okay" + rest
	}
	return letters
}

// maxCommandWords limits the work: longer utterances are not commands, even if they
// repeat one.
const maxCommandWords = 12

// isBackchannel reports whether words consist of backchannels: "okay, mm-hm, I see". Single words
// of a command may stand between them.
func (g *Grammar) isBackchannel(words []string, between Command) bool {
	if len(words) > maxCommandWords {
		return false
	}
	for len(words) > 0 {
		n := min(3, len(words))
		for n > 0 && !g.backchannels[strings.Join(words[:n], " ")] {
			n--
		}
		if n == 0 && (between == "" || g.commands[words[0]] != between) {
			return false
		}
		words = words[max(n, 1):]
	}
	return true
}

// agrees reports whether one of the backchannels in words is also an answer.
func (g *Grammar) agrees(words []string) bool {
	for at := range words {
		for n := min(3, len(words)-at); n > 0; n-- {
			if g.agreements[strings.Join(words[at:at+n], " ")] {
				return true
			}
		}
	}
	return false
}

// commandOf returns the command that all words together form, or the zero Utterance.
func (g *Grammar) commandOf(words []string) Utterance {
	if len(words) > maxCommandWords {
		return Utterance{}
	}
	if cmd := g.stripped(words); cmd != "" {
		return Utterance{Command: cmd}
	}
	// "no, wait", "yes, stop": the second word is the request.
	if words = g.strip(words); len(words) > 1 && g.leads[words[0]] {
		u := Utterance{Command: g.stripped(words[1:])}
		if u.Refuses = u.Command != "" && g.commands[words[0]] == CommandNo; u.Refuses && u.Command == CommandYes {
			u.Command = CommandNo
		}
		return u
	}
	return Utterance{}
}

// stripped returns the command in words, removing as few fillers as necessary: "that's
// right" ends with one.
func (g *Grammar) stripped(words []string) Command {
	for front := 0; front >= 0; front = g.filler(words, front, true) {
		for end := len(words); end > front; end = g.filler(words[front:], end-front, false) + front {
			if cmd := g.commands[strings.Join(once(words[front:end]), " ")]; cmd != "" {
				return cmd
			}
		}
	}
	return ""
}

// filler returns the index after the filler that starts at at, or the start of the filler
// that ends there; -1 if there is no filler.
func (g *Grammar) filler(words []string, at int, forward bool) int {
	for _, f := range g.fillers {
		switch n := len(f); {
		case forward && at+n < len(words) && slices.Equal(words[at:at+n], f):
			return at + n
		case !forward && at > n && slices.Equal(words[at-n:at], f):
			return at - n
		}
	}
	return -1
}

// matched returns the command of a phrase with a number, or the zero Utterance.
func (g *Grammar) matched(words []string) (u Utterance) {
	g.match(words, "{number}", func(c Command, rest string) bool {
		n, ok := numberOf(rest)
		if ok {
			u = Utterance{Command: c, Number: n}
		}
		return ok
	})
	return u
}

// Named returns the command of a phrase with a name, and the words of that name. The
// words are a command only if known accepts the name for it.
func (g *Grammar) Named(text string, known func(c Command, name string) bool) (command Command, name string) {
	words := wordsOf(annotation.ReplaceAllString(text, " "))
	if len(words) > maxCommandWords {
		return "", ""
	}
	g.match(words, "{name}", func(c Command, rest string) bool {
		if known(c, rest) {
			command, name = c, rest
		}
		return name != ""
	})
	return command, name
}

// NameWords returns the words of a name in the form that Named uses.
func NameWords(name string) string { return strings.Join(wordsOf(name), " ") }

// maxChoice limits the words of a mode or model name in a command, not counting numbers.
// Longer names are dictation.
const maxChoice = 3

// NamesChoice reports whether a name in a command can be that of a mode, a model or the
// number of a session. The agent decides whether it exists.
func NamesChoice(c Command, name string) bool {
	switch c {
	case CommandSwitchMode, CommandSwitchModel:
		words := slices.DeleteFunc(strings.Fields(name), func(w string) bool {
			_, number := numberWords[w]
			return number || pointWords[w]
		})
		return len(words) <= maxChoice
	case CommandOpenSession:
		n, ok := NumberOf(name)
		return ok && n >= 1 && n == math.Trunc(n)
	}
	return false
}

// pointWords are the spoken forms of a decimal point.
var pointWords = map[string]bool{"point": true, "dot": true, "punkt": true, "komma": true}

// NameKey normalises a name for comparison: case, blanks and signs are dropped, and
// number words become digits. "GPT five point four" becomes "gpt54".
func NameKey(name string) string {
	var b strings.Builder
	words := wordsOf(name)
	for i, w := range words {
		n, number := numberWords[w]
		switch {
		case number && n == math.Trunc(n):
			b.WriteString(strconv.Itoa(int(n)))
		case i > 0 && i+1 < len(words) && pointWords[w]:
		default:
			b.WriteString(w)
		}
	}
	return b.String()
}

// NumberOf reads a number, in digits or in words.
func NumberOf(text string) (n float64, ok bool) { return numberOf(NameWords(text)) }

// match calls take with the words in place of a slot, until take accepts.
func (g *Grammar) match(words []string, slot string, take func(c Command, rest string) bool) {
	said := strings.Join(g.strip(words), " ")
	for _, p := range g.patterns {
		rest, before := strings.CutPrefix(said, p.before)
		rest, after := strings.CutSuffix(rest, p.after)
		if rest = strings.TrimSpace(rest); before && after && rest != "" && slots[p.command] == slot && take(p.command, rest) {
			return
		}
	}
}

// strip removes fillers and politeness from both ends.
func (g *Grammar) strip(words []string) []string {
	for {
		before := len(words)
		for _, f := range g.fillers {
			if n := len(f); len(words) > n {
				if slices.Equal(words[:n], f) {
					words = words[n:]
				} else if slices.Equal(words[len(words)-n:], f) {
					words = words[:len(words)-n]
				}
			}
		}
		if len(words) == before {
			return words
		}
	}
}

// once removes repetitions of a phrase.
func once(words []string) []string {
	for n := 1; n <= len(words)/2; n++ {
		if len(words)%n != 0 {
			continue
		}
		same := true
		for i := n; i < len(words) && same; i += n {
			same = slices.Equal(words[i:i+n], words[:n])
		}
		if same {
			return words[:n]
		}
	}
	return words
}
