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
	h.Journal, h.Core = journal.Version, journal.Core()
	if j.Header != h {
		t.Errorf("header %+v, want %+v", j.Header, h)
	}
	events, levels, words := 0, 0, 0
	for _, l := range j.Lines {
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
			if env, err := l.Envelope(); err != nil || env.Seq != uint64(events) || csm.KindOf(env.Event).String() != l.Event || lineWith(t, s, fmt.Sprintf(`"seq":%d,`, l.Seq)) != l.Number {
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

// The journal of any conversation replays identically.
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

// stuckDisk is a fake disk that blocks until released.
type stuckDisk struct {
	bytes.Buffer
	header sync.Once
	wrote  chan struct{} // closed when the first write after the header blocks
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

// A slow disk never delays the conversation: lines are dropped, and the file shows where
// and how many.
func TestGapIsMarked(t *testing.T) {
	disk := &stuckDisk{wrote: make(chan struct{}), free: make(chan struct{})}
	w, err := journal.NewWriter(disk, header)
	if err != nil {
		t.Fatal(err)
	}
	s := csm.Initial()
	step := func(seq uint64) {
		env := csm.Envelope{Seq: seq, Event: csm.Fatal{}}
		w.Event(env)
		var fx []csm.Effect
		s, fx = csm.Step(s, env)
		w.Outcome(s, fx)
	}
	step(1)
	<-disk.wrote // the writer is blocked on the first line; the queue fills up
	const many = 20_000
	for seq := uint64(2); seq <= many; seq++ {
		step(seq)
	}
	close(disk.free)
	flush(w)
	step(many + 1) // after which recording resumes
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Read(&disk.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	outcomes, snapshots := 0, 0
	for _, l := range j.Lines {
		if l.Phase != "" && l.Event != "" {
			outcomes++
		}
		if l.Snapshot != nil {
			snapshots++
		}
	}
	res, err := journal.Replay(j)
	if err != nil || res.Difference != nil || res.Events != outcomes || res.Events+res.Lost != many+1 || snapshots != 1 || res.Lost < many/2 || res.Unfinished != nil {
		t.Errorf("replay over a gap, with %d outcomes and %d snapshots: %+v, %v", outcomes, snapshots, res, err)
	}
}

// fullDisk is a fake disk with room bytes.
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
	w.Level(0, journal.Level{}) // no effect after Close
	if _, err := journal.NewWriter(&fullDisk{}, header); !errors.Is(err, errFull) {
		t.Errorf("NewWriter: %v", err)
	}
}

// Concurrent recording keeps every line intact.
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
