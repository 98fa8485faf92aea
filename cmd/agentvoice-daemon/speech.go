package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/engine/sherpa"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing/moonshine"
	"github.com/agentvoice/agentvoice-daemon/audio/turns/smartturn"
	"github.com/agentvoice/agentvoice-daemon/audio/turns/sound"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/voice/kokoro"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/internal/models"
	"github.com/agentvoice/agentvoice-daemon/protocol"
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
			return engine.Serve(args, os.Stdin, os.Stdout, loader)
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

// loader returns what loads a model in the child process.
func loader(m engine.Model) engine.Loader {
	switch m.Kind {
	case "moonshine-onnx":
		return moonshine.LoadWorker
	case "kokoro-onnx":
		return kokoro.LoadWorker
	case "smart-turn":
		return smartturn.Load
	default:
		return sherpa.Load
	}
}

// localSpeech holds the speech engines of this machine.
type localSpeech struct {
	hearing, voice, turnEnd *engine.Engine // nil if there is no model for it
	models                  []engine.Model // all that can be used, in the order of preference
	names                   string         // the models in use
	err                     error          // why an installed model is not used
	// hearingLost and voiceLost are why the built-in engines do what an installed model should.
	hearingLost, voiceLost error
	absent                 error // which default models are not installed, though nothing replaces them
	slow                   bool  // the voice is too slow, so that Flite speaks unless the settings say otherwise
}

