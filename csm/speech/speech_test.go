package speech

import (
	"reflect"
	"testing"
)

// line returns a line of three segments, 1 to 3, of generation 7.
func line(played int, ended bool) Line {
	return Line{Gen: 7, Segments: []Segment{{Seq: 1, End: 10}, {Seq: 2, Start: 10, End: 20}, {Seq: 3, Start: 20, End: 30}}, Asked: 3, Played: played, Ended: ended}
}

// states are the test states: each case open, ended if possible, and after an underrun.
func states() map[string]State {
	return map[string]State{
		"closed":           Closed{7},
		"buffering":        Buffering{line(0, false)},
		"dry":              Buffering{line(3, false)},
		"buffering, ended": Buffering{line(1, true)},
		"ready":            Ready{line(0, false)},
		"ready, ended":     Ready{line(0, true)},
		"playing":          Playing{line(1, false)},
		"playing, heard":   Playing{line(3, false)},
		"paused":           Paused{Line: line(1, false)},
		"paused, ended":    Paused{Line: line(1, true)},
		"draining":         Draining{line(1, true)},
		"draining, heard":  Draining{line(3, true)},
	}
}

type cell struct {
	to  State // nil: stays
	out Outcome
}

// check applies f to every state; a state that is not in want must not change and must
// return otherwise.
func check(t *testing.T, name string, f func(State) (State, Outcome), otherwise Outcome, want map[string]cell) {
	t.Helper()
	for at, s := range states() {
		w, named := want[at]
		if !named {
			w = cell{nil, otherwise}
		}
		if w.to == nil {
			w.to = s
		}
		got, out := f(s)
		if !reflect.DeepEqual(got, w.to) || out != w.out {
			t.Errorf("%s in %q: got %#v, outcome %d; want %#v, %d", name, at, got, out, w.to, w.out)
		}
		if !reflect.DeepEqual(s, states()[at]) {
			t.Errorf("%s in %q modified its argument: %#v", name, at, s)
		}
	}
	for at := range want {
		if states()[at] == nil {
			t.Errorf("%s: unknown state %q", name, at)
		}
	}
}

func TestEnqueue(t *testing.T) {
	next := Segment{Seq: 4, Start: 30, End: 40}
	with := func(l Line) Line { l.Segments = append(l.Segments, next); return l }
	check(t, "a segment", func(s State) (State, Outcome) { return Enqueue(s, next) }, Ignored, map[string]cell{
		"closed":         {Buffering{Line{Gen: 7, Segments: []Segment{next}}}, Queued},
		"buffering":      {Buffering{with(line(0, false))}, Queued},
		"dry":            {Buffering{with(line(3, false))}, Queued},
		"ready":          {Ready{with(line(0, false))}, Queued},
		"playing":        {Playing{with(line(1, false))}, Queued},
		"playing, heard": {Playing{with(line(3, false))}, Queued},
		"paused":         {Paused{Line: with(line(1, false))}, Queued},
		// An ended line continues.
		"buffering, ended": {Buffering{with(line(1, false))}, Queued},
		"ready, ended":     {Ready{with(line(0, false))}, Queued},
		"paused, ended":    {Paused{Line: with(line(1, false))}, Queued},
		"draining":         {Playing{with(line(1, false))}, Queued},
		"draining, heard":  {Playing{with(line(3, false))}, Queued},
	})
}

func TestEnd(t *testing.T) {
	check(t, "the end", End, Ignored, map[string]cell{
		"buffering":      {Buffering{line(0, true)}, Advanced},
		"dry":            {Closed{7}, Done},
		"ready":          {Ready{line(0, true)}, Advanced},
		"playing":        {Draining{line(1, true)}, Advanced},
		"playing, heard": {Draining{line(3, true)}, Advanced},
		"paused":         {Paused{Line: line(1, true)}, Advanced},
	})
}

func TestBuffered(t *testing.T) {
	check(t, "audio", func(s State) (State, Outcome) { return Buffered(s, 7, 3) }, Ignored, map[string]cell{
		"buffering":        {Ready{line(0, false)}, Waits},
		"buffering, ended": {Ready{line(1, true)}, Waits},
	})
	check(t, "audio of a segment that was heard", func(s State) (State, Outcome) { return Buffered(s, 7, 1) }, Ignored, map[string]cell{
		"buffering":        {Ready{line(0, false)}, Waits}, // not stale: nothing of this line was heard
		"buffering, ended": {Buffering{line(1, true)}, Stale},
	})
	check(t, "audio of another generation", func(s State) (State, Outcome) { return Buffered(s, 6, 3) }, Stale, nil)
}

