package spoken

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Command identifies a voice command. Its value is the heading of its section in a
// grammar.
type Command string

// The commands.
const (
	CommandStop             Command = "stop"
	CommandPause            Command = "pause"
	CommandContinue         Command = "continue"
	CommandRepeat           Command = "repeat"
	CommandRepeatSentence   Command = "repeatSentence"
	CommandFromStart        Command = "fromStart"
	CommandSkip             Command = "skip"
	CommandSkipCode         Command = "skipCode"
	CommandReadCode         Command = "readCode"
	CommandSlower           Command = "slower"
	CommandFaster           Command = "faster"
	CommandNormalSpeed      Command = "normalSpeed"
	CommandSpeed            Command = "speed"
	CommandLouder           Command = "louder"
	CommandQuieter          Command = "quieter"
	CommandNextVoice        Command = "nextVoice"
	CommandPreviousVoice    Command = "previousVoice"
	CommandSummarise        Command = "summarise"
	CommandWhatDidYouDo     Command = "whatDidYouDo"
	CommandReadChange       Command = "readChange"
	CommandShowChange       Command = "showChange"
	CommandWhy              Command = "why"
	CommandAlwaysAsk        Command = "alwaysAsk"
	CommandUndo             Command = "undo"
	CommandUndoCorrection   Command = "undoCorrection"
	CommandScratch          Command = "scratch"
	CommandYes              Command = "yes"
	CommandNo               Command = "no"
	CommandTryAgain         Command = "tryAgain"
	CommandListModes        Command = "listModes"
	CommandSwitchMode       Command = "switchMode"
	CommandListModels       Command = "listModels"
	CommandSwitchModel      Command = "switchModel"
	CommandListAssistants   Command = "listAssistants"
	CommandSwitchAssistant  Command = "switchAssistant"
	CommandListSessions     Command = "listSessions"
	CommandLastSession      Command = "lastSession"
	CommandOpenSession      Command = "openSession"
	CommandSendPhrase       Command = "sendPhrase"
	CommandMute             Command = "mute"
	CommandUnmute           Command = "unmute"
	CommandSleep            Command = "sleep"
	CommandEnd              Command = "end"
	CommandHelp             Command = "help"
	CommandOpenSettings     Command = "openSettings"
	CommandChooseMicrophone Command = "chooseMicrophone"
	CommandFixIt            Command = "fixIt"
	CommandScrollUp         Command = "scrollUp"
	CommandScrollDown       Command = "scrollDown"
	CommandNextProblem      Command = "nextProblem"
	CommandPreviousProblem  Command = "previousProblem"
	CommandOpenThatFile     Command = "openThatFile"
	CommandOpenFile         Command = "openFile"
	CommandGoToLine         Command = "goToLine"
	CommandRunTests         Command = "runTests"
)

// Commands lists every command in the order of help. Ranges of it have a meaning: see
// Agent and Editor.
var Commands = []Command{
	CommandStop, CommandPause, CommandContinue, CommandRepeat, CommandRepeatSentence, CommandFromStart, CommandSkip, CommandSkipCode, CommandReadCode,
	CommandSlower, CommandFaster, CommandNormalSpeed, CommandSpeed, CommandLouder, CommandQuieter, CommandNextVoice, CommandPreviousVoice,
	CommandSummarise, CommandWhatDidYouDo,
	CommandReadChange, CommandShowChange, CommandWhy, CommandAlwaysAsk, CommandUndo, CommandUndoCorrection, CommandScratch, CommandYes, CommandNo, CommandTryAgain,
	CommandListModes, CommandSwitchMode, CommandListModels, CommandSwitchModel, CommandListAssistants, CommandSwitchAssistant, CommandListSessions, CommandLastSession, CommandOpenSession,
	CommandSendPhrase, CommandMute, CommandUnmute, CommandSleep, CommandEnd,
	CommandHelp, CommandOpenSettings, CommandChooseMicrophone, CommandFixIt, CommandScrollUp, CommandScrollDown, CommandNextProblem,
	CommandPreviousProblem, CommandOpenThatFile, CommandOpenFile, CommandGoToLine, CommandRunTests,
}

// Agent reports whether the command concerns who answers, or the agent's modes, models or sessions.
func (c Command) Agent() bool {
	at := slices.Index(Commands, c)
	return at >= slices.Index(Commands, CommandListModes) && at <= slices.Index(Commands, CommandOpenSession)
}

