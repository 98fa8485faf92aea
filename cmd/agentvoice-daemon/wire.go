package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/acp"
	"github.com/agentvoice/agentvoice-daemon/copilot/offline"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/internal/vocab"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Environment variables that hold keys.
const (
	envOpenAI = "OPENAI_API_KEY"
	envTURN   = "AGENTVOICE_TURN_PASSWORD"
	envAzure  = "AZURE_OPENAI_API_KEY"
	envLocal  = "LOCALAI_API_KEY"
	envOther  = "AGENTVOICE_API_KEY"
)

// sharedFlags are the flags that serve and talk share.
type sharedFlags struct {
	audioIn, audioOut string
	provider          string
	endpoint          string
	deployment        string
	model             string
	keyFile           string
	journal           string
	journalLimits     journal.Limits
	logLevel          string
	settings          []string
}

func (f *sharedFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.audioIn, "audio-in", "default", "microphone: default, a device's name or id, wav:FILE, or null")
	fs.StringVar(&f.audioOut, "audio-out", "default", "speaker: default, a device's name or id, wav:FILE, or null")
	fs.StringVar(&f.provider, "provider", "", "speech service: local, openai, live, azure, localai or compatible (default: local)")
	fs.StringVar(&f.endpoint, "endpoint", "", "base URL of the voice service (default: that of the provider)")
	fs.StringVar(&f.deployment, "deployment", "", "deployment name (azure)")
	fs.StringVar(&f.model, "model", "", "realtime model")
	fs.StringVar(&f.keyFile, "api-key-file", "", "file with the voice service's key (env "+envOpenAI+", "+envAzure+", "+envLocal+" or "+envOther+"); the assistant's key is read from the environment only")
	fs.StringVar(&f.journal, "journal", "", "write a journal to this folder or .jsonl file")
	fs.Int64Var(&f.journalLimits.Bytes, "journal-bytes", journal.DefaultLimits.Bytes, "start a new journal file at this size, in bytes; from 65536 to 67108864")
	fs.IntVar(&f.journalLimits.Files, "journal-files", journal.DefaultLimits.Files, "number of journal files to keep")
	fs.StringVar(&f.logLevel, "log-level", "warn", "trace, debug, info, warn, error or disabled")
	fs.StringArrayVar(&f.settings, "set", nil, "setting, as agentvoice.name=value or name=value (repeatable)")
}

// parse applies the flags to base.
func (f *sharedFlags) parse(base protocol.Settings) (protocol.Settings, error) {
	c := protocol.Configuration{}
	set := func(name, value string) {
		if value != "" {
			c[protocol.Prefix+name] = textValue(value)
		}
	}
	set("provider", f.provider)
	set("endpoint", f.endpoint)
	set("deployment", f.deployment)
	set("model", f.model)
	for _, s := range f.settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return base, misuse{fmt.Errorf("--set %s: use name=value", s)}
		}
		known, err := settingNamed(name)
		if err != nil {
			return base, err
		}
		c[known.Name] = settingValue(known, value)
	}
	s, bad := base.Apply(c)
	if len(bad) > 0 {
		return base, misuse{f.inFlags(bad[0])}
	}
	return s, nil
}

// inFlags names the flag of a wrong setting, if the service was chosen by flags.
func (f *sharedFlags) inFlags(bad protocol.FieldError) error {
	name := strings.TrimPrefix(bad.Field, protocol.Prefix)
	if f.provider+f.endpoint+f.deployment+f.model == "" || !slices.Contains([]string{"provider", "endpoint", "deployment", "model"}, name) {
		return fmt.Errorf("setting %w", bad)
	}
	bad.Field = "--" + name
	return bad
}

// settingValue converts a flag's value to JSON of the setting's type. A value of the
// wrong type stays a string, so that the error quotes it as typed.
func settingValue(s protocol.Setting, value string) json.RawMessage {
	if s.Kind() == protocol.KindString || !json.Valid([]byte(value)) {
		return textValue(value)
	}
	return json.RawMessage(value)
}

func textValue(value string) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		return nil // marshalling a string cannot fail
	}
	return text
}

// journalOutput is where --journal writes, nil without the flag. It creates nothing
// before recording starts.
func (f *sharedFlags) journalOutput(s protocol.Settings, started time.Time) (journal.Output, error) {
	if err := f.checkJournal(s); err != nil || f.journal == "" {
		return nil, err
	}
	where := f.journalPath(started)
	if err := ownersOnly(where); err != nil {
		return nil, fmt.Errorf("cannot make the journal private: %w; use a file of your own, or a new one", err)
	}
	return journal.Files(where, f.journalLimits), nil
}

// journalPath is the file that --journal names, or the one in the folder that it names.
func (f *sharedFlags) journalPath(started time.Time) string {
	if strings.HasSuffix(f.journal, ".jsonl") {
		return f.journal
	}
	return filepath.Join(f.journal, "journal-"+started.UTC().Format("20060102-150405")+".jsonl")
}

