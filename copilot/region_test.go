package copilot

import "testing"

// Every state against every input, for the live request (9) and another one.
func TestNextEveryCell(t *testing.T) {
	type cell struct {
		to  State // nil: stays
		out Outcome
	}
	live, cancelled := Live{Request: 9, Attempt: 2}, Live{Request: 9, Attempt: 2, Cancelled: true}
	states := []State{Idle{}, Ready{}, Generating{live}, Generating{cancelled}, Streaming{live}, Streaming{cancelled}}
	ignored, stale := cell{nil, Ignored}, cell{nil, Stale}
	third := live
	third.Attempt = 3
	all := func(c cell) []cell { return []cell{c, c, c, c, c, c} }
	for _, c := range []struct {
		name    string
		in      Input
		request uint64
		attempt int
		want    []cell // in the order of states
	}{
		{"open", Open, 0, 0, []cell{{Ready{}, Changed}, ignored, ignored, ignored, ignored, ignored}},
		{"shut", Shut, 0, 0, all(cell{Idle{}, Changed})},
		{"send", Send, 10, 0, []cell{ignored, {Generating{Live{Request: 10, Attempt: 1}}, Changed}, ignored, ignored, ignored, ignored}},

		{"next attempt", Attempt, 9, 3, []cell{stale, stale, {Generating{third}, Changed}, stale, ignored, stale}},
		{"same attempt", Attempt, 9, 2, []cell{stale, stale, ignored, stale, ignored, stale}},
		{"older attempt", Attempt, 9, 1, []cell{stale, stale, ignored, stale, ignored, stale}},
		{"progress", Progress, 9, 0, []cell{stale, stale, {Streaming{live}, First}, stale, {nil, More}, stale}},
		{"terminal", Terminal, 9, 0, []cell{stale, stale, {Ready{}, Ended}, {Ready{}, Confirmed}, {Ready{}, Ended}, {Ready{}, Confirmed}}},
		{"cancel", Cancel, 9, 0, []cell{stale, stale, {Generating{cancelled}, Changed}, stale, {Streaming{cancelled}, Changed}, stale}},

		{"attempt of another", Attempt, 8, 3, all(stale)},
		{"progress of another", Progress, 8, 0, all(stale)},
		{"terminal of another", Terminal, 8, 0, all(stale)},
		{"cancel of another", Cancel, 8, 0, all(stale)},
	} {
		for i, s := range states {
			w := c.want[i]
			if w.to == nil {
				w.to = s
			}
			if got, out := Next(s, c.in, c.request, c.attempt); got != w.to || out != w.out {
				t.Errorf("%s in %#v: got %#v, outcome %d; want %#v, %d", c.name, s, got, out, w.to, w.out)
			}
		}
	}
}

func TestLiveOf(t *testing.T) {
	live := Live{Request: 9}
	for s, want := range map[State]bool{Idle{}: false, Ready{}: false, Generating{live}: true, Streaming{live}: true} {
		if got, ok := LiveOf(s); ok != want || ok && got != live {
			t.Errorf("%v: %+v, %v", s, got, ok)
		}
	}
}

func TestNamesAreThoseOfTheChatMachine(t *testing.T) {
	for s, want := range map[State]string{
		Idle{}: "idle", Ready{}: "ready", Generating{}: "generatingResponse", Streaming{}: "streamingResponse",
	} {
		if s.String() != want {
			t.Errorf("%T is called %q, want %q", s, s, want)
		}
	}
}
