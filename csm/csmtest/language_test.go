package csmtest_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/csmtest"
)

// The error for a failed expectation or an unreadable line names file and line, and the
// expected and actual values.
func TestProblemsNameTheLine(t *testing.T) {
	const start = "user starts\nat 200ms expect listening\n"
	for _, c := range []struct{ text, want string }{
		{"expect speaking", "expected speaking, got listening since 130ms because audio.ready"},
		{"expect listening at 131ms", "expected listening at 131ms, got listening since 130ms"},
		{"expect listening because user.stop", "expected listening because user.stop"},
		{"expect path listening", "expected listening, got preparing, listening"},
		{"expect effect SendCopilot", "expected SendCopilot at least once, got 0 times"},
		{"expect effect OpenAudio 2 times", "expected OpenAudio 2 times, got 1 times among: OpenAudio instance=1"},
		{"expect effect OpenAudio once with instance=2", "got 0 times among: OpenAudio instance=1"},
		{"expect no effect OpenAudio", "expected OpenAudio 0 times"},
		{"expect reply busy", "expected busy, got ok"},
		{"expect notice copilotEmpty", "expected notice copilotEmpty, got none"},
		{"expect error authentication", "got none"},
		{"expect turn 1 open", "expected 1, got 0"},
		{"expect turn 1 answered", "expected turn 1 answered, got: nothing"},
		{"expect turns 1 answered", "expected 1 answered, got nothing"},
		{"expect sent 1", "expected 1, got nothing"},
		{"expect queue 1", "expected 1, got 0"},
		{"expect heard 4", "expected 4, got 0"},
		{"expect heard 0 of 4", "expected an answer of 4 characters, got 0"},
		{"expect timer response armed", "expected timer response armed, but it is not"},
		{"expect state Instance 2", "expected 2, got 1"},
		{"expect state Instance.x 2", "Instance.x does not exist"},
		{"expect gladness", "unknown phase or expectation"},
		{"expect progress", "requires a silent world"},
		{"vad.start\nexpect timer utterance not armed", "but it is armed for 30m0s"},
		{"vad.start\nexpect timer utterance armed for 5s", "expected 5s, got 30m0s"},
		{"expect timer gladness armed", "unknown timer"},
		{"at 100ms expect listening", "the time is already 200ms"},
		{"wait soon", "is not a duration"},
		{"dance", "unknown verb"},
		{"user dances", `unknown user action "dances"`},
		{"user types hello", "missing words"},
		{"user starts soon now", `unexpected "now"`},
		{"copilot dances", "unknown copilot action"},
		{"copilot says 40", "write"},
		{"stt.final", "missing words"},
		{`stt.final "yes" as music`, "unknown class"},
		{"suspend for fun", "unknown reason to suspend"},
		{"session dances", "unknown fact"},
		{"session fails", "missing failure code"},
		{"world gladness 5s", "unknown effect"},
		{"world silent", "must be the first line"},
		{"configure gladness 5s", "unknown configuration field"},
		{"repeat twice", "repeat everything twice"},
		{"event gladness {}", "unknown event"},
		{`event user.start {"x":1}`, "unknown field"},
		{"stale", "needs an event"},
		{"stale user starts", "have no stale variant"},
		{"tool done", "no CallTool"},
	} {
		lines := strings.Split(c.text, "\n")
		all, err := csmtest.Parse("x/some.txt", start+c.text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = csmtest.Play(all[0])
		var p *csmtest.Problem
		if !errors.As(err, &p) {
			t.Errorf("%q: no problem", c.text)
			continue
		}
		if p.File != "x/some.txt" || p.Line != 2+len(lines) || p.Text != lines[len(lines)-1] || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\n  want it to say %q", c.text, err, c.want)
		}
	}
}

// The README beside the scenarios describes every verb.
func TestEveryVerbIsDescribed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(scenarioDir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range csmtest.Verbs() {
		if !strings.Contains(string(page), "`"+verb) && verb != "wait" || !strings.Contains(string(page), "wait") {
			t.Errorf("testdata/csm/README.md does not describe %q", verb)
		}
	}
}

