package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
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
	// slow is how late the first words of the default voice are, if that is too late.
	slow time.Duration
}

// modelNames parses the setting agentvoice.models.
func modelNames(setting string) []string {
	return strings.FieldsFunc(setting, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// findSpeech finds the models to use, and the libraries that compute them: those that the user
// prefers, by their names, and those that know the language. "" is any language.
func findSpeech(prefer []string, language string) localSpeech {
	var l localSpeech
	dir, err := assets.Models()
	if err != nil {
		return localSpeech{err: err}
	}
	list, damaged, err := engine.Installed(dir)
	if err != nil {
		return localSpeech{err: err}
	}
	manifest, err := models.DefaultManifest()
	if err != nil {
		return localSpeech{err: err}
	}
	l.err = damaged
	for _, find := range []func() (string, error){assets.Recogniser, assets.Voice} {
		if m, err := defaultModel(find); err == nil && !slices.ContainsFunc(list, func(other engine.Model) bool { return other.Name == m.Name }) {
			list = append(list, m)
		}
	}
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
		models []engine.Model
		engine **engine.Engine
	}{{set.Hearing, &l.hearing}, {set.Voice, &l.voice}, {set.TurnEnd, &l.turnEnd}} {
		if len(use.models) == 0 {
			continue
		}
		e, err := processes.engine(use.models)
		if err != nil {
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
	if l.voice != nil && l.voice.Models()[0].Kind == "kokoro-onnx" {
		l.slow = tooSlow(l.voice)
		l.voice.OnMeasured(func(took time.Duration) { keepSpeed(l.voice, took) })
	}
	return l
}

// understands reports whether what recognises knows a language. PocketSphinx knows English.
func (l localSpeech) understands(language string) bool {
	if l.hearing == nil {
		return engine.Model{Languages: []string{"en"}}.Knows(language)
	}
	return slices.ContainsFunc(l.hearing.Models(), func(m engine.Model) bool { return m.Knows(language) })
}

// defaultModel reads a model that comes with this program.
func defaultModel(find func() (string, error)) (engine.Model, error) {
	dir, err := find()
	if err != nil {
		return engine.Model{}, err
	}
	return engine.ReadModel(dir)
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
	if l.voice != nil && l.slow == 0 {
		voice = l.voice.Name()
	}
	return hearing, voice
}

// uses reports whether a model is in use by default.
func (l localSpeech) uses(m engine.Model) bool {
	for _, e := range []*engine.Engine{l.hearing, l.voice, l.turnEnd} {
		used := e != nil && slices.ContainsFunc(e.Models(), func(other engine.Model) bool { return other.Dir() == m.Dir() })
		if used {
			return e != l.voice || l.slow == 0
		}
	}
	return false
}

// recognizers uses the installed models, with PocketSphinx as the fallback. A recogniser that
// does not know the user's language reports it.
func (l localSpeech) recognizers(language string, report speechReports) hearing.Factory {
	factory := hearing.PocketSphinx(hearing.PocketSphinxConfig{})
	if l.hearing != nil {
		factory = hearing.WithFallback(hearing.Engine(l.hearing), factory, report.hearing)
	}
	if l.understands(language) {
		return factory
	}
	return func() (hearing.Recognizer, error) {
		report.language(language)
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
// Flite alone.
func (l localSpeech) synthesizers(set live.SpeechChoice, report func(error)) voice.Factory {
	if l.voice == nil || set.Engine == protocol.VoiceFast || l.slow > 0 && set.Engine != protocol.VoiceNatural {
		return voice.Flite()
	}
	return voice.Engine(l.voice, set.Language, voice.Flite(), report)
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
func (l localSpeech) examine(needed bool, language string) []finding {
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
		l.examineHearing(needed, language),
		l.examineVoice(needed),
		examineEngine("end of turn", l.turnEnd, false, func() (string, error) { return "by words and pause length", nil }),
	}
}

// examineHearing checks the recogniser, and whether it understands the user's language.
func (l localSpeech) examineHearing(needed bool, language string) finding {
	f := examineEngine("recognition", l.hearing, needed, func() (string, error) {
		r, err := hearing.PocketSphinx(hearing.PocketSphinxConfig{})()
		if err != nil {
			return "", err
		}
		return "PocketSphinx, English", r.Close()
	})
	if !f.OK || l.understands(language) {
		return f
	}
	fix := "choose a service with agentvoice.provider"
	if m, err := models.DefaultManifest(); err == nil {
		for _, e := range m.Recommend(language, models.Fast) {
			if e.Use() != engine.Speech {
				fix = fmt.Sprintf("run `agentvoice-daemon models install %s`, or %s", e.Name, fix)
				break
			}
		}
	}
	return found("recognition", false, "", nil, fault{fmt.Sprintf("%s does not understand your language (%s)", f.Detail, language), fix})
}

// examineVoice checks the voice and measures how soon its first words are there.
func (l localSpeech) examineVoice(needed bool) finding {
	flite := func() (string, error) {
		s, err := voice.Flite()()
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("Flite, %d voices", len(s.Voices())), s.Close()
	}
	took := measure(l.voice)
	f := examineEngine("synthesis", l.voice, needed, flite)
	switch {
	case took == 0 || !f.OK:
	case took > firstWords:
		instead, err := flite()
		return found("synthesis", needed, fmt.Sprintf("%s: %s has its first words after %d ms, and may need %d", instead, l.voice.Name(), took.Milliseconds(), firstWords.Milliseconds()), nil, err)
	default:
		f.Detail += fmt.Sprintf(", first words after %d ms", took.Milliseconds())
	}
	return f
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
