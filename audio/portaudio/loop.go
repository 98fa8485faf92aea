package portaudio

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Loop is the path of sound from render through the speaker, the air or a cable, and
// the microphone to deliver.
type Loop struct {
	// Delay is how long a sample takes from the call of render that provides it to
	// the call of deliver that returns it: median, minimum and maximum over the
	// probes. It includes up to 10 ms during which capture fills a frame, depending
	// on the sample's position in it.
	Delay, Min, Max time.Duration
	// Level is how much louder the echo is than the played sound, in dB; it is negative
	// if the echo is softer.
	Level float64
	// Probes is how many of the chirps were detected.
	Probes int
}

// ErrNoEcho means that the microphone does not hear the speaker, because of
// headphones, or because one of the two is muted.
var ErrNoEcho = errors.New("the microphone does not hear the speaker; raise the volume, or unplug headphones, which leave no echo to measure")

// A probe is a chirp of 60 ms, then silence up to half a second, which is the longest
// delay that can be measured.
const (
	chirpSamples = 60 * audio.SampleRate / 1000
	probeFrames  = 50
	probes       = 6
	chirpPeak    = 8000
	// minPeak is the required ratio of the correlation's peak to its mean. Noise alone
	// reaches about 5.
	minPeak = 12
)

// MeasureLoop plays chirps through an open sink and detects them in the audio of an
// open source, for about four seconds. It returns ErrNoEcho if they are not detected,
// a *audio.DeviceError if a device is lost, and ctx.Err() if ctx is done. Nothing
// else may run the devices meanwhile.
func MeasureLoop(ctx context.Context, sink audio.Sink, source audio.Source) (Loop, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begun := time.Now()
	m := loopMeter{chirp: chirp(), now: func() time.Duration { return time.Since(begun) }}
	done := make(chan error, 2)
	go func() { done <- sink.Run(ctx, m.render) }()
	go func() {
		done <- source.Run(ctx, func(_ int64, f *audio.Frame) {
			if m.deliver(f) {
				cancel()
			}
		})
	}()
	err := <-done
	cancel()
	err = errors.Join(err, <-done)
	var device *audio.DeviceError
	switch {
	case errors.As(err, &device):
		return Loop{}, device
	case len(m.heard) < (probes+1)*probeFrames:
		return Loop{}, err
	}
	return m.result()
}

// loopMeter records when each frame was rendered and delivered.
type loopMeter struct {
	chirp []int16
	now   func() time.Duration

	mu       sync.Mutex
	rendered int             // frames so far
	played   []time.Duration // time at which the first frame of each chirp was rendered
	heard    []frameAt
}

type frameAt struct {
	at time.Duration
	f  audio.Frame
}

// render plays a chirp every probeFrames. It takes a lock, which does not affect the
// measurement.
func (m *loopMeter) render(f *audio.Frame) {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(f[:])
	n := m.rendered % probeFrames
	if from := n * audio.FrameSamples; from < len(m.chirp) {
		copy(f[:], m.chirp[from:])
	}
	if n == 0 {
		m.played = append(m.played, m.now())
	}
	m.rendered++
}

// deliver records a frame, from the first chirp on, and reports whether there are enough.
func (m *loopMeter) deliver(f *audio.Frame) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.played) == 0 {
		return false
	}
	m.heard = append(m.heard, frameAt{m.now(), *f})
	return len(m.played) > probes+1 && len(m.heard) >= (probes+1)*probeFrames
}

// result locates each chirp in the audio delivered in the half second after it was
// rendered, except the first, which devices may drop while they start.
func (m *loopMeter) result() (Loop, error) {
	pcm := make([]int16, 0, len(m.heard)*audio.FrameSamples)
	for _, h := range m.heard {
		pcm = append(pcm, h.f[:]...)
	}
	var delays []time.Duration
	gain := 0.0
	for _, at := range m.played[1 : probes+1] {
		first, _ := slices.BinarySearchFunc(m.heard, at, func(h frameAt, at time.Duration) int { return int(h.at - at) })
		from := first * audio.FrameSamples
		to := min(len(pcm), from+probeFrames*audio.FrameSamples+len(m.chirp))
		if to-from < 2*len(m.chirp) {
			continue
		}
		lag, g, ok := find(pcm[from:to], m.chirp)
		if !ok {
			continue
		}
		frame := (from + lag) / audio.FrameSamples
		delays = append(delays, m.heard[frame].at-at)
		gain += g
	}
	if len(delays) < probes/2 {
		return Loop{}, fmt.Errorf("%w (detected %d of %d probes)", ErrNoEcho, len(delays), probes)
	}
	slices.Sort(delays)
	return Loop{
		Delay: delays[len(delays)/2], Min: delays[0], Max: delays[len(delays)-1],
		Level: 20 * math.Log10(gain/float64(len(delays))), Probes: len(delays),
	}, nil
}

// chirp returns a sweep from 500 Hz to 4 kHz with faded ends.
func chirp() []int16 {
	pcm := make([]int16, chirpSamples)
	for i := range pcm {
		t := float64(i) / audio.SampleRate
		length := float64(chirpSamples) / audio.SampleRate
		phase := 2 * math.Pi * (500*t + (4000-500)/(2*length)*t*t)
		window := math.Sin(math.Pi * float64(i) / chirpSamples)
		pcm[i] = int16(chirpPeak * window * math.Sin(phase))
	}
	return pcm
}

// coarse is the decimation factor of the first search. The chirp stays well below the
// remaining 6 kHz.
const coarse = 4

// find returns where pcm correlates best with the pattern, the level relative to the
// pattern, and whether the match is significant.
func find(pcm, pattern []int16) (lag int, gain float64, ok bool) {
	thinPCM, thin := thinned(pcm), thinned(pattern)
	best, sum := 0.0, 0.0
	n := len(thinPCM) - len(thin) + 1
	for i := range n {
		a := math.Abs(correlation(thinPCM[i:], thin))
		sum += a
		if a > best {
			best, lag = a, i*coarse
		}
	}
	ok = best > minPeak*sum/float64(n)
	best = 0
	for i := max(0, lag-2*coarse); i <= min(len(pcm)-len(pattern), lag+2*coarse); i++ {
		if a := math.Abs(correlation(pcm[i:], pattern)); a > best {
			best, lag = a, i
		}
	}
	return lag, best / correlation(pattern, pattern), ok
}

// thinned decimates pcm by averaging.
func thinned(pcm []int16) []int16 {
	thin := make([]int16, len(pcm)/coarse)
	for i := range thin {
		sum := 0
		for _, s := range pcm[i*coarse : (i+1)*coarse] {
			sum += int(s)
		}
		thin[i] = int16(sum / coarse)
	}
	return thin
}

func correlation(pcm, pattern []int16) float64 {
	var c int64
	for i, s := range pcm[:len(pattern)] {
		c += int64(s) * int64(pattern[i])
	}
	return float64(c)
}