// A trace that differs from the golden one fails and names the step.
func TestGoldenTraces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "one.txt")
	const text = "# One.\nuser starts\n\n--- a\nat 200ms expect listening\n\n--- b\nuser stops\n"
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	if err := csmtest.Update(file); err != nil {
		t.Fatal(err)
	}
	once, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(once), ">>>"); n != 2 || !strings.Contains(string(once), "130ms    conn.ready                                 Preparing > Listening (audio.ready)\n") {
		t.Fatalf("updated to\n%s", once)
	}
	csmtest.Run(t, file)
	if err := csmtest.Update(file); err != nil {
		t.Fatal(err)
	}
	if twice, _ := os.ReadFile(file); string(twice) != string(once) {
		t.Errorf("a second update changed it to\n%s", twice)
	}
	for _, change := range [][2]string{
		{"130ms    conn.ready ", "131ms    conn.ready "}, {"130ms    conn.ready                                 Preparing > Listening (audio.ready)\n", ""},
		{"(user.stop); ", "(user.stop); Flush; "},
	} {
		all, err := csmtest.Parse("one.txt", strings.Replace(string(once), change[0], change[1], 1))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(all, func(s csmtest.Scenario) bool { return csmtest.Check(s) != nil }) {
			t.Errorf("with %q for %q nothing differs", change[1], change[0])
		}
	}
	// A failing scenario is not updated.
	write(text + "expect listening\n")
	if err := csmtest.Update(file); err == nil {
		t.Error("a scenario that does not hold was updated")
	}
}

func TestScenariosOfAFile(t *testing.T) {
	fsys := fstest.MapFS{
		"a.txt":     {Data: []byte("# What a is.\nproves: AC-001\nuser starts\n")},
		"sub/b.txt": {Data: []byte("# What b is.\nproves: AC-002\nuser starts\n--- first one\nproves: REQ-001 REQ-002\nuser stops\n>>>\nold\n\n--- second\n# more\n")},
		"README.md": {Data: []byte("no scenario")},
	}
	all, err := csmtest.Scenarios(fsys)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, strings.Join(append([]string{s.Name, s.Title, s.File}, s.Proves...), "|"))
	}
	want := []string{"a|What a is.|a.txt|AC-001", "b/first-one|first one|sub/b.txt|AC-002|REQ-001|REQ-002", "b/second|second|sub/b.txt|AC-002"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if _, err := csmtest.Parse("x.txt", "---\n"); err == nil || !strings.HasPrefix(err.Error(), "x.txt:1: ") {
		t.Errorf("a scenario without a name: %v", err)
	}
}

// Replaying the events of a scenario gives the same result.
func TestConvertedEventsReplay(t *testing.T) {
	for _, s := range scenarios(t) {
		o, err := csmtest.Play(s)
		if err != nil {
			t.Fatal(err)
		}
		w := csmtest.World{}
		var events []csm.Event
		for _, st := range o.Steps {
			w.Log = append(w.Log, st.Envelope)
			events = append(events, st.Envelope.Event)
		}
		all, err := csmtest.Parse("converted.txt", strings.Replace(w.Scenario("Converted."), "expect progress\n", "", 1))
		if err != nil {
			t.Fatal(err)
		}
		again, err := csmtest.Play(all[0])
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		for i, st := range again.Steps {
			if st.Envelope != o.Steps[i].Envelope || len(csmtest.Fields(st.After)) == 0 {
				t.Errorf("%s: step %d is %+v, was %+v", s.Name, i+1, st.Envelope, o.Steps[i].Envelope)
				break
			}
		}
		if last, was := again.Steps[len(again.Steps)-1].After, o.Steps[len(o.Steps)-1].After; len(changedFields(was, last)) > 0 {
			t.Errorf("%s ends in another state: %v", s.Name, changedFields(was, last))
		}
		if text := csmtest.Convert(events); strings.Count(text, "event ") != len(events) || strings.Contains(text, "at ") {
			t.Errorf("%s: without times:\n%s", s.Name, text)
		}
	}
}

// Shorten keeps only what is needed.
func TestShortenIsMinimal(t *testing.T) {
	var log []csm.Envelope
	for i := range 40 {
		log = append(log, csm.Envelope{Event: csm.UserStart{Call: csm.Call(i)}})
	}
	short := csmtest.Shorten(log, func(l []csm.Envelope) bool {
		has := func(c csm.Call) bool {
			return slices.ContainsFunc(l, func(e csm.Envelope) bool { return e.Event == csm.UserStart{Call: c} })
		}
		return has(3) && has(17) && has(39)
	})
	if len(short) != 3 {
		t.Errorf("%d events are left: %v", len(short), short)
	}
	if got := csmtest.Shorten(log, func([]csm.Envelope) bool { return false }); len(got) != 40 {
		t.Error("a log that is not broken was shortened")
	}
}