// Editor reports whether the editor runs the command.
func (c Command) Editor() bool {
	return c == CommandUndo || slices.Index(Commands, c) >= slices.Index(Commands, CommandOpenSettings)
}

// slots are the placeholders in phrases, by command.
var slots = map[Command]string{
	CommandSpeed: "{number}", CommandGoToLine: "{number}",
	CommandOpenFile: "{name}", CommandSwitchMode: "{name}", CommandSwitchModel: "{name}", CommandSwitchAssistant: "{name}", CommandOpenSession: "{name}",
}

// Sections of a grammar that are not commands.
const (
	sectionBackchannel = "(backchannel)"
	sectionAgreement   = "(agreement)"
	sectionLead        = "(lead)"
	sectionFiller      = "(filler)"
)

var besideCommands = []string{sectionBackchannel, sectionAgreement, sectionLead, sectionFiller}

// Limits of a user's grammar.
const (
	maxGrammar = 64 << 10 // bytes
	maxPhrases = 1_000
)

// Entry describes a command in one language: what it does, and its phrases. Help mentions
// the first phrase.
type Entry struct {
	Command Command
	Does    string
	Phrases []string
}

// Problem is a phrase of a user's grammar that has no effect, with the reason.
type Problem struct{ Section, Phrase, Why string }

func (p Problem) String() string {
	if p.Phrase == "" {
		return fmt.Sprintf("%s: %s", p.Section, p.Why)
	}
	return fmt.Sprintf("%s: “%s” %s", p.Section, p.Phrase, p.Why)
}

// Grammar classifies the short things that people say to a voice assistant. It is
// immutable.
type Grammar struct {
	commands     map[string]Command
	patterns     []pattern
	begun        map[string]bool // the first words of longer phrases
	backchannels map[string]bool // of up to three words
	agreements   map[string]bool // those that are also an answer
	leads        map[string]bool // may come before a command that says more
	fillers      [][]string      // may stand at both ends of a command
	problems     []Problem
	left         int // phrases that may still be added
}

// pattern is a phrase with a slot, as the text before and after it.
type pattern struct {
	before, after string
	command       Command
}

// Languages are the language tags of the built-in grammars.
var Languages = []string{"en", "de", "ja"}

//go:embed commands/en.md
var englishCommands string

//go:embed commands/de.md
var germanCommands string

//go:embed commands/ja.md
var japaneseCommands string

// builtIn holds the grammars by language. All are active at once: people mix languages,
// and no phrase means something different in another one.
var builtIn = map[string]string{"en": englishCommands, "de": germanCommands, "ja": japaneseCommands}

// Default is the grammar without user phrases.
var Default = NewGrammar()

// NewGrammar makes a grammar from the built-in phrases and the user's files, which have
// the same format. A phrase that already has a meaning keeps it, and is reported in
// Problems.
func NewGrammar(files ...string) *Grammar {
	g := &Grammar{
		commands: map[string]Command{}, begun: map[string]bool{},
		backchannels: map[string]bool{}, agreements: map[string]bool{}, leads: map[string]bool{}, left: math.MaxInt,
	}
	for _, lang := range Languages {
		g.add(builtIn[lang])
	}
	g.left = maxPhrases
	for _, text := range files {
		if len(text) > maxGrammar {
			g.problems = append(g.problems, Problem{Section: "file", Why: fmt.Sprintf("is longer than %d KiB; the rest is not read", maxGrammar>>10)})
			text = text[:maxGrammar]
		}
		g.add(text)
	}
	return g
}

// Problems returns the phrases of the user's files that have no effect.
func (g *Grammar) Problems() []Problem { return g.problems }

// bulletLine matches a line of phrases.
var bulletLine = regexp.MustCompile(`^\s*[-*+]\s+(.*)$`)

// section is a section of a grammar: its heading, its first paragraph and its phrases.
type section struct {
	name, does string
	phrases    []string
}

// sections parses a grammar: "## command", a sentence, and bullets of phrases separated
// by bars. Text before the first heading is prose.
func sections(text string) (out []section) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, heading := strings.CutPrefix(line, "## "); heading {
			out = append(out, section{name: strings.TrimSpace(name)})
			continue
		}
		if len(out) == 0 || line == "" {
			continue
		}
		s := &out[len(out)-1]
		if m := bulletLine.FindStringSubmatch(line); m != nil {
			for phrase := range strings.SplitSeq(m[1], "|") {
				s.phrases = append(s.phrases, strings.TrimSpace(phrase))
			}
		} else if s.does == "" {
			s.does = line
		}
	}
	return out
}

