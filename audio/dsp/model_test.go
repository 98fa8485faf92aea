package dsp

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// modelRoom is a pathModel in a room with an echo 40 ms late that reverberates, and a
// noisy microphone.
type modelRoom struct {
	m        *pathModel
	response []float64
	far      []float64
	noise    float64
	random   *rand.Rand
	heard    float64 // power, of the microphone and of the model's residual
	left     float64
}

func newModelRoom(echo, noise float64) *modelRoom {
	r := &modelRoom{m: newPathModel(), noise: noise, random: rand.New(rand.NewPCG(1, 2)), response: make([]float64, 1600)}
	for i := 640; i < len(r.response); i++ {
		r.response[i] = 0.1 * echo * r.random.NormFloat64() * math.Exp(-float64(i-640)/200)
	}
	r.response[640] = echo
	r.far = make([]float64, len(r.response))
	return r
}

// play renders far while the person says near.
func (r *modelRoom) play(far, person []float64) {
	r.heard, r.left = 0, 0
	for at := 0; at+frameSamples <= len(far); at += frameSamples {
		var f, n [frameSamples]int16
		for i := range f {
			r.far = append(r.far[1:], far[at+i])
			sum := r.noise * r.random.NormFloat64()
			for j, h := range r.response {
				sum += h * r.far[len(r.far)-1-j]
			}
			if at+i < len(person) {
				sum += person[at+i]
			}
			f[i], n[i] = int16(far[at+i]), int16(sum)
		}
		r.m.push(f[:], n[:], power(f[:]) > heard)
		r.heard += power(n[:])
		r.left += power(r.m.left[:])
	}
}

// openingTone is a drop of 200 ms between silences, as loud as the microphone's tone.
func openingTone() []float64 {
	s := silence(1400 * time.Millisecond)
	for i := range rate / 5 {
		at := float64(i) / rate
		s[rate/2+i] = 800 * math.Sin(2*math.Pi*3900*0.2/3.77*(1-math.Exp(-at/0.2*3.77)))
	}
	return s
}

func silence(d time.Duration) []float64 {
	return make([]float64, audio.Samples(d)/(audio.SampleRate/rate))
}

// murmur is a sound with the spectrum of speech but without pauses.
func murmur(d time.Duration, seed uint64) []float64 {
	random, s := rand.New(rand.NewPCG(seed, 4)), silence(d)
	var low [4]float64
	slow := 0.0
	for i := range s {
		v := random.NormFloat64()
		for j := range low {
			low[j] += 0.4 * (v - low[j])
			v = low[j]
		}
		slow += 0.1 * (v - slow)
		s[i] = 10000 * (v - slow)
	}
	return s
}

// TestModelFromAToneCancelsTheFirstWord, and tells a person from it.
func TestModelFromAToneCancelsTheFirstWord(t *testing.T) {
	r := newModelRoom(0.5, 10)
	r.play(openingTone(), nil)
	if r.m.state != pathEcho || r.m.known() {
		t.Fatalf("state %d, trusted too early: %v", r.m.state, r.m.known())
	}
	r.play(murmur(100*time.Millisecond, 1), nil)
	r.play(murmur(100*time.Millisecond, 2), nil)
	if took := ratio(r.heard, r.left); took < 12 || !r.m.known() || r.m.person() {
		t.Errorf("reduced the first words by %.1f dB, known %v, person %v", took, r.m.known(), r.m.person())
	}
	r.play(murmur(60*time.Millisecond, 3), murmur(60*time.Millisecond, 5))
	if !r.m.person() {
		t.Error("the person over the echo was not detected")
	}
	r.play(murmur(200*time.Millisecond, 6), nil)
	if r.m.person() {
		t.Error("the echo counts as a person after one spoke")
	}
	clear(r.response)
	r.play(murmur(300*time.Millisecond, 7), nil)
	if r.m.known() {
		t.Error("a model that only adds sound is still trusted")
	}
}

func TestModelDetectsThatThereIsNoEcho(t *testing.T) {
	r := newModelRoom(0, 10)
	r.play(openingTone(), nil)
	if r.m.state != pathNoEcho || !r.m.known() {
		t.Fatalf("state %d", r.m.state)
	}
	r.play(murmur(100*time.Millisecond, 1), nil)
	if r.m.person() {
		t.Error("the noise counts as a person")
	}
	r.play(murmur(60*time.Millisecond, 3), murmur(60*time.Millisecond, 5))
	if !r.m.person() || r.heard != r.left {
		t.Errorf("person detected: %v, reduced by %.1f dB", r.m.person(), ratio(r.heard, r.left))
	}
}

// TestModelRejectsUnusableTones: speech during the tone, noise, a muted microphone, a
// device slower than it reports, and a sound that is not alone.
//
//test:long
func TestModelRejectsUnusableTones(t *testing.T) {
	loud := newModelRoom(0, 10)
	loud.play(openingTone(), murmur(1400*time.Millisecond, 9))
	noisy := newModelRoom(0.5, 1000)
	noisy.play(openingTone(), nil)
	muted := newModelRoom(0, 0)
	muted.play(openingTone(), nil)
	slow := newModelRoom(0.5, 10)
	slow.response = append(silence(100*time.Millisecond), slow.response...)
	slow.far = make([]float64, len(slow.response))
	slow.play(openingTone(), nil)
	twice := newModelRoom(0.5, 10)
	twice.m.state = pathNoEcho // so that the first tone is not used
	twice.play(murmur(500*time.Millisecond, 1), nil)
	twice.m.state = pathUnknown
	twice.play(openingTone()[rate/10:], nil)
	moved := newModelRoom(0.5, 10)
	moved.play(openingTone()[:rate*6/10], nil)
	moved.m.forget()
	moved.play(openingTone()[rate*6/10:], nil)
	for what, r := range map[string]*modelRoom{"speech": loud, "noise": noisy, "muted": muted, "slow": slow, "twice": twice, "moved": moved} {
		if r.m.state != pathUnknown {
			t.Errorf("%s: state %d", what, r.m.state)
		}
	}
}

func TestTheModelAllocatesNothing(t *testing.T) {
	m := newPathModel()
	var f [frameSamples]int16
	at, s := 0, openingTone()
	if n := testing.AllocsPerRun(len(s)/frameSamples-1, func() {
		for i := range f {
			f[i] = int16(s[at+i])
		}
		at += frameSamples
		m.push(f[:], f[:], power(f[:]) > heard)
	}); n > 0 || m.state != pathEcho {
		t.Errorf("%v allocations a frame, state %d", n, m.state)
	}
}
