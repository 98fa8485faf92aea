package provider

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the table into the documentation")

// How a capability was proved.
const (
	embedded   = "embedded server"        // the real client against the real server of this project
	engines    = "wire over real engines" // the documented endpoints in front of real engines
	fake       = "fake wire"              // the documented wire, played by a test
	documented = "documented"             // by the provider's reference; nothing here runs it
)

// proof is how something was proved, and by which tests.
type proof struct {
	by    string
	tests []string // "folder Test"
}

// proofs are those of capabilities over wires: of one provider, or of every one that has
// the capability over the wire. No stock server of these endpoints is in the registries
// that the project can reach.
var proofs = map[string]proof{
	"local realtime partials":  {embedded, []string{"audio/localrealtime TestTurnIsDetectedAndTranscribed", "audio/realtime TestLocalEngines"}},
	"local realtime logprobs":  {embedded, []string{"audio/localrealtime TestTurnIsDetectedAndTranscribed"}},
	"local realtime verbatim":  {embedded, []string{"audio/realtime TestLocalEngines"}},
	"local realtime positions": {embedded, []string{"audio/realtime TestSpeakWithMarkers", "audio/realtime TestLocalEngines"}},
	"local realtime truncate":  {embedded, []string{"audio/localrealtime TestConversationItems"}},
	"local engine verbatim":    {engines, []string{"internal/daemon/live TestTheEngineBesideASession"}},
	"local engine positions":   {engines, []string{"internal/daemon/live TestTheEngineBesideASession"}},

	"realtime partials":   {fake, []string{"audio/realtime TestTranscripts"}},
	"realtime logprobs":   {fake, []string{"audio/realtime TestTranscripts", "audio/realtime TestServiceWithoutLogprobs"}},
	"realtime vocabulary": {fake, []string{"audio/realtime TestFormsOfEvents"}},
	"realtime truncate":   {documented, nil},

	"transcriptions logprobs":   {fake, []string{"audio/hosted TestAnswersOfTranscription"}},
	"transcriptions vocabulary": {engines, []string{"audio/hosted TestEarsOfAnEngine", "internal/daemon/live TestAConversationByRequests"}},
	"speech verbatim":           {engines, []string{"audio/hosted TestVoiceOfAnEngine", "internal/daemon/live TestTheVoiceOfAnotherService"}},
	"speech positions":          {engines, []string{"audio/hosted TestPositionsAreThoseOfTheAudio", "internal/daemon/live TestAnInterruptionClosesTheRequest"}},
}

func proofOf(provider string, w Wire, capability string) (proof, bool) {
	wire := string(w) + " " + capability
	if p, ok := proofs[provider+" "+wire]; ok {
		return p, true
	}
	p, ok := proofs[wire]
	return p, ok
}

// The documentation shows the table, and each of its cells that says yes names how it
// was proved, by tests that exist.
func TestTheTableOfTheDocumentation(t *testing.T) {
	used := map[string]bool{}
	table := markdown(func(provider string, w Wire, capability string) string {
		p, ok := proofOf(provider, w, capability)
		if !ok {
			t.Errorf("%s over %s: nothing proves %s", provider, w, capability)
		}
		for key := range proofs {
			if key == provider+" "+string(w)+" "+capability || key == string(w)+" "+capability {
				used[key] = true
			}
		}
		return p.by
	})
	for key, p := range proofs {
		if !used[key] {
			t.Errorf("%s is proved, and no row has it", key)
		}
		for _, name := range p.tests {
			folder, test, _ := strings.Cut(name, " ")
			if !exists(t, folder, test) {
				t.Errorf("%s: there is no %s", key, name)
			}
		}
	}
	const file, begin, end = "../../docs/hearing-and-voice.md", "<!-- table -->\n", "<!-- end of table -->"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ends := strings.Cut(rest, end)
	if !ok || !ends {
		t.Fatalf("%s has no place for the table", file)
	}
	want := before + begin + table + end + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("%s does not have the table as it is; run go test ./audio/provider -update", file)
	}
}

