package turn

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func us(ids ...uint64) []Utterance {
	out := make([]Utterance, len(ids))
	for i, id := range ids {
		out[i] = Utterance{ID: id, Pos: int64(id) * 100}
	}
	return out
}

func u(id uint64) Utterance { return us(id)[0] }

// sent returns utterances that the user committed.
func sent(ids ...uint64) []Utterance {
	out := us(ids...)
	for i := range out {
		out[i].Committed = true
	}
	return out
}

// states are the test states. Utterances are numbered in the order of their onsets.
func states() map[string]State {
	return map[string]State{
		"idle":                   Idle{},
		"speaking":               UserSpeaking{Open: u(1)},
		"silent":                 UserSpeaking{Open: u(1), Silent: true},
		"speaking, awaited":      UserSpeaking{Open: u(3), Pending: us(1, 2)},
		"silent, awaited":        UserSpeaking{Open: u(3), Pending: us(1, 2), Silent: true},
		"speaking, many awaited": UserSpeaking{Open: u(5), Pending: us(1, 2, 3, 4)},
		"awaited":                EndPending{us(1, 2)},
		"the last awaited":       EndPending{us(2)},
		"many awaited":           EndPending{us(1, 2, 3, 4)},
	}
}

// check applies the input for utterance id to every state. In a state that is not in want
// the input must be stale. Only an onset has a position.
func check(t *testing.T, in Input, id uint64, out Outcome, want map[string]State) {
	t.Helper()
	for at := range want {
		if states()[at] == nil {
			t.Errorf("%v: unknown state %q", in, at)
		}
	}
	about := Utterance{ID: id}
	if in == Onset {
		about = u(id)
	}
	for at, s := range states() {
		to, named := want[at]
		wantOut := out
		if !named {
			to, wantOut = s, Stale
		}
		if got, out := Next(s, in, about); !equal(got, to) || out != wantOut {
			t.Errorf("%v of %d, %s: got %#v, outcome %d; want %#v, %d", in, id, at, got, out, to, wantOut)
		}
		if !reflect.DeepEqual(s, states()[at]) {
			t.Errorf("%v of %d, %s: modified its argument: %#v", in, id, at, s)
		}
	}
}

// equal treats nil and empty lists of pending utterances as equal.
func equal(a, b State) bool {
	if sp, ok := a.(UserSpeaking); ok && len(sp.Pending) == 0 {
		sp.Pending = nil
		a = sp
	}
	if sp, ok := b.(UserSpeaking); ok && len(sp.Pending) == 0 {
		sp.Pending = nil
		b = sp
	}
	return reflect.DeepEqual(a, b)
}

// An onset opens an utterance if none is open and its id is new.
func TestOnset(t *testing.T) {
	check(t, Onset, 9, Opened, map[string]State{
		"idle":             UserSpeaking{Open: u(9)},
		"awaited":          UserSpeaking{Open: u(9), Pending: us(1, 2)},
		"the last awaited": UserSpeaking{Open: u(9), Pending: us(2)},
		"many awaited":     UserSpeaking{Open: u(9), Pending: us(1, 2, 3, 4)},
	})
	check(t, Onset, 2, Opened, map[string]State{"idle": UserSpeaking{Open: u(2)}})
	check(t, Onset, 1, Opened, map[string]State{
		"idle":             UserSpeaking{Open: u(1)},
		"the last awaited": UserSpeaking{Open: u(1), Pending: us(2)},
	})
}

// Only the open utterance's voice can pause and continue, alternately.
func TestSilenceAndVoice(t *testing.T) {
	check(t, Silence, 1, Changed, map[string]State{"speaking": UserSpeaking{Open: u(1), Silent: true}})
	check(t, Silence, 3, Changed, map[string]State{
		"speaking, awaited": UserSpeaking{Open: u(3), Pending: us(1, 2), Silent: true},
	})
	check(t, Silence, 5, Changed, map[string]State{
		"speaking, many awaited": UserSpeaking{Open: u(5), Pending: us(1, 2, 3, 4), Silent: true},
	})
	check(t, Voice, 1, Changed, map[string]State{"silent": UserSpeaking{Open: u(1)}})
	check(t, Voice, 3, Changed, map[string]State{"silent, awaited": UserSpeaking{Open: u(3), Pending: us(1, 2)}})
	for _, in := range []Input{Silence, Voice} {
		for _, id := range []uint64{0, 2, 9} {
			check(t, in, id, Changed, nil)
		}
	}
}

// The open utterance ends once and is the last awaited one, however many are.
func TestEnd(t *testing.T) {
	check(t, End, 1, Closed, map[string]State{"speaking": EndPending{us(1)}, "silent": EndPending{us(1)}})
	check(t, End, 3, Closed, map[string]State{
		"speaking, awaited": EndPending{us(1, 2, 3)}, "silent, awaited": EndPending{us(1, 2, 3)},
	})
	check(t, End, 5, Closed, map[string]State{"speaking, many awaited": EndPending{us(1, 2, 3, 4, 5)}})
	check(t, End, 2, Closed, nil)
	check(t, End, 0, Closed, nil)
}

