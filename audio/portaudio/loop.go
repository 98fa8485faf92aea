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

// Loop is the way of sound from render, through the speaker, the air or a
// cable and the microphone, to deliver.
type Loop struct {
	// Delay is how long a sample takes from the call of render that gives it to
	// the call of deliver that brings it back: the median of the probes, and the
	// least and the most. It holds the 10 ms that capture waits for a full frame,
	// for a frame's last sample none of them.
	Delay, Min, Max time.Duration
	// Level is how much louder the echo is than what was played, in dB; below 0
	// it is softer.
	Level float64
	// Probes is how many of the chirps were heard.
	Probes int
}

// ErrNoEcho says that the microphone does not hear the speaker: it has
// headphones, or one of the two is muted.
var ErrNoEcho = errors.New("the microphone does not hear the speaker; raise the volume, or it has headphones and there is no echo to measure")

// A probe is a chirp of 60 ms and silence up to half a second, the longest delay
// that is looked for.
const (
	chirpSamples = 60 * audio.SampleRate / 1000
	probeFrames  = 50
	probes       = 6
	chirpPeak    = 8000
	// minPeak is how much higher than its other values the correlation must be
	// where the chirp is. Noise alone gives about 5 times the mean.
	minPeak = 12
)

// MeasureLoop plays chirps through an open sink and looks for them in what an open
// source hears, for about four seconds. It ends with ErrNoEcho when they are not
// there, with a *audio.DeviceError when a device is lost, and with ctx. Nothing
// else runs the two meanwhile.
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

// loopMeter notes when each frame was rendered and delivered.
type loopMeter struct {
	chirp []int16
	now   func() time.Duration

	mu       sync.Mutex
	rendered int             // frames
	played   []time.Duration // when the first frame of each chirp was rendered
	heard    []frameAt
}

type frameAt struct {
	at time.Duration
	f  audio.Frame
}

// render plays a chirp every probeFrames. It locks: what is measured is not
// changed by that.
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

// deliver tells whether enough was heard. It begins with the first chirp.
func (m *loopMeter) deliver(f *audio.Frame) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.played) == 0 {
		return false
	}
	m.heard = append(m.heard, frameAt{m.now(), *f})
	return len(m.played) > probes+1 && len(m.heard) >= (probes+1)*probeFrames
}

// result finds each chirp but the first, which the devices may swallow while they
// start, in what was delivered in the half second after it was rendered.
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
		return Loop{}, fmt.Errorf("%w (%d of %d probes came back)", ErrNoEcho, len(delays), probes)
	}
	slices.Sort(delays)
	return Loop{
		Delay: delays[len(delays)/2], Min: delays[0], Max: delays[len(delays)-1],
		Level: 20 * math.Log10(gain/float64(len(delays))), Probes: len(delays),
	}, nil
}

// chirp rises from 500 Hz to 4 kHz, with soft ends.
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

// coarse is by how much the search is thinned out at first. The chirp stays well
// below the 6 kHz that are left.
const coarse = 4

// find returns where in pcm the pattern is loudest, by cross-correlation, how loud
// relative to the pattern, and whether that is more than chance.
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

// thinned is the mean of each few samples.
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
