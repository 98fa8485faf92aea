package history

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// log returns a log with one item per letter, with ids from 1: U is an utterance, A the
// heard part of an answer, T a tool call.
func log(letters string) Log {
	var l Log
	for i, c := range letters {
		id := uint64(i + 1)
		switch c {
		case 'U':
			l.Items = append(l.Items, Item{Turn: id, Utterance: id})
		case 'A':
			l.Items = append(l.Items, Item{Turn: id, Request: id, Heard: 10})
		case 'T':
			l.Items = append(l.Items, Item{Turn: id, Tool: id, Outcome: Done})
		}
	}
	return l
}

// after returns log without its first n items, with their summary.
func after(letters string, n int, summary uint32) Log {
	return Log{Items: log(letters).Items[n:], Summary: summary}
}

func TestAddAddsLast(t *testing.T) {
	it := Item{Turn: 3, Utterance: 3}
	for _, c := range []struct {
		name     string
		from, to State
	}{
		{"the first", Normal{}, Normal{Log: Log{Items: []Item{it}}}},
		{"a further one", Normal{Log: log("UA"), From: 9}, Normal{Log: log("UAU"), From: 9}},
		{
			"while older ones are summarised",
			Compacting{Log: log("UA"), Job: 4, Count: 1}, Compacting{Log: log("UAU"), Job: 4, Count: 1},
		},
		{"after a summary", Normal{Log: after("UA", 1, 7)}, Normal{Log: after("UAU", 1, 7)}},
	} {
		if got := Add(c.from, it); !reflect.DeepEqual(got, c.to) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.to)
		}
	}
}

// Each case follows the previous ones.
func TestHeardRaisesTheLastAnswerOnly(t *testing.T) {
	user, first := Item{Turn: 1, Utterance: 11}, Item{Turn: 1, Request: 5, Heard: 25}
	tool := Item{Turn: 1, Tool: 8, Outcome: Done}
	var s State = Normal{Log: Log{Items: []Item{user}}}
	for _, c := range []struct {
		name    string
		add     Item // added first, if it is a tool
		turn    uint64
		request uint64
		chars   int
		want    []Item
	}{
		{"nothing heard", Item{}, 1, 5, 0, []Item{user}},
		{"first words", Item{}, 1, 5, 10, []Item{user, {Turn: 1, Request: 5, Heard: 10}}},
		{"the same again", Item{}, 1, 5, 10, []Item{user, {Turn: 1, Request: 5, Heard: 10}}},
		{"less", Item{}, 1, 5, 4, []Item{user, {Turn: 1, Request: 5, Heard: 10}}},
		{"one more", Item{}, 1, 5, 11, []Item{user, {Turn: 1, Request: 5, Heard: 11}}},
		{"more", Item{}, 1, 5, 25, []Item{user, first}},
		{"no more after a tool", tool, 1, 5, 25, []Item{user, first, tool}},
		{"less after a tool", Item{}, 1, 5, 20, []Item{user, first, tool}},
		{"more after a tool", Item{}, 1, 5, 26, []Item{user, first, tool, {Turn: 1, Request: 5, From: 25, Heard: 26}}},
		{"and more", Item{}, 1, 5, 40, []Item{user, first, tool, {Turn: 1, Request: 5, From: 25, Heard: 40}}},
		{
			"another answer", Item{}, 2, 6, 3,
			[]Item{user, first, tool, {Turn: 1, Request: 5, From: 25, Heard: 40}, {Turn: 2, Request: 6, Heard: 3}},
		},
		{
			"less of the older one", Item{}, 1, 5, 39,
			[]Item{user, first, tool, {Turn: 1, Request: 5, From: 25, Heard: 40}, {Turn: 2, Request: 6, Heard: 3}},
		},
	} {
		if c.add.Tool != 0 {
			s = Add(s, c.add)
		}
		before := slices.Clone(s.Said().Items)
		next := Heard(s, c.turn, c.request, c.chars)
		if !reflect.DeepEqual(next.Said().Items, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, next.Said().Items, c.want)
		}
		if !reflect.DeepEqual(s.Said().Items, before) {
			t.Errorf("%s: the older history became %+v", c.name, s.Said().Items)
		}
		s = next
	}
}