// checkLimits returns an error for a limit of the journal that it cannot keep.
func (f *sharedFlags) checkLimits() error {
	switch {
	case f.journalLimits.Bytes < journal.MinBytes || f.journalLimits.Bytes > journal.MaxBytes:
		return misuse{fmt.Errorf("--journal-bytes %d: use %d to %d bytes", f.journalLimits.Bytes, journal.MinBytes, journal.MaxBytes)}
	case f.journalLimits.Files < 1:
		return misuse{fmt.Errorf("--journal-files %d: use at least one file", f.journalLimits.Files)}
	}
	return nil
}

// checkJournal returns an error for the first flag of the journal that cannot be followed.
func (f *sharedFlags) checkJournal(s protocol.Settings) error {
	if err := f.checkLimits(); err != nil || f.journal == "" {
		return err
	}
	if !s.Privacy.Persist {
		return misuse{errors.New("--journal writes the conversation to disk, which agentvoice.privacy.persist forbids; remove --journal or change the setting")}
	}
	return writable(f.journalPath(time.Now()))
}

// ownersOnly makes a file that will be written readable by its owner only, as a new one is.
func ownersOnly(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
		return nil // what is wrong with it is reported when it is written
	}
	return os.Chmod(path, 0o600)
}

func (f *sharedFlags) logger() (zerolog.Logger, error) {
	level, err := zerolog.ParseLevel(f.logLevel)
	if err != nil {
		return zerolog.Nop(), misuse{fmt.Errorf("--log-level %s: use trace, debug, info, warn, error or disabled", f.logLevel)}
	}
	return zerolog.New(os.Stderr).Level(level).With().Timestamp().Logger(), nil
}

// source creates the microphone that arg names.
func source(arg string, speed float64) (audio.Source, error) {
	if path, ok := strings.CutPrefix(arg, "wav:"); ok {
		return &wavio.Source{Path: path, Speed: speed}, nil
	}
	if arg == "null" {
		return wavio.Silence{Speed: speed}, nil
	}
	return portaudio.NewSource(arg), nil
}

// sink creates the speaker that arg names.
func sink(arg string, speed float64) (audio.Sink, error) {
	if path, ok := strings.CutPrefix(arg, "wav:"); ok {
		return &wavio.Sink{Path: path, Speed: speed}, nil
	}
	if arg == "null" {
		return wavio.Null{Speed: speed}, nil
	}
	return portaudio.NewSink(arg), nil
}

// tryOutput reports at once that a recording cannot be written, rather than from a
// conversation that keeps failing to open it. It leaves no new file behind.
func tryOutput(flag, arg string) error {
	path, ok := strings.CutPrefix(arg, "wav:")
	if !ok {
		return nil
	}
	if err := wavio.Writable(path); err != nil {
		return fmt.Errorf("%s %s: %w", flag, arg, err)
	}
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("%s %s: %w; use an existing, writable folder", flag, arg, withoutPath(err))
	}
	err = f.Close()
	if missing != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// engines returns the function that creates the embedded server's engines.
func engines(log zerolog.Logger, reports *live.Reports) func(live.SpeechChoice) (localrealtime.Config, error) {
	return func(set live.SpeechChoice) (localrealtime.Config, error) {
		return localEngines(log, set, speechReports{reports.HearingReplaced, reports.VoiceReplaced, reports.TurnEndReplaced, reports.DetectorReplaced, reports.LanguageUnknown, reports.VoiceSlow})
	}
}

// comparer implements live.Config.Comparer.
func comparer(set live.SpeechChoice, local bool) hearing.Factory {
	return findSpeech(modelNames(set.Models), set.Language).comparers(set.Language, local)
}

// speechReports are called when a model fails and its fallback takes over, when the
// recogniser does not know the user's language, and when the voice is too slow for this machine.
type speechReports struct {
	hearing, voice, turnEnd, detector func(error)
	language                          func(language, model string) // model knows the language; may be ""
	slow                              func(took time.Duration)
}

// whole replaces missing reports with functions that do nothing.
func (r speechReports) whole() speechReports {
	for _, f := range []*func(error){&r.hearing, &r.voice, &r.turnEnd, &r.detector} {
		if *f == nil {
			*f = func(error) {}
		}
	}
	if r.language == nil {
		r.language = func(string, string) {}
	}
	if r.slow == nil {
		r.slow = func(time.Duration) {}
	}
	return r
}

