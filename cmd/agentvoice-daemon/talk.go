package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// talkFlags are the flags of talk.
type talkFlags struct {
	sharedFlags
	assistantFlags
	speed          float64
	record         string
	journalContent string
	reference      string
	verbose        bool
	plain          bool
	verify         bool
	trusted        bool // the user trusts the current folder
}

func newTalk() *cobra.Command {
	var f talkFlags
	cmd := &cobra.Command{
		Use:   "talk",
		Short: "Hold a conversation in the terminal",
		Long: `Hold a hands-free conversation in the terminal, with the same core as the sidecar. With
--audio-in wav:FILE a recording replaces the microphone, and the command exits after the
recording and the last answer have finished.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.agentSet = cmd.Flags().Changed("agent")
			return f.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	f.sharedFlags.register(fs)
	f.assistantFlags.register(fs)
	fs.Lookup("log-level").DefValue = "disabled" // the view shows errors
	f.logLevel = "disabled"
	fs.Float64Var(&f.speed, "speed", 1, "playback speed of recordings, as a factor; requires wav or null devices")
	fs.StringVar(&f.record, "record", "", "record to this WAV file: user left, assistant right")
	fs.StringVar(&f.journalContent, "journal-content", "redacted", "journal content: redacted, or full (with transcripts)")
	fs.StringVar(&f.reference, "reference", "", "transcript of the recording, to compute the word error rate")
	fs.BoolVar(&f.trusted, "trust", false, "trust the current folder: let a coding agent work in it, now and later")
	fs.BoolVar(&f.verbose, "verbose", false, "print the cause and turn of each state")
	fs.BoolVar(&f.plain, "plain", false, plainUsage)
	fs.BoolVar(&f.verify, "verify", true, "check every step against the invariants")
	return cmd
}

func (f *talkFlags) check() error {
	if !(f.speed > 0 && f.speed <= 20) { // also rejects NaN
		return misuse{fmt.Errorf("--speed %v: use a number above 0, up to 20", f.speed)}
	}
	for _, arg := range []string{f.audioIn, f.audioOut} {
		if f.speed != 1 && arg != "null" && !strings.HasPrefix(arg, "wav:") {
			return misuse{fmt.Errorf("--speed requires recordings; %q is a device", arg)}
		}
	}
	if c := journal.Content(f.journalContent); c != journal.Redacted && c != journal.Full {
		return misuse{fmt.Errorf("--journal-content %s: use redacted or full", f.journalContent)}
	}
	files := []file{{"--audio-in", f.audioIn}, {"--audio-out", f.audioOut}}
	if f.record != "" {
		files = append(files, file{"--record", "wav:" + f.record})
	}
	if err := checkFiles(files...); err != nil {
		return err
	}
	for _, to := range files[1:] {
		if err := tryOutput(to.flag, to.arg); err != nil {
			return err
		}
	}
	if f.keyFile == "" {
		return nil
	}
	if _, err := os.Stat(f.keyFile); err != nil {
		return unreadable("--api-key-file", f.keyFile, err)
	}
	return nil
}

// tryDevices opens both devices once, so that an unusable one is reported at once rather
// than by a conversation that keeps recovering.
func (f *talkFlags) tryDevices() error {
	src, err := source(f.audioIn, 1)
	if err != nil {
		return err
	}
	if err := errors.Join(src.Open(context.Background()), src.Close()); err != nil {
		return err
	}
	if strings.HasPrefix(f.audioOut, "wav:") {
		return nil // check tried it
	}
	dst, err := sink(f.audioOut, 1)
	if err != nil {
		return err
	}
	return errors.Join(dst.Open(context.Background()), dst.Close())
}

// readReference reads the reference transcript, nil if there is none.
func (f *talkFlags) readReference(ctx context.Context) (*string, error) {
	if f.reference == "" {
		return nil, nil
	}
	text, err := awaitNamed(ctx, f.reference)
	if err != nil {
		return nil, unreadable("--reference", f.reference, err)
	}
	said := string(text)
	return &said, nil
}

func (f *talkFlags) run(ctx context.Context) (err error) {
	settings, err := f.parse(protocol.DefaultSettings())
	if err != nil {
		return err
	}
	log, err := f.logger()
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	started := time.Now()
	record, err := f.journalOutput(settings, started)
	if err != nil {
		return err
	}
	reference, err := f.readReference(ctx)
	if err != nil {
		return err
	}
	if err := f.follow(settings, f.sharedFlags.endpoint); err != nil {
		return err
	}
	adapter, err := f.adapter()
	if err != nil {
		return err
	}
	if _, err := stoppable(ctx, func() (any, error) { return nil, f.tryDevices() }); err != nil {
		return err
	}
	if err := f.askTrust(ctx); err != nil {
		return err
	}
	head := journal.Header{Build: version(), Content: journal.Content(f.journalContent), Started: started, Speed: f.speed}
	jw, closeJournal, err := openJournal(record, head)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeJournal()) }()
	tap, closeTap, err := openRecorder(f.record)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTap()) }()

	reports, out := &live.Reports{}, &speakers{}
	v := newTalkView(newScreen(os.Stdout, f.plain), started, reference, !strings.HasPrefix(f.audioIn, "wav:"), f.verbose)
	recorder := newRecorder(log)
	seen := term.IsTerminal(int(os.Stdout.Fd()))
	if seen && settings.Hears() == protocol.ProviderLocal && settings.Speaks() == protocol.ProviderLocal && findSpeech(modelNames(settings.Models), "").names == "" {
		fmt.Println("Using PocketSphinx and Flite. See `agentvoice-daemon models list` for better recognition and voices.")
	}
	ended := make(chan struct{})
	end := sync.OnceFunc(func() { close(ended) }) // it ends again after a recovery
	keys := term.IsTerminal(int(os.Stdin.Fd()))
	d := daemon.New(daemon.Config{
		Clock: dispatch.NewClock(f.speed), Started: started, Settings: settings, Adapter: adapter,
		Notify: v.notify, Journal: jw, Verify: f.verify, Log: log, WordLists: wordLists(), CommandFiles: commandFiles(), Folders: workingFolder(),
		Record: recorder, Watch: watchers(recorder, "talk", log), Terminal: true, Keys: seen && keys,
		World: live.New(live.Config{
			Source: f.microphone(),
			Sink:   func(protocol.Settings) (audio.Sink, error) { return out.sink(f.audioIn, f.audioOut, f.speed) },
			Ended:  end, Tap: tap, Speed: f.speed,
			Credentials: credentials(f.keyFile), TURNPassword: os.Getenv(envTURN), Engines: engines(log, reports), Comparer: comparer, Reports: reports, Holder: holder(f.audioIn, "agentvoice-daemon talk"), Processing: processing(f.audioIn), Detector: voiceDetectors(reports.DetectorReplaced), Log: log,
		}),
	})
	if keys && v.live {
		show := hideTyping(os.Stdin)
		defer show()
		context.AfterFunc(ctx, show) // even if the conversation does not end
	}
	defer v.followResizes(ctx)()
	if keys {
		go readKeys(os.Stdin, func(allowed bool) { v.answer(d, allowed) })
	}
	return talk(ctx, d, v, ended, f.speed)
}

// microphone creates the microphone of a conversation. A recording is created once, so
// that it continues where it was after a recovery.
func (f *talkFlags) microphone() func(protocol.Settings) (audio.Source, error) {
	path, recorded := strings.CutPrefix(f.audioIn, "wav:")
	recording := &wavio.Source{Path: path, Speed: f.speed, Continue: true}
	return func(protocol.Settings) (audio.Source, error) {
		if recorded {
			return recording, nil
		}
		return source(f.audioIn, f.speed)
	}
}

// talk holds one conversation, until the user ends it or until a recording is over and
// the assistant has finished speaking.
func talk(ctx context.Context, d *daemon.Daemon, v *talkView, ended <-chan struct{}, speed float64) error {
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	finished := make(chan error, 1)
	go func() { finished <- d.Run(run) }()
	d.Call(func(c csm.Call) csm.Event { return csm.UserStart{Call: c} }, func(csm.Reply, protocol.Snapshot) {})

	quiet := make(chan struct{})
	go func() {
		select {
		case <-ended:
		case <-run.Done():
			return
		}
		awaitQuiet(run, d, speed)
		close(quiet)
	}()
	select {
	case <-ctx.Done():
	case <-quiet:
	case <-v.idle:
	}
	d.Post(csm.UserStop{})
	select {
	case <-v.idle:
	case <-time.After(3 * time.Second):
	}
	stop()
	err := <-finished
	return errors.Join(err, v.finish())
}

// awaitQuiet returns once the conversation has been listening with no work pending for a
// while, or after two minutes, both in conversation time. It continues a paused voice: a
// recording that is over cannot say so.
func awaitQuiet(ctx context.Context, d *daemon.Daemon, speed float64) {
	const step, need, most = 100 * time.Millisecond, 20, 1200
	tick := time.NewTicker(time.Duration(float64(step) / speed))
	defer tick.Stop()
	for n, quiet := 0, 0; n < most && quiet < need; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s := d.State()
		if s.VoicePaused {
			d.Post(csm.UserPlayback{})
		}
		_, silent := s.Turn.(turn.Idle)
		if s.Phase() == csm.PhaseListening && s.Current.ID == 0 && len(s.Queue) == 0 && silent {
			quiet++
		} else {
			quiet = 0
		}
	}
}

// openJournal opens the journal; it is a no-op without an output.
func openJournal(out journal.Output, h journal.Header) (*journal.Writer, func() error, error) {
	if out == nil {
		return nil, func() error { return nil }, nil
	}
	w, err := journal.New(h, out)
	if err != nil {
		return nil, nil, err
	}
	return w, w.Close, nil
}

func openRecorder(path string) (live.Tap, func() error, error) {
	if path == "" {
		return nil, func() error { return nil }, nil
	}
	r, err := wavio.NewRecorder(path)
	if err != nil {
		return nil, nil, err
	}
	return r, r.Close, nil
}
