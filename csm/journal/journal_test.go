package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

func TestRoundTrip(t *testing.T) {
	h := header
	h.Content = journal.Full
	s := recorded(t, h)
	j, err := journal.Read(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	h.Journal = journal.Version
	if j.Header != h {
		t.Errorf("header %+v, want %+v", j.Header, h)
	}
	events, levels, words := 0, 0, 0
	for i, l := range j.Lines {
		if l.Number != i+2 {
			t.Fatalf("line %d has number %d", i+2, l.Number)
		}
		switch {
		case l.Note == journal.NoteLevel:
			levels++
			if string(l.Data) != `{"user":-20.5,"assistant":-60}` || l.At != 1_201_000 {
				t.Errorf("level %+v: %s", l, l.Data)
			}
		case l.Note == journal.NoteWords:
			words++
		default:
			events++
			if env, err := l.Envelope(); err != nil || env.Seq != uint64(events) || env.Event.Kind().String() != l.Event {
				t.Errorf("line %d: %+v, %v", l.Number, env, err)
			}
		}
	}
	if levels != 1 || words != 1 {
		t.Errorf("%d levels and %d words", levels, words)
	}
	res, err := replay(s)
	if err != nil || res.Events != events || res.Phases < 12 || res.Elapsed == 0 {
		t.Errorf("replay: %+v, %v", res, err)
	}
}

// Whatever happens in a conversation, its journal replays to the same.
func TestAnyConversationReplaysIdentically(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		w, err := journal.NewWriter(&out, header)
		if err != nil {
			t.Fatal(err)
		}
		k := newTalk(w, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") })
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			k.next()
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if res, err := replay(out.String()); err != nil || res.Events == 0 {
			t.Fatalf("%+v, %v", res, err)
		}
	})
}

// Every hand edit of what happened is found, on the line where it was made.
func TestHandEditsAreFoundOnTheirLine(t *testing.T) {
	whole := recorded(t, header)
	lines := strings.Split(strings.TrimSuffix(whole, "\n"), "\n")
	final := lineWith(t, whole, `"stt.final"`)
	stale := lineWith(t, whole, `"tts.drained"`, `"gen":9`)
	note := lineWith(t, whole, `"note":"level"`)
	in := func(n int, old, new string) func([]string) []string {
		return func(l []string) []string {
			if !strings.Contains(l[n-1], old) {
				t.Fatalf("line %d holds no %q: %s", n, old, l[n-1])
			}
			l[n-1] = strings.Replace(l[n-1], old, new, 1)
			return l
		}
	}
	for _, c := range []struct {
		name string
		edit func([]string) []string
		line int
		says string
	}{
		{"time", in(final, `"at":200000`, `"at":200001`), final, "differ"},
		{"time of a stale event", in(stale, `"at":1200000`, `"at":1199999`), stale, "states differ"},
		{"field", in(final, `"utterance":1`, `"utterance":7`), final, "differ"},
		{"field that the core makes nothing of", in(final, `"words":3`, `"words":4`), final, "states differ"},
		{"field of a stale event", in(stale, `"gen":9`, `"gen":8`), stale, "states differ"},
		{"unknown field of an event", in(final, `"words":3`, `"words":3,"x":1`), final, "unknown field"},
		{"effect", in(final, `"deadline":8`, `"deadline":9`), final, "effects differ"},
		{"effect added", in(final, `"effects":[`, `"effects":[{"HoldCapture":{}},`), final, "effects differ"},
		{"phase", in(final, `"phase":"Analysing"`, `"phase":"Listening"`), final, "phases differ"},
		{"lane", in(final, `"lane":"data"`, `"lane":"signal"`), final, "lanes differ"},
		{"state", in(final, `"state":"`, `"state":"0`), final, "states differ"},
		{"kind", in(final, `"stt.final"`, `"stt.failed"`), final, "unknown field"},
		{"kind that is none", in(final, `"stt.final"`, `"stt.finale"`), final, "not known"},
		{"sequence", in(final, `"seq":`, `"seq":1`), final, "order differ"},
		{"event made nothing", in(final, `"event":"stt.final",`, ``), final, "not one of"},
		{"event made a note", in(final, `"event":"stt.final"`, `"note":"stt.final"`), final + 1, "order differ"},
		{"unknown field of a line", in(final, `"lane"`, `"lame"`), final, "unknown field"},
		{"line removed", func(l []string) []string { return append(l[:final-1], l[final:]...) }, final, "order differ"},
		{"line twice", func(l []string) []string {
			return append(l[:final:final], append([]string{l[final-1]}, l[final:]...)...)
		}, final + 1, "order differ"},
		{"lines swapped", func(l []string) []string { l[final-1], l[final] = l[final], l[final-1]; return l }, final, "order differ"},
		{"last line cut", func(l []string) []string { n := len(l) - 1; l[n] = l[n][:len(l[n])/2]; return l }, len(lines), "not whole"},
		{"garbage", func(l []string) []string { l[final-1] = "\x00\xff garbage"; return l }, final, "not whole"},
		{"two objects in a line", func(l []string) []string { l[final-1] += l[final]; return l }, final, "more than one"},
		{"note damaged", func(l []string) []string { l[note-1] = l[note-1][1:]; return l }, note, "not whole"},
		{"gap", func(l []string) []string { l[final-1] = `{"gap":3}`; return l }, final, "3 lines were lost"},
		{"another format", in(1, `"journal":1`, `"journal":2`), 0, "format 2"},
		{"no header", func(l []string) []string { return l[1:] }, 1, "no header"},
		{"garbage first", func(l []string) []string { return append([]string{"x"}, l...) }, 1, "no header"},
		{"empty", func([]string) []string { return nil }, 0, "empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			edited := strings.Join(c.edit(append([]string(nil), lines...)), "\n")
			res, err := replay(edited)
			if err == nil {
				t.Fatal("not found")
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want it to say %q", err, c.says)
			}
			if want := fmt.Sprintf("line %d", c.line); c.line > 0 && !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want it to name %s", err, want)
			}
			if d := res.Difference; d != nil && d.Line != c.line {
				t.Errorf("line %d, want %d", d.Line, c.line)
			}
		})
	}
	if _, err := replay(whole); err != nil {
		t.Errorf("the whole journal: %v", err)
	}
}