// Repeating the heard length copies nothing: the player reports it many times a second.
func TestHeardAgainKeepsTheHistory(t *testing.T) {
	s := Normal{Log: log("UA")}
	for _, chars := range []int{0, 9, 10} {
		if got := Heard(s, 2, 2, chars); &got.Said().Items[0] != &s.Items[0] {
			t.Errorf("%d characters: the list was copied", chars)
		}
	}
}

// The first words of an empty history, and words heard during a compaction.
func TestHeardInEachState(t *testing.T) {
	got := Heard(Normal{From: 3}, 1, 5, 4)
	if want := (Normal{Log: Log{Items: []Item{{Turn: 1, Request: 5, Heard: 4}}}, From: 3}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	raised := log("UA")
	raised.Items[1].Heard = 12
	got = Heard(Compacting{Log: log("UA"), Job: 4, Count: 1}, 2, 2, 12)
	if want := (Compacting{Log: raised, Job: 4, Count: 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestHeardOfIsTheMaximum(t *testing.T) {
	l := Log{Items: []Item{{Request: 5, Heard: 25}, {Tool: 8}, {Request: 5, From: 25, Heard: 40}, {Request: 6, Heard: 3}, {Request: 5, Heard: 7}}}
	for request, want := range map[uint64]int{5: 40, 6: 3, 7: 0} {
		if got := HeardOf(l, request); got != want {
			t.Errorf("of %d: %d, want %d", request, got, want)
		}
	}
}

func TestDue(t *testing.T) {
	six := log("UAUAUA")
	for _, c := range []struct {
		name  string
		s     State
		limit int
		want  bool
	}{
		{"nothing", Normal{}, 1, false},
		{"less than the limit", Normal{Log: six}, 7, false},
		{"as many as the limit", Normal{Log: six}, 6, false},
		{"one more", Normal{Log: six}, 5, true},
		{"one more, of one long turn", Normal{Log: log("UTTTTT")}, 5, true},
		{"without a limit", Normal{Log: six}, 0, false},
		{"without a limit", Normal{Log: six}, -1, false},
		{"after a failure, too early", Normal{Log: six, From: 7}, 5, false},
		{"after a failure", Normal{Log: six, From: 6}, 5, true},
		{"after a failure long ago", Normal{Log: six, From: 2}, 6, false},
		{"while one runs", Compacting{Log: six, Job: 1, Count: 2}, 1, false},
	} {
		if got := Due(c.s, c.limit); got != c.want {
			t.Errorf("%s (%d items, limit %d): %v", c.name, len(c.s.Said().Items), c.limit, got)
		}
	}
}

// How many items are summarised, 0 for no compaction. It cuts before a message of the
// user, at the last position that keeps enough.
func TestCompactCuts(t *testing.T) {
	for _, c := range []struct {
		letters string
		keep    int
		count   int
	}{
		{"", 0, 0}, {"U", 0, 0}, {"U", 1, 0}, {"UA", 2, 0}, {"UA", 3, 0}, {"UAUA", 4, 0},
		{"UAUA", 2, 2}, {"UAUA", 1, 2}, {"UAUAUA", 3, 2}, {"UAUAUA", 2, 4}, {"UAUAUA", 4, 2}, {"UATTUA", 2, 4},
		{"UUU", 1, 2}, {"UUU", 0, 2}, {"UUU", -5, 2},
		// Within one long turn there is no such position: only the last keep items are
		// left.
		{"UA", 1, 1}, {"UA", 0, 1}, {"UAUA", 3, 1}, {"UTTTTT", 2, 4}, {"UTTTTT", 1, 5}, {"TTTT", 1, 3}, {"ATTUA", 3, 2},
		// A message of the user after the rest of an older turn is such a position.
		{"AUTTTT", 2, 1},
	} {
		s := Normal{Log: log(c.letters), From: 3}
		s.Summary = 8
		var want State = s
		if c.count > 0 {
			want = Compacting{Log: s.Log, Job: 9, Count: c.count}
		}
		if got := Compact(s, 9, c.keep); !reflect.DeepEqual(got, want) {
			t.Errorf("%q, keep %d: got %+v, want %+v", c.letters, c.keep, got, want)
		}
	}
	running := Compacting{Log: log("UAUA"), Job: 4, Count: 2}
	if got := Compact(running, 9, 1); !reflect.DeepEqual(got, running) {
		t.Errorf("a second one began: %+v", got)
	}
}

func TestCompacted(t *testing.T) {
	running := Compacting{Log: Log{Items: log("UAUA").Items, Summary: 3}, Job: 4, Count: 3}
	idle := Normal{Log: log("UA"), From: 5}
	for _, c := range []struct {
		name string
		s    State
		job  uint32
		ok   bool
		grow int
		to   State
		live bool
	}{
		{"done", running, 4, true, 2, Normal{Log: left(after("UAUA", 3, 4), running.Items[1])}, true},
		{"failed", running, 4, false, 2, Normal{Log: running.Log, From: 6}, true},
		{"failed, to be tried soon", running, 4, false, 1, Normal{Log: running.Log, From: 5}, true},
		{"failed, to be tried at once", running, 4, false, 0, Normal{Log: running.Log, From: 5}, true},
		{"of an older job", running, 3, true, 2, running, false},
		{"of a later job", running, 5, true, 2, running, false},
		{"failure of an older job", running, 3, false, 2, running, false},
		{"where none runs", idle, 4, true, 2, idle, false},
		{"failure where none runs", idle, 0, false, 2, idle, false},
		{"of the zero value", Compacting{}, 0, true, 0, Normal{Log: Log{}}, true},
	} {
		got, live := Compacted(c.s, c.job, c.ok, c.grow)
		if len(got.Said().Items) == 0 { // treat empty as nil
			at, d := got.parts()
			d.Log = Log{Summary: d.Summary, Left: d.Left}
			got = state(at, d)
		}
		if !reflect.DeepEqual(got, c.to) || live != c.live {
			t.Errorf("%s: got %+v, %v; want %+v, %v", c.name, got, live, c.to, c.live)
		}
	}
}

// left returns l after it was removed.
func left(l Log, it Item) Log {
	l.Left = Answer{it.Request, it.Heard}
	return l
}

// The heard length of an answer survives the removal of its item: the next item continues
// from there.
func TestHeardContinuesAfterRemoval(t *testing.T) {
	var s State = Normal{}
	s = Heard(Add(s, Item{Turn: 1, Utterance: 1}), 1, 5, 10)
	s = Add(s, Item{Turn: 1, Tool: 8, Outcome: Done})
	s, _ = Compacted(Compact(s, 1, 1), 1, true, 1)
	if again := Heard(s, 1, 5, 5); !reflect.DeepEqual(again, s) {
		t.Errorf("hearing less than before made %+v of %+v", again, s)
	}
	s = Heard(s, 1, 5, 25)
	want := Item{Turn: 1, Request: 5, From: 10, Heard: 25}
	if items := s.Said().Items; !reflect.DeepEqual(items[len(items)-1], want) {
		t.Errorf("got %+v, want %+v last", items, want)
	}
}

func TestStopCancelsCompaction(t *testing.T) {
	for _, c := range []struct{ from, to State }{
		{Normal{Log: log("UA"), From: 5}, Normal{Log: log("UA"), From: 5}},
		{Compacting{Log: after("UAU", 1, 3), Job: 4, Count: 1}, Normal{Log: after("UAU", 1, 3)}},
		{Compacting{}, Normal{}},
	} {
		if got := Stop(c.from); !reflect.DeepEqual(got, c.to) {
			t.Errorf("%+v: got %+v, want %+v", c.from, got, c.to)
		}
	}
}

// Nothing writes to the spare capacity or the elements of an older history's list, and
// after a compaction the removed items are not retained in memory.
func TestHistoriesShareNoMemory(t *testing.T) {
	backing := append(log("UAU").Items, Item{Turn: 77}, Item{Turn: 78})
	whole := slices.Clone(backing)
	for _, s := range []State{
		Normal{Log: Log{Items: backing[:2]}}, Compacting{Log: Log{Items: backing[:2]}, Job: 1, Count: 1},
		Normal{Log: Log{Items: backing[:3]}},
	} {
		a, b := Add(s, Item{Turn: 50}), Add(s, Item{Turn: 60})
		if n := len(s.Said().Items); a.Said().Items[n].Turn != 50 || b.Said().Items[n].Turn != 60 {
			t.Errorf("two histories share memory: %+v, %+v", a, b)
		}
		Heard(s, 9, 2, 99)
		Heard(s, 9, 3, 99)
		Compact(s, 5, 1)
		Stop(s)
		next, _ := Compacted(s, 1, true, 1)
		if left := next.Said().Items; len(left) == 1 && &left[0] == &backing[1] {
			t.Error("the remaining items share the older list's memory")
		}
	}
	if !reflect.DeepEqual(backing, whole) {
		t.Errorf("the list became %+v", backing)
	}
}

// On any walk, only summarised items are removed, one compaction runs at a time, due
// compactions start, and a failed one is not retried before the log has grown.
func TestHistoryWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, keep := rapid.IntRange(2, 6).Draw(t, "limit"), rapid.IntRange(0, 3).Draw(t, "keep")
		keep = min(keep, limit-1)
		var s State = Normal{}
		var left, all []Item // what was summarised, and everything
		next, job := uint64(1), uint32(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			what := rapid.SampledFrom([]string{"user", "tool", "heard", "heard", "summarised", "failed", "older"}).Draw(t, "what")
			switch what {
			case "user":
				next++
				s = Add(s, Item{Turn: next, Utterance: next})
				all = append(all, Item{Turn: next, Utterance: next})
			case "tool":
				next++
				s = Add(s, Item{Turn: next, Tool: next})
				all = append(all, Item{Turn: next, Tool: next})
			case "heard":
				chars := rapid.IntRange(1, 100).Draw(t, "chars")
				switch n := len(all); {
				case n > 0 && all[n-1].Request != 0:
					all[n-1].Heard = max(all[n-1].Heard, chars)
					s = Heard(s, all[n-1].Turn, all[n-1].Request, chars)
				default:
					next++
					all = append(all, Item{Turn: next, Request: next, Heard: chars})
					s = Heard(s, next, next, chars)
				}
			case "summarised", "failed":
				ok := what == "summarised"
				c, running := s.(Compacting)
				if running && ok {
					left = append(left, c.Items[:c.Count]...)
				}
				was := len(s.Said().Items)
				to, live := Compacted(s, job, ok, 2)
				if live != running {
					t.Fatalf("job %d in %+v: live is %v", job, s, live)
				}
				if s = to; live && !ok && (Due(s, limit) || Due(Add(s, Item{Tool: 1}), limit) || len(s.Said().Items) != was) {
					t.Fatalf("a failed compaction is due immediately, or removed items: %+v", s)
				}
			case "older":
				if to, live := Compacted(s, job-1, true, 2); live || !reflect.DeepEqual(to, s) {
					t.Fatalf("job %d of %d ended in %+v", job-1, job, s)
				}
			}
			if due := Due(s, limit); due {
				job++
				s = Compact(s, job, keep)
				if c, ok := s.(Compacting); !ok || c.Job != job || c.Count < 1 || len(c.Items)-c.Count < max(keep, 1) {
					t.Fatalf("what was due is %+v, keep %d", s, keep)
				}
			}
			if got := append(slices.Clone(left), s.Said().Items...); !slices.EqualFunc(got, all, func(a, b Item) bool { return reflect.DeepEqual(a, b) }) {
				t.Fatalf("summarised and kept:\n%+v\nall:\n%+v", got, all)
			}
		}
	})
}

func TestWireNames(t *testing.T) {
	for want, s := range map[string]State{"normal": Normal{}, "compacting": Compacting{}} {
		if s.String() != want {
			t.Errorf("name of %T is %q, want %q", s, s, want)
		}
	}
	if got, want := [...]Outcome{Done, Rejected, Failed, Stopped}, [...]Outcome{"done", "rejected", "failed", "cancelled"}; got != want {
		t.Errorf("the outcomes of a call are %q, want %q", got, want)
	}
}
