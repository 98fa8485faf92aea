package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
)

const (
	// listenTime is how long doctor listens, doubled while the microphone delivers only zeros:
	// wireless ones do so while they wake up.
	listenTime = 2 * time.Second
	// startTime bounds a device's first frame; the device's own watchdog is shorter.
	startTime = 5 * time.Second
	// maxClippedShare is the share of clipped samples, over the worst second or two, above which a
	// microphone counts as clipping. Loud unclipped speech has about 0.002, since its waves
	// have flat tops; speech clipped at half its peak has 0.049.
	maxClippedShare = 0.02
	// mutedPeakDBFS is the peak, in dBFS, below which a microphone counts as muted: a muted one may
	// dither its last two bits.
	mutedPeakDBFS = -82
)

// heard is the microphone signal. Levels are in dBFS.
type heard struct {
	frames  int
	silent  int // leading frames of zeros
	level   audio.Level
	clipped float64   // the largest share of clipped samples
	voice   []float64 // RMS levels of the frames that may contain a voice
	muted   bool      // in the system's sound settings
	timing  audio.Timing
}

func (h heard) zeros() bool { return h.silent == h.frames }

// listen captures the given number of 10 ms frames, or twice as many while they are all zeros,
// or fewer if a recording ends. It returns a *audio.DeviceError if the device was lost, a fault
// if it delivered too little in time, or the error of ctx.
func listen(ctx context.Context, source audio.Source, frames int) (heard, error) {
	meter, err := dsp.New(dsp.Config{}) // no processing
	if err != nil {
		return heard{}, err
	}
	defer meter.Close()
	tracker, err := vad.NewTracker(voiceDetectors(func(error) {}), vad.ProfileConfig(vad.ProfileDefault))
	if err == nil { // a missing detector is a finding of its own
		defer tracker.Close() //nolint:errcheck // used only to measure
	}
	limit := 2*time.Duration(frames)*audio.FrameTime + startTime
	run, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var h heard
	var out dsp.Output
	power, peak := 0.0, float64(audio.SilenceLevel)
	full := func() bool { return h.frames >= 2*frames || h.frames >= frames && !h.zeros() }
	err = source.Run(run, func(pos int64, f *audio.Frame) {
		if full() {
			return
		}
		if h.zeros() && *f == (audio.Frame{}) {
			h.silent++
		}
		h.frames++
		_ = meter.Process(f, &out) // cannot fail without processing
		h.clipped = max(h.clipped, meter.Stats().Clipped)
		l := audio.LevelOf(f[:])
		peak, power = max(peak, l.Peak), power+math.Pow(10, l.RMS/10)
		if tracker != nil {
			if _, err := tracker.Push(pos, f); err == nil && tracker.MaybeVoice() {
				h.voice = append(h.voice, l.RMS)
			}
		}
		if full() {
			cancel()
		}
	})
	if mic, ok := source.(audio.Microphone); ok {
		h.muted = mic.Muted()
	}
	if timed, ok := source.(audio.Timed); ok {
		h.timing = timed.Timing()
	}
	if h.frames > 0 {
		h.level = audio.Level{Peak: peak, RMS: max(audio.SilenceLevel, 10*math.Log10(power/float64(h.frames)))}
	}
	var device *audio.DeviceError
	switch {
	case full(), err == nil && h.frames > 0:
		return h, nil
	case errors.As(err, &device):
		return h, device
	case ctx.Err() != nil:
		return h, ctx.Err()
	case err == nil:
		return h, fault{"the recording is empty", "use another one"}
	default:
		return h, fault{
			fmt.Sprintf("the microphone delivered %v of audio in %v", time.Duration(h.frames)*audio.FrameTime, limit),
			"reconnect it, or use another one with --audio-in",
		}
	}
}

// judge returns what is wrong with the signal, or nil.
func (h heard) judge() error {
	switch {
	case h.muted:
		return fault{
			"the microphone is muted in the system's sound settings",
			"unmute it there, or use another one with --audio-in",
		}
	case h.zeros():
		return fault{
			fmt.Sprintf("the microphone delivers only zeros (for %v)", time.Duration(h.frames)*audio.FrameTime),
			"unmute it on the device and in the system's sound settings, and allow this program to use it; or use another one with --audio-in",
		}
	case h.level.Peak < mutedPeakDBFS:
		return fault{
			fmt.Sprintf("the microphone signal is too quiet (peak %.0f dBFS)", h.level.Peak),
			"unmute it and raise the input level in the system's sound settings, or use another one with --audio-in",
		}
	case live.TooQuiet(h.voice):
		return fault{
			fmt.Sprintf("the voice in the microphone is too quiet to be recognised (peak %.0f dBFS)", h.level.Peak),
			"raise the input level in the system's sound settings, move closer, or use another one with --audio-in",
		}
	case h.clipped >= maxClippedShare:
		return fault{
			fmt.Sprintf("the microphone clips (%.0f%% of samples, at %.0f dBFS)", 100*h.clipped, h.level.Peak),
			"lower the input level in the system's sound settings, turn off microphone boost, or move away from it",
		}
	}
	return nil
}

// finding is the finding for the signal, or for the error of listen.
func (h heard) finding(err error) finding {
	if err == nil {
		err = h.judge()
	}
	detail := fmt.Sprintf("level %.0f dBFS, peak %.0f, no clipping", h.level.RMS, math.Round(h.level.Peak)+0)
	if h.timing.Lost+h.timing.Xruns > 0 {
		detail += fmt.Sprintf("; %d overruns because the machine was too slow", h.timing.Lost+h.timing.Xruns)
	}
	return found("hearing", false, detail, map[string]float64{
		"seconds": (time.Duration(h.frames) * audio.FrameTime).Seconds(), "levelDbfs": tenth(h.level.RMS), "peakDbfs": tenth(h.level.Peak),
		"clippedShare": math.Round(h.clipped*1000) / 1000, "zeroSeconds": (time.Duration(h.silent) * audio.FrameTime).Seconds(),
	}, err)
}

// tenth rounds x to one decimal and never returns -0.
func tenth(x float64) float64 { return math.Round(x*10)/10 + 0 }
