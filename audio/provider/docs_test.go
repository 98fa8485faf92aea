package provider

import (
	"cmp"
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

// The marks of a cell: how it was verified.
const (
	embedded   = "E" // the real client against the embedded server of this project
	engines    = "W" // real engines, behind the documented endpoints or in this process
	fake       = "F" // the documented wire protocol, simulated by a test
	documented = "D" // the provider's reference; not covered by a test
)

// legend explains the marks in the documentation.
var legend = [][2]string{
	{embedded, "the real client against the embedded server, on one machine"},
	{engines, "real engines, behind the documented requests or in this process"},
	{fake, "a fake service that speaks the documented wire"},
	{documented, "the provider's reference; no test runs it"},
}

// proof is how a cell was verified, and by which tests.
type proof struct {
	mark  string
	tests []string // "folder Test"
}

// proofs lists how the cells of wires were verified: for one provider, or for every
// provider with that cell. The key of a negative cell begins its capability with "no ".
// The registries available to the project contain no stock server with these endpoints.
var proofs = map[string]proof{
	"local realtime model":      {embedded, []string{"audio/realtime TestLocalEngines"}},
	"local realtime partials":   {embedded, []string{"audio/localrealtime TestTurnIsDetectedAndTranscribed", "audio/realtime TestLocalEngines"}},
	"local realtime logprobs":   {embedded, []string{"audio/localrealtime TestTurnIsDetectedAndTranscribed"}},
	"local realtime vocabulary": {embedded, []string{"internal/daemon/live TestTheRecogniserKnowsTheUsersNames", "audio/engine TestHotWordsDecide"}},
	"local realtime transports": {embedded, []string{"audio/realtime TestLocalEngines", "audio/realtime TestSocketEngines"}},
	"local realtime limit":      {embedded, []string{"audio/localrealtime TestSessionLimitIsAnnouncedAndEnforced", "internal/daemon/live TestRenewalCrossesThreeLimitsInOneConversation"}},
	"local realtime verbatim":   {embedded, []string{"audio/realtime TestLocalEngines"}},
	"local realtime positions":  {embedded, []string{"audio/realtime TestSpeakWithMarkers", "audio/realtime TestLocalEngines"}},
	"local realtime cancel":     {embedded, []string{"audio/realtime TestLocalCancel"}},
	"local realtime truncate":   {embedded, []string{"audio/localrealtime TestConversationItems"}},
	"local realtime speed":      {embedded, []string{"internal/daemon/live TestVoiceRateIsHeard"}},
	"local engine model":        {engines, []string{"internal/daemon/live TestTheEngineBesideASession"}},
	"local engine verbatim":     {engines, []string{"internal/daemon/live TestTheEngineBesideASession"}},
	"local engine positions":    {engines, []string{"internal/daemon/live TestTheEngineBesideASession"}},
	"local engine speed":        {engines, []string{"internal/daemon/live TestTheEngineBesideASession"}},
	"engine cancel":             {engines, []string{"audio/hosted TestCancelIsAtOnce"}},
	"engine no truncate":        {engines, []string{"internal/daemon/live TestTheEngineBesideASession"}},

	"live realtime model":        {fake, []string{"audio/realtime TestFormsOfLiveEvents"}},
	"live realtime partials":     {embedded, []string{"audio/realtime TestLiveConversation"}},
	"live realtime no logprobs":  {documented, nil},
	"live realtime vocabulary":   {fake, []string{"audio/realtime TestFormsOfLiveEvents"}},
	"live realtime limit":        {documented, nil},
	"live realtime no verbatim":  {documented, nil},
	"live realtime no positions": {embedded, []string{"audio/realtime TestLiveConversation"}},
	"live realtime no cancel":    {embedded, []string{"audio/realtime TestLiveConversation", "internal/daemon/live TestALiveConversation"}},
	"live realtime no truncate":  {documented, nil},
	"live realtime speed":        {documented, nil},

	"realtime model":            {fake, []string{"audio/realtime TestDialShapes"}},
	"realtime partials":         {fake, []string{"audio/realtime TestTranscripts"}},
	"realtime logprobs":         {fake, []string{"audio/realtime TestTranscripts", "audio/realtime TestServiceWithoutLogprobs"}},
	"realtime no logprobs":      {fake, []string{"audio/realtime TestDialShapes"}},
	"realtime vocabulary":       {fake, []string{"audio/realtime TestFormsOfEvents"}},
	"realtime transports":       {fake, []string{"audio/realtime TestDialShapes", "audio/realtime TestSocketShapes"}},
	"realtime limit":            {fake, []string{"audio/realtime TestSessionExpiry"}},
	"realtime no verbatim":      {documented, nil},
	"realtime no positions":     {documented, nil},
	"realtime cancel":           {fake, []string{"audio/realtime TestCancelSpeech"}},
	"realtime truncate":         {documented, nil},
	"realtime no truncate":      {documented, nil},
	"realtime speed":            {fake, []string{"audio/realtime TestSpeedIsThatOfTheSession"}},
	"localai realtime partials": {fake, []string{"audio/realtime TestLocalAIPipelineStreams", "internal/daemon/live TestALocalAIPipelineThatStreams"}},
	"localai realtime model":    {fake, []string{"audio/realtime TestDialShapes", "audio/realtime TestLocalAIVoiceIsSetBeforeItHears"}},

	"compatible realtime model":         {engines, []string{"internal/daemon/live TestAConversationOverVLLMsWire"}},
	"compatible realtime partials":      {engines, []string{"audio/hosted TestStreamOfAnEngine", "internal/daemon/live TestAConversationOverVLLMsWire"}},
	"compatible realtime no logprobs":   {documented, nil},
	"compatible realtime no vocabulary": {documented, nil},
	"compatible realtime transports":    {engines, []string{"audio/hosted TestStreamOfAnEngine"}},
	"compatible realtime limit":         {engines, []string{"audio/hosted TestStreamOfAnUtterance"}},

	"transcriptions model":            {documented, nil},
	"localai transcriptions model":    {documented, nil},
	"compatible transcriptions model": {engines, []string{"internal/daemon/live TestAConversationByRequests"}},
	"transcriptions no partials":      {engines, []string{"audio/hosted TestEarsOfAnEngine"}},
	"transcriptions logprobs":         {engines, []string{"audio/hosted TestEarsOfAnEngine", "audio/hosted TestAnswersOfTranscription"}},
	"transcriptions no logprobs":      {engines, []string{"audio/hosted TestEarsOfAnEngine"}},
	"transcriptions vocabulary":       {engines, []string{"audio/hosted TestEarsOfAnEngine", "internal/daemon/live TestAConversationByRequests"}},
	"transcriptions transports":       {engines, []string{"audio/hosted TestEarsOfAnEngine"}},
	"transcriptions limit":            {engines, []string{"audio/hosted TestEarsOfAnEngine"}},

	"speech model":            {documented, nil},
	"compatible speech model": {engines, []string{"internal/daemon/live TestAConversationByRequests"}},
	"speech verbatim":         {engines, []string{"audio/hosted TestVoiceOfAnEngine", "internal/daemon/live TestTheVoiceOfAnotherService"}},
	"speech positions":        {engines, []string{"audio/hosted TestPositionsAreThoseOfTheAudio", "internal/daemon/live TestAnInterruptionClosesTheRequest"}},
	"speech cancel":           {engines, []string{"internal/daemon/live TestAnInterruptionClosesTheRequest"}},
	"speech no truncate":      {engines, []string{"internal/daemon/live TestAnInterruptionClosesTheRequest"}},
	"speech speed":            {engines, []string{"audio/hosted TestVoiceOfAnEngine"}},
	"localai speech speed":    {documented, nil},
}

func proofOf(provider string, w Wire, capability string) (proof, bool) {
	wire := string(w) + " " + capability
	if p, ok := proofs[provider+" "+wire]; ok {
		return p, true
	}
	p, ok := proofs[wire]
	return p, ok
}

// The documentation contains the table, and each cell is marked with how it was
// verified: by existing tests, or by the provider's reference.
//
//test:documents
func TestTableOfProviders(t *testing.T) {
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
		return p.mark
	})
	marks := map[string]bool{}
	for _, m := range legend {
		marks[m[0]] = true
	}
	for key, p := range proofs {
		if !used[key] {
			t.Errorf("%s is proved, and no row has it", key)
		}
		if !marks[p.mark] || (p.mark == documented) != (len(p.tests) == 0) {
			t.Errorf("%s has the mark %q and %d tests", key, p.mark, len(p.tests))
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

// exists reports whether a folder contains a test.
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

// Adding a provider requires a row and a few names: at most 150 lines in total, and
// none in the core.
//
//test:long
func TestAddingAProviderIsARow(t *testing.T) {
	const most = 150
	table, err := os.ReadFile("table.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, is := range map[string]string{OpenAI: "OpenAI", Azure: "Azure", LocalAI: "LocalAI", Compatible: "Compatible", Live: "Live"} {
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
				return nil // in copilot, openai is the assistant, not the speech provider
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

// markdown returns the table as shown in the documentation. mark returns how a cell of
// a provider over a wire was verified.
func markdown(mark func(provider string, w Wire, capability string) string) string {
	var b strings.Builder
	for _, m := range legend {
		fmt.Fprintf(&b, "* **%s**: %s\n", m[0], m[1])
	}
	cell := func(of string, w Wire, capability, text string) string {
		if text == "no" {
			capability = "no " + capability
		}
		return fmt.Sprintf("%s **%s**", text, mark(of, w, capability))
	}
	can := func(of string, w Wire, capability string, has bool) string {
		if !has {
			return cell(of, w, capability, "no")
		}
		return cell(of, w, capability, "yes")
	}
	b.WriteString("\n### Hearing\n\n| Provider | Wire | Default model | Words while you speak | Probabilities | Vocabulary | Carried by | Session limit |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range Rows {
		for _, h := range r.Hearing {
			limit, transports := "none", "requests"
			if h.Wire == Realtime && r.Session == nil {
				transports = "a WebSocket per utterance"
			} else if h.Wire == Realtime {
				var names []string
				for _, tr := range r.Session.Transports {
					names = append(names, string(tr))
				}
				limit, transports = "as it announces", strings.Join(names, ", ")
				if r.Session.Limit > 0 {
					limit = fmt.Sprintf("%d min", r.Session.Limit/time.Minute)
				}
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s | %s | %s | %s |\n", r.Name, h.Wire, cell(r.Name, h.Wire, "model", named(r, h.Wire, h.Model)),
				cell(r.Name, h.Wire, "partials", string(h.Partials)), can(r.Name, h.Wire, "logprobs", h.Logprobs),
				cell(r.Name, h.Wire, "vocabulary", cmp.Or(string(h.Vocabulary), "no")), cell(r.Name, h.Wire, "transports", transports), cell(r.Name, h.Wire, "limit", limit))
		}
	}
	b.WriteString("\n### Voice\n\n| Provider | Wire | Default model | Word for word | Heard positions | Cancelling | Truncation | Speed |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range Rows {
		for _, v := range r.Voice {
			speed := "1"
			if v.Fastest > 1 {
				speed = fmt.Sprintf("%g to %g", v.Slowest, v.Fastest)
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s | %s | %s | %s |\n", r.Name, v.Wire, cell(r.Name, v.Wire, "model", named(r, v.Wire, v.Model)),
				can(r.Name, v.Wire, "verbatim", v.Verbatim), can(r.Name, v.Wire, "positions", v.HeardPositions),
				can(r.Name, v.Wire, "cancel", v.Cancel), can(r.Name, v.Wire, "truncate", v.Truncate), cell(r.Name, v.Wire, "speed", speed))
		}
	}
	return b.String()
}

// named returns the default model of a wire, or who chooses it.
func named(r Row, w Wire, model string) string {
	switch {
	case r.Name == Local:
		return "what is installed"
	case model != "":
		return "`" + model + "`"
	case r.Session != nil && r.Session.Transcribes && w == Realtime:
		return "its pipeline's"
	case r.Session == nil && w == Realtime:
		return "what it serves"
	case r.Deployments && w != Realtime:
		return "a deployment"
	case w == Realtime:
		return "the session's"
	default:
		return "has to be named"
	}
}