// A commit ends everything: the open utterance and all awaited ones.
func TestCommit(t *testing.T) {
	all := EndPending{sent(1, 2, 3)}
	check(t, Commit, 1, Closed, map[string]State{
		"speaking": EndPending{sent(1)}, "silent": EndPending{sent(1)},
		"speaking, awaited": all, "silent, awaited": all,
		"speaking, many awaited": EndPending{sent(1, 2, 3, 4, 5)},
		"awaited":                EndPending{sent(1, 2)},
		"many awaited":           EndPending{sent(1, 2, 3, 4)},
	})
	check(t, Commit, 2, Closed, map[string]State{
		"speaking, awaited": all, "silent, awaited": all,
		"speaking, many awaited": EndPending{sent(1, 2, 3, 4, 5)},
		"awaited":                EndPending{sent(1, 2)},
		"the last awaited":       EndPending{sent(2)},
		"many awaited":           EndPending{sent(1, 2, 3, 4)},
	})
	check(t, Commit, 3, Closed, map[string]State{
		"speaking, awaited": all, "silent, awaited": all,
		"speaking, many awaited": EndPending{sent(1, 2, 3, 4, 5)},
		"many awaited":           EndPending{sent(1, 2, 3, 4)},
	})
	check(t, Commit, 9, Closed, nil)
	check(t, Commit, 0, Closed, nil)
}

// Transcripts may arrive in any order, each once. That of the open utterance ends it.
func TestAnswered(t *testing.T) {
	check(t, Answered, 1, Resolved, map[string]State{
		"speaking": Idle{}, "silent": Idle{},
		"speaking, awaited":      UserSpeaking{Open: u(3), Pending: us(2)},
		"silent, awaited":        UserSpeaking{Open: u(3), Pending: us(2), Silent: true},
		"speaking, many awaited": UserSpeaking{Open: u(5), Pending: us(2, 3, 4)},
		"awaited":                EndPending{us(2)},
		"many awaited":           EndPending{us(2, 3, 4)},
	})
	check(t, Answered, 2, Resolved, map[string]State{
		"speaking, awaited":      UserSpeaking{Open: u(3), Pending: us(1)},
		"silent, awaited":        UserSpeaking{Open: u(3), Pending: us(1), Silent: true},
		"speaking, many awaited": UserSpeaking{Open: u(5), Pending: us(1, 3, 4)},
		"awaited":                EndPending{us(1)},
		"the last awaited":       Idle{},
		"many awaited":           EndPending{us(1, 3, 4)},
	})
	check(t, Answered, 3, Resolved, map[string]State{
		"speaking, awaited": EndPending{us(1, 2)}, "silent, awaited": EndPending{us(1, 2)},
		"speaking, many awaited": UserSpeaking{Open: u(5), Pending: us(1, 2, 4)},
		"many awaited":           EndPending{us(1, 2, 4)},
	})
	check(t, Answered, 5, Resolved, map[string]State{"speaking, many awaited": EndPending{us(1, 2, 3, 4)}})
	check(t, Answered, 9, Resolved, nil)
	check(t, Answered, 0, Resolved, nil)
}

// The pause that ends a turn depends on the mode, and in Semantic on the eagerness.
func TestPause(t *testing.T) {
	const silence = 700 * time.Millisecond
	type answer struct {
		d  time.Duration
		ok bool
	}
	want := map[Mode]map[Eagerness]answer{
		Manual:   {Auto: {0, false}, Low: {0, false}, Medium: {0, false}, High: {0, false}},
		Server:   {Auto: {silence, true}, Low: {silence, true}, Medium: {silence, true}, High: {silence, true}},
		Semantic: {Auto: {4 * time.Second, true}, Low: {8 * time.Second, true}, Medium: {4 * time.Second, true}, High: {2 * time.Second, true}},
	}
	for m, row := range want {
		for e, w := range row {
			if d, ok := Pause(m, e, silence); d != w.d || ok != w.ok {
				t.Errorf("mode %d, eagerness %d: %v, %v; want %v, %v", m, e, d, ok, w.d, w.ok)
			}
		}
	}
}

