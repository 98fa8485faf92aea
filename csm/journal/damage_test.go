package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// in replaces the first old of a line, which must be there.
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

// Each kind of damage is found by reading, on the line where it begins, and says
// what it is and what to do.
func TestDamageIsFoundOnItsLine(t *testing.T) {
	whole := recorded(t, header)
	final := lineWith(t, whole, `"stt.final"`)
	note := lineWith(t, whole, `"note":"level"`)
	last := len(lines(whole))
	other := header
	other.Build = "another"
	another := lines(recorded(t, other))
	for _, c := range []struct {
		name string
		edit func([]string) []string
		line int
		says string
	}{
		{"time", in(t, final, `"at":200000`, `"at":200001`), final, "was changed"},
		{"field", in(t, final, `"words":3`, `"words":4`), final, "was changed"},
		{"effect", in(t, final, `"deadline":8`, `"deadline":9`), final, "was changed"},
		{"phase", in(t, final, `"phase":"Analysing"`, `"phase":"Listening"`), final, "was changed"},
		{"state", in(t, final, `"state":"`, `"state":"0`), final, "was changed"},
		{"sum", in(t, final, `"sum":"`, `"sum":"0`), final, "was changed"},
		{"sum left out", in(t, final, `"sum":"`, `"some":"`), final, "unknown field"},
		{"note", in(t, note, `-20.5`, `-20.4`), note, "was changed"},
		{"end mark", in(t, last, `closed`, `saved`), last, "was changed"},
		{"build", in(t, 1, `"build":"test"`, `"build":"text"`), 1, "was changed"},
		{"content", in(t, 1, `"content":"redacted"`, `"content":"full"`), 1, "was changed"},
		{"field of the header", in(t, 1, `"speed"`, `"spied"`), 1, "no header of format 2"},
		{"line removed", func(l []string) []string { return append(l[:final-1], l[final:]...) }, final, "the line before it is missing"},
		{"lines removed", func(l []string) []string { return append(l[:final-1], l[final+2:]...) }, final, "the 3 lines before it are missing"},
		{"note removed", func(l []string) []string { return append(l[:note-1], l[note:]...) }, note, "the line before it is missing"},
		{"line twice", func(l []string) []string {
			return append(l[:final:final], append([]string{l[final-1]}, l[final:]...)...)
		}, final + 1, "it is there twice"},
		{"lines swapped", func(l []string) []string { l[final-1], l[final] = l[final], l[final-1]; return l }, final, "was moved"},
		{"line of another journal", func(l []string) []string { l[final-1] = another[final-1]; return l }, final, "of another journal"},
		{"line cut", func(l []string) []string { l[final-1] = l[final-1][:40]; return l }, final, "not whole"},
		{"last line cut", func(l []string) []string { l[last-1] = l[last-1][:10]; return l }, last, "not whole"},
		{"blank line", func(l []string) []string { l[final-1] = ""; return l }, final, "not whole"},
		{"garbage", func(l []string) []string { l[final-1] = "\x00\xff garbage"; return l }, final, "not whole"},
		{"two objects in a line", func(l []string) []string { l[final-1] += l[final]; return l }, final, "more than one"},
		{"line after the end", func(l []string) []string { return append(l, l[note-1]) }, last + 1, "comes after the end"},
		{"future format", in(t, 1, `"journal":2`, `"journal":9`), 1, `format 9, and this build reads formats 1 to 2; replay it with the build that wrote it ("test")`},
		{"future format without a build", func(l []string) []string { l[0] = `{"journal":3,"new":[]}`; return l }, 1, "it does not say which"},
		{"header of format 1", in(t, 1, `"journal":2`, `"journal":1`), 1, "no header of format 1"},
		{"no header", func(l []string) []string { return l[1:] }, 1, "not a journal"},
		{"garbage first", func(l []string) []string { return append([]string{"x"}, l...) }, 1, "not a journal"},
		{"binary", func([]string) []string { return []string{strings.Repeat("\x7fELF\x00\x01\n\x00", 1000)} }, 1, "not a journal"},
		{"other JSON", func([]string) []string { return []string{`{"level":"info","message":"hello"}`} }, 1, "not a journal"},
		{"a long line", func([]string) []string { return []string{strings.Repeat("x", 3<<20)} }, 1, "not a journal"},
		{"header cut", func(l []string) []string { return []string{l[0][:30]} }, 1, "stops in its header"},
		{"empty", func([]string) []string { return nil }, 1, "is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			edited := c.edit(lines(whole))
			if len(edited) > 1 { // else it is about a first line that is not whole
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
	if res, err := replay(whole); err != nil || res.Stops != nil {
		t.Errorf("the whole journal: %v, %v", err, res.Stops)
	}
}

// A change of any byte of any line, header, notes and end mark included, is
// found.
func TestAnyFlippedByteIsFound(t *testing.T) {
	whole := []byte(recorded(t, header))
	check := func(fatal func(string, ...any), at int, bits byte) {
		flipped := append([]byte(nil), whole...)
		flipped[at] ^= bits
		j, err := journal.Read(strings.NewReader(string(flipped)))
		if err == nil && j.Stops == nil {
			fatal("byte %d from %q to %q is not found", at, whole[at], flipped[at])
		}
		if err == nil && j.Stops.Line < strings.Count(string(whole[:at]), "\n") {
			fatal("byte %d: the journal stops at %+v", at, j.Stops)
		}
	}
	for at := range whole {
		check(t.Fatalf, at, 1<<(at%8))
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t.Fatalf, rapid.IntRange(0, len(whole)-1).Draw(t, "at"), byte(rapid.IntRange(1, 255).Draw(t, "bits")))
	})
}

// A journal that is cut anywhere reads through its last whole line, replays that
// far, and says what is missing.
func TestCutAtEveryByte(t *testing.T) {
	whole := recorded(t, header)
	head := strings.IndexByte(whole, '\n')
	for at := range len(whole) {
		part := whole[:at]
		j, err := journal.Read(strings.NewReader(part))
		if at < head {
			if err == nil || !strings.Contains(err.Error(), "line 1") {
				t.Fatalf("cut at %d of the header: %v", at, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", at, err)
		}
		read := strings.Count(part, "\n")
		torn := len(part) - strings.LastIndexByte(part, '\n') - 1
		if whole[at] == '\n' { // all of the line is there but the line feed
			read, torn = read+1, 0
		}
		if at == len(whole)-1 {
			if j.Stops != nil {
				t.Fatalf("without the last line feed it stops: %v", j.Stops)
			}
			continue
		}
		if j.Stops == nil || j.Stops.Line != read || j.Stops.Torn != torn || len(j.Lines) != read-1 {
			t.Fatalf("cut at %d: %d lines and %+v, want %d whole lines and %d bytes", at, len(j.Lines), j.Stops, read, torn)
		}
		if res, err := journal.Replay(j); err != nil || res.Difference != nil || res.Stops != j.Stops {
			t.Fatalf("cut at %d: %+v, %v", at, res, err)
		}
		if s := j.Stops.String(); !strings.Contains(s, fmt.Sprintf("line %d", read)) {
			t.Fatalf("cut at %d: %s", at, s)
		}
	}
}

// What somebody wrote into a journal with the sums made to fit, another core did.
// A replay finds where that is not what this core does.
func TestReplayFindsWhatThisCoreDoesNotDo(t *testing.T) {
	whole := recorded(t, header)
	final := lineWith(t, whole, `"stt.final"`)
	for _, c := range []struct {
		name string
		edit func([]string) []string
		line int
		says string
	}{
		{"time", in(t, final, `"at":200000`, `"at":200001`), final, "differ"},
		{"field", in(t, final, `"utterance":1`, `"utterance":7`), final, "differ"},
		{"unknown field of an event", in(t, final, `"words":3`, `"words":3,"x":1`), final, "unknown field"},
		{"field out of range", in(t, final, `"epoch":1`, `"epoch":4294967296`), final, "cannot unmarshal"},
		{"phase", in(t, final, `"phase":"Analysing"`, `"phase":"Listening"`), final, "phases differ"},
		{"lane", in(t, final, `"lane":"data"`, `"lane":"signal"`), final, "lanes differ"},
		{"state", in(t, final, `"state":"`, `"state":"0`), final, "states differ"},
		{"kind", in(t, final, `"stt.final"`, `"stt.failed"`), final, "unknown field"},
		{"kind that is none", in(t, final, `"stt.final"`, `"stt.finale"`), final, "not known"},
		{"sequence", in(t, final, `"seq":`, `"seq":1`), final, "order differ"},
		{"line removed", func(l []string) []string { return append(l[:final-1], l[final:]...) }, final, "order differ"},
		{"event made a note", in(t, final, `"event":"stt.final"`, `"note":"stt.final"`), final + 1, "order differ"},
		{"gap", func(l []string) []string { l[final-1] = `{"gap":3}`; return l }, final, "3 lines were lost here and no snapshot follows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := replay(journal.Reseal(strings.Join(c.edit(lines(whole)), "\n")))
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), fmt.Sprintf("line %d", c.line)) {
				t.Errorf("%v; want line %d and %q", err, c.line, c.says)
			}
		})
	}
	if again := journal.Reseal(whole); again != whole {
		t.Error("a journal that is sealed again is another")
	}
}

// Another core's journal is compared by what it did, not by digests.
func TestAnotherCoresJournal(t *testing.T) {
	whole := recorded(t, header)
	final := lineWith(t, whole, `"stt.final"`)
	foreign := func(edit func([]string) []string) string {
		l := edit(lines(whole))
		l[0] = strings.Replace(l[0], journal.Core(), "0123456789abcdef", 1)
		return journal.Reseal(strings.Join(l, "\n"))
	}
	res, err := replay(foreign(in(t, final, `"state":"`, `"state":"0`)))
	if err != nil || !res.OtherCore || res.Events == 0 {
		t.Errorf("%+v, %v", res, err)
	}
	res, err = replay(foreign(in(t, final, `"deadline":8000000000`, `"utterance":1`)))
	if err != nil || !res.OtherCore {
		t.Errorf("a field that it does not have: %+v, %v", res, err)
	}
	_, err = replay(foreign(in(t, final, `"deadline":8`, `"deadline":9`)))
	if err == nil || !strings.Contains(err.Error(), "effects differ") || !strings.Contains(err.Error(), fmt.Sprintf("line %d", final)) {
		t.Errorf("%v", err)
	}
}
