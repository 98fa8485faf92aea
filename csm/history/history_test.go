package history

import (
	"reflect"
	"testing"
)

func TestHeardRaisesTheLastAnswerOnly(t *testing.T) {
	s := State{}.Said(1, 11)
	for _, c := range []struct {
		name    string
		turn    uint64
		request uint64
		chars   int
		want    []Item
	}{
		{"nothing heard", 1, 5, 0, []Item{{Turn: 1, Utterance: 11}}},
		{"first words", 1, 5, 10, []Item{{Turn: 1, Utterance: 11}, {Turn: 1, Request: 5, Heard: 10}}},
		{"the same again", 1, 5, 10, []Item{{Turn: 1, Utterance: 11}, {Turn: 1, Request: 5, Heard: 10}}},
		{"less", 1, 5, 4, []Item{{Turn: 1, Utterance: 11}, {Turn: 1, Request: 5, Heard: 10}}},
		{"more", 1, 5, 25, []Item{{Turn: 1, Utterance: 11}, {Turn: 1, Request: 5, Heard: 25}}},
		{"another answer", 2, 6, 3, []Item{{Turn: 1, Utterance: 11}, {Turn: 1, Request: 5, Heard: 25}, {Turn: 2, Request: 6, Heard: 3}}},
	} {
		before := append([]Item(nil), s.Items...)
		next := s.Heard(c.turn, c.request, c.chars)
		if !reflect.DeepEqual(next.Items, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, next.Items, c.want)
		}
		if !reflect.DeepEqual(s.Items, before) {
			t.Errorf("%s: the older history became %+v", c.name, s.Items)
		}
		s = next
	}
}

// The oldest leave a whole exchange at a time: the first item is always the
// user's.
func TestOldestExchangesLeaveFirst(t *testing.T) {
	s := State{}
	const turns = 3 * MaxItems
	for n := uint64(1); n <= turns; n++ {
		s = s.Said(n, n)
		if n%3 != 0 { // some turns have no answer
			s = s.Heard(n, n, 1)
		}
		if len(s.Items) > MaxItems {
			t.Fatalf("turn %d: %d items", n, len(s.Items))
		}
		if s.Items[0].Utterance == 0 {
			t.Fatalf("turn %d: the history begins with an answer: %+v", n, s.Items[0])
		}
	}
	if added := uint64(turns + turns - turns/3); s.Dropped+uint64(len(s.Items)) != added {
		t.Errorf("%d dropped and %d kept of %d", s.Dropped, len(s.Items), added)
	}
	if last := s.Items[len(s.Items)-1]; last.Turn != turns {
		t.Errorf("the newest is %+v", last)
	}
}