// Queries on a state.
func TestStateQueries(t *testing.T) {
	type answer struct {
		pending          []Utterance
		speaking, silent bool
		known            []uint64
	}
	want := map[string]answer{
		"idle":                   {nil, false, false, nil},
		"speaking":               {nil, true, false, []uint64{1}},
		"silent":                 {nil, true, true, []uint64{1}},
		"speaking, awaited":      {us(1, 2), true, false, []uint64{1, 2, 3}},
		"silent, awaited":        {us(1, 2), true, true, []uint64{1, 2, 3}},
		"speaking, many awaited": {us(1, 2, 3, 4), true, false, []uint64{1, 2, 3, 4, 5}},
		"awaited":                {us(1, 2), false, false, []uint64{1, 2}},
		"the last awaited":       {us(2), false, false, []uint64{2}},
		"many awaited":           {us(1, 2, 3, 4), false, false, []uint64{1, 2, 3, 4}},
	}
	for at, s := range states() {
		got := answer{Pending(s), Speaking(s), Silent(s), nil}
		for id := range uint64(7) {
			switch found, ok := Find(s, id); {
			case ok && found != u(id):
				t.Errorf("%s: utterance %d is %+v", at, id, found)
			case ok:
				got.known = append(got.known, id)
			case found != Utterance{}:
				t.Errorf("%s: %+v was found and was not", at, found)
			}
		}
		if !reflect.DeepEqual(got, want[at]) {
			t.Errorf("%s: got %+v, want %+v", at, got, want[at])
		}
	}
}

// Every input returns in every state, including zero values, and stale inputs change
// nothing.
func TestNextIsTotal(t *testing.T) {
	all := []State{UserSpeaking{}, EndPending{}}
	for _, s := range states() {
		all = append(all, s)
	}
	for _, s := range all {
		for in := range numInputs + 2 {
			for id := range uint64(7) {
				if got, out := Next(s, in, Utterance{ID: id}); out == Stale && !reflect.DeepEqual(got, s) {
					t.Errorf("input %d of %d: stale, and %#v became %#v", in, id, s, got)
				}
			}
		}
	}
}

// Next never writes to its argument's list, nor to the spare capacity behind it.
func TestNextDoesNotModifyItsArgument(t *testing.T) {
	backing := us(1, 2, 77, 78, 79)
	for in := range numInputs {
		for id := range uint64(5) {
			for _, s := range []State{
				UserSpeaking{Open: u(3), Pending: backing[:2]}, UserSpeaking{Open: u(3), Pending: backing[:0]},
				UserSpeaking{Open: u(3), Pending: backing[:3]}, EndPending{backing[:2]},
			} {
				Next(s, in, u(id))
			}
		}
	}
	if !reflect.DeepEqual(backing, us(1, 2, 77, 78, 79)) {
		t.Errorf("the list became %v", backing)
	}
}

// On any walk, an utterance is open or awaited at most once, its transcript arrives once,
// and none is given up but by an answer; a commit marks all of them; repeated inputs change
// nothing.
func TestTurnWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s State = Idle{}
		newest := uint64(0)
		answered := map[uint64]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			in := Input(rapid.IntRange(0, int(numInputs)-1).Draw(t, "input"))
			about := Utterance{ID: rapid.Uint64Range(0, newest).Draw(t, "utterance")}
			if in == Onset && rapid.Bool().Draw(t, "new") {
				newest++
				about = u(newest)
			} else if in == Onset && answered[about.ID] {
				continue // ids are not reused
			}
			before, n := s, len(Pending(s))
			next, out := Next(s, in, about)
			s = next
			ids := []uint64{}
			for _, p := range Pending(s) {
				ids = append(ids, p.ID)
				if answered[p.ID] {
					t.Fatalf("%v of %d: %d is awaited again in %#v", in, about.ID, p.ID, s)
				}
				if in == Commit && out != Stale && !p.Committed {
					t.Fatalf("a commit left %+v in %#v", p, s)
				}
			}
			if in == Answered && out == Resolved {
				answered[about.ID] = true
			}
			slices.Sort(ids)
			switch _, silence := s.(Idle); {
			case len(slices.Compact(ids)) != len(Pending(s)):
				t.Fatalf("%v of %d: %#v became %#v", in, about.ID, before, s)
			case silence && in != Answered && out != Stale:
				t.Fatalf("%v of %d: %#v was forgotten without its words", in, about.ID, before)
			case n > len(ids) && (in != Answered || n-len(ids) > 1):
				t.Fatalf("%v of %d: %#v became %#v", in, about.ID, before, s)
			}
			if again, _ := Next(s, in, about); !equal(again, s) {
				t.Fatalf("%v of %d twice: %#v, then %#v", in, about.ID, s, again)
			}
		}
	})
}

func TestWireNames(t *testing.T) {
	for _, c := range []struct {
		s    State
		want string
	}{{Idle{}, "idle"}, {UserSpeaking{}, "userSpeaking"}, {EndPending{}, "endPending"}} {
		if c.s.String() != c.want {
			t.Errorf("name of %T is %q, want %q", c.s, c.s, c.want)
		}
	}
	names := []string{"onset", "silence", "voice", "end", "commit", "drop", "decide", "answered"}
	var got []string
	for in := range numInputs {
		got = append(got, in.String())
	}
	if !slices.Equal(got, names) {
		t.Errorf("the inputs are called %q, want %q", got, names)
	}
}