// localEngines creates the engines of this machine.
func localEngines(log zerolog.Logger, set live.SpeechChoice, report speechReports) (localrealtime.Config, error) {
	report = report.whole()
	speech := findSpeech(modelNames(set.Models), set.Language)
	if speech.err != nil {
		log.Warn().Err(speech.err).Msg("some speech models are unusable")
	}
	return localrealtime.Config{
		Recognizer:  speech.recognizers(set.Language, report),
		Synthesizer: speech.synthesizers(set, report),
		Listener:    speech.listener(report.turnEnd),
		Detector:    voiceDetectors(report.detector),
	}, nil
}

// voiceDetectors returns what creates voice detectors: Silero's, or that of WebRTC where
// Silero or ONNX Runtime cannot be used.
func voiceDetectors(report func(error)) func() (vad.Detector, error) {
	return vad.WithFallback(silero, vad.NewWebRTC, report)
}

// silero creates a voice detector that runs the Silero model.
func silero() (vad.Detector, error) {
	model, err := assets.Silero()
	if err != nil {
		return nil, err
	}
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		return nil, err
	}
	return vad.NewSilero(model, runtime)
}

// spotter implements live.Config.Spotter.
func spotter(phrase string, candidates bool, heard func(wake.Heard)) (live.Spotter, error) {
	dir, err := assets.PocketSphinx()
	if err != nil {
		return nil, err
	}
	cfg := wake.Config{Phrase: phrase, Heard: heard, ModelDir: dir}
	if candidates {
		cfg.Candidates = wake.CandidateThreshold
	}
	return wake.New(cfg)
}

// wordLists are the user's own vocabulary files, in addition to those of a workspace.
func wordLists() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(home, vocab.ListFile)}
}

// commandFile is the file with the user's own command phrases. It is read only from the
// home folder: a workspace must not change what "okay" approves.
const commandFile = "voice-commands.md"

// commandFiles are the paths of commandFile.
func commandFiles() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(home, commandFile)}
}

// workingFolder is the workspace of a terminal conversation.
func workingFolder() []string {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	return []string{dir}
}

// recorded says whether the source is a recording or null instead of a microphone.
func recorded(audioIn string) bool { return strings.HasPrefix(audioIn, "wav:") || audioIn == "null" }

// devicesMayClose says whether the devices may be closed while the conversation is suspended.
func devicesMayClose(audioIn, audioOut string) bool {
	return !strings.HasPrefix(audioIn, "wav:") && !strings.HasPrefix(audioOut, "wav:")
}

// holder is the name shown to other windows while this one has the microphone, "" if no
// microphone is used.
func holder(audioIn, name string) string {
	if recorded(audioIn) {
		return ""
	}
	return name
}

// processing selects the microphone processing; recordings are not processed.
func processing(audioIn string) func(protocol.Settings) dsp.Config {
	if recorded(audioIn) {
		return nil
	}
	return func(s protocol.Settings) dsp.Config {
		return dsp.Config{
			EchoCancellation: s.Audio.EchoCancellation, HighPass: s.Audio.HighPass,
			NoiseSuppression: s.Audio.NoiseSuppression, GainControl: s.Audio.GainControl,
		}
	}
}

// credentials reads a provider's key from a file or the environment.
func credentials(keyFile string) func(context.Context, protocol.Provider) (realtime.Credential, error) {
	return func(_ context.Context, p protocol.Provider) (realtime.Credential, error) {
		if keyFile != "" {
			b, err := readNamed(keyFile)
			if err != nil {
				return realtime.Credential{}, fmt.Errorf("cannot read the key file; check --api-key-file: %w", errors.Unwrap(err))
			}
			return realtime.Credential{Value: strings.TrimSpace(string(b)), Kind: realtime.APIKey}, nil
		}
		name := map[protocol.Provider]string{
			protocol.ProviderOpenAI: envOpenAI, protocol.ProviderLive: envOpenAI, protocol.ProviderAzure: envAzure, protocol.ProviderLocalAI: envLocal,
			protocol.ProviderCompatible: envOther,
		}[p]
		key := os.Getenv(name)
		if row, _ := provider.Of(string(p)); key == "" && !row.Anonymous {
			return realtime.Credential{}, fmt.Errorf("no key for %s; set %s or pass --api-key-file", p, name)
		}
		return realtime.Credential{Value: key, Kind: realtime.APIKey}, nil
	}
}

// defaultChatModel is the default of --agent-model.
const defaultChatModel = "gpt-6-luna"

// assistantFlags select the assistant.
type assistantFlags struct {
	agent     string
	agentSet  bool // the flag was set, so it overrides the setting
	endpoint  string
	model     string
	transport http.RoundTripper // of an OpenAI-compatible endpoint; nil for the default
}

func (f *assistantFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.agent, "agent", "offline", "assistant: offline, openai for an OpenAI-compatible endpoint, or acp:CMD for a coding agent, such as acp:codex-acp")
	fs.StringVar(&f.endpoint, "agent-endpoint", "", "base URL of the assistant, such as http://127.0.0.1:11434/v1 (openai; default OpenAI, with the key in "+envOpenAI+")")
	fs.StringVar(&f.model, "agent-model", defaultChatModel, "the assistant's model (openai)")
}

