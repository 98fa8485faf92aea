package cue

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// bench is a mixer with its speech input.
type bench struct {
	*Mixer
	speech audio.Frame // what the inner function renders
	out    []int16     // all that was rendered
}

func newBench() *bench {
	b := &bench{}
	b.Mixer = NewMixer(func(f *audio.Frame) { *f = b.speech })
	return b
}

// render renders n frames and returns them.
func (b *bench) render(n int) []int16 {
	from := len(b.out)
	for range n {
		var f audio.Frame
		f[7] = 1234 // Render must overwrite the frame
		b.Render(&f)
		b.out = append(b.out, f[:]...)
	}
	return b.out[from:]
}

// talk turns the speech on or off.
func (b *bench) talk(on bool) {
	clear(b.speech[:])
	for i := range b.speech {
		if on {
			b.speech[i] = int16(8000 * math.Sin(2*math.Pi*float64(i)/160))
		}
	}
}

func silent(pcm []int16) bool { return !slices.ContainsFunc(pcm, func(s int16) bool { return s != 0 }) }

// framesOf returns the length of c in frames.
func framesOf(c Cue) int { return (len(Samples(c)) + audio.FrameSamples - 1) / audio.FrameSamples }

// plays fails unless the next frames are exactly c.
func (b *bench) plays(t *testing.T, c Cue) {
	t.Helper()
	got := b.render(framesOf(c))
	if want := Samples(c); !slices.Equal(got[:len(want)], want) || !silent(got[len(want):]) {
		t.Errorf("%v was not played unchanged", c)
	}
}

// holds fails if the output has a step larger than a 4 kHz tone could have.
func (b *bench) holds(t *testing.T) {
	t.Helper()
	limit := amplitude(-20) * math.MaxInt16 / 2
	for i := range b.out[1:] {
		if step := math.Abs(float64(b.out[i+1]) - float64(b.out[i])); step > limit {
			t.Fatalf("a click of %.0f at sample %d", step, i)
		}
	}
}

func TestCueIsPlayedOnce(t *testing.T) {
	for c := Listening; c < NumCues; c++ {
		b := newBench()
		if !silent(b.render(5)) {
			t.Error("a cue plays before any order")
		}
		b.Play(c)
		b.plays(t, c)
		if rest := b.render(200); silent(rest) == c.loops() {
			t.Errorf("%v continues: %v", c, !silent(rest))
		}
		if want := map[bool]Cue{true: c, false: None}[c.loops()]; b.Sounding() != want {
			t.Errorf("%v plays after %v", b.Sounding(), c)
		}
		b.holds(t)
	}
}

func TestLoopRepeats(t *testing.T) {
	b := newBench()
	b.Play(Thinking)
	for i := range 5 {
		b.plays(t, Thinking)
		b.Play(Thinking) // must not restart
		if b.Sounding() != Thinking {
			t.Fatalf("round %d ended", i)
		}
	}
	b.render(7)
	b.Play(Listening)
	b.render(1)
	b.plays(t, Listening)
	if !silent(b.render(300)) {
		t.Error("the loop resumed")
	}
	b.holds(t)
}

func TestSpeechIsNotTouched(t *testing.T) {
	b := newBench()
	b.talk(true)
	random := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		b.Play(Cue(random.IntN(int(NumCues))))
		if got := b.render(1); !slices.Equal(got, b.speech[:]) {
			t.Fatal("a cue was mixed into speech")
		}
	}
}

// A cue fades out within the 10 ms in which speech starts, without a click.
func TestCueYieldsToSpeech(t *testing.T) {
	for c := Listening; c < NumCues; c++ {
		b := newBench()
		b.Play(c)
		b.render(11)
		b.speech[0] = 1 // speech starts softly
		fade := b.render(1)
		if silent(fade[1:100]) {
			t.Errorf("%v is cut off", c)
		}
		if got := b.render(20); !slices.Equal(got[:audio.FrameSamples], b.speech[:]) {
			t.Errorf("%v plays during speech", c)
		}
		b.holds(t)
		b.talk(false)
		rest := b.render(settleFrames - 1)
		if !silent(rest) {
			t.Errorf("%v plays %d frames after speech", c, settleFrames-1)
		}
		if !c.asks() {
			if !silent(b.render(400)) {
				t.Errorf("%v resumed after speech", c)
			}
			continue
		}
		b.plays(t, c)
		if !silent(b.render(400)) {
			t.Errorf("%v resumed twice", c)
		}
	}
}

