package live

import (
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// A text outside of a turn plays once all of it has arrived and the assistant is
// silent; meanwhile the microphone is muted. Speech that arrives ends it.
func TestAsideIsHeardBesideTheConversation(t *testing.T) {
	var speech audio.Frame // output of the player
	a := newAside(nil, func(f *audio.Frame) { *f = speech })
	render := func() int16 {
		var f audio.Frame
		a.render(&f)
		return f[0]
	}
	seg := audio.SegmentID{Gen: 1, Seq: a.last}
	a.audio(seg, make([]int16, audio.FrameSamples))
	half := make([]int16, 2*audio.FrameSamples)
	for i := range half {
		half[i] = 7
	}
	a.audio(seg, half)
	if a.sounding() || render() != 0 {
		t.Error("half a text is heard")
	}
	a.ended(seg)
	if !a.sounding() {
		t.Error("the microphone is open while it is heard")
	}
	speech[0] = 1
	if got := render(); got != 1 {
		t.Errorf("it is heard over the assistant: %d", got)
	}
	speech[0] = 0
	for i, want := range []int16{0, 7, 7, 0} {
		if got := render(); got != want {
			t.Errorf("frame %d is %d, want %d", i, got, want)
		}
	}
	if a.sounding() {
		t.Error("the microphone stays closed")
	}

	a.audio(seg, half)
	a.stop(5)
	a.ended(seg)
	if a.sounding() {
		t.Error("what was on its way is heard after speech began")
	}
	late := audio.SegmentID{Gen: 5, Seq: a.last}
	a.audio(late, half)
	a.ended(late)
	render()
	a.stop(4)
	if a.sounding() || a.gen != 5 || render() != 0 {
		t.Error("it goes on when speech begins")
	}
	if !a.of(seg) || a.of(audio.SegmentID{Gen: 1, Seq: 9}) {
		t.Error("a segment of a conversation is taken for an aside, or the other way round")
	}
	var f audio.Frame
	a.audio(audio.SegmentID{Seq: a.last}, half)
	a.ended(audio.SegmentID{Seq: a.last})
	if n := testing.AllocsPerRun(5, func() { a.render(&f) }); n != 0 {
		t.Errorf("a frame makes %v allocations", n)
	}
}

// A text that is said while another is on its way, or plays, is heard after it.
func TestAsidesAreHeardOneAfterAnother(t *testing.T) {
	a := newAside(nil, func(*audio.Frame) {})
	frames := func(value int16, n int) []int16 {
		pcm := make([]int16, n*audio.FrameSamples)
		for i := range pcm {
			pcm[i] = value
		}
		return pcm
	}
	heard := func() (runs []int16) {
		for a.sounding() {
			var f audio.Frame
			a.render(&f)
			if v := f[0]; v != 0 && (len(runs) == 0 || runs[len(runs)-1] != v) {
				runs = append(runs, v)
			}
		}
		return runs
	}
	say := func() audio.SegmentID { a.last++; return audio.SegmentID{Seq: a.last} } // as say does, without a connection
	first := say()
	a.audio(first, frames(1, 2))
	second := say()
	a.audio(first, frames(1, 2))
	a.ended(first)
	var f audio.Frame
	a.render(&f)
	a.audio(second, frames(2, 2))
	a.ended(second)
	third := say()
	a.audio(third, frames(3, 1))
	if got := heard(); !slices.Equal(got, []int16{1, 2}) {
		t.Errorf("heard %v, want the first and the second", got)
	}
	a.ended(third)
	if got := heard(); !slices.Equal(got, []int16{3}) {
		t.Errorf("heard %v, want the third", got)
	}
	fourth, fifth := say(), say()
	a.audio(fourth, frames(4, 1))
	a.stop(2)
	a.ended(fourth)
	a.audio(fifth, frames(5, 1))
	a.ended(fifth)
	if got := heard(); got != nil {
		t.Errorf("heard %v after speech began", got)
	}
}

// While the voice is paused, segments of the answer may arrive; the text ends when the
// voice continues.
func TestAsideIsHeardWhileTheVoiceIsPaused(t *testing.T) {
	a := newAside(nil, func(*audio.Frame) {})
	say := func() {
		seg := audio.SegmentID{Gen: 1, Seq: a.last}
		a.audio(seg, make([]int16, audio.FrameSamples))
		a.segment(1)
		a.ended(seg)
	}
	if say(); a.sounding() {
		t.Error("it is heard although speech is on its way")
	}
	a.pause()
	if say(); !a.sounding() {
		t.Error("a segment of the paused answer silences it")
	}
	if a.stop(1); a.sounding() {
		t.Error("it is heard over the answer that continues")
	}
	if say(); a.sounding() {
		t.Error("the voice still counts as paused")
	}
}
