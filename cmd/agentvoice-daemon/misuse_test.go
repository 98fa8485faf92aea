package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// jargon is what no message may contain: names of libraries and of the code.
var jargon = regexp.MustCompile(`strconv|hujson|\b(open|stat|mkdir|read) \S+[/.]\S+: |pflag|cobra|arg\(s\)|invalid argument|invalid syntax|\b(json|url|os|fs|time|open|stat|parse):|goroutine|%!|\(s\)|&\{|<nil>|shorthand|\n`)

// attempt runs the command line and returns its output and its error.
func attempt(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(strings.NewReader(""))
	root.SetOut(&out)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// refused checks that a command line is refused with one sentence that has a remedy.
func refused(t *testing.T, args ...string) error {
	t.Helper()
	out, err := attempt(t, args...)
	switch {
	case err == nil:
		t.Errorf("%q is accepted", args)
		return errors.New("")
	case out != "":
		t.Errorf("%q prints %q before it is refused", args, out)
	case jargon.MatchString(err.Error()):
		t.Errorf("%q: %v; it has %q", args, err, jargon.FindString(err.Error()))
	case !strings.Contains(err.Error(), "; ") && !strings.Contains(err.Error(), ": use "):
		t.Errorf("%q: %v; it has no remedy", args, err)
	}
	return err
}

// commandWords returns the command line of a command.
func commandWords(c *cobra.Command) []string { return strings.Fields(c.CommandPath())[1:] }

// Every command says in its own words which argument is missing, or too many, and which command
// or flag was meant.
func TestMisusedArguments(t *testing.T) {
	for line, want := range map[string]string{
		"tlak":                             "unknown command \"tlak\"; did you mean `agentvoice-daemon talk`?",
		"tlak --speed 2":                   "unknown command \"tlak\"; did you mean `agentvoice-daemon talk`?",
		"device":                           "unknown command \"device\"; did you mean `agentvoice-daemon devices`?",
		"sing":                             "unknown command \"sing\"; see `agentvoice-daemon --help`",
		"help sing":                        "unknown command \"sing\"; see `agentvoice-daemon --help`",
		"help settings lst":                "unknown command \"lst\"; did you mean `agentvoice-daemon settings list`?",
		"help talk foo":                    "unexpected argument \"foo\"; see `agentvoice-daemon talk --help`",
		"settings explian voice.rate":      "unknown command \"explian\"; did you mean `agentvoice-daemon settings explain`?",
		"settings show":                    "unknown command \"show\"; `agentvoice-daemon settings` has check, explain, list",
		"settings explain":                 "NAME is missing; use `agentvoice-daemon settings explain NAME`",
		"settings explain a b":             "unexpected argument \"b\"; see `agentvoice-daemon settings explain --help`",
		"replay":                           "JOURNAL is missing; use `agentvoice-daemon replay JOURNAL...`",
		"timeline":                         "JOURNAL is missing; use `agentvoice-daemon timeline JOURNAL -o FILE.html`",
		"timeline a.jsonl":                 "-o is missing; use `agentvoice-daemon timeline JOURNAL -o FILE.html`",
		"graph --list hold":                "--list and --meaning take no region; remove \"hold\"",
		"graph hodl":                       "unknown region \"hodl\"; did you mean hold?",
		"serve":                            "--stdio is missing; use `agentvoice-daemon serve --stdio`",
		"talk --spede 2":                   "unknown flag --spede; did you mean --speed?",
		"talk --log debug":                 "unknown flag --log; did you mean --log-level?",
		"talk --loudness":                  "unknown flag --loudness; see `agentvoice-daemon talk --help`",
		"talk -x":                          "unknown flag -x; see `agentvoice-daemon talk --help`",
		"talk --speed":                     "--speed has no value; use a number",
		"talk --speed fast":                "--speed fast: use a number",
		"talk --verbose=loud":              "--verbose loud: use true or false",
		"serve --keep-models 5":            "--keep-models 5: use a duration such as 90s or 5m",
		"watch --pid 1e3":                  "--pid 1e3: use a whole number",
		"watch --pid 99999999999999999999": "--pid 99999999999999999999: the number is too large; use a smaller one",
		"--loud":                           "unknown flag --loud; see `agentvoice-daemon --help`",
		"--=2":                             "--=2 is not a flag; see `agentvoice-daemon --help`",
		"talk --provider lokal":            "--provider is \"lokal\"; allowed: local, openai, live, azure, localai, compatible",
		"talk --provider azure":            "--endpoint is empty; allowed: a URL; provider azure requires one",
		"talk --endpoint here":             "--endpoint is not a URL; allowed: an absolute https or http URL",
	} {
		if got := refused(t, strings.Fields(line)...); got.Error() != want || !errors.As(got, &misuse{}) {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// Each command is tried with an argument too many and with too few.
func TestEveryCommandChecksItsArguments(t *testing.T) {
	root := newRoot()
	for _, c := range commandsBelow(root)[1:] {
		if c.DisableFlagParsing {
			continue
		}
		words := commandWords(c)
		if names := strings.Fields(c.Use)[1:]; len(names) > 0 && !strings.HasPrefix(names[0], "[") && !strings.HasPrefix(names[0], "-") {
			if got := refused(t, words...); !strings.Contains(got.Error(), "is missing; use `"+c.Parent().CommandPath()+" "+c.Use+"`") {
				t.Errorf("%q: %s", words, got)
			}
		}
		if strings.Contains(c.Use, "...") {
			continue
		}
		if got := refused(t, append(words, "superfluous", "superfluous")...); !strings.Contains(got.Error(), `"superfluous"`) {
			t.Errorf("%q: %s", words, got)
		}
	}
}

// Flags that take any text: a name that only a service or a file knows, or words.
var anyText = []string{
	"agent-model", "audio-in", "audio-out", "deployment", "model", "models", "text",
	"session",                                                                                // a process that ended
	"serve --api-key-file",                                                                   // read when a conversation starts
	"doctor --api-key-file", "doctor --agent", "doctor --agent-endpoint", "doctor --journal", // a check of its own
	"realtime-server --api-key-file", // created
}

// wrongValues has a wrong value for each other flag that is not a switch.
var wrongValues = map[string]string{
	"addr": "nowhere", "agent": "parrot", "agent-endpoint": "here", "allow-origin": "here", "api-key-file": "missing/key", "budget": "-1s",
	"client-process-id": "-1", "count": "0", "endpoint": "here", "format": "png", "journal": "FILE/journal", "journal-bytes": "10", "journal-content": "some",
	"journal-files": "0", "keep-models": "-1s", "kind": "parrot", "language": "77", "limit": "0", "locale": "77", "log-level": "loud", "manifest": "missing",
	"max-sessions": "0", "mirror": "here", "mutant": "parrot", "name": "../up", "out": "missing", "output": "missing/page.html", "pid": "-1", "provider": "parrot",
	"record": "missing/r.wav", "recordings": "missing", "reference": "missing", "remember": "1", "script": "missing", "session-limit": "1ms", "set": "vioce.rate=2",
	"since": "yesterday", "speed": "-1", "states": "-1", "tls-cert": "missing", "tls-key": "missing", "violations": "0", "voice-engine": "loud", "world": "parrot",
}

// Every flag of every command is given a wrong value. It is refused by name before a device is
// opened: those here do not exist.
func TestEveryFlagChecksItsValue(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(`{"journal":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(envOpenAI, "")
	t.Setenv(envOther, "")
	tried := 0
	for _, c := range commandsBelow(newRoot())[1:] {
		if c.DisableFlagParsing || c.HasSubCommands() {
			continue
		}
		words := commandWords(c)
		name := strings.Join(words, " ")
		line := append(slices.Clone(words), map[string][]string{
			"talk": {"--audio-in", "no such microphone", "--audio-out", "no such speaker"}, "serve": {"--stdio"},
			"models import": {t.TempDir()}, "replay": {file}, "timeline": {"../../testdata/journals/timeouts.jsonl"},
			"settings explain": {"voice.rate"}, "settings check": {file},
		}[name]...)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			flag := "--" + f.Name
			value, listed := wrongValues[f.Name]
			switch {
			case f.Name == "help", slices.Contains(anyText, f.Name), slices.Contains(anyText, name+" "+flag):
				return
			case f.Value.Type() == "bool":
				value = "perhaps"
			case !listed:
				t.Errorf("%s %s has no wrong value in the table", name, flag)
				return
			}
			tried++
			args := append(slices.Clone(line), flag+"="+strings.ReplaceAll(value, "FILE", file))
			switch f.Name {
			case "agent-endpoint":
				args = append(args, "--agent", "openai")
			case "script":
				args = append(args, "--headless")
			}
			if got := refused(t, args...); f.Name != "set" && !strings.Contains(got.Error(), flag) && (f.Shorthand == "" || !strings.Contains(got.Error(), "-"+f.Shorthand+" ")) {
				t.Errorf("%q does not name the flag: %s", args, got)
			}
		})
	}
	if tried < 100 {
		t.Errorf("only %d flags were tried", tried)
	}
}
