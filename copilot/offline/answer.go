package offline

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// topic is a question that can be answered without an assistant. Any of its phrases, in
// the form of normal, selects it. Phrases are specific enough not to occur in ordinary
// speech by chance.
type topic struct {
	phrases []string
	answer  func(a *Adapter, ctx context.Context) string
}

// testPhrases ask for the tests to be run. Parts of a question suffice: running them needs
// the user's consent.
var testPhrases = []string{"run the tests", "run tests", "run all tests", "run all the tests", "do the tests", "do all tests", "do all the tests",
	"which tests", "what tests", "the tests pass", "tests fail", "test fails", "failing test", "failing tests", "tests are failing"}

// topics are in order of precedence.
var topics = []topic{
	{[]string{"what can you do", "what do you do", "what can i ask", "what can i say", "how can you help", "can you help me", "what are you able to"}, (*Adapter).help},
	{[]string{"who are you", "what are you", "what is your name", "whats your name", "are you offline", "are you online"}, (*Adapter).self},
	{[]string{"what time", "the time now", "tell me the time", "current time", "time is it", "what is the time", "whats the time"}, (*Adapter).time},
	{[]string{"what day", "what date", "todays date", "what is the date", "whats the date", "current date", "date today", "which day", "tell me the date", "date is it"}, (*Adapter).date},
	{[]string{"which branch", "what branch", "current branch", "git branch", "branch am i on", "branch are we on", "name of the branch"}, (*Adapter).branch},
	{[]string{"last commit", "latest commit", "recent commit"}, (*Adapter).lastCommit},
	{[]string{"git status", "uncommitted", "not committed", "did i change", "have i changed", "has changed", "files changed"}, (*Adapter).changes},
	{[]string{"how many files", "number of files", "count the files", "count of files", "count files"}, (*Adapter).files},
	{[]string{"what is in this folder", "whats in this folder", "what is in the folder", "whats in the folder", "what is in this directory", "whats in this directory",
		"list the files", "list files", "what files are", "which files are"}, (*Adapter).contents},
	{[]string{"go version", "version of go", "version of the go", "which go", "golang version"}, (*Adapter).goVersion},
	{[]string{"which folder", "what folder", "which directory", "what directory", "current folder", "current directory", "working folder", "working directory", "where am i",
		"which workspace", "what workspace", "which project", "what project", "name of the project", "name of the folder"}, (*Adapter).folder},
	{[]string{"which machine", "what machine", "what computer", "which computer", "operating system", "how many processors", "how many cores", "what system"}, (*Adapter).machine},
}

// greetings match only the whole utterance.
var greetings = map[string]bool{"hello": true, "hi": true, "hello there": true, "hi there": true, "hey": true, "good morning": true,
	"good afternoon": true, "good evening": true, "hello assistant": true, "hello copilot": true}

// answer returns the answer to the last message, or "" if it called a tool.
func (a *Adapter) answer(ctx context.Context, r copilot.Request) string {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == copilot.RoleTool {
		return report(r.Messages[n-1])
	}
	heard := lastOf(r.Messages)
	text := " " + normal(heard) + " "
	if strings.TrimSpace(text) == "" {
		return "I did not catch any words. Please say that again, a little closer to the microphone."
	}
	if greetings[strings.TrimSpace(text)] {
		return "Hello! What is it about: this folder, its branch, its tests, or a name in the code?"
	}
	holds := func(phrase string) bool { return strings.Contains(text, " "+phrase+" ") }
	if slices.ContainsFunc(testPhrases, holds) {
		return a.tests(ctx, r)
	}
	for _, topic := range topics {
		if slices.ContainsFunc(topic.phrases, holds) {
			return topic.answer(a, ctx)
		}
	}
	if name := saidName(text); name != "" {
		if found := a.symbol(ctx, name); found != "" {
			return found
		}
	}
	return reflect(heard)
}

// lastOf returns the user's last message.
func lastOf(messages []copilot.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == copilot.RoleUser {
			return m.Content
		}
	}
	return ""
}

// normal returns the words in lower case, without apostrophes and punctuation.
func normal(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\'', r == '’':
			return -1
		case unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// maxReflected is how many of the user's words are repeated.
const maxReflected = 16

// said returns the beginning of the user's words, without markup.
func said(text string) string {
	words := strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("'’.,:-", r) {
			return r
		}
		return ' '
	}, text))
	more := len(words) > maxReflected
	if more {
		words = words[:maxReflected]
	}
	s := strings.TrimRight(strings.Join(words, " "), ".,:-")
	if more {
		return s + ", and so on"
	}
	return s
}

// reflect answers everything else: it repeats what was understood, and says what can be
// asked instead, in about 12 seconds of speech, which leaves time to interrupt.
func reflect(heard string) string {
	return "I heard: " + said(heard) + ". That needs a model, and I have none. " +
		"I know this folder, its branch, the last commit and what has changed. " +
		"Name a function, and I find it. Or say: do the tests pass?"
}

func (a *Adapter) help(context.Context) string {
	return "Ask me what is in this folder, which branch you are on, what the last commit was, or what has changed. " +
		"Name a function, and I find it. Ask whether the tests pass, and I run them if you allow it. " +
		"Speak at any time to interrupt me. For everything else, connect a model or a coding agent."
}

func (a *Adapter) self(context.Context) string {
	return "I am the offline assistant of Agent Voice: no model, no network. What you say stays on this machine."
}

func (a *Adapter) time(context.Context) string {
	return "It is " + a.opts.Now().Format("3:04 PM") + "."
}

func (a *Adapter) date(context.Context) string {
	return "Today is " + a.opts.Now().Format("Monday, January 2, 2006") + "."
}

func (a *Adapter) machine(context.Context) string {
	system := map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows"}[runtime.GOOS]
	if system == "" {
		system = runtime.GOOS
	}
	return fmt.Sprintf("This machine runs %s on %s, with %s.", system, runtime.GOARCH, count(runtime.NumCPU(), "processor"))
}

func count(n int, thing string) string {
	if n == 1 {
		return "one " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