// Cues ordered during speech.
func TestCueWaitsForSilence(t *testing.T) {
	for c := Listening; c < NumCues; c++ {
		for _, speech := range []int{1, 15, 300} {
			b := newBench()
			b.talk(true)
			b.render(3)
			b.Play(c)
			b.render(speech)
			b.talk(false)
			if !silent(b.render(settleFrames - 1)) {
				t.Errorf("%v plays less than %d frames after speech", c, settleFrames)
			}
			if c.asks() || c.loops() || speech < 20 {
				b.plays(t, c)
			} else if !silent(b.render(400)) {
				t.Errorf("%v plays too late", c)
			}
		}
	}
}

func TestShortPauseInSpeechDoesNotStartACue(t *testing.T) {
	b := newBench()
	b.Play(NeedsYou)
	for range 20 {
		b.talk(true)
		b.render(3)
		b.talk(false)
		if !silent(b.render(9)) {
			t.Fatal("a cue plays in a pause of 90 ms")
		}
	}
	b.render(1)
	if b.Sounding() != NeedsYou {
		t.Error("the cue was lost")
	}
}

func TestNewestOrderCounts(t *testing.T) {
	b := newBench()
	b.Play(Done)
	b.Play(Listening)
	b.plays(t, Listening)
	b.Play(NeedsYou)
	b.render(4)
	b.Play(Error)
	b.render(1) // fades out
	b.plays(t, Error)
	b.Play(NeedsYou)
	b.render(4)
	b.Stop()
	b.render(1)
	if !silent(b.render(50)) {
		t.Error("a cue plays after Stop")
	}
	b.Play(NumCues)
	b.Play(255)
	if !silent(b.render(50)) {
		t.Error("an invalid cue plays")
	}
	b.holds(t)
}

func TestStopDropsTheWaitingCue(t *testing.T) {
	b := newBench()
	b.talk(true)
	b.render(1)
	b.Play(NeedsYou)
	b.render(1)
	b.Stop()
	b.render(1)
	b.talk(false)
	if !silent(b.render(100)) {
		t.Error("a cue plays after Stop")
	}
	b.Play(Error)
	b.render(3)
	b.talk(true)
	b.Stop()
	b.render(1)
	b.talk(false)
	if !silent(b.render(100)) {
		t.Error("a cue that was stopped in the frame in which speech started plays later")
	}
}

func TestVolume(t *testing.T) {
	for volume, want := range map[float64]float64{1: -20, 0.5: -26.02, 0.1: -40, 7: -20, math.Inf(1): -20} {
		b := newBench()
		b.SetVolume(volume)
		b.Play(Listening)
		if got := audio.LevelOf(b.render(framesOf(Listening))).Peak; math.Abs(got-want) > 0.2 {
			t.Errorf("volume %v has a peak of %.2f dBFS, want %v", volume, got, want)
		}
	}
	for _, off := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		b := newBench()
		b.SetVolume(off)
		b.Play(Error)
		b.Play(Thinking)
		b.render(1)
		b.SetVolume(1)
		if !silent(b.render(100)) {
			t.Errorf("a cue ordered at volume %v plays", off)
		}
	}
	b := newBench()
	b.Play(Thinking)
	b.render(10)
	b.SetVolume(0.2)
	b.render(1)
	b.SetVolume(0)
	b.render(1)
	if !silent(b.render(100)) {
		t.Error("a loop plays at volume 0")
	}
	b.holds(t)
}

func TestSaturation(t *testing.T) {
	for v, want := range map[float32]int16{40000: math.MaxInt16, -40000: math.MinInt16, 1.4: 1, -1.6: -2} {
		if got := saturated(v); got != want {
			t.Errorf("%v becomes %d, want %d", v, got, want)
		}
	}
}

func TestRenderAllocatesNothing(t *testing.T) {
	b := newBench()
	var f audio.Frame
	i := 0
	if n := testing.AllocsPerRun(2000, func() {
		b.Play(Cue(i / 20 % int(NumCues)))
		b.talk(i%300 > 200)
		b.Render(&f)
		i++
	}); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}

// All methods concurrently, for the race detector.
func TestControlFromManyGoroutines(t *testing.T) {
	b := newBench()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for k := range 500 {
				b.Play(Cue((i + k) % int(NumCues)))
				b.SetVolume(float64(k%3) / 2)
				if b.Sounding() >= NumCues {
					t.Error("an invalid cue plays")
				}
			}
		})
	}
	b.render(500)
	wg.Wait()
	b.SetVolume(1)
	b.Play(Done)
	b.render(2) // the first frame ends what another order started
	if b.Sounding() != Done {
		t.Errorf("%v plays, want the last order", b.Sounding())
	}
}

func BenchmarkRender(b *testing.B) {
	for _, c := range []Cue{None, Thinking} {
		b.Run(c.String(), func(b *testing.B) {
			m := NewMixer(func(f *audio.Frame) { clear(f[:]) })
			m.Play(c)
			var f audio.Frame
			for b.Loop() {
				m.Render(&f)
			}
		})
	}
}