// follow takes the assistant from the settings, unless the flag names one, and refuses an address that
// nothing would use.
func (f *assistantFlags) follow(s protocol.Settings, voice string) error {
	if s.Agent != "" && !f.agentSet {
		f.agent = s.Agent
	}
	if model, chat := isChat(f.agent); chat {
		f.agent, f.endpoint = protocol.ChatAssistant, cmp.Or(f.endpoint, s.Chat.Endpoint)
		if f.model == defaultChatModel {
			f.model = cmp.Or(model, s.Chat.Model, f.model)
		}
	}
	switch {
	case f.endpoint != "" && f.agent != "openai":
		return misuse{errors.New("--agent-endpoint is the address of the assistant for --agent openai; add that")}
	case voice != "" && s.Hears() == protocol.ProviderLocal && s.Speaks() == protocol.ProviderLocal:
		return misuse{errors.New("--endpoint is the address of a voice service, and the local one has none; add --provider, or use --agent-endpoint for the assistant")}
	}
	return nil
}

func (f *assistantFlags) adapter() (copilot.Adapter, error) {
	if f.agent == "openai" && f.endpoint == "" && os.Getenv(envOpenAI) == "" {
		return nil, errors.New("--agent openai: no key for OpenAI; set " + envOpenAI + ", or pass --agent-endpoint for another server")
	}
	a, err := assistants{assistantFlags: f}.named(protocol.ChatSettings{}, f.agent, "")
	switch {
	case err != nil && f.agent == "openai":
		return nil, misuse{fmt.Errorf("--agent openai: %w; check --agent-endpoint and --agent-model", err)}
	case err != nil:
		return nil, misuse{fmt.Errorf("--agent %s: %w", f.agent, err)}
	}
	if command, ok := strings.CutPrefix(f.agent, "acp:"); ok {
		if _, err := acp.Find(command); err != nil {
			return nil, misuse{fmt.Errorf("--agent %s: %w", f.agent, err)}
		}
	}
	return a, nil
}

// named returns the assistant with this name, working in dir; "" is the current folder.
func (f assistants) named(s protocol.ChatSettings, name, dir string) (copilot.Adapter, error) {
	if dir == "" {
		dir, _ = os.Getwd() // "" if unknown
	}
	if name == protocol.OfflineAssistant {
		return offline.New(offline.Options{Dir: dir}), nil
	}
	if model, chat := isChat(name); chat {
		return f.chat(s, model)
	}
	command, ok := strings.CutPrefix(name, protocol.AgentPrefix)
	if !ok {
		return nil, errors.New("use offline, openai or acp:CMD")
	}
	return f.agentIn(command, dir)
}

// nameOf returns the assistant for the settings of a client, "" for the one that it brings or
// that the process was started with. An agent of the command line is for a client without an
// assistant of its own; it works in the folder that such a client gives.
func (f *assistantFlags) nameOf(s protocol.Settings, editor, given bool) string {
	if s.Agent == "" && given && !editor && strings.HasPrefix(f.agent, "acp:") {
		return f.agent
	}
	return s.Agent
}

// actsIn reports whether an assistant acts in a folder.
func actsIn(name string) bool {
	_, chat := isChat(name)
	return name != "" && name != protocol.OfflineAssistant && !chat
}

// acts reports whether the assistant for the settings acts in a folder.
func (f assistants) acts(s protocol.Settings, given bool) bool {
	return actsIn(f.nameOf(s, f.editor, given))
}

// choose returns the function that selects the assistant for the settings. An assistant
// whose name and folder do not change is kept, with its conversation state. In the place of one
// that acts, a client without a trusted folder gets one that says so.
func (f assistants) choose() func(s protocol.Settings, folder string, given bool) copilot.Adapter {
	type choice struct {
		name, dir string
		chat      protocol.ChatSettings
	}
	var now choice
	var chosen copilot.Adapter
	return func(s protocol.Settings, folder string, given bool) copilot.Adapter {
		wanted := choice{name: f.nameOf(s, f.editor, given), dir: folder}
		if _, chat := isChat(wanted.name); chat {
			wanted.chat = s.Chat
		}
		if wanted == now {
			return chosen
		}
		now, chosen = wanted, nil
		switch {
		case now.name == "":
			return nil
		case actsIn(now.name) && folder == "":
			chosen = homeless(now.name)
			return chosen
		}
		a, err := f.named(s.Chat, now.name, folder)
		if err != nil { // the first request reports the error aloud
			a, err = f.named(s.Chat, protocol.AgentPrefix+now.name, folder)
		}
		if err == nil {
			chosen = a
		}
		return chosen
	}
}
