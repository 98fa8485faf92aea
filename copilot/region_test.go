package copilot

import (
	"reflect"
	"slices"
	"testing"
)

// calls returns tool calls with these ids, the second of which is destructive.
func calls(ids ...uint64) []Call {
	var out []Call
	for _, id := range ids {
		out = append(out, Call{ID: id, Destructive: id == 72})
	}
	return out
}

// live is request 9 in its third round and second attempt.
func live(ids ...uint64) Live { return Live{Request: 9, Attempt: 2, Round: 2, Calls: calls(ids...)} }

func cancelled(ids ...uint64) Live {
	l := live(ids...)
	l.Cancelled = true
	return l
}

// states are the test states.
func states() map[string]State {
	return map[string]State{
		"idle":                  Idle{},
		"loading":               LoadingModel{Load: 4, Model: 40, Percent: 30},
		"load failed":           LoadFailed{},
		"ready":                 Ready{},
		"searching":             SearchingTools{live()},
		"searching, cancelled":  SearchingTools{cancelled()},
		"generating":            Generating{live()},
		"generating, cancelled": Generating{cancelled()},
		"streaming":             Streaming{live()},
		"streaming, calls":      Streaming{live(71)},
		"streaming, cancelled":  Streaming{cancelled()},
		"asking":                WaitingForApproval{live(71, 72)},
		"asking, last call":     WaitingForApproval{live(72)},
		"asking, only call":     WaitingForApproval{live(71)},
		"calling":               CallingTool{live(71, 72)},
		"calling, last call":    CallingTool{live(72)},
		"calling, cancelled":    CallingTool{cancelled(71, 72)},
	}
}

type cell struct {
	to  State // nil: stays
	out Outcome
}

// give is check for inputs of request 9 in round 2.
func give(t *testing.T, in Input, otherwise Outcome, want map[string]cell) {
	t.Helper()
	in.Request, in.Round = 9, 2
	check(t, in, otherwise, want)
}

// check applies the input to every state; a state that is not in want must not change and
// must return otherwise.
func check(t *testing.T, in Input, otherwise Outcome, want map[string]cell) {
	t.Helper()
	for at := range want {
		if states()[at] == nil {
			t.Errorf("%v: unknown state %q", in.Do, at)
		}
	}
	for at, s := range states() {
		w, named := want[at]
		if !named {
			w = cell{nil, otherwise}
		}
		if w.to == nil {
			w.to = s
		}
		got, out := Next(s, in)
		if !reflect.DeepEqual(got, w.to) || out != w.out {
			t.Errorf("%v %+v, %s: got %#v, outcome %d; want %#v, %d", in.Do, in, at, got, out, w.to, w.out)
		}
		if !reflect.DeepEqual(s, states()[at]) {
			t.Errorf("%v, %s: it wrote to its argument: %#v", in.Do, at, s)
		}
	}
}

var (
	ignored = cell{nil, Ignored}
	stale   = cell{nil, Stale}
)

func TestOpenAndShut(t *testing.T) {
	check(t, Input{Do: Open}, Ignored, map[string]cell{"idle": {Ready{}, Changed}})
	shut := map[string]cell{}
	for at := range states() {
		shut[at] = cell{Idle{}, Changed}
	}
	check(t, Input{Do: Shut}, Ignored, shut)
}

// A model is loaded while no request is in progress; a later load replaces one in
// progress.
func TestLoad(t *testing.T) {
	begins := cell{LoadingModel{Load: 5, Model: 50}, Changed}
	check(t, Input{Do: Load, Load: 5, Model: 50}, Ignored, map[string]cell{"ready": begins, "load failed": begins, "loading": begins})
}

// Progress increases to 100 and never decreases.
func TestLoading(t *testing.T) {
	at := func(percent int) cell { return cell{LoadingModel{Load: 4, Model: 40, Percent: percent}, Changed} }
	for percent, w := range map[int]cell{-1: ignored, 0: ignored, 29: ignored, 30: ignored, 31: at(31), 99: at(99), 100: at(100), 101: at(100)} {
		check(t, Input{Do: Progress, Load: 4, Percent: percent}, Stale, map[string]cell{"loading": w})
	}
	check(t, Input{Do: Loaded, Load: 4}, Stale, map[string]cell{"loading": {Ready{}, Changed}})
	check(t, Input{Do: Unloaded, Load: 4, Reason: "modelFailed"}, Stale, map[string]cell{"loading": {LoadFailed{Reason: "modelFailed"}, Changed}})
	for _, do := range []Do{Progress, Loaded, Unloaded} {
		for _, load := range []uint32{0, 3, 5} {
			check(t, Input{Do: do, Load: load, Percent: 90}, Stale, nil)
		}
	}
	whole := LoadingModel{Load: 4, Percent: 100}
	if got, out := Next(whole, Input{Do: Progress, Load: 4, Percent: 120}); got != whole || out != Ignored {
		t.Errorf("more than all of it: got %#v, outcome %d", got, out)
	}
}

