package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/endturn"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/sherpa"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/stt"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/tts"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// newEngine is the command of the child process that runs speech engines.
func newEngine() *cobra.Command {
	return &cobra.Command{
		Use:                "engine",
		Short:              "Run a speech engine (internal; started by the daemon)",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			// Ctrl-C in a terminal signals every process of the group, but the daemon
			// decides when this one ends.
			signal.Ignore(os.Interrupt)
			return sherpa.Serve(args, os.Stdin, os.Stdout)
		},
	}
}

// engineCommand returns a command that runs newEngine of this executable.
func engineCommand(args ...string) *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	cmd := exec.Command(path, append([]string{"engine"}, args...)...)
	cmd.Args[0] = os.Args[0]
	return cmd
}

// localSpeech holds the speech engines of this machine.
type localSpeech struct {
	hearing, voice, turnEnd *sherpa.Engine // nil if no model for it is installed
	names                   string         // the models in use
	err                     error          // why an installed model is not used
}

// findSpeech finds the installed models and their engine library.
func findSpeech() localSpeech {
	var l localSpeech
	dir, err := assets.Models()
	if err != nil {
		return localSpeech{err: err}
	}
	set, err := sherpa.Installed(dir)
	if err != nil {
		return localSpeech{err: err}
	}
	l.err = set.Damaged
	if len(set.Hearing)+len(set.Voice)+len(set.TurnEnd) == 0 {
		return l
	}
	files, err := findLibraries()
	if err != nil {
		return localSpeech{err: err}
	}
	var names []string
	engine := func(models []sherpa.Model) *sherpa.Engine {
		if len(models) == 0 {
			return nil
		}
		for _, m := range models {
			names = append(names, fmt.Sprintf("%s for %s", m.Name, m.Use()))
		}
		return newSpeechEngine(files, models)
	}
	l.hearing, l.voice, l.turnEnd = engine(set.Hearing), engine(set.Voice), engine(set.TurnEnd)
	l.names = strings.Join(names, ", ")
	return l
}

// findLibraries finds the engine library and its dependencies.
func findLibraries() (files sherpa.Libraries, err error) {
	if files.Sherpa, err = assets.Sherpa(); err == nil {
		files.Runtime, err = assets.ONNXRuntime()
	}
	return files, err
}

// newSpeechEngine creates an engine for one or two models.
func newSpeechEngine(files sherpa.Libraries, models []sherpa.Model) *sherpa.Engine {
	return sherpa.NewEngine(sherpa.EngineConfig{
		Command: engineCommand, Libraries: files, Models: models, Threads: min(max(runtime.NumCPU()/2, 1), 4),
	})
}

// recognizers uses the installed models, with PocketSphinx as the fallback.
func (l localSpeech) recognizers(report func(error)) stt.Factory {
	sphinx := stt.PocketSphinx(stt.PocketSphinxConfig{})
	if l.hearing == nil {
		return sphinx
	}
	return stt.WithFallback(sherpa.Recognizers(l.hearing), sphinx, report)
}

// synthesizers uses the installed voice, with Flite as the fallback.
func (l localSpeech) synthesizers(report func(error)) tts.Factory {
	if l.voice == nil {
		return tts.Flite()
	}
	return sherpa.Synthesizers(l.voice, tts.Flite(), report)
}

// listener returns the acoustic end-of-turn detector, if a model for it is installed.
func (l localSpeech) listener(report func(error)) func() endturn.Listener {
	if l.turnEnd == nil {
		return nil
	}
	return sherpa.TurnEnds(l.turnEnd, report)
}

// examine reports which models are installed and which engines are used. The built-in
// engines are required only if there are no others.
func (l localSpeech) examine(needed bool) []finding {
	return []finding{
		check("speech models", false, func() (string, error) {
			switch {
			case l.err != nil:
				return "", errors.New(strings.ReplaceAll(l.err.Error(), "\n", ", "))
			case l.names == "":
				return "none installed, using PocketSphinx and Flite; see `agentvoice-daemon models list` for better ones", nil
			}
			return l.names, nil
		}),
		examineEngine("recognition", l.hearing, needed, func() (string, error) {
			r, err := stt.PocketSphinx(stt.PocketSphinxConfig{})()
			if err != nil {
				return "", err
			}
			return "PocketSphinx, English", r.Close()
		}),
		examineEngine("synthesis", l.voice, needed, func() (string, error) {
			s, err := tts.Flite()()
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("Flite, %d voices", len(s.Voices())), s.Close()
		}),
		examineEngine("end of turn", l.turnEnd, false, func() (string, error) { return "by words and pause length", nil }),
	}
}

// examineEngine checks an engine, or its fallback if the engine is missing or fails.
func examineEngine(name string, engine *sherpa.Engine, needed bool, lastResort func() (string, error)) finding {
	if engine == nil {
		return check(name, needed, lastResort)
	}
	failed := engine.Check()
	if failed == nil {
		return finding{Check: name, OK: true, Detail: engine.Library() + " with " + engine.Name(), Needed: needed}
	}
	instead, err := lastResort()
	if err != nil {
		return found(name, needed, "", nil, errors.Join(failed, err))
	}
	what, fix, _ := strings.Cut(failed.Error(), "; ")
	return found(name, false, "", nil, fault{fmt.Sprintf("%s; using %s instead", what, instead), fix})
}
