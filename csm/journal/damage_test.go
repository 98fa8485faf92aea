package journal_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// in returns a function that replaces the first old in a line, which must exist.
func in(t *testing.T, n int, old, new string) func([]string) []string {
	return func(l []string) []string {
		if !strings.Contains(l[n-1], old) {
			t.Fatalf("line %d holds no %q: %s", n, old, l[n-1])
		}
		l[n-1] = strings.Replace(l[n-1], old, new, 1)
		return l
	}
}

func lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

// cases modify a journal, with the expected error and its line.
type cases []struct {
	name string
	edit func([]string) []string
	line int
	says string
}

// Reading finds each kind of damage on its first line, and the error names the problem
// and its remedy.
func TestDamageIsFoundOnItsLine(t *testing.T) {
	whole := recorded(t, header)
	final := lineWith(t, whole, `"stt.final"`)
	for _, c := range (cases{
		{"line cut", func(l []string) []string { l[final-1] = l[final-1][:40]; return l }, final, "to read the 7 events before it, delete the line and everything after it"},
		{"blank line", func(l []string) []string { l[final-1] = ""; return l }, final, "not a journal line"},
		{"garbage", func(l []string) []string { l[final-1] = "\x00\xff garbage"; return l }, final, "not a journal line"},
		{"two objects in a line", func(l []string) []string { l[final-1] += l[final]; return l }, final, "after top-level value"},
		{"a line of no kind", in(t, final, `"event"`, `"evil"`), final, "not an event, outcome"},
		{"event removed", func(l []string) []string { return append(l[:final-1], l[final:]...) }, final, "an outcome without an event"},
		{"event and outcome swapped", func(l []string) []string { l[final-1], l[final] = l[final], l[final-1]; return l }, final, "an outcome without an event"},
		{"digest left out", in(t, final+1, `"digest"`, `"digits"`), final + 1, "not an event, outcome"},
		{"future format", in(t, 1, `"journal":3`, `"journal":9`), 1, `format 9, but this build reads format 3; replay it with the build that wrote it ("test")`},
		{"older format", in(t, 1, `"journal":3`, `"journal":2`), 1, `format 2, but this build reads format 3; replay it with the build that wrote it ("test"), or record the conversation again`},
		{"header changed", in(t, 1, `"speed":1`, `"speed":"x"`), 1, "not a valid header of format 3: it was changed"},
		{"no header", func(l []string) []string { return l[1:] }, 1, "not a journal"},
		{"garbage first", func(l []string) []string { return append([]string{"x"}, l...) }, 1, "not a journal"},
		{"binary", func([]string) []string { return []string{strings.Repeat("\x7fELF\x00\x01\n\x00", 1000)} }, 1, "not a journal"},
		{"other JSON", func([]string) []string { return []string{`{"level":"info","message":"hello"}`} }, 1, "not a journal"},
		{"a long line", func([]string) []string { return []string{strings.Repeat("x", 3<<20)} }, 1, "not a journal"},
		{"header cut", func(l []string) []string { return []string{l[0][:30]} }, 1, "stops in its header"},
		{"empty", func([]string) []string { return nil }, 1, "is empty"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			edited := c.edit(lines(whole))
			if len(edited) > 1 { // otherwise the first line is incomplete
				edited = append(edited, "")
			}
			_, err := journal.Read(strings.NewReader(strings.Join(edited, "\n")))
			var d *journal.Damage
			if !errors.As(err, &d) {
				t.Fatalf("found %v", err)
			}
			if d.Line != c.line || !strings.Contains(err.Error(), c.says) || d.Do == "" {
				t.Errorf("%v; want line %d and %q", err, c.line, c.says)
			}
		})
	}
	if res, err := replay(whole); err != nil || res.Stops != nil || res.Unfinished != nil {
		t.Errorf("the whole journal: %v, %+v", err, res)
	}
}

