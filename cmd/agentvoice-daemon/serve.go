package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/headless"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/rpc"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	sharedFlags
	assistantFlags
	stdio    bool
	clientID int
	headless bool
	script   string
	verify   bool
	// keepModels is how long speech models stay loaded after a conversation, and while it
	// is suspended.
	keepModels time.Duration
}

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve --stdio",
		Short: "Serve an editor over standard input and output",
		Long: `Serve an editor: JSON-RPC over standard input and output, logs on standard error. The
command exits at the end of its input, on the exit notification, or when the editor's
process exits.

With --headless there are no devices, no network and no real time: a script drives the
conversation, for client tests.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fs := cmd.Flags()
	f.sharedFlags.register(fs)
	f.assistantFlags.register(fs)
	fs.Lookup("agent").Usage = "assistant for editors without one: offline, openai for an OpenAI-compatible endpoint, or acp:CMD for a coding agent"
	fs.BoolVar(&f.stdio, "stdio", false, "serve over standard input and output; required")
	fs.IntVar(&f.clientID, "client-process-id", 0, "exit when this process exits")
	fs.BoolVar(&f.headless, "headless", false, "use virtual time and a scripted world, for tests")
	fs.StringVar(&f.script, "script", "", "script for --headless")
	fs.DurationVar(&f.keepModels, "keep-models", localrealtime.DefaultKeepEngines, "how long to keep speech models loaded after a conversation, and while it is suspended")
	fs.BoolVar(&f.verify, "verify", true, "check every step against the invariants")
	return cmd
}

func (f *serveFlags) run(ctx context.Context) error {
	switch {
	case !f.stdio:
		return misuse{errors.New("--stdio is missing; use `agentvoice-daemon serve --stdio`")}
	case f.script != "" && !f.headless:
		return misuse{errors.New("--script requires --headless")}
	case f.clientID < 0:
		return misuse{fmt.Errorf("--client-process-id %d: use a process id above 0", f.clientID)}
	case f.keepModels <= 0:
		return misuse{fmt.Errorf("--keep-models %v: use a duration above 0, such as 2m", f.keepModels)}
	}
	settings, err := f.parse(protocol.DefaultSettings())
	if err != nil {
		return err
	}
	if err := checkFiles(file{"--audio-in", f.audioIn}, file{"--audio-out", f.audioOut}); err != nil {
		return err
	}
	if err := tryOutput("--audio-out", f.audioOut); err != nil {
		return err
	}
	if err := f.checkJournal(settings); err != nil {
		return err
	}
	log, err := f.logger()
	if err != nil {
		return err
	}
	ignoreBrokenPipe()
	cfg := rpc.Config{
		In: os.Stdin, Out: os.Stdout, Version: version(), ProcessID: f.clientID, Settings: f.parse,
		JournalDir: journalDir(), Log: log,
	}
	if f.headless {
		err = f.configureHeadless(&cfg)
	} else {
		err = f.configureLive(&cfg)
	}
	if err != nil {
		return err
	}
	if cfg.Journal, err = f.journalOutput(settings, cfg.Started); err != nil {
		return err
	}
	return rpc.Serve(ctx, cfg)
}

// configureHeadless configures a scripted world.
func (f *serveFlags) configureHeadless(cfg *rpc.Config) error {
	script := &headless.Script{}
	if f.script != "" {
		source, err := readNamed(f.script)
		if err != nil {
			return unreadable("--script", f.script, err)
		}
		if script, err = headless.Parse(string(source)); err != nil {
			return misuse{err}
		}
	}
	clock := &dispatch.Virtual{}
	cfg.Clock, cfg.Started = clock, headless.Epoch
	cfg.New = func(c rpc.Client) (rpc.Backend, error) {
		who := f.of(c)
		stage := headless.New(script, clock, daemon.Config{
			Assistants: who.list, Check: who.check,
			Settings: c.Settings, Locale: c.Locale, Microphone: c.Microphone, Adapter: c.Copilot, Notify: c.Notify, Journal: c.Journal, Editor: c.Editor,
			TranscriptAppend: c.TranscriptAppend, Verify: f.verify, Log: cfg.Log,
		})
		return rpc.Backend{
			Daemon: stage.Daemon(), Audio: stage.World(), PressToTalk: stage.World().PressToTalk, Stage: stage,
		}, nil
	}
	return nil
}

// configureLive configures the real world.
func (f *serveFlags) configureLive(cfg *rpc.Config) error {
	fallback, err := f.adapter()
	if err != nil {
		return err
	}
	clock, out := dispatch.NewClock(1), &speakers{}
	cfg.Clock, cfg.Started = clock, time.Now()
	cfg.New = func(c rpc.Client) (rpc.Backend, error) {
		var adapter copilot.Adapter = fallback
		if c.Copilot != nil {
			adapter = c.Copilot
		}
		who := f.of(c)
		world, reports, recorder := &liveAudio{}, &live.Reports{}, newRecorder(cfg.Log)
		newWorld := live.New(live.Config{
			Source: func(s protocol.Settings) (audio.Source, error) {
				return source(chosen(f.audioIn, s.Audio.InputDevice), 1)
			},
			Sink: func(s protocol.Settings) (audio.Sink, error) {
				return out.sink(chosen(f.audioIn, s.Audio.InputDevice), chosen(f.audioOut, s.Audio.OutputDevice), 1)
			},
			Names: func(s protocol.Settings) (in, out string) {
				return chosen(f.audioIn, s.Audio.InputDevice), chosen(f.audioOut, s.Audio.OutputDevice)
			},
			Speed: 1, Credentials: f.editorCredentials(c), TURNPassword: os.Getenv(envTURN), Engines: engines(cfg.Log, reports), Comparer: comparer, Reports: reports, Log: cfg.Log,
			Holder: holder(f.audioIn, c.Name), Processing: processing(f.audioIn), Detector: voiceDetectors(reports.DetectorReplaced),
			Spotter: spotter, KeepModels: f.keepModels, Naps: devicesMayClose(f.audioIn, f.audioOut),
		})
		d := daemon.New(daemon.Config{
			Clock: clock, Started: cfg.Started, Settings: c.Settings, Locale: c.Locale, Microphone: c.Microphone, Adapter: adapter,
			Notify: c.Notify, TranscriptAppend: c.TranscriptAppend, Journal: c.Journal, Verify: f.verify, Log: cfg.Log,
			WordLists: wordLists(), CommandFiles: commandFiles(), Editor: c.Editor,
			Choose: who.choose(), Acts: who.acts, Assistants: who.list, Check: who.check,
			Record: recorder, Watch: watchers(recorder, c.Name, cfg.Log),
			World: func(p daemon.Port) daemon.World {
				w := newWorld(p)
				world.World = w.(*live.World)
				return w
			},
		})
		return rpc.Backend{Daemon: d, Audio: world, PressToTalk: world.PressToTalk, SetRate: world.SetRate, Counters: world.Counters, Sessions: recorder.Sessions, Usage: recorder.Usage}, nil
	}
	return nil
}

// chosen returns the device of the command line, or else that of the settings.
func chosen(flag, setting string) string {
	if flag != portaudio.Default {
		return flag
	}
	return setting
}

// editorCredentials asks the editor for a key if it stores secrets, then uses the key
// file or the environment. It does not cache the editor's key.
func (f *serveFlags) editorCredentials(c rpc.Client) func(context.Context, protocol.Provider) (realtime.Credential, error) {
	own := credentials(f.keyFile)
	if c.Credential == nil || f.keyFile != "" {
		return own
	}
	return func(ctx context.Context, p protocol.Provider) (realtime.Credential, error) {
		secret, asked := c.Credential(ctx, protocol.CredentialsParams{Provider: p, Kind: protocol.CredentialAPIKey})
		if asked == nil && secret.Value != "" {
			return realtime.Credential{Value: secret.Value, Kind: realtime.APIKey}, nil
		}
		cred, err := own(ctx, p)
		if err != nil && asked != nil {
			return cred, fmt.Errorf("%w; %w", asked, err)
		}
		return cred, err
	}
}

// liveAudio lists the audio devices of this machine.
type liveAudio struct{ *live.World }

// Devices implements rpc.Audio.
func (*liveAudio) Devices(s protocol.Settings) (protocol.DevicesResult, error) {
	var r protocol.DevicesResult
	list, err := portaudio.Devices()
	if err != nil {
		return r, err
	}
	for _, d := range list {
		wire := protocol.Device{ID: d.ID, Name: d.Name, SampleRate: int(d.SampleRate)}
		selected := func(setting string, isDefault bool) bool {
			return setting == d.ID || setting == d.Name || setting == portaudio.Default && isDefault
		}
		if d.Inputs > 0 {
			in := wire
			in.Channels, in.Default, in.Selected = d.Inputs, d.DefaultInput, selected(s.Audio.InputDevice, d.DefaultInput)
			r.Inputs = append(r.Inputs, in)
		}
		if d.Outputs > 0 {
			out := wire
			out.Channels, out.Default, out.Selected = d.Outputs, d.DefaultOutput, selected(s.Audio.OutputDevice, d.DefaultOutput)
			r.Outputs = append(r.Outputs, out)
		}
	}
	return r, nil
}

// journalDir is the default folder of diagnostics/journal, "" if the user has none.
func journalDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "agentvoice", "journals")
}
