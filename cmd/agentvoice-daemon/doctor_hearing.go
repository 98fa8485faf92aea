package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
)

const (
	// listenTime is for how long doctor listens. A microphone that gives zeros has
	// as long again: a wireless one gives them while it wakes.
	listenTime = 2 * time.Second
	// startTime is how long a device may take to give or take its first frame; its
	// own watchdog takes no longer.
	startTime = 5 * time.Second
	// clips is the share of cut-off samples from which on a microphone clips, at
	// its worst over a second or two. Loud speech that is not cut off has some
	// 0.002, since its waves have round tops that are flat for a few samples; cut
	// off at half of its peak it has 0.049.
	clips = 0.02
	// faint is the peak, in dBFS, below which a microphone hears nothing: the last
	// two bits, where the dither of one that is muted is.
	faint = -82
)

// heard is what a microphone gave. Levels are in dBFS.
type heard struct {
	frames  int
	silent  int // frames of zeros, from the beginning
	level   audio.Level
	clipped float64 // the largest share of samples that were cut off
	timing  audio.Timing
}

func (h heard) zeros() bool { return h.silent == h.frames }

// listen takes frames of 10 ms from an open source, as many as are asked for, or
// twice as many while they are all zeros. It takes fewer where a recording ends.
// The error is a *audio.DeviceError where the device was lost, a fault where it
// gave too little in the time, and that of ctx.
func listen(ctx context.Context, source audio.Source, frames int) (heard, error) {
	meter, err := dsp.New(dsp.Config{}) // nothing is processed
	if err != nil {
		return heard{}, err
	}
	defer meter.Close()
	limit := 2*time.Duration(frames)*audio.FrameTime + startTime
	run, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var h heard
	var out dsp.Output
	power, peak := 0.0, float64(audio.SilenceLevel)
	full := func() bool { return h.frames >= 2*frames || h.frames >= frames && !h.zeros() }
	err = source.Run(run, func(_ int64, f *audio.Frame) {
		if full() {
			return
		}
		if h.zeros() && *f == (audio.Frame{}) {
			h.silent++
		}
		h.frames++
		_ = meter.Process(f, &out) // without processing nothing can fail
		h.clipped = max(h.clipped, meter.Stats().Clipped)
		l := audio.LevelOf(f[:])
		peak, power = max(peak, l.Peak), power+math.Pow(10, l.RMS/10)
		if full() {
			cancel()
		}
	})
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
		return h, fault{"the recording is empty", "choose another one"}
	default:
		return h, fault{
			fmt.Sprintf("the microphone gave %v of sound in %v", time.Duration(h.frames)*audio.FrameTime, limit),
			"unplug it and plug it in again, or choose another one with --audio-in",
		}
	}
}

// judge says what is wrong with what was heard, or nil.
func (h heard) judge() error {
	switch {
	case h.zeros():
		return fault{
			fmt.Sprintf("the microphone gives nothing but zeros (%v of them)", time.Duration(h.frames)*audio.FrameTime),
			"unmute it, by its own switch and in the system's sound settings, and allow this program to use it, or choose another one with --audio-in",
		}
	case h.level.Peak < faint:
		return fault{
			fmt.Sprintf("the microphone hears next to nothing (peak %.0f dBFS)", h.level.Peak),
			"unmute it and raise its level in the system's sound settings, or choose another one with --audio-in",
		}
	case h.clipped >= clips:
		return fault{
			fmt.Sprintf("the microphone clips (%.0f%% of what it hears is cut off at %.0f dBFS)", 100*h.clipped, h.level.Peak),
			"lower its level in the system's sound settings, switch its boost off, or move away from it",
		}
	}
	return nil
}

// finding is what listen says.
func (h heard) finding(err error) finding {
	if err == nil {
		err = h.judge()
	}
	detail := fmt.Sprintf("level %.0f dBFS, peak %.0f, nothing is cut off", h.level.RMS, math.Round(h.level.Peak)+0)
	if h.timing.Lost+h.timing.Xruns > 0 {
		detail += fmt.Sprintf("; %d times the machine was too slow", h.timing.Lost+h.timing.Xruns)
	}
	return found("hearing", false, detail, map[string]float64{
		"seconds": (time.Duration(h.frames) * audio.FrameTime).Seconds(), "levelDbfs": tenth(h.level.RMS), "peakDbfs": tenth(h.level.Peak),
		"clippedShare": math.Round(h.clipped*1000) / 1000, "zeroSeconds": (time.Duration(h.silent) * audio.FrameTime).Seconds(),
	}, err)
}

// tenth is x with one digit, and no zero below zero.
func tenth(x float64) float64 { return math.Round(x*10)/10 + 0 }
