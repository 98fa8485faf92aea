package room

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Shape is a shoebox room with a speaker, a microphone and a person.
type Shape struct {
	Name    string
	Size    [3]float64    // width, depth, height in metres
	T60     time.Duration // reverberation time: decay by 60 dB
	Speaker [3]float64    // metres from a corner
	Mic     [3]float64
	Person  [3]float64
	Seed    uint64 // for the randomized image positions
}

// Shapes lists the rooms of the benches and tests, from a car to a hall. The speaker
// is 20 to 75 cm from the microphone, the person 40 cm to 1.2 m: within the critical
// distance, where the direct sound is louder than the reverberation.
var Shapes = []Shape{
	{"car", [3]float64{1.5, 2.6, 1.2}, 80 * time.Millisecond, [3]float64{.4, .5, .6}, [3]float64{.7, .7, .9}, [3]float64{.5, 1.1, .9}, 11},
	{"booth", [3]float64{2, 2.2, 2.4}, 150 * time.Millisecond, [3]float64{.9, .6, 1}, [3]float64{1.1, .6, 1.1}, [3]float64{1, 1.1, 1.3}, 12},
	{"study", [3]float64{3.1, 2.7, 2.5}, 250 * time.Millisecond, [3]float64{1.4, .5, .8}, [3]float64{1.6, .6, .9}, [3]float64{1.5, 1.1, 1.2}, 13},
	{"living", [3]float64{5.2, 4.1, 2.6}, 400 * time.Millisecond, [3]float64{2, .5, .8}, [3]float64{2.4, 1.1, .9}, [3]float64{2.5, 1.9, 1.2}, 14},
	{"meeting", [3]float64{6.5, 4.8, 2.8}, 550 * time.Millisecond, [3]float64{3, 1.75, .9}, [3]float64{3.2, 2.4, .9}, [3]float64{3.3, 3.2, 1.2}, 15},
	{"hall", [3]float64{11, 8, 3.8}, 800 * time.Millisecond, [3]float64{5, 2, 1}, [3]float64{5.3, 2.3, 1}, [3]float64{5.4, 3.2, 1.3}, 16},
}

// Distant is the meeting room with the speaker on the wall, 1.4 m from the
// microphone. That is beyond the critical distance of 70 cm: most of the echo is
// reverberation, and cancellers fail. It is for showing limits.
var Distant = Shape{"distant", [3]float64{6.5, 4.8, 2.8}, 550 * time.Millisecond, [3]float64{3, 1, .9}, [3]float64{3.2, 2.4, .9}, [3]float64{3.3, 3.2, 1.2}, 15}

// ShapeNamed returns the shape of Shapes with that name.
func ShapeNamed(name string) (Shape, bool) {
	for _, s := range Shapes {
		if s.Name == name {
			return s, true
		}
	}
	return Shape{}, false
}

const (
	soundSpeed = 343.0 // m/s
	// A response is truncated where it has decayed by 72 dB, and at 300 ms in any case:
	// the rest is 22 dB down in the hall, and more elsewhere.
	responseTime = 300 * time.Millisecond
	sincHalf     = 8     // taps of a fractional delay on each side
	sincPhases   = 64    // delays between two samples
	shake        = 0.08  // maximum displacement of an image, in metres
	lowest       = 120.0 // Hz; small speakers and microphones have no response below
)

// EchoResponse returns the impulse response from the speaker to the microphone, at 48
// kHz, with a gain of 1 for speech (see normalise). It includes the time through the
// air.
func (s Shape) EchoResponse() []float32 { return normalise(s.response(s.Speaker)) }

// NearResponse returns the impulse response from the person to the microphone, at 48
// kHz, with a gain of 1 for speech. It excludes the time through the air, so that
// onset labels of dry speech stay valid.
func (s Shape) NearResponse() []float32 {
	h := s.response(s.Person)
	direct := int(distance(s.Person, s.Mic) / soundSpeed * audio.SampleRate)
	return normalise(h[max(0, direct-sincHalf):])
}