// A request starts where one is allowed, in its first round.
func TestRequestsBegin(t *testing.T) {
	begun := Live{Request: 10, Attempt: 1}
	check(t, Input{Do: Search, Request: 10}, Ignored, map[string]cell{"ready": {SearchingTools{begun}, Changed}})
	check(t, Input{Do: Send, Request: 10}, Ignored, map[string]cell{"ready": {Generating{begun}, Changed}})
	begun.Calls = calls(72)
	check(t, Input{Do: Ask, Request: 10, Call: calls(72)[0]}, Ignored, map[string]cell{
		"ready": {WaitingForApproval{begun}, Asks},
	})
}

// The end of a search ends a cancelled or failed request, or starts the round.
func TestFoundAndNotFound(t *testing.T) {
	first := live()
	first.Attempt = 1
	give(t, Input{Do: Found}, Stale, map[string]cell{
		"searching": {Generating{first}, Changed}, "searching, cancelled": {Ready{}, Confirmed},
	})
	give(t, Input{Do: NotFound}, Stale, map[string]cell{
		"searching": {Ready{}, Ended}, "searching, cancelled": {Ready{}, Confirmed},
	})
}

func TestAttempt(t *testing.T) {
	third := live()
	third.Attempt = 3
	none := map[string]cell{"generating": ignored, "streaming": ignored, "streaming, calls": ignored}
	for _, attempt := range []int{0, 1, 2} {
		give(t, Input{Do: Attempt, Attempt: attempt}, Stale, none)
	}
	give(t, Input{Do: Attempt, Attempt: 3}, Stale, map[string]cell{
		"generating": {Generating{third}, Changed}, "streaming": ignored, "streaming, calls": ignored,
	})
}

func TestSign(t *testing.T) {
	give(t, Input{Do: Sign}, Stale, map[string]cell{
		"generating": {Streaming{live()}, First}, "streaming": {nil, More}, "streaming, calls": {nil, More},
	})
}

// A call is accepted once, in the order of the answer.
func TestWants(t *testing.T) {
	give(t, Input{Do: Wants, Call: calls(72)[0]}, Stale, map[string]cell{
		"generating": {Streaming{live(72)}, More}, "streaming": {Streaming{live(72)}, More},
		"streaming, calls": {Streaming{live(71, 72)}, More},
	})
	give(t, Input{Do: Wants, Call: Call{ID: 71, Destructive: true}}, Stale, map[string]cell{
		"generating":       {Streaming{Live{9, 2, 2, false, []Call{{ID: 71, Destructive: true}}}}, More},
		"streaming":        {Streaming{Live{9, 2, 2, false, []Call{{ID: 71, Destructive: true}}}}, More},
		"streaming, calls": ignored,
	})
}

// A round accepts MaxCalls calls and rejects further ones.
func TestTooManyCalls(t *testing.T) {
	var s State = Streaming{Live{Request: 9}}
	for id := range uint64(MaxCalls + 3) {
		next, out := Next(s, Input{Do: Wants, Request: 9, Call: Call{ID: id + 1}})
		l, _ := LiveOf(next)
		switch n := len(l.Calls); {
		case id < 16 && (out != More || n != int(id)+1 || l.Calls[id].ID != id+1):
			t.Errorf("call %d: outcome %d, %+v", id+1, out, l.Calls)
		case id >= 16 && (out != Refused || n != 16):
			t.Errorf("call %d: outcome %d, %d calls", id+1, out, n)
		}
		s = next
	}
}

// The end of an answer ends the request, a cancelled request, or a round with tool calls.
func TestTerminalAndFail(t *testing.T) {
	give(t, Input{Do: Terminal}, Stale, map[string]cell{
		"generating": {Ready{}, Ended}, "generating, cancelled": {Ready{}, Confirmed},
		"streaming": {Ready{}, Ended}, "streaming, cancelled": {Ready{}, Confirmed},
		"streaming, calls": {WaitingForApproval{live(71)}, Asks},
	})
	give(t, Input{Do: Fail}, Stale, map[string]cell{
		"generating": {Ready{}, Ended}, "generating, cancelled": {Ready{}, Confirmed},
		"streaming": {Ready{}, Ended}, "streaming, cancelled": {Ready{}, Confirmed},
		"streaming, calls": {Ready{}, Ended},
	})
	broken := cancelled(71) // a cancelled request has no calls; if it had, it would not be asked about
	if got, out := Next(Streaming{broken}, Input{Do: Terminal, Request: 9, Round: 2}); got != (Ready{}) || out != Confirmed {
		t.Errorf("got %#v, outcome %d", got, out)
	}
}

// A request is cancelled once, in any round. If nothing is running, it has already
// stopped.
func TestCancel(t *testing.T) {
	want := map[string]cell{
		"idle": stale, "loading": stale, "load failed": stale, "ready": stale,
		"searching":  {SearchingTools{cancelled()}, Changed},
		"generating": {Generating{cancelled()}, Changed},
		"streaming":  {Streaming{cancelled()}, Changed}, "streaming, calls": {Streaming{cancelled()}, Changed},
		"asking": {Ready{}, Ended}, "asking, last call": {Ready{}, Ended},
		"asking, only call":  {Ready{}, Ended},
		"calling":            {CallingTool{cancelled(71, 72)}, Changed},
		"calling, last call": {CallingTool{cancelled(72)}, Changed},
	}
	for round := range 4 {
		check(t, Input{Do: Cancel, Request: 9, Round: round}, Ignored, want)
	}
}