// Replay finds every change of an event or its outcome, and names the event.
func TestReplayFindsWhatWasChanged(t *testing.T) {
	whole := recorded(t, header)
	final := lineWith(t, whole, `"stt.final"`)
	snapshot := len(lines(whole))
	for _, c := range (cases{
		{"time", in(t, final, `"at":200000`, `"at":200001`), final, "digests differ"},
		{"field", in(t, final, `"words":3`, `"words":4`), final, "digests differ"},
		{"field that decides", in(t, final, `"utterance":1`, `"utterance":7`), final, "differ"},
		{"unknown field of an event", in(t, final, `"words":3`, `"words":3,"x":1`), final, "unknown field"},
		{"field out of range", in(t, final, `"epoch":1`, `"epoch":4294967296`), final, "cannot unmarshal"},
		{"lane", in(t, final, `"lane":"data"`, `"lane":"signal"`), final, "lanes differ"},
		{"kind", in(t, final, `"stt.final"`, `"stt.failed"`), final, "unknown field"},
		{"unknown kind", in(t, final, `"stt.final"`, `"stt.finale"`), final, "unknown"},
		{"sequence", in(t, final, `"seq":`, `"seq":1`), final, "order differ"},
		{"effect", in(t, final+1, `"deadline":8`, `"deadline":9`), final, "effects differ"},
		{"phase", in(t, final+1, `"phase":"Analysing"`, `"phase":"Listening"`), final, "phases differ"},
		{"digest", in(t, final+1, `"digest":"`, `"digest":"0`), final, "digests differ"},
		{"event and outcome removed", func(l []string) []string { return append(l[:final-1], l[final+1:]...) }, final, "order differ"},
		{"outcome removed", func(l []string) []string { return append(l[:final], l[final+1:]...) }, final + 1, "order differ"},
		{"event and outcome twice", func(l []string) []string {
			return append(l[:final+1:final+1], l[final-1:]...)
		}, final + 2, "order differ"},
		{"event made a note", in(t, final, `"event":"stt.final"`, `"note":"stt.final"`), final + 1, "outcome without an event"},
		{"a snapshot of another state", func(l []string) []string {
			return append(l[:snapshot-1], `{"seq":9,"phase":"Idle","snapshot":{},"digest":"x"}`)
		}, snapshot, "order differ"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			_, err := replay(strings.Join(c.edit(lines(whole)), "\n"))
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), fmt.Sprintf("line %d", c.line)) {
				t.Errorf("%v; want line %d and %q", err, c.line, c.says)
			}
		})
	}
}

// A journal of another core is compared by behaviour, not by digests.
func TestJournalOfAnotherCore(t *testing.T) {
	whole := recorded(t, header)
	final := lineWith(t, whole, `"stt.final"`)
	foreign := func(edit func([]string) []string) string {
		l := edit(lines(whole))
		l[0] = strings.Replace(l[0], journal.Core(), "0123456789abcdef", 1)
		return strings.Join(l, "\n")
	}
	res, err := replay(foreign(in(t, final+1, `"digest":"`, `"digest":"0`)))
	if err != nil || !res.OtherCore || res.Events == 0 {
		t.Errorf("%+v, %v", res, err)
	}
	_, err = replay(foreign(in(t, final+1, `"deadline":8`, `"deadline":9`)))
	if err == nil || !strings.Contains(err.Error(), "effects differ") || !strings.Contains(err.Error(), fmt.Sprintf("line %d", final)) {
		t.Errorf("%v", err)
	}
}

// endless is a source that never ends, such as a device.
type endless struct{}

func (endless) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// A journal that does not end is refused, not read until memory is full.
func TestReadHasALimit(t *testing.T) {
	_, err := journal.Read(io.MultiReader(strings.NewReader(lines(recorded(t, header))[0]+"\n"), endless{}))
	var d *journal.Damage
	if !errors.As(err, &d) || d.Line != 2 || !strings.Contains(err.Error(), "beyond 80 MB") {
		t.Errorf("an endless journal: %v", err)
	}
}
