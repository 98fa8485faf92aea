package hearing

import (
	"slices"
	"testing"
)

// TestVoiceOfJoinedUtterances: what was said before is kept as long as utterances are joined and
// recognised as one, and wiped otherwise.
func TestVoiceOfJoinedUtterances(t *testing.T) {
	says := func(v *voice, sample int16, n int) []int16 {
		before := slices.Clone(v.begin())
		v.add(slices.Repeat([]int16{sample}, n))
		return before
	}
	var v voice
	if v.join(10) {
		t.Error("the first utterance is joined to nothing")
	}
	if before := says(&v, 1, 3); len(before) != 0 {
		t.Errorf("before the first utterance was %v", before)
	}
	if !v.join(2) {
		t.Fatal("the second utterance is not joined")
	}
	if before := says(&v, 2, 2); !slices.Equal(before, []int16{1, 1, 1, 0, 0}) {
		t.Errorf("before the second utterance was %v", before)
	}
	v.join(0)
	if before := says(&v, 3, 1); !slices.Equal(before, []int16{1, 1, 1, 0, 0, 2, 2}) {
		t.Errorf("before the third utterance was %v", before)
	}
	v.alone() // it was not recognised as one with the others
	v.join(1)
	if before := says(&v, 4, 1); !slices.Equal(before, []int16{3, 0}) {
		t.Errorf("before the fourth utterance was %v, want the third alone", before)
	}
	kept := v.pcm[:cap(v.pcm)]
	if before := says(&v, 5, 1); len(before) != 0 {
		t.Errorf("before an utterance that is not joined was %v", before)
	}
	if slices.ContainsFunc(kept, func(s int16) bool { return s != 0 && s != 5 }) {
		t.Errorf("earlier audio is kept: %v", kept)
	}
}

// TestVoiceIsBounded: an utterance that is too long is not kept, and none is joined to it.
func TestVoiceIsBounded(t *testing.T) {
	var v voice
	v.begin()
	v.add(make([]int16, longestJoined-5))
	if v.join(5) {
		t.Error("joined with a pause that makes both too long")
	}
	v.add(make([]int16, 6))
	v.add(make([]int16, 6)) // the end of it is no utterance
	if v.join(0) || len(v.pcm) != 0 {
		t.Errorf("%d samples of a long utterance are kept", len(v.pcm))
	}
	v.begin()
	v.add([]int16{1})
	if !v.join(0) {
		t.Error("the next utterance is not kept")
	}
}
