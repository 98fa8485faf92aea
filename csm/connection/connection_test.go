package connection

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// states are the test states: the live epoch is 3, the successor's is 5.
func states() map[string]State {
	return map[string]State{
		"disconnected":      Disconnected{},
		"connecting":        Connecting{Epoch: 3},
		"open":              Open{Epoch: 3},
		"successor dialled": Open{Epoch: 3, Successor: 5},
		"successor stands":  Open{Epoch: 3, Successor: 5, SuccessorReady: true},
		"lost":              Reconnecting{},
		"reconnecting":      Reconnecting{Epoch: 3},
		"torn":              Torn{},
	}
}

type cell struct {
	to  State // nil: stays
	out Outcome
}

// check applies the input to every state for each epoch. A state that is not in want must
// not change and must return otherwise. A torn state ignores everything.
func check(t *testing.T, in Input, epochs []uint32, otherwise Outcome, want map[string]cell) {
	t.Helper()
	for at := range want {
		if states()[at] == nil {
			t.Errorf("%v: unknown state %q", in, at)
		}
	}
	for _, epoch := range epochs {
		for at, s := range states() {
			w, named := want[at]
			switch {
			case at == "torn":
				w = cell{nil, Stale}
			case !named:
				w = cell{nil, otherwise}
			}
			if w.to == nil {
				w.to = s
			}
			if got, out := Next(s, in, epoch); got != w.to || out != w.out {
				t.Errorf("%v of epoch %d, %s: got %#v, outcome %d; want %#v, %d", in, epoch, at, got, out, w.to, w.out)
			}
		}
	}
}

var (
	stays = cell{nil, Stale}
	opens = cell{Open{Epoch: 3}, Opened}
	drops = cell{Reconnecting{}, Dropped}
	fails = cell{Disconnected{}, GaveUp}
	alone = cell{Open{Epoch: 3}, SuccessorGone}
)

// Dials are first dials until a connection was open; later ones reconnect. A dial brings
// its own epoch.
func TestDial(t *testing.T) {
	again := cell{Reconnecting{Epoch: 4}, Dialled}
	check(t, Dial, []uint32{4}, Stale, map[string]cell{
		"disconnected":      {Connecting{Epoch: 4}, Dialled},
		"connecting":        {Connecting{Epoch: 4}, Dialled},
		"open":              again,
		"successor dialled": again,
		"successor stands":  again,
		"lost":              again,
		"reconnecting":      again,
	})
}

func TestReady(t *testing.T) {
	check(t, Ready, []uint32{3}, Stale, map[string]cell{
		"connecting": opens, "reconnecting": opens,
		"open": stays, "successor dialled": stays, "successor stands": stays,
	})
	check(t, Ready, []uint32{5}, Stale, map[string]cell{
		"successor dialled": {Open{Epoch: 3, Successor: 5, SuccessorReady: true}, Replaceable},
		"successor stands":  stays,
	})
	check(t, Ready, []uint32{0, 2, 4, 6}, Stale, nil)
}

// Losing the live connection also removes its successor; losing the successor does not
// affect the live one.
func TestLost(t *testing.T) {
	check(t, Lost, []uint32{3}, Stale, map[string]cell{
		"open": drops, "successor dialled": drops, "successor stands": drops,
		"connecting": stays, "reconnecting": stays,
	})
	check(t, Lost, []uint32{5}, Stale, map[string]cell{"successor dialled": alone, "successor stands": alone})
	check(t, Lost, []uint32{0, 2, 4, 6}, Stale, nil)
}

func TestFailed(t *testing.T) {
	check(t, Failed, []uint32{3}, Stale, map[string]cell{
		"connecting": fails, "reconnecting": fails,
		"open": stays, "successor dialled": stays, "successor stands": stays,
	})
	check(t, Failed, []uint32{5}, Stale, map[string]cell{"successor dialled": alone, "successor stands": alone})
	check(t, Failed, []uint32{0, 2, 4, 6}, Stale, nil)
}

// Only an open connection can have a successor: one, with another epoch.
func TestSucceed(t *testing.T) {
	check(t, Succeed, []uint32{5}, Stale, map[string]cell{
		"open":              {Open{Epoch: 3, Successor: 5}, Dialled},
		"successor dialled": stays, "successor stands": stays,
	})
	check(t, Succeed, []uint32{6}, Stale, map[string]cell{
		"open":              {Open{Epoch: 3, Successor: 6}, Dialled},
		"successor dialled": stays, "successor stands": stays,
	})
	check(t, Succeed, []uint32{0}, Stale, map[string]cell{"open": stays, "successor dialled": stays, "successor stands": stays})
	check(t, Succeed, []uint32{3}, Stale, map[string]cell{
		"open": stays, "successor dialled": stays, "successor stands": stays,
		"connecting": stays, "reconnecting": stays,
	})
}

// Swap and Late concern the successor, whose epoch is in the state.
func TestSwapAndLate(t *testing.T) {
	check(t, Swap, []uint32{0, 2, 5}, Stale, map[string]cell{
		"open": stays, "successor dialled": stays, "successor stands": {Open{Epoch: 5}, Swapped},
	})
	check(t, Late, []uint32{0, 2, 5}, Stale, map[string]cell{
		"open": stays, "successor dialled": {Reconnecting{Epoch: 5}, Dropped}, "successor stands": stays,
	})
	check(t, Swap, []uint32{3}, Stale, map[string]cell{
		"open": stays, "successor dialled": stays, "successor stands": {Open{Epoch: 5}, Swapped},
		"connecting": stays, "reconnecting": stays,
	})
	check(t, Late, []uint32{3}, Stale, map[string]cell{
		"open": stays, "successor dialled": {Reconnecting{Epoch: 5}, Dropped}, "successor stands": stays,
		"connecting": stays, "reconnecting": stays,
	})
}