func TestStart(t *testing.T) {
	check(t, "start", Start, Ignored, map[string]cell{
		"ready": {Playing{line(0, false)}, Started}, "ready, ended": {Draining{line(0, true)}, Started},
	})
}

func TestPlayed(t *testing.T) {
	check(t, "segment 2 heard", func(s State) (State, Outcome) { return Played(s, 7, 2) }, Stale, map[string]cell{
		"playing":       {Playing{line(2, false)}, Advanced},
		"paused":        {Paused{Line: line(2, false)}, Advanced},
		"paused, ended": {Paused{Line: line(2, true)}, Advanced},
		"draining":      {Draining{line(2, true)}, Advanced},
	})
	check(t, "segment 3 heard before 2", func(s State) (State, Outcome) { return Played(s, 7, 3) }, Stale, nil)
	check(t, "segment 1 heard again", func(s State) (State, Outcome) { return Played(s, 7, 1) }, Stale, nil)
	check(t, "heard of another generation", func(s State) (State, Outcome) { return Played(s, 6, 2) }, Stale, nil)
}

func TestDrained(t *testing.T) {
	check(t, "all heard", func(s State) (State, Outcome) { return Drained(s, 7, 3) }, Stale, map[string]cell{
		"playing":         {Buffering{line(3, false)}, Underran},
		"playing, heard":  {Buffering{line(3, false)}, Underran},
		"paused":          {Buffering{line(3, false)}, Underran},
		"paused, ended":   {Closed{7}, Done},
		"draining":        {Closed{7}, Done},
		"draining, heard": {Closed{7}, Done},
	})
	check(t, "heard through 2", func(s State) (State, Outcome) { return Drained(s, 7, 2) }, Stale, map[string]cell{
		"playing":         {Buffering{line(2, false)}, Underran},
		"playing, heard":  {Buffering{line(3, false)}, Underran},
		"paused":          {Buffering{line(2, false)}, Underran},
		"paused, ended":   {Buffering{line(2, true)}, Underran},
		"draining":        {Buffering{line(2, true)}, Underran},
		"draining, heard": {Closed{7}, Done},
	})
	check(t, "drained of another generation", func(s State) (State, Outcome) { return Drained(s, 8, 3) }, Stale, nil)
}

func TestPauseAndResume(t *testing.T) {
	check(t, "pause", Pause, Ignored, map[string]cell{
		"playing":         {Paused{Line: line(1, false)}, Stopped},
		"playing, heard":  {Paused{Line: line(3, false)}, Stopped},
		"draining":        {Paused{Line: line(1, true)}, Stopped},
		"draining, heard": {Paused{Line: line(3, true)}, Stopped},
	})
	check(t, "resume", Resume, Ignored, map[string]cell{
		"paused": {Playing{line(1, false)}, Started}, "paused, ended": {Draining{line(1, true)}, Started},
	})
}

func TestRestartKeepsTheUnheardRest(t *testing.T) {
	rest := func(from int, ended bool) State {
		return Buffering{Line{Gen: 8, Segments: line(0, false).Segments[from:], Ended: ended}}
	}
	check(t, "restart", func(s State) (State, Outcome) { return Restart(s), Ignored }, Ignored, map[string]cell{
		"buffering": {rest(0, false), Ignored}, "dry": {rest(3, false), Ignored}, "buffering, ended": {rest(1, true), Ignored},
		"ready": {rest(0, false), Ignored}, "ready, ended": {rest(0, true), Ignored},
		"playing": {rest(1, false), Ignored}, "playing, heard": {rest(3, false), Ignored},
		"paused": {rest(1, false), Ignored}, "paused, ended": {rest(1, true), Ignored},
		"draining": {rest(1, true), Ignored}, "draining, heard": {Closed{8}, Ignored},
	})
}

func TestFlushStartsANewGeneration(t *testing.T) {
	for at, s := range states() {
		if got := Flush(s); got != (Closed{8}) {
			t.Errorf("%s: got %#v", at, got)
		}
	}
}

