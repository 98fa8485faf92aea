package offline

import (
	"context"
	"fmt"
	"runtime"
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

// topics are in order of precedence.
var topics = []topic{
	{[]string{"what can you do", "what do you do", "what can i ask", "what can i say", "how can you help", "can you help me", "what are you able to"}, (*Adapter).help},
	{[]string{"who are you", "what are you", "what is your name", "whats your name", "are you offline", "are you online"}, (*Adapter).self},
	{[]string{"what time", "the time now", "tell me the time", "current time", "time is it", "what is the time", "whats the time"}, (*Adapter).time},
	{[]string{"what day", "what date", "todays date", "what is the date", "whats the date", "current date", "date today", "which day", "tell me the date", "date is it"}, (*Adapter).date},
	{[]string{"which branch", "what branch", "current branch", "git branch", "branch am i on", "branch are we on", "name of the branch"}, (*Adapter).branch},
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

func (a *Adapter) answer(ctx context.Context, messages []copilot.Message) string {
	heard, turn := lastOf(messages)
	text := " " + normal(heard) + " "
	if strings.TrimSpace(text) == "" {
		return "I did not catch any words. Please say that again, a little closer to the microphone."
	}
	if greetings[strings.TrimSpace(text)] {
		return "Hello! I am the offline assistant of Agent Voice. Ask me what I can do, or just start talking: I will tell you what I understood."
	}
	for _, topic := range topics {
		for _, phrase := range topic.phrases {
			if strings.Contains(text, " "+phrase+" ") {
				return topic.answer(a, ctx)
			}
		}
	}
	return reflect(heard, turn)
}

// lastOf returns the user's last message and the number of earlier ones.
func lastOf(messages []copilot.Message) (text string, before int) {
	before = -1
	for _, m := range messages {
		if m.Role == copilot.RoleUser {
			text = m.Content
			before++
		}
	}
	return text, max(0, before)
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

// reflections answer everything else. They repeat what was understood, say what an online
// assistant could do with it and what to do next, in about 15 seconds of speech, which
// leaves time to interrupt.
var reflections = []string{
	"I am offline, but this is what I understood: %s. " +
		"An online assistant would now look at your code and answer here. " +
		"You can connect one with a key, or from your editor. " +
		"Until then, ask me for the time or the git branch.",
	"I heard: %s. " +
		"I work without a network, so I will not make up an answer. " +
		"An online assistant could explain it, change your code, or write a test. " +
		"If I misheard you, just say it again; there is no need to wait.",
	"You said: %s. " +
		"I have no model behind me, only a clock and the names of files. " +
		"With a connection, I could search the project and suggest a next step. " +
		"Ask me what I can do, or start me with another agent.",
}

func reflect(heard string, turn int) string {
	return fmt.Sprintf(reflections[turn%len(reflections)], said(heard))
}

func (a *Adapter) help(context.Context) string {
	return "I am offline, but I can tell you the time and the date, the name of this folder and what is in it, the git branch, how many files there are, and the Go version of the project. " +
		"You can interrupt me at any moment by speaking. " +
		"For everything else, connect an online assistant: with a key for a compatible service, or through your editor."
}

func (a *Adapter) self(context.Context) string {
	return "I am the offline assistant of Agent Voice. I need no network and no key, and what you say to me stays on this machine. " +
		"I can answer a few questions about it, and I tell you honestly when I cannot."
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