// response sums the image sources: mirrored boxes around the room, each attenuated by
// the walls.
func (s Shape) response(source [3]float64) []float32 {
	n := int(audio.Samples(min(responseTime, s.T60*6/5)))
	h := make([]float32, n+2*sincHalf)
	reflection := s.reflection()
	rng := rand.New(rand.NewPCG(s.Seed, 1))
	reach := float64(n) / audio.SampleRate * soundSpeed
	var bound [3]int
	for i := range bound {
		bound[i] = int(reach/s.Size[i]) + 2
	}
	for x := -bound[0]; x <= bound[0]; x++ {
		for y := -bound[1]; y <= bound[1]; y++ {
			for z := -bound[2]; z <= bound[2]; z++ {
				image := [3]float64{mirrored(x, source[0], s.Size[0]), mirrored(y, source[1], s.Size[1]), mirrored(z, source[2], s.Size[2])}
				if distance(image, s.Mic) > reach {
					continue
				}
				order := abs(x) + abs(y) + abs(z)
				if order > 0 {
					for i := range image {
						image[i] += (2*rng.Float64() - 1) * shake
					}
				}
				r := max(distance(image, s.Mic), 0.05)
				if at := r / soundSpeed * audio.SampleRate; at < float64(n) {
					addDelayed(h, at, math.Pow(reflection, float64(order))/r)
				}
			}
		}
	}
	highPass(h)
	return h[:n]
}

// reflection returns the reflection coefficient of the walls for sound pressure, from
// T60 by Eyring's formula. The formula assumes a diffuse field; in a box the images
// decay more slowly, by about the factor diffuse.
func (s Shape) reflection() float64 {
	const diffuse = 1.15
	w, d, h := s.Size[0], s.Size[1], s.Size[2]
	volume, surface := w*d*h, 2*(w*d+w*h+d*h)
	return math.Exp(-0.5 * 0.161 * volume / (surface * s.T60.Seconds()) * diffuse)
}

// highPass attenuates frequencies below lowest (second-order Butterworth), where the
// images of a box, all of the same sign, add up to an unrealistic pressure.
func highPass(h []float32) {
	k := math.Tan(math.Pi * lowest / audio.SampleRate)
	norm := 1 / (1 + math.Sqrt2*k + k*k)
	a1, a2 := 2*(k*k-1)*norm, (1-math.Sqrt2*k+k*k)*norm
	var x1, x2, y1, y2 float64
	for i, v := range h {
		x := float64(v)
		y := norm*(x-2*x1+x2) - a1*y1 - a2*y2
		x1, x2, y1, y2 = x, x1, y, y1
		h[i] = float32(y)
	}
}

// mirrored returns the position of image k of a source at x between walls at 0 and
// size, with |k| reflections.
func mirrored(k int, x, size float64) float64 {
	if k%2 == 0 {
		return float64(k)*size + x
	}
	return float64(k+1)*size - x
}

// sincs holds the taps of the fractional delays.
var sincs = sync.OnceValue(func() *[sincPhases][2 * sincHalf]float32 {
	var t [sincPhases][2 * sincHalf]float32
	for p := range t {
		for j := range t[p] {
			t[p][j] = float32(windowedSinc(float64(j-sincHalf+1)-float64(p)/sincPhases, sincHalf))
		}
	}
	return &t
})

// addDelayed adds an impulse at a fractional position, as a short windowed sinc.
func addDelayed(h []float32, at, gain float64) {
	whole := math.Floor(at)
	first := int(whole) - sincHalf + 1
	for j, c := range sincs()[int((at-whole)*sincPhases)] {
		if i := first + j; i >= 0 && i < len(h) {
			h[i] += float32(gain) * c
		}
	}
}

// windowedSinc returns a sinc under a Hann window that extends half samples on each
// side.
func windowedSinc(t float64, half int) float64 {
	if t == 0 {
		return 1
	}
	if math.Abs(t) >= float64(half) {
		return 0
	}
	return math.Sin(math.Pi*t) / (math.Pi * t) * (0.5 + 0.5*math.Cos(math.Pi*t/float64(half)))
}

// normalise scales h to a power gain of 1 for sound with the long-term spectrum of
// speech: flat from lowest to 500 Hz, falling by 9 dB per octave above.
func normalise(h []float32) []float32 {
	n := 1
	for n < len(h) {
		n *= 2
	}
	x := make([]float64, n)
	for i, v := range h {
		x[i] = float64(v)
	}
	spectrum := fourier.NewFFT(n).Coefficients(nil, x)
	power, weights := 0.0, 0.0
	for k := range n / 2 {
		f := float64(k) * audio.SampleRate / float64(n)
		if f < lowest || f > 8000 {
			continue
		}
		w := math.Pow(max(f/500, 1), -3)
		re, im := real(spectrum[k]), imag(spectrum[k])
		power += w * (re*re + im*im)
		weights += w
	}
	gain := float32(math.Sqrt(weights / power))
	for i := range h {
		h[i] *= gain
	}
	return h
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

func abs(k int) int { return max(k, -k) }