// Notes are for people: without them, and cut at the end of a line as by a
// crash, a journal still replays.
func TestWhatAReplayDoesNotMiss(t *testing.T) {
	whole := recorded(t, header)
	lines := strings.SplitAfter(whole, "\n")
	note := lineWith(t, whole, `"note":"level"`)
	for name, s := range map[string]string{
		"without a note":       strings.Join(append(append([]string(nil), lines[:note-1]...), lines[note:]...), ""),
		"without the last":     strings.Join(lines[:len(lines)-2], ""),
		"header only":          lines[0],
		"without a final feed": strings.TrimSuffix(whole, "\n"),
	} {
		if _, err := replay(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A redacted journal holds no word of the conversation; a full one does, and
// both replay to the same.
func TestRedactedJournalHoldsNoWords(t *testing.T) {
	full := header
	full.Content = journal.Full
	a, b := recorded(t, header), recorded(t, full)
	if strings.Contains(a, "canary") {
		t.Error("the redacted journal holds the words")
	}
	if !strings.Contains(b, "the canary sings") {
		t.Error("the full journal does not")
	}
	var events [2][]string
	for i, s := range []string{a, b} {
		for _, l := range strings.Split(s, "\n")[1:] {
			if !strings.Contains(l, `"note":"words"`) {
				events[i] = append(events[i], l)
			}
		}
	}
	if x, y := strings.Join(events[0], "\n"), strings.Join(events[1], "\n"); x != y {
		t.Error("they differ in more than the notes of words")
	}
}

// stuckDisk is a fake disk that writes nothing until it is let go on.
type stuckDisk struct {
	bytes.Buffer
	header sync.Once
	wrote  chan struct{} // closed when the first write after the header waits
	free   chan struct{}
	first  sync.Once
}

func (d *stuckDisk) Write(b []byte) (int, error) {
	head := false
	d.header.Do(func() { head = true })
	if !head {
		d.first.Do(func() { close(d.wrote) })
		<-d.free
	}
	return d.Buffer.Write(b)
}

// A disk that does not keep up never holds up the conversation: lines are lost,
// and where and how many is in the file.
func TestGapMarksWhatWasLost(t *testing.T) {
	disk := &stuckDisk{wrote: make(chan struct{}), free: make(chan struct{})}
	w, err := journal.NewWriter(disk, header)
	if err != nil {
		t.Fatal(err)
	}
	s := csm.Initial()
	step := func(seq uint64) {
		env := csm.Envelope{Seq: seq, Event: csm.Fatal{}}
		var fx []csm.Effect
		s, fx = csm.Step(s, env)
		w.Step(env, s, fx)
	}
	step(1)
	<-disk.wrote // the writer is stuck with the first line; the queue fills up
	const many = 20_000
	for seq := uint64(2); seq <= many; seq++ {
		step(seq)
	}
	close(disk.free)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Read(&disk.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	kept, lost := 0, 0
	for _, l := range j.Lines {
		kept += map[bool]int{true: 1}[l.Event != ""]
		lost += l.Gap
	}
	if kept+lost != many || lost == 0 {
		t.Errorf("%d lines kept and %d lost, of %d", kept, lost, many)
	}
	if _, err := journal.Replay(j); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d events before it were identical", kept)) {
		t.Errorf("replay over a gap: %v", err)
	}
}

// fullDisk is a fake disk that takes room bytes.
type fullDisk struct{ room int }

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(b []byte) (int, error) {
	if len(b) > d.room {
		return 0, errFull
	}
	d.room -= len(b)
	return len(b), nil
}

func TestWriteErrorSurfacesOnClose(t *testing.T) {
	w, err := journal.NewWriter(&fullDisk{room: 1000}, header)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		w.Level(0, journal.Level{})
	}
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("Close: %v", err)
	}
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("Close again: %v", err)
	}
	w.Level(0, journal.Level{}) // after Close: nothing
	if _, err := journal.NewWriter(&fullDisk{}, header); !errors.Is(err, errFull) {
		t.Errorf("NewWriter: %v", err)
	}
}

// Many goroutines may record at once, and every line is whole.
func TestWriterIsSafeForConcurrentUse(t *testing.T) {
	var out bytes.Buffer
	w, err := journal.NewWriter(&out, header)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				w.Level(ms, journal.Level{User: -1})
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Read(&out)
	if err != nil || len(j.Lines) != 1600 {
		t.Errorf("%d lines, %v", len(j.Lines), err)
	}
}