func TestClose(t *testing.T) {
	closes := cell{Torn{}, Closed}
	check(t, Close, []uint32{0, 2, 3, 5}, Stale, map[string]cell{
		"disconnected": closes, "connecting": closes, "open": closes, "successor dialled": closes,
		"successor stands": closes, "lost": closes, "reconnecting": closes,
	})
}

// Before the first dial no event matches, not even with epoch 0.
func TestZeroValuesHaveNoEpoch(t *testing.T) {
	for _, s := range []State{Connecting{}, Open{}, Reconnecting{}} {
		for _, in := range []Input{Ready, Lost, Failed} {
			if got, out := Next(s, in, 0); got != s || out != Stale {
				t.Errorf("%v in %#v: got %#v, outcome %d", in, s, got, out)
			}
		}
	}
}

// Every input returns in every state, even an invalid input.
func TestNextIsTotal(t *testing.T) {
	all := []State{Connecting{}, Open{}, Open{SuccessorReady: true}, Open{Successor: 3}}
	for _, s := range states() {
		all = append(all, s)
	}
	for _, s := range all {
		for in := range numInputs + 2 {
			for epoch := range uint32(7) {
				if got, out := Next(s, in, epoch); out == Stale && got != s {
					t.Errorf("input %d, epoch %d: outcome %d changed %#v to %#v", in, epoch, out, s, got)
				}
			}
		}
	}
}

// walk makes a random walk of inputs: dials with new epochs, other inputs with any known
// epoch.
func walk(t *rapid.T, each func(before State, in Input, epoch uint32, after State, out Outcome)) {
	var s State = Disconnected{}
	last := uint32(0)
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		in := rapid.Custom(func(t *rapid.T) Input { return Input(rapid.IntRange(0, int(numInputs)-1).Draw(t, "n")) }).Draw(t, "input")
		epoch := uint32(rapid.IntRange(0, int(last)).Draw(t, "epoch"))
		if in == Dial || in == Succeed {
			last++
			epoch = last
		}
		if in == Close && rapid.IntRange(0, 4).Draw(t, "close") > 0 { // most walks continue
			continue
		}
		next, out := Next(s, in, epoch)
		each(s, in, epoch, next, out)
		s = next
	}
}

// At most two different epochs are known at a time; events of other epochs change
// nothing.
func TestOnlyKnownEpochsMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(before State, in Input, epoch uint32, after State, out Outcome) {
			was, _ := before.(Open)
			known := epoch != 0 && (epoch == Epoch(before) || epoch == was.Successor)
			if fact := in == Ready || in == Lost || in == Failed; fact && !known && after != before {
				t.Fatalf("%v of epoch %d changed %#v to %#v", in, epoch, before, after)
			}
			if is, open := after.(Open); open && (is.Epoch == 0 || is.Epoch == is.Successor || is.SuccessorReady && is.Successor == 0) {
				t.Fatalf("%v of epoch %d made %#v to %#v", in, epoch, before, after)
			}
			if out == Stale && after != before {
				t.Fatalf("%v of epoch %d: outcome %d changed %#v to %#v", in, epoch, out, before, after)
			}
		})
	})
}

// Nothing leaves Torn, an open connection is never swapped for a successor that is not
// ready, and repeated facts change nothing.
func TestConnectionWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(before State, in Input, epoch uint32, after State, out Outcome) {
			if _, torn := before.(Torn); torn && (after != before || out != Stale) {
				t.Fatalf("%v left Torn for %#v", in, after)
			}
			was, _ := before.(Open)
			if is, open := after.(Open); open && out == Swapped && (!was.SuccessorReady || is.Epoch != was.Successor) {
				t.Fatalf("%#v was swapped for %#v", before, after)
			}
			if in == Ready || in == Lost || in == Failed {
				if again, _ := Next(after, in, epoch); again != after {
					t.Fatalf("%v of epoch %d twice: %#v, then %#v", in, epoch, after, again)
				}
			}
		})
	})
}

func TestEpochOfLiveDial(t *testing.T) {
	want := map[string]uint32{"connecting": 3, "open": 3, "successor dialled": 3, "successor stands": 3, "reconnecting": 3}
	for at, s := range states() {
		if got := Epoch(s); got != want[at] {
			t.Errorf("%s: epoch %d, want %d", at, got, want[at])
		}
	}
}

func TestWireNames(t *testing.T) {
	for s, want := range map[State]string{
		Disconnected{}: "disconnected", Connecting{}: "connecting", Open{}: "open", Reconnecting{}: "reconnecting", Torn{}: "torn",
	} {
		if s.String() != want {
			t.Errorf("name of %T is %q, want %q", s, s, want)
		}
	}
	names := []string{"dial", "succeed", "swap", "late", "ready", "lost", "failed", "close"}
	var got []string
	for in := range numInputs {
		got = append(got, in.String())
	}
	if !reflect.DeepEqual(got, names) {
		t.Errorf("the inputs are called %q, want %q", got, names)
	}
}
