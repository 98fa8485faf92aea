package spoken

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// UtteranceClass says what an utterance is to the conversation.
type UtteranceClass string

// The classes of utterances.
const (
	// UtteranceContent is meant for the assistant.
	UtteranceContent UtteranceClass = "content"
	// UtteranceEmpty holds no word that asks anything: a cough, a recogniser's
	// "[noise]" or "the".
	UtteranceEmpty UtteranceClass = "empty"
	// UtteranceBackchannel shows that one listens and wants nothing: "mm-hm".
	UtteranceBackchannel UtteranceClass = "backchannel"
	// UtteranceCommand is meant for the conversation itself.
	UtteranceCommand UtteranceClass = "command"
)

// Command is what a command asks for.
type Command string

// The commands.
const (
	CommandStop       Command = "stop"
	CommandRepeat     Command = "repeat"
	CommandYes        Command = "yes"
	CommandNo         Command = "no"
	CommandTryAgain   Command = "tryAgain"
	CommandPause      Command = "pause"
	CommandContinue   Command = "continue"
	CommandSendPhrase Command = "sendPhrase"
)

// Utterance is what Classify makes of a transcript. It holds no words, so that
// it can be journaled.
type Utterance struct {
	Class   UtteranceClass
	Command Command // of UtteranceCommand only
	// Listening marks a command that people also say only to show that they
	// listen ("yeah"). Where no question is open it is a backchannel.
	Listening bool
}

// annotation is how recognisers write what is no speech: [noise], (coughs),
// <unk>, *laughs*.
var annotation = regexp.MustCompile(`\[[^\]]*\]|\([^)]*\)|<[^>]*>|\*[^*]*\*`)

// Classify sorts the final transcript of one utterance. Only a whole utterance
// is a command: "stop" is one, "stop the server" is content. Case, punctuation,
// fillers, politeness and repetition ("no, no, no") do not matter.
func Classify(text string) Utterance {
	words := wordsOf(annotation.ReplaceAllString(text, " "))
	if !slices.ContainsFunc(words, func(w string) bool { return !particles[w] }) {
		return Utterance{Class: UtteranceEmpty}
	}
	if isBackchannel(words) {
		return Utterance{Class: UtteranceBackchannel}
	}
	if cmd := commandOf(words); cmd != "" {
		listening := cmd == CommandYes && listeningWords[words[0]]
		return Utterance{Class: UtteranceCommand, Command: cmd, Listening: listening}
	}
	return Utterance{Class: UtteranceContent}
}

// particles are words that ask nothing by themselves. Recognisers make them of a
// cough or a breath.
var particles = map[string]bool{"the": true, "an": true, "and": true, "but": true, "of": true}

// wordsOf returns the words in lower case without punctuation; apostrophes are
// dropped ("don't" is dont), hyphens part words.
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

// maxCommandWords bounds the work: nothing longer is a command, however often it
// repeats itself.
const maxCommandWords = 12

// isBackchannel reports whether words are a row of backchannels: "okay, mm-hm,
// I see".
func isBackchannel(words []string) bool {
	if len(words) > maxCommandWords {
		return false
	}
	for len(words) > 0 {
		n := min(3, len(words))
		for n > 0 && !backchannels[strings.Join(words[:n], " ")] {
			n--
		}
		if n == 0 {
			return false
		}
		words = words[n:]
	}
	return true
}

// commandOf returns the command that words are as a whole, "" for none.
func commandOf(words []string) Command {
	if len(words) > maxCommandWords {
		return ""
	}
	words = once(strip(words))
	if cmd := commands[strings.Join(words, " ")]; cmd != "" {
		return cmd
	}
	// "no, wait", "yes, stop": the second word says what is wanted.
	if len(words) > 1 && leads[words[0]] {
		return commands[strings.Join(once(strip(words[1:])), " ")]
	}
	return ""
}

// strip takes fillers and politeness off both ends.
func strip(words []string) []string {
	for {
		before := len(words)
		for _, f := range fillers {
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

// once reduces a phrase that was said several times to one.
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