func TestAudible(t *testing.T) {
	want := map[string]bool{"playing": true, "playing, heard": true, "draining": true, "draining, heard": true}
	for at, s := range states() {
		if Audible(s) != want[at] {
			t.Errorf("%s: audible is %v", at, Audible(s))
		}
		if s.Generation() != 7 {
			t.Errorf("%s: generation %d", at, s.Generation())
		}
	}
}

// Reports of the player matter while the line is playing or paused, and only for its
// generation.
func TestSounds(t *testing.T) {
	want := map[string]bool{
		"playing": true, "playing, heard": true, "paused": true, "paused, ended": true, "draining": true, "draining, heard": true,
	}
	for at, s := range states() {
		if Sounds(s, 7) != want[at] {
			t.Errorf("%s: sounds is %v", at, Sounds(s, 7))
		}
		for _, gen := range []uint32{0, 6, 8} {
			if Sounds(s, gen) {
				t.Errorf("%s: generation %d sounds", at, gen)
			}
		}
	}
}

// Every input returns in the zero value of every state, and stale or ignored inputs
// change nothing.
func TestZeroValuesAreStates(t *testing.T) {
	for _, s := range []State{Closed{}, Buffering{}, Ready{}, Playing{}, Paused{}, Draining{}} {
		for name, f := range map[string]func() (State, Outcome){
			"enqueue": func() (State, Outcome) { return Enqueue(s, Segment{}) },
			"end":     func() (State, Outcome) { return End(s) },
			"audio":   func() (State, Outcome) { return Buffered(s, 0, 0) },
			"start":   func() (State, Outcome) { return Start(s) },
			"played":  func() (State, Outcome) { return Played(s, 0, 0) },
			"drained": func() (State, Outcome) { return Drained(s, 0, 0) },
			"pause":   func() (State, Outcome) { return Pause(s) },
			"resume":  func() (State, Outcome) { return Resume(s) },
			"restart": func() (State, Outcome) { return Restart(s), Started },
			"flush":   func() (State, Outcome) { return Flush(s), Started },
		} {
			if got, out := f(); (out == Stale || out == Ignored) && !reflect.DeepEqual(got, s) {
				t.Errorf("%s in %#v: outcome %d, and it became %#v", name, s, out, got)
			}
		}
	}
}

// Enqueue never writes to memory that an older line can reach.
func TestEnqueueCopies(t *testing.T) {
	backing := make([]Segment, 1, 8)
	backing[0] = Segment{Seq: 1}
	old := Playing{Line{Gen: 7, Segments: backing}}
	a, _ := Enqueue(old, Segment{Seq: 2})
	b, _ := Enqueue(old, Segment{Seq: 3})
	la, _ := LineOf(a)
	lb, _ := LineOf(b)
	if la.Segments[1].Seq != 2 || lb.Segments[1].Seq != 3 || backing[:2][1].Seq != 0 {
		t.Errorf("lines share memory: %v, %v, %v", la.Segments, lb.Segments, backing[:2])
	}
	if last, ok := la.Last(); !ok || last.Seq != 2 {
		t.Errorf("the last segment is %v", last)
	}
	if _, ok := (Line{}).Last(); ok {
		t.Error("an empty line has a last segment")
	}
}

func TestWireNames(t *testing.T) {
	for want, s := range map[string]State{
		"closed": Closed{}, "buffering": Buffering{}, "ready": Ready{}, "playing": Playing{}, "paused": Paused{}, "draining": Draining{},
	} {
		if s.String() != want {
			t.Errorf("name of %T is %q, want %q", s, s, want)
		}
	}
}

// Words are recorded only over a paused line, and forgotten when it resumes.
func TestNoteWords(t *testing.T) {
	for at, s := range states() {
		want := s
		if p, paused := s.(Paused); paused {
			p.HasWords = true
			want = p
		}
		got := NoteWords(s)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, want %#v", at, got, want)
		}
		next, _ := Resume(got)
		if was, _ := Resume(s); !reflect.DeepEqual(next, was) {
			t.Errorf("%s, resumed: got %#v, want %#v", at, next, was)
		}
		if Begun(s) != (Audible(s) || s.String() == "paused") {
			t.Errorf("%s: begun is %v", at, Begun(s))
		}
	}
}