// A decision names the first call and its request.
func TestApproveAndReject(t *testing.T) {
	check(t, Input{Do: Approve, Call: Call{ID: 71}}, Stale, map[string]cell{
		"asking":            {CallingTool{live(71, 72)}, Changed},
		"asking, only call": {CallingTool{live(71)}, Changed},
	})
	check(t, Input{Do: Approve, Call: Call{ID: 72}}, Stale, map[string]cell{
		"asking, last call": {CallingTool{live(72)}, Changed},
	})
	next := cell{SearchingTools{Live{Request: 9, Attempt: 1, Round: 3}}, NextRound}
	check(t, Input{Do: Reject, Call: Call{ID: 71}}, Stale, map[string]cell{
		"asking":            {WaitingForApproval{live(72)}, Asks},
		"asking, only call": next,
	})
	check(t, Input{Do: Reject, Call: Call{ID: 72}}, Stale, map[string]cell{"asking, last call": next})
}

func TestToolDoneAndToolFail(t *testing.T) {
	check(t, Input{Do: ToolDone, Call: Call{ID: 71}}, Stale, map[string]cell{
		"calling":            {WaitingForApproval{live(72)}, Asks},
		"calling, cancelled": {Ready{}, Confirmed},
	})
	check(t, Input{Do: ToolDone, Call: Call{ID: 72}}, Stale, map[string]cell{
		"calling, last call": {SearchingTools{Live{Request: 9, Attempt: 1, Round: 3}}, NextRound},
	})
	check(t, Input{Do: ToolFail, Call: Call{ID: 71}}, Stale, map[string]cell{
		"calling": {Ready{}, Ended}, "calling, cancelled": {Ready{}, Confirmed},
	})
	check(t, Input{Do: ToolFail, Call: Call{ID: 72}}, Stale, map[string]cell{"calling, last call": {Ready{}, Ended}})
}

// An input of another request, round or call changes no state.
func TestInputsOfOthersAreStale(t *testing.T) {
	all := Input{Attempt: 9, Percent: 90, Call: Call{ID: 71}}
	for _, request := range []uint64{0, 8, 10} {
		for _, do := range []Do{Attempt, Sign, Wants, Found, NotFound, Terminal, Fail, Cancel} {
			in := all
			in.Do, in.Request, in.Round = do, request, 2
			check(t, in, Stale, nil)
		}
	}
	for _, round := range []int{0, 1, 3} {
		for _, do := range []Do{Attempt, Sign, Wants, Found, NotFound, Terminal, Fail} {
			in := all
			in.Do, in.Request, in.Round = do, 9, round
			check(t, in, Stale, nil)
		}
	}
	for _, call := range []uint64{0, 70, 73} {
		for _, do := range []Do{Approve, Reject, ToolDone, ToolFail} {
			check(t, Input{Do: do, Request: 9, Round: 2, Call: Call{ID: call}}, Stale, nil)
		}
	}
}

// Waiting for approval or calling a tool without a call is not a valid state.
func TestZeroValuesAreStates(t *testing.T) {
	all := []State{
		LoadingModel{}, SearchingTools{}, Generating{}, Streaming{}, WaitingForApproval{}, CallingTool{},
		SearchingTools{Live{Cancelled: true}}, Generating{Live{Cancelled: true}}, CallingTool{Live{Cancelled: true}},
	}
	for _, s := range all {
		for do := range numDos + 2 {
			for _, in := range []Input{{Do: do}, {Do: do, Attempt: 1, Percent: 1}} {
				if got, out := Next(s, in); (out == Stale || out == Ignored) && !reflect.DeepEqual(got, s) {
					t.Errorf("input %d in %#v: outcome %d, and it became %#v", do, s, out, got)
				}
			}
		}
	}
	for _, do := range []Do{Approve, Reject, ToolDone, ToolFail} {
		for _, s := range []State{WaitingForApproval{}, CallingTool{}} {
			if _, out := Next(s, Input{Do: do}); out != Stale {
				t.Errorf("%v in %#v: outcome %d", do, s, out)
			}
		}
	}
}

// Adding a call never writes to memory that an older state can reach.
func TestNextDoesNotModifyItsArgument(t *testing.T) {
	backing := calls(71, 72, 73, 74)
	for _, s := range []State{
		Streaming{Live{Request: 9, Calls: backing[:2]}}, Streaming{Live{Request: 9, Calls: backing[:0]}},
		WaitingForApproval{Live: Live{Request: 9, Calls: backing[:2]}}, CallingTool{Live{Request: 9, Calls: backing[:2]}},
	} {
		for do := range numDos {
			for id := range uint64(80) {
				Next(s, Input{Do: do, Request: 9, Call: Call{ID: id, Destructive: true}})
			}
		}
	}
	if !slices.Equal(backing, calls(71, 72, 73, 74)) {
		t.Errorf("the list became %v", backing)
	}
}
