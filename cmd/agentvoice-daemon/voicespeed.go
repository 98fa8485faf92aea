package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

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

// speed is what is known about the speed of a voice: to the audio of three words, and when that
// was measured. The zero value is unknown.
type speed struct {
	took time.Duration
	at   time.Time
}

// slow reports whether Flite speaks instead of the default voice on a system, unless the settings
// say otherwise. The runtime for Macs with an Intel processor is an old one, too slow for the
// voice.
func (s speed) slow(system, arch string) bool {
	return system == "darwin" && arch == "amd64" || s.took > firstWords && time.Since(s.at) <= believed
}

func (s speed) slowHere() bool { return s.slow(runtime.GOOS, runtime.GOARCH) }

// measures reports whether a voice measures its speed when it is loaded.
func measures(e *engine.Engine) bool { return e != nil && e.Models()[0].Kind == "kokoro-onnx" }

// keptSpeed returns what is kept about a voice.
func keptSpeed(e *engine.Engine) speed {
	path, err := assets.VoiceSpeed()
	if err != nil {
		return speed{}
	}
	text, err := readNamed(path)
	if err != nil {
		return speed{}
	}
	var s voiceSpeed
	if json.Unmarshal(text, &s) != nil || s.Model != e.Name() || s.CPUs != runtime.NumCPU() {
		return speed{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return speed{}
	}
	return speed{time.Duration(s.FirstMS) * time.Millisecond, info.ModTime()}
}

// keepSpeed keeps a measurement if it is the best one. It is only a cache: what cannot be kept
// is measured again.
func keepSpeed(e *engine.Engine, took time.Duration) {
	if best := keptSpeed(e).took; best > 0 && best < took {
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

// speedMemory returns a function that remembers the speed of a voice, and one that returns what is
// known about it. It is remembered in a file, or else, where nothing may be written, by this process.
func speedMemory(e *engine.Engine, persist bool) (remember func(time.Duration), known func() speed) {
	var latest atomic.Pointer[speed]
	remember = func(took time.Duration) {
		if persist {
			keepSpeed(e, took)
			return
		}
		latest.Store(&speed{took, time.Now()})
	}
	known = func() speed {
		if s := latest.Load(); s != nil {
			return *s
		}
		return keptSpeed(e)
	}
	return remember, known
}

// measure loads a voice that measures itself and returns how soon its first words are there, as
// it was at best. It writes that only if keep is set.
func measure(e *engine.Engine, keep bool) (time.Duration, error) {
	took := make(chan time.Duration, 1)
	e.OnMeasured(func(d time.Duration) {
		if keep {
			keepSpeed(e, d)
		}
		took <- d
	})
	e.Acquire()
	defer e.Release()
	if err := e.Load(); err != nil {
		return 0, err
	}
	select {
	case d := <-took:
		if best := keptSpeed(e).took; best > 0 {
			return min(best, d), nil
		}
		return d, nil
	case <-time.After(engine.ReplyTimeout):
		return engine.ReplyTimeout, nil
	}
}

func newModelsMeasure() *cobra.Command {
	return &cobra.Command{
		Use:   "measure",
		Short: "Measure how soon the default voice has its first words, unless that is known",
		Long: `Measure how soon the default voice has its first words on this machine, and keep that, unless
it is known. If it takes more than 0.9 s, Flite speaks instead. "make build" and "models
install" run this.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l := findSpeech(nil, "")
			if !measures(l.voice) {
				return nil
			}
			known := keptSpeed(l.voice)
			unknown := known.took == 0 || known.took > firstWords && !known.slowHere()
			for n := 0; unknown && (n == 0 || n < 3 && known.took > firstWords); n++ { // the machine may be busy
				var err error
				if known.took, err = measure(l.voice, true); err != nil {
					return err
				}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s has its first words after %d ms\n", l.voice.Name(), known.took.Milliseconds())
			if keptSpeed(l.voice).slowHere() {
				fmt.Fprintln(cmd.OutOrStdout(), "That is too slow here, so Flite speaks; agentvoice.voice.engine overrides this.")
			}
			return nil
		},
	}
}
