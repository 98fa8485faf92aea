package copilot

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// world generates a random walk of inputs, mostly of the live request.
type world struct {
	requests, calls uint64
	loads           uint32
}

func (w *world) input(t *rapid.T, s State) Input {
	in := Input{Do: Do(rapid.IntRange(0, int(numDos)-1).Draw(t, "do"))}
	if in.Do == Shut && rapid.IntRange(0, 5).Draw(t, "shut") > 0 { // most walks continue
		in.Do = Sign
	}
	l, _ := LiveOf(s)
	in.Request, in.Round, in.Attempt = l.Request, l.Round, l.Attempt+rapid.IntRange(-1, 1).Draw(t, "attempt")
	if len(l.Calls) > 0 {
		in.Call = l.Calls[0]
	}
	switch rapid.IntRange(0, 9).Draw(t, "other") {
	case 0:
		in.Request = rapid.Uint64Range(0, w.requests).Draw(t, "request")
	case 1:
		in.Round = rapid.IntRange(0, 3).Draw(t, "round")
	case 2:
		in.Call.ID = rapid.Uint64Range(0, w.calls).Draw(t, "call")
	}
	in.Percent = rapid.IntRange(0, 120).Draw(t, "percent")
	in.Load = w.loads
	switch in.Do {
	case Search, Send, Ask:
		w.requests++
		in.Request = w.requests
		w.calls++
		in.Call = Call{ID: w.calls}
	case Wants:
		w.calls++
		in.Call = Call{ID: w.calls}
	case Load:
		w.loads++
		in.Load = w.loads
	}
	return in
}

// walk runs a walk of the copilot region.
func walk(t *rapid.T, each func(before State, in Input, after State, out Outcome)) {
	var s State = Idle{}
	var w world
	for range rapid.IntRange(1, 80).Draw(t, "steps") {
		in := w.input(t, s)
		next, out := Next(s, in)
		each(s, in, next, out)
		s = next
	}
}

// At most one request is live: the next starts only when none is, and each ends with
// exactly one terminal. A cancelled request stays cancelled until its terminal confirms
// it, and only cancelled requests are confirmed.
func TestOneRequestIsLiveAndEndsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terminals := map[uint64]int{}
		walk(t, func(before State, in Input, after State, out Outcome) {
			was, live := LiveOf(before)
			is, stays := LiveOf(after)
			_, asked := before.(WaitingForApproval)
			over := out == Ended || out == Confirmed
			switch {
			case live && stays && was.Request != is.Request:
				t.Fatalf("%v: %#v while %#v is live", in.Do, is, was)
			case !live && stays && (before != Ready{} || is.Cancelled || is.Round != 0 || is.Attempt != 1):
				t.Fatalf("%v: %#v began in %#v", in.Do, is, before)
			case over != (live && !stays && in.Do != Shut):
				t.Fatalf("%v: outcome %d took %#v to %#v", in.Do, out, before, after)
			case over && !asked && (out == Confirmed) != was.Cancelled:
				t.Fatalf("%v: outcome %d of %#v", in.Do, out, before)
			case stays && was.Cancelled && (!is.Cancelled || out != Stale && out != Ignored):
				t.Fatalf("%v: outcome %d took the cancelled %#v to %#v", in.Do, out, before, after)
			case over && after != Ready{}:
				t.Fatalf("%v: the request ended in %#v", in.Do, after)
			}
			if over {
				if terminals[was.Request]++; terminals[was.Request] > 1 {
					t.Fatalf("%v: request %d ended twice", in.Do, was.Request)
				}
			}
		})
	})
}

// Rounds and attempts increase one at a time; a question and a call concern a requested
// call, each at most once; stale and repeated inputs change nothing.
func TestRequestWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(before State, in Input, after State, out Outcome) {
			was, live := LiveOf(before)
			is, stays := LiveOf(after)
			switch rise := is.Round - was.Round; {
			case (out == Stale || out == Ignored) && !reflect.DeepEqual(before, after):
				t.Fatalf("%v: outcome %d changed %#v to %#v", in.Do, out, before, after)
			case !live || !stays:
			case rise < 0 || rise > 1 || (rise == 1) != (out == NextRound):
				t.Fatalf("%v: outcome %d took round %d to %d", in.Do, out, was.Round, is.Round)
			case rise == 0 && is.Attempt < was.Attempt:
				t.Fatalf("%v: attempt %d after %d", in.Do, is.Attempt, was.Attempt)
			}
			ids := map[uint64]bool{}
			for _, c := range is.Calls {
				if ids[c.ID] {
					t.Fatalf("%v: a call twice in %#v", in.Do, after)
				}
				ids[c.ID] = true
			}
			switch s := after.(type) {
			case WaitingForApproval:
				if len(s.Calls) == 0 {
					t.Fatalf("%v: %#v", in.Do, after)
				}
			case CallingTool:
				if len(s.Calls) == 0 {
					t.Fatalf("%v: %#v calls nothing", in.Do, after)
				}
			}
			if again, _ := Next(after, in); !reflect.DeepEqual(again, after) {
				t.Fatalf("%v twice: %#v, then %#v", in.Do, after, again)
			}
		})
	})
}

// Queries on a state: whether a request is live, whether it is busy, and the stage that
// can be retried.
func TestStateQueries(t *testing.T) {
	type answer struct {
		live, busy bool
		stage      Stage
	}
	want := map[string]answer{
		"searching": {true, true, StageSearch}, "searching, cancelled": {true, true, StageSearch},
		"generating": {true, true, StageGeneration}, "generating, cancelled": {true, true, StageGeneration},
		"streaming": {true, true, StageStream}, "streaming, calls": {true, true, StageStream}, "streaming, cancelled": {true, true, StageStream},
		"asking": {true, false, StageNone}, "asking, last call": {true, false, StageNone},
		"asking, only call": {true, false, StageNone},
		"calling":           {true, true, StageCall}, "calling, last call": {true, true, StageCall}, "calling, cancelled": {true, true, StageCall},
	}
	for at, s := range states() {
		l, ok := LiveOf(s)
		if got := (answer{ok, Busy(s), StageOf(s)}); got != want[at] {
			t.Errorf("%s: got %+v, want %+v", at, got, want[at])
		}
		if ok != (l.Request == 9) {
			t.Errorf("%s: live is %+v", at, l)
		}
	}
}

func TestChatMachineNames(t *testing.T) {
	for want, s := range map[string]State{
		"idle": Idle{}, "loadingModel": LoadingModel{}, "loadFailed": LoadFailed{}, "ready": Ready{}, "searchingTools": SearchingTools{},
		"generatingResponse": Generating{}, "streamingResponse": Streaming{}, "waitingForToolApproval": WaitingForApproval{},
		"callingTool": CallingTool{},
	} {
		if s.String() != want {
			t.Errorf("name of %T is %q, want %q", s, s, want)
		}
	}
	var dos, stages []string
	for do := range numDos {
		dos = append(dos, do.String())
	}
	for s := range numStages {
		stages = append(stages, s.String())
	}
	if want := []string{
		"open", "load", "search", "send", "ask", "shut", "progress", "loaded", "unloaded", "attempt", "sign", "wants", "found", "notFound",
		"terminal", "fail", "cancel", "approve", "reject", "toolDone", "toolFail",
	}; !slices.Equal(dos, want) {
		t.Errorf("the inputs are called %q, want %q", dos, want)
	}
	if want := []string{"", "search", "generation", "stream", "call"}; !slices.Equal(stages, want) {
		t.Errorf("the stages are called %q, want %q", stages, want)
	}
}
