package headless

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// of returns everything of a type that was published.
func of[T any](s *show) (out []T) {
	for _, p := range s.other {
		if v, ok := p.(T); ok {
			out = append(out, v)
		}
	}
	return out
}

// tools returns the status changes of calls, as "name status".
func (s *show) tools() (out []string) {
	for _, p := range of[protocol.ToolParams](s) {
		out = append(out, fmt.Sprintf("%s %s", p.Name, p.Status))
	}
	return out
}

// Without a client to answer, the script does: an answer with two calls, one of which
// the user rejects, and the next round with their outcomes.
func TestTheScriptCallsTools(t *testing.T) {
	s := plays(t, `
		await state listening
		auto speech 0ms 1s
		auto tool 500ms
		say "clean up"
		copilot.delta "First the tests."
		copilot.tool runTests harmless "{}"
		copilot.tool delete_file "{\"path\": \"old.txt\"}"
		copilot.done
		after 3s
		say "yes"               # after 700 ms the tests run for half a second, then the other question
		after 3s
		say "no"
		copilot.delta "The tests pass."
		copilot.done
		after 3s
	`, "preparing@0", "listening@0", "processing@0", "waitingForCopilot@0", "processing@0", "speaking@0", "listening@2000",
		"processing@3700", "speaking@4200", "listening@5200", "processing@6000", "speaking@6000", "listening@7000")
	want := []string{
		"runTests requested", "delete_file requested", "runTests waitingForApproval", "runTests running", "runTests completed",
		"delete_file waitingForApproval", "delete_file rejected",
	}
	if got := s.tools(); !slices.Equal(got, want) {
		t.Errorf("the calls went\n%q, want\n%q", got, want)
	}
	if entries := transcript(s.Daemon()); entries[len(entries)-1].Text != "no" && !strings.HasSuffix(entries[len(entries)-1].Text, "The tests pass.") {
		t.Errorf("the transcript is %+v", entries)
	}
}

// A requested call that the user is never asked about ends with its turn.
func TestCallsThatAreNotAskedAboutEnd(t *testing.T) {
	s := plays(t, `
		await state listening
		say "clean up"
		copilot.tool runTests "{}"
		copilot.tool delete_file "{}"
		copilot.done
		after 4s
		say "never mind"
		after 1s
	`, "preparing@0", "listening@0", "processing@0", "waitingForCopilot@0", "processing@0", "speaking@0", "listening@1000")
	want := []string{"runTests requested", "delete_file requested", "runTests waitingForApproval", "runTests rejected", "delete_file cancelled"}
	if got := s.tools(); !slices.Equal(got, want) {
		t.Errorf("the calls went\n%q, want\n%q", got, want)
	}
}

func TestTheScriptLoadsAModel(t *testing.T) {
	s := perform(t, `
		auto model off
		await state listening
		await copilot/selectModel
		model.progress 40
		after 1s
		model.ready
		await copilot/selectModel
		model.failed modelFailed
	`)
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"large", "small"} {
		s.Daemon().SelectModel(name, func(r csm.Reply, _ protocol.Snapshot) {
			if r.Code != "" {
				t.Errorf("%s: %v", name, r.Code)
			}
		})
		s.Daemon().Drain()
		s.Saw(protocol.MethodSelectModel)
		if err := s.Settle(); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, n := range of[protocol.NotificationParams](s) {
		line := n.Message
		if n.Progress != nil {
			line += fmt.Sprint(" ", *n.Progress)
		}
		if n.Kind == protocol.NotificationModelLoading {
			got = append(got, line)
		}
	}
	want := []string{"The model large is being loaded. 0.4", "The model large answers from now on. 1", "The model could not be loaded."}
	if !slices.Equal(got, want) {
		t.Errorf("the news is\n%q, want\n%q", got, want)
	}
	if st := s.Daemon().State(); st.Model.Loaded != 0 {
		t.Errorf("model %+v", st.Model)
	}
}

// A connection that expires is replaced alongside the conversation.
func TestTheScriptReplacesTheConnection(t *testing.T) {
	s := plays(t, `
		auto connection 200ms
		await conversation/start
		after 200ms
		await state listening
		session.expiring
		after 1s
		say "are you there"
		copilot.delta "Yes."
		copilot.done
		after 3s
	`, "preparing@0", "listening@200", "processing@1200", "waitingForCopilot@1200", "processing@1200", "speaking@1200", "listening@2200")
	if st := s.Daemon().State(); connection.Epoch(st.Conn) != 2 || st.Resources.OldConn != 0 {
		t.Errorf("connection %v, epoch %d", st.Conn, connection.Epoch(st.Conn))
	}
}

// The script can supply a summary.
func TestTheScriptSummarises(t *testing.T) {
	var b strings.Builder
	b.WriteString("auto summary off\nauto speech 0ms 100ms\nawait state listening\n")
	for range 21 {
		b.WriteString("say \"tell me more\"\ncopilot.delta \"More.\"\ncopilot.done\nafter 200ms\n")
	}
	b.WriteString("summary.done \"They said more.\"\nafter 100ms\n")
	s := perform(t, b.String())
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	if said := s.Daemon().State().History.Said(); said.Summary == 0 || len(said.Items) > 14 {
		t.Errorf("summary %d, %d items", said.Summary, len(said.Items))
	}
}

func TestErrandsThatNobodyAskedFor(t *testing.T) {
	for _, st := range []string{"tools.found", "tool.done \"x\"", "tool.failed toolFailed", "model.ready", "model.progress 3", "summary.done \"x\"", "copilot.tool x \"{}\""} {
		s := perform(t, "await state listening\n"+st)
		if err := s.start(); err == nil || !strings.Contains(err.Error(), "script line 2: "+strings.Fields(st)[0]) {
			t.Errorf("%s: %v", st, err)
		}
	}
}

func TestParseCalls(t *testing.T) {
	s, err := Parse("copilot.tool runTests harmless \"{\\\"a\\\": 1}\"\nmodel.progress 100\nauto tool off\nauto model 3s")
	if err != nil {
		t.Fatal(err)
	}
	want := []statement{
		{line: 1, verb: "copilot.tool", name: "runTests", tame: true, text: `{"a": 1}`},
		{line: 2, verb: "model.progress", share: 100},
		{line: 3, verb: "auto", name: "tool", off: true},
		{line: 4, verb: "auto", name: "model", delay: 3 * time.Second},
	}
	if !slices.Equal(s.statements, want) {
		t.Errorf("statements %+v", s.statements)
	}
	for source, want := range map[string]string{
		`copilot.tool`:             "needs the name of a tool",
		`copilot.tool "{}"`:        "needs the name of a tool",
		`copilot.tool x`:           "needs a text in double quotes",
		`copilot.tool x "{"`:       "the input of x is not JSON",
		`copilot.tool x nasty "{}`: "double quotes",
		`model.progress 101`:       `"101" is no share in percent`,
		`model.progress`:           `"" is no share in percent`,
	} {
		if _, err := Parse(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %s", source, err, want)
		}
	}
}