// exists says whether a test is in a folder.
func exists(t *testing.T, folder, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), "\nfunc "+test+"(t *testing.T)") {
			return true
		}
	}
	return false
}

// Adding a provider is a row and a few names: at most 150 lines in all, and none of them
// in the core.
func TestAddingAProviderIsARow(t *testing.T) {
	const most = 150
	table, err := os.ReadFile("table.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, is := range map[string]string{OpenAI: "OpenAI", Azure: "Azure", LocalAI: "LocalAI", Compatible: "Compatible"} {
		row := regexp.MustCompile(`(?s)\n\t\{\n\t\tName: ` + is + `,.*?\n\t\},\n`).Find(table)
		if row == nil {
			t.Fatalf("%s has no row", name)
		}
		lines := strings.Count(string(row), "\n") - 1
		mention := regexp.MustCompile(`\b(Provider|provider\.|env)` + is + `\b|"` + name + `"|^\t` + is + ` `)
		err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 || d.Name() == "node_modules" || d.Name() == "out" || d.Name() == "tools"):
				return filepath.SkipDir
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../../copilot/"):
				return nil // another openai: who answers
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for n, line := range strings.Split(string(source), "\n") {
				if mention.MatchString(line) {
					if strings.HasPrefix(path, "../../csm/") {
						t.Errorf("%s:%d: the core knows %s", path, n+1, name)
					}
					lines++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s takes %d lines", name, lines)
		if lines > most {
			t.Errorf("%s takes %d lines of code, want %d at most", name, lines, most)
		}
	}
}

// markdown is the table as the documentation shows it. proof says how a capability of a
// provider over a wire was proved, in a word.
func markdown(proof func(provider string, w Wire, capability string) string) string {
	var b strings.Builder
	cell := func(of string, w Wire, capability string, has bool) string {
		if !has {
			return "no"
		}
		return "yes: " + proof(of, w, capability)
	}
	b.WriteString("### Hearing\n\n| Provider | Wire | Default model | Words while you speak | Probabilities | Vocabulary | Session limit |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range Rows {
		for _, h := range r.Hearing {
			limit := "none"
			if h.Wire == Realtime {
				limit = "as it announces"
				if r.Session.Limit > 0 {
					limit = fmt.Sprintf("%d min", r.Session.Limit/time.Minute)
				}
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s | %s | %s |\n", r.Name, h.Wire, named(r, h.Wire, h.Model),
				cell(r.Name, h.Wire, "partials", h.Partials), cell(r.Name, h.Wire, "logprobs", h.Logprobs), cell(r.Name, h.Wire, "vocabulary", h.Vocabulary), limit)
		}
	}
	b.WriteString("\n### Voice\n\n| Provider | Wire | Default model | Word for word | Heard positions | Truncation | Speed |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range Rows {
		for _, v := range r.Voice {
			speed := "1"
			if v.Fastest > 1 {
				speed = fmt.Sprintf("%g to %g", v.Slowest, v.Fastest)
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s | %s | %s |\n", r.Name, v.Wire, named(r, v.Wire, v.Model),
				cell(r.Name, v.Wire, "verbatim", v.Verbatim), cell(r.Name, v.Wire, "positions", v.HeardPositions), cell(r.Name, v.Wire, "truncate", v.Truncate), speed)
		}
	}
	return b.String()
}

// named is the default model of a wire, or who chooses it.
func named(r Row, w Wire, model string) string {
	switch {
	case r.Name == Local:
		return "what is installed"
	case model != "":
		return "`" + model + "`"
	case r.Session != nil && r.Session.Transcribes && w == Realtime:
		return "its pipeline's"
	case r.Deployments && w != Realtime:
		return "a deployment"
	case w == Realtime:
		return "the session's"
	default:
		return "has to be named"
	}
}
