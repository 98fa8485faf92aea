package live

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Louder and softer scale the voice; the loudest samples are not clipped, and silence
// stays silent.
func TestVolumeScalesWithoutClipping(t *testing.T) {
	level := int16(0)
	w := &World{}
	w.volume = &volume{inner: func(f *audio.Frame) {
		for i := range f {
			f[i] = level
		}
	}}
	at := func(in int16) int16 {
		level = in
		var f audio.Frame
		w.volume.render(&f)
		return f[7]
	}
	if got := at(1000); got != 1000 {
		t.Errorf("before a word: %d", got)
	}
	w.SetVolume(2)
	last := int16(0)
	for _, in := range []int16{0, 500, 8000, 12000, 16000, 24000, 32767} {
		got := at(in)
		if got < last || in > 0 && got == last {
			t.Errorf("%d becomes %d, no more than a softer one: %d", in, got, last)
		}
		if in <= 8000 && got != 2*in || got < in && in < 20000 {
			t.Errorf("%d becomes %d", in, got)
		}
		if got != -at(-in) {
			t.Errorf("%d and %d differ: %d, %d", in, -in, got, at(-in))
		}
		last = got
	}
	w.SetVolume(0.5)
	if got := at(1000); got != 500 {
		t.Errorf("softer: %d", got)
	}
	w.volume.forget()
	if got := at(1000); got != 1000 {
		t.Errorf("after the conversation: %d", got)
	}
}

// The silencer drops speech only while it is on, and still pulls from the player,
// because its clock must run.
func TestSilencerKeepsThePlayersClock(t *testing.T) {
	rendered := 0
	s := &silencer{inner: func(f *audio.Frame) {
		rendered++
		f[7] = 1000
	}}
	for i, on := range []bool{false, true, false} {
		s.on.Store(on)
		var f audio.Frame
		s.render(&f)
		if got := f[7] == 0; got != on || rendered != i+1 {
			t.Errorf("on %t: silent %t, rendered %d times", on, got, rendered)
		}
	}
}