// modelNames parses the setting agentvoice.models.
func modelNames(setting string) []string {
	return strings.FieldsFunc(setting, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// findSpeech finds the models to use, and the libraries that compute them: those that the user
// prefers, by their names, and those that know the language. "" is any language.
func findSpeech(prefer []string, language string) localSpeech {
	var l localSpeech
	list, damaged := installedModels()
	manifest, err := models.DefaultManifest()
	if err != nil {
		return localSpeech{err: err}
	}
	list, noRecogniser := withDefault(list, assets.Recogniser)
	list, noVoice := withDefault(list, assets.Voice)
	l.err = errors.Join(damaged, noRecogniser.damaged, noVoice.damaged)
	for _, name := range prefer {
		if !slices.ContainsFunc(list, func(m engine.Model) bool { return m.Name == name }) {
			l.err = errors.Join(l.err, fmt.Errorf("agentvoice.models: %s is not installed; install it, or correct the setting", name))
		}
	}
	l.models = manifest.Order(list, prefer, language)
	set := engine.Choose(l.models)
	var processes speechProcesses
	var names []string
	for _, use := range []struct {
		models  []engine.Model
		engine  **engine.Engine
		lost    *error
		missing missing
	}{{set.Hearing, &l.hearing, &l.hearingLost, noRecogniser}, {set.Voice, &l.voice, &l.voiceLost, noVoice}, {set.TurnEnd, &l.turnEnd, new(error), missing{}}} {
		if len(use.models) == 0 {
			*use.lost, l.absent = use.missing.damaged, errors.Join(l.absent, use.missing.absent)
			continue
		}
		e, err := processes.engine(use.models)
		if *use.lost = err; err != nil {
			if l.err == nil || !strings.Contains(l.err.Error(), err.Error()) { // several models need the same library
				l.err = errors.Join(l.err, err)
			}
			continue
		}
		*use.engine = e
		for _, m := range use.models {
			names = append(names, fmt.Sprintf("%s for %s", m.Name, m.Use()))
		}
	}
	l.names = strings.Join(names, ", ")
	l.slow = measures(l.voice) && keptSpeed(l.voice).slowHere()
	return l
}

// installedModels are the models that the user installed. The error says which cannot be used, or
// that none can.
func installedModels() ([]engine.Model, error) {
	dir, err := assets.Models()
	if err != nil {
		return nil, err
	}
	list, damaged, err := engine.Installed(dir)
	return list, errors.Join(damaged, err)
}

// understands reports whether what recognises knows a language. PocketSphinx knows English.
func (l localSpeech) understands(language string) bool {
	if l.hearing == nil {
		return engine.Model{Languages: []string{"en"}}.Knows(language)
	}
	return slices.ContainsFunc(l.hearing.Models(), func(m engine.Model) bool { return m.Knows(language) })
}

// missing is why a model that comes with this program cannot be used. One that was never fetched
// is absent: whoever installed the program was told.
type missing struct{ damaged, absent error }

// withDefault adds a model that comes with this program to the installed ones, unless the user
// installed it.
func withDefault(list []engine.Model, find func() (string, error)) ([]engine.Model, missing) {
	dir, err := find()
	if err != nil {
		return list, missing{absent: err}
	}
	name := filepath.Base(dir)
	if slices.ContainsFunc(list, func(m engine.Model) bool { return m.Name == name }) {
		return list, missing{}
	}
	m, err := engine.ReadModel(dir)
	if err != nil {
		return list, missing{damaged: fmt.Errorf("%w with `agentvoice-daemon models install %s`", err, name)}
	}
	return append(list, m), missing{}
}

// speechProcesses are the child processes of a set of models. Those that ONNX Runtime
// computes share one; each other one has its own.
type speechProcesses struct{ shared *engine.Process }

// engine returns an engine for one or two models, which the same library computes.
func (p *speechProcesses) engine(models []engine.Model) (*engine.Engine, error) {
	o := engine.Options{Threads: min(max(runtime.NumCPU()/2, 2), 4)}
	var err error
	if models[0].Computer() == engine.ONNXRuntime {
		if o.Runtime, err = assets.ONNXRuntime(); err != nil {
			return nil, err
		}
		if p.shared == nil {
			p.shared = engine.NewProcess(engine.Config{Command: engineCommand, Options: o})
		}
		return p.shared.Engine(models...), nil
	}
	if o.Library, err = assets.Sherpa(); err == nil {
		o.Runtime, err = assets.SherpaRuntime()
	}
	if err != nil {
		return nil, err
	}
	return engine.NewProcess(engine.Config{Command: engineCommand, Options: o}).Engine(models...), nil
}

// inUse returns the names of what recognises and of what speaks by default.
func (l localSpeech) inUse() (hearing, voice string) {
	hearing, voice = "PocketSphinx", "Flite"
	if l.hearing != nil {
		hearing = l.hearing.Name()
	}
	if l.voice != nil && !l.slow {
		voice = l.voice.Name()
	}
	return hearing, voice
}

// uses reports whether a model is in use by default.
func (l localSpeech) uses(m engine.Model) bool {
	for _, e := range []*engine.Engine{l.hearing, l.voice, l.turnEnd} {
		used := e != nil && slices.ContainsFunc(e.Models(), func(other engine.Model) bool { return other.Dir() == m.Dir() })
		if used {
			return e != l.voice || !l.slow
		}
	}
	return false
}

// recognizers uses the installed models, with PocketSphinx as the fallback. A recogniser that
// replaces a damaged model, or does not know the user's language, reports it.
func (l localSpeech) recognizers(language string, report speechReports) hearing.Factory {
	report = report.whole()
	factory := hearing.PocketSphinx(assets.PocketSphinx)
	if l.hearing != nil {
		factory = hearing.WithFallback(hearing.Engine(l.hearing), factory, report.hearing)
	}
	return func() (hearing.Recognizer, error) {
		if l.hearingLost != nil {
			report.hearing(l.hearingLost)
		}
		if !l.understands(language) {
			model := ""
			if e, known := recogniserOf(language); known {
				model = e.Name
			}
			report.language(language, model)
		}
		return factory()
	}
}

// comparers returns what makes recognisers that compare short sounds with the expected answers,
// beside a service, or beside the recogniser of this machine if local is true. It is nil if no
// installed model for the language compares, or if that recogniser does.
func (l localSpeech) comparers(language string, local bool) hearing.Factory {
	compares := func(m engine.Model) bool { return m.Kind == "moonshine-onnx" }
	if local && l.hearing != nil && slices.ContainsFunc(l.hearing.Models(), compares) {
		return nil
	}
	i := slices.IndexFunc(l.models, func(m engine.Model) bool { return compares(m) && m.Knows(language) })
	if i < 0 {
		return nil
	}
	var processes speechProcesses
	e, err := processes.engine(l.models[i : i+1])
	if err != nil {
		return nil // doctor reports the missing library
	}
	return hearing.Engine(e)
}

// synthesizers uses the natural voice that the settings select, with Flite as the fallback, or
// Flite alone. A conversation in which Flite speaks because the voice is damaged or too slow
// reports it.
func (l localSpeech) synthesizers(set live.SpeechChoice, report speechReports) voice.Factory {
	report = report.whole()
	switch {
	case set.Engine == protocol.VoiceFast:
		return voice.Flite()
	case l.voice == nil:
		return func() (voice.Synthesizer, error) {
			if l.voiceLost != nil {
				report.voice(l.voiceLost)
			}
			return voice.Flite()()
		}
	}
	natural := voice.Engine(l.voice, set.Language, voice.Flite(), report.voice)
	if !measures(l.voice) {
		return natural
	}
	remember, known := speedMemory(l.voice, set.Persist)
	l.voice.OnMeasured(remember)
	if set.Engine == protocol.VoiceNatural {
		return natural
	}
	return func() (voice.Synthesizer, error) {
		now := known()
		if !now.slowHere() {
			return natural()
		}
		report.slow(now.took)
		return voice.Flite()()
	}
}

// listener returns the acoustic end-of-turn detector, if a model for it is installed.
func (l localSpeech) listener(report func(error)) func() sound.Listener {
	if l.turnEnd == nil {
		return nil
	}
	return sound.Engine(l.turnEnd, report)
}

// examine reports which models are installed and which engines are used. The built-in
// engines are required only if there are no others.
func (l localSpeech) examine(needed bool, set live.SpeechChoice, speaker string) []finding {
	return []finding{
		check("speech models", false, func() (string, error) {
			if wrong := errors.Join(l.err, l.absent); wrong != nil {
				return "", errors.New(strings.ReplaceAll(wrong.Error(), "\n", ", "))
			}
			return l.names, nil
		}),
		l.examineHearing(needed, set.Language),
		l.examineVoice(needed, set, speaker),
		examineEngine("end of turn", l.turnEnd, false, func() (string, error) { return "by words and pause length", nil }),
	}
}

// examineHearing checks the recogniser, and whether it understands the user's language.
func (l localSpeech) examineHearing(needed bool, language string) finding {
	f := examineEngine("recognition", l.hearing, needed, func() (string, error) {
		r, err := hearing.PocketSphinx(assets.PocketSphinx)()
		if err != nil {
			return "", err
		}
		return "PocketSphinx, English", r.Close()
	})
	if !f.OK || l.understands(language) {
		return f
	}
	fix := "choose a service with agentvoice.provider"
	if e, known := recogniserOf(language); known {
		fix = fmt.Sprintf("%s, or %s", e.advice(), fix)
	}
	return found("recognition", false, "", nil, fault{fmt.Sprintf("%s does not understand your language (%s)", f.Detail, language), fix})
}

// examineVoice checks the voice that the settings select, and measures how soon its first words
// are there.
func (l localSpeech) examineVoice(needed bool, set live.SpeechChoice, speaker string) finding {
	e := l.voice
	if set.Engine == protocol.VoiceFast {
		e = nil
	}
	f := examineEngine("synthesis", e, needed, flite)
	if f.OK && measures(e) {
		took, err := measure(e, set.Persist)
		switch late := (speed{took, time.Now()}).slowHere(); {
		case err != nil:
			return found("synthesis", needed, "", nil, err)
		case late && set.Engine != protocol.VoiceNatural:
			instead, err := flite()
			f = found("synthesis", needed, fmt.Sprintf("%s: %s has its first words after %d ms, which is too slow on this machine", instead, e.Name(), took.Milliseconds()), nil, err)
			e = nil
		default:
			f.Detail += fmt.Sprintf(", first words after %d ms", took.Milliseconds())
		}
	}
	if !f.OK || speaker == "" || slices.Contains(speakersOf(e), speaker) {
		return f
	}
	return found("synthesis", false, "", nil, fault{
		fmt.Sprintf("%s, without the speaker %s of agentvoice.voice.name, so the first one speaks", f.Detail, speaker),
		"choose one of `agentvoice-daemon models voices`",
	})
}

// speakersOf returns the speakers of an engine, or those of Flite if it is nil.
func speakersOf(e *engine.Engine) []string {
	if e == nil {
		s, err := voice.Flite()()
		if err != nil {
			return nil
		}
		defer func() { _ = s.Close() }() // nothing to flush
		return s.Voices()
	}
	m := e.Models()[0]
	if len(m.Voices) == 0 {
		return []string{m.Name}
	}
	return m.Voices
}

// flite checks the fast voice.
func flite() (string, error) {
	s, err := voice.Flite()()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Flite, %d voices", len(s.Voices())), s.Close()
}

// computerOf returns what computes an engine's models, with its version if that is fixed.
func computerOf(e *engine.Engine) string {
	computer := e.Models()[0].Computer()
	if computer == engine.Sherpa {
		return string(computer) + " " + sherpa.Version
	}
	return string(computer)
}

// examineEngine checks an engine, or its fallback if the engine is missing or fails.
func examineEngine(name string, e *engine.Engine, needed bool, lastResort func() (string, error)) finding {
	if e == nil {
		return check(name, needed, lastResort)
	}
	failed := e.Check()
	if failed == nil {
		return finding{Check: name, OK: true, Detail: computerOf(e) + " with " + e.Name(), Needed: needed}
	}
	instead, err := lastResort()
	if err != nil {
		return found(name, needed, "", nil, errors.Join(failed, err))
	}
	what, fix, _ := strings.Cut(failed.Error(), "; ")
	return found(name, false, "", nil, fault{fmt.Sprintf("%s; using %s instead", what, instead), fix})
}