func (g *Grammar) add(text string) {
	for _, s := range sections(text) {
		for _, phrase := range s.phrases {
			if g.left--; g.left < 0 {
				g.problem(s, "", fmt.Sprintf("comes after %d phrases, which are enough", maxPhrases))
				return
			}
			g.addPhrase(s, phrase)
		}
	}
}

func (g *Grammar) problem(s section, phrase, why string) {
	g.problems = append(g.problems, Problem{Section: s.name, Phrase: phrase, Why: why})
}

// phraseWords returns the normalised words of a phrase before and after its slot, and the
// slot.
func phraseWords(phrase string) (before, after []string, slot string) {
	for _, slot := range []string{"{number}", "{name}"} {
		if b, a, found := strings.Cut(phrase, slot); found {
			return wordsOf(b), wordsOf(a), slot
		}
	}
	return wordsOf(phrase), nil, ""
}

func (g *Grammar) addPhrase(s section, phrase string) {
	before, after, slot := phraseWords(phrase)
	key := strings.Join(before, " ")
	if len(before)+len(after) == 0 {
		g.problem(s, phrase, "has no words")
		return
	}
	if means := g.commands[key]; means != "" && slices.Contains(besideCommands, s.name) && g.left < maxPhrases {
		g.conflict(s, phrase, means) // a user's file must not take an answer away
		return
	}
	switch s.name {
	case sectionBackchannel:
		g.backchannels[key] = true
		return
	case sectionAgreement:
		g.backchannels[key], g.agreements[key] = true, true
		return
	case sectionLead:
		g.leads[key] = true
		return
	case sectionFiller:
		g.fillers = append(g.fillers, before)
		return
	}
	command := Command(s.name)
	switch {
	case !slices.Contains(Commands, command):
		g.problem(s, phrase, "is for a command that does not exist")
	case slot != slots[command]:
		if slots[command] == "" {
			g.problem(s, phrase, "has "+slot+", which this command does not take")
		} else {
			g.problem(s, phrase, "has no "+slots[command])
		}
	case slot != "":
		p := pattern{command: command, before: glued(phrase[:strings.Index(phrase, slot)], key, true), after: glued(phrase[strings.Index(phrase, slot)+len(slot):], strings.Join(after, " "), false)}
		if at := slices.IndexFunc(g.patterns, func(q pattern) bool { return q.before == p.before && q.after == p.after }); at >= 0 {
			g.conflict(s, phrase, g.patterns[at].command)
			return
		}
		g.patterns = append(g.patterns, p)
		g.begin(before)
	case len(before) > maxCommandWords:
		g.problem(s, phrase, fmt.Sprintf("has more than %d words", maxCommandWords))
	case g.backchannels[key]:
		g.problem(s, phrase, "is only a sign of listening")
	case g.commands[key] != "":
		g.conflict(s, phrase, g.commands[key])
	default:
		g.commands[key] = command
		g.begin(before[:len(before)-1])
	}
}

// conflict records a phrase that already means something else. Repeating a phrase is not
// a conflict.
func (g *Grammar) conflict(s section, phrase string, means Command) {
	if means != Command(s.name) {
		g.problem(s, phrase, "means "+string(means)+" already")
	}
}

func (g *Grammar) begin(words []string) {
	for n := 1; n <= len(words); n++ {
		g.begun[strings.Join(words[:n], " ")] = true
	}
}

// glued returns the text of a phrase next to a slot. It adds a blank between them, except
// in a script without blanks and for a suffix of the name ("{name}modus").
func glued(text, words string, before bool) string {
	blank := strings.ContainsAny(text, " \t") || before && words != "" && isLatin(rune(words[0]))
	switch {
	case words == "" || !blank:
		return words
	case before:
		return words + " "
	}
	return " " + words
}

// Entries returns the commands of a language in the order of its grammar.
func Entries(lang string) (out []Entry) {
	for _, s := range sections(builtIn[lang]) {
		if !strings.HasPrefix(s.name, "(") {
			out = append(out, Entry{Command: Command(s.name), Does: s.does, Phrases: s.phrases})
		}
	}
	return out
}
