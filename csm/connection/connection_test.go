package connection

import "testing"

// Every state against every input, with the live epoch and with another.
func TestNextEveryCell(t *testing.T) {
	type cell struct {
		to  State
		out Outcome
	}
	states := []State{Disconnected{}, Connecting{3}, Open{3}, Reconnecting{}, Reconnecting{3}, Torn{}}
	same := func(out Outcome) cell { return cell{nil, out} } // nil: the state stays
	// In the order of states.
	want := map[Input]map[uint32][]cell{
		Dial: {4: {
			{Connecting{4}, Dialled}, {Connecting{4}, Dialled}, {Reconnecting{4}, Dialled},
			{Reconnecting{4}, Dialled}, {Reconnecting{4}, Dialled}, same(Ignored),
		}},
		Ready: {
			3: {same(Stale), {Open{3}, Opened}, same(Ignored), same(Stale), {Open{3}, Opened}, same(Ignored)},
			2: {same(Stale), same(Stale), same(Stale), same(Stale), same(Stale), same(Ignored)},
			0: {same(Stale), same(Stale), same(Stale), same(Stale), same(Stale), same(Ignored)},
		},
		Lost: {
			3: {same(Stale), same(Ignored), {Reconnecting{}, Dropped}, same(Stale), same(Ignored), same(Ignored)},
			2: {same(Stale), same(Stale), same(Stale), same(Stale), same(Stale), same(Ignored)},
			0: {same(Stale), same(Stale), same(Stale), same(Stale), same(Stale), same(Ignored)},
		},
		Failed: {
			3: {same(Stale), {Disconnected{}, GaveUp}, same(Ignored), same(Stale), {Disconnected{}, GaveUp}, same(Ignored)},
			2: {same(Stale), same(Stale), same(Stale), same(Stale), same(Stale), same(Ignored)},
			0: {same(Stale), same(Stale), same(Stale), same(Stale), same(Stale), same(Ignored)},
		},
		Close: {0: {
			{Torn{}, Closed}, {Torn{}, Closed}, {Torn{}, Closed}, {Torn{}, Closed}, {Torn{}, Closed}, same(Ignored),
		}},
	}
	for in, epochs := range want {
		for epoch, cells := range epochs {
			for i, s := range states {
				w := cells[i]
				if w.to == nil {
					w.to = s
				}
				if got, out := Next(s, in, epoch); got != w.to || out != w.out {
					t.Errorf("%#v + input %d, epoch %d: got %#v, outcome %d; want %#v, %d", s, in, epoch, got, out, w.to, w.out)
				}
			}
		}
	}
}

func TestEpochIsThatOfTheLiveDial(t *testing.T) {
	for s, want := range map[State]uint32{Disconnected{}: 0, Connecting{1}: 1, Open{2}: 2, Reconnecting{}: 0, Reconnecting{3}: 3, Torn{}: 0} {
		if got := Epoch(s); got != want {
			t.Errorf("epoch of %#v is %d, want %d", s, got, want)
		}
	}
}

func TestNamesAreThoseOfTheWire(t *testing.T) {
	for s, want := range map[State]string{
		Disconnected{}: "disconnected", Connecting{}: "connecting", Open{}: "open", Reconnecting{}: "reconnecting", Torn{}: "torn",
	} {
		if s.String() != want {
			t.Errorf("%T is called %q, want %q", s, s, want)
		}
	}
}
