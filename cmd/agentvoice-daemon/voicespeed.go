package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// firstWords is how soon a natural voice must have its first words, so that an answer does not
// seem to be late.
const firstWords = 900 * time.Millisecond

// believed is how long a voice is taken for too slow. It may have been measured beside other
// programs.
const believed = 24 * time.Hour

// voiceSpeed is how fast the default voice is on this machine, measured each time that it is
// loaded. The best is kept, because a busy machine is slower.
type voiceSpeed struct {
	Model   string `json:"model"`
	CPUs    int    `json:"cpus"`
	FirstMS int64  `json:"firstMs"` // to the audio of three words
}

// measuredSpeed returns what is kept about a voice, or zero.
func measuredSpeed(e *engine.Engine) time.Duration {
	path, err := assets.VoiceSpeed()
	if err != nil {
		return 0
	}
	text, err := readNamed(path)
	if err != nil {
		return 0
	}
	var s voiceSpeed
	if json.Unmarshal(text, &s) != nil || s.Model != e.Name() || s.CPUs != runtime.NumCPU() {
		return 0
	}
	return time.Duration(s.FirstMS) * time.Millisecond
}

// tooSlow returns how late the first words of a voice are if that was measured lately and is
// too late, else zero.
func tooSlow(e *engine.Engine) time.Duration {
	took := measuredSpeed(e)
	if took <= firstWords {
		return 0
	}
	path, err := assets.VoiceSpeed()
	if err != nil {
		return 0
	}
	if info, err := os.Stat(path); err != nil || time.Since(info.ModTime()) > believed {
		return 0
	}
	return took
}

// keepSpeed keeps a measurement if it is the best one. It is only a cache: what cannot be kept
// is measured again.
func keepSpeed(e *engine.Engine, took time.Duration) {
	if best := measuredSpeed(e); best > 0 && best < took {
		if best <= firstWords {
			return
		}
		took = best // and believed again
	}
	path, err := assets.VoiceSpeed()
	if err != nil {
		return
	}
	text, err := json.Marshal(voiceSpeed{e.Name(), runtime.NumCPU(), max(took.Milliseconds(), 1)})
	if err != nil || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	_ = os.WriteFile(path, append(text, '\n'), 0o600)
}

// measure loads a voice and returns how soon its first words are there, as it was at best; zero
// if it has no voice, or does not measure itself.
func measure(e *engine.Engine) time.Duration {
	if e == nil || e.Models()[0].Computer() != engine.ONNXRuntime {
		return 0
	}
	took := make(chan time.Duration, 1)
	e.OnMeasured(func(d time.Duration) {
		keepSpeed(e, d)
		took <- d
	})
	e.Acquire()
	defer e.Release()
	if e.Load() != nil {
		return 0
	}
	select {
	case d := <-took:
		if best := measuredSpeed(e); best > 0 {
			return min(best, d)
		}
		return d
	case <-time.After(engine.ReplyTimeout):
		return engine.ReplyTimeout
	}
}
