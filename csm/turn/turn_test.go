package turn

import (
	"reflect"
	"testing"
)

func us(ids ...uint64) []Utterance {
	out := make([]Utterance, len(ids))
	for i, id := range ids {
		out[i] = Utterance{ID: id, Pos: int64(id) * 100}
	}
	return out
}

func u(id uint64) Utterance { return us(id)[0] }

// Every state against every input: for the open utterance, an awaited one and
// one that is not known.
func TestNextEveryCell(t *testing.T) {
	speaking, both, pending := UserSpeaking{Open: u(1)}, UserSpeaking{Open: u(3), Pending: us(1, 2)}, EndPending{us(1, 2)}
	full := UserSpeaking{Open: u(5), Pending: us(1, 2, 3, 4)}
	for _, c := range []struct {
		name string
		from State
		in   Input
		id   uint64
		to   State
		out  Outcome
	}{
		{"onset in silence", Idle{}, Onset, 1, UserSpeaking{Open: u(1)}, Opened},
		{"end in silence", Idle{}, End, 1, nil, Stale},
		{"words in silence", Idle{}, Answered, 1, nil, Stale},

		{"onset again", speaking, Onset, 1, nil, Stale},
		{"onset of another while one is open", speaking, Onset, 2, nil, Stale},
		{"end", speaking, End, 1, EndPending{us(1)}, Closed},
		{"end of another", speaking, End, 2, nil, Stale},
		{"end and words in one", speaking, Answered, 1, Idle{}, Resolved},
		{"words of another", speaking, Answered, 2, nil, Stale},

		{"onset again, words awaited", both, Onset, 3, nil, Stale},
		{"onset of an awaited one", both, Onset, 1, nil, Stale},
		{"end, words awaited", both, End, 3, EndPending{us(1, 2, 3)}, Closed},
		{"end of an awaited one", both, End, 1, nil, Stale},
		{"words of the oldest", both, Answered, 1, UserSpeaking{Open: u(3), Pending: us(2)}, Resolved},
		{"words out of order", both, Answered, 2, UserSpeaking{Open: u(3), Pending: us(1)}, Resolved},
		{"words of the open one, others awaited", both, Answered, 3, EndPending{us(1, 2)}, Resolved},
		{"words of an unknown one", both, Answered, 9, nil, Stale},

		{"onset after an end", pending, Onset, 3, UserSpeaking{Open: u(3), Pending: us(1, 2)}, Opened},
		{"onset of a closed one", pending, Onset, 2, nil, Stale},
		{"end again", pending, End, 2, nil, Stale},
		{"first words", pending, Answered, 1, EndPending{us(2)}, Resolved},
		{"last words", EndPending{us(2)}, Answered, 2, Idle{}, Resolved},
		{"words again", EndPending{us(2)}, Answered, 1, nil, Stale},

		{"end with too many awaited", full, End, 5, EndPending{us(2, 3, 4, 5)}, Closed},
	} {
		want := c.to
		if want == nil {
			want = c.from
		}
		got, out := Next(c.from, c.in, u(c.id))
		if !equal(got, want) || out != c.out {
			t.Errorf("%s: got %#v, outcome %d; want %#v, %d", c.name, got, out, want, c.out)
		}
	}
}

// equal takes no pending utterances and an empty list of them for the same.
func equal(a, b State) bool {
	if len(Pending(a)) == 0 && len(Pending(b)) == 0 {
		x, spA := a.(UserSpeaking)
		y, spB := b.(UserSpeaking)
		return reflect.TypeOf(a) == reflect.TypeOf(b) && (!spA || spB && x.Open == y.Open)
	}
	return reflect.DeepEqual(a, b)
}

// Next never writes to the list that its argument holds, nor into the spare
// room behind it.
func TestNextWritesNothingItsArgumentCanReach(t *testing.T) {
	backing := us(1, 2, 77, 78)
	from := UserSpeaking{Open: u(3), Pending: backing[:2]}
	for _, in := range []Input{Onset, End, Answered} {
		for id := uint64(1); id < 5; id++ {
			Next(from, in, u(id))
			Next(EndPending{from.Pending}, in, u(id))
		}
	}
	if !reflect.DeepEqual(backing, us(1, 2, 77, 78)) {
		t.Errorf("the list became %v", backing)
	}
}

func TestNamesAreThoseOfTheWire(t *testing.T) {
	for _, c := range []struct {
		s    State
		want string
	}{{Idle{}, "idle"}, {UserSpeaking{}, "userSpeaking"}, {EndPending{}, "endPending"}} {
		if c.s.String() != c.want {
			t.Errorf("%T is called %q, want %q", c.s, c.s, c.want)
		}
	}
}
