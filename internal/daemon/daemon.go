package daemon

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// World executes the effects on devices, connection and voice, and reports what happens
// by posting events.
type World interface {
	// Execute executes one effect. It does not block.
	Execute(e csm.Effect)
	// Configure passes the settings that apply from the next conversation on.
	Configure(s protocol.Settings)
	// Mute stops the use of captured audio, or allows it again, with immediate effect.
	// While muted, the World does not capture for the wake phrase.
	Mute(muted bool)
	// Close releases everything and stops all goroutines.
	Close() error
}

// Sayer is a World that can speak a short text outside of a turn, unless other audio is
// playing. Say does not block.
type Sayer interface{ Say(text string) }

// Config configures a Daemon. Clock, Settings and World are required.
type Config struct {
	Clock    dispatch.Clock
	Started  time.Time // wall-clock time of the clock's zero
	Settings protocol.Settings
	Locale   string // BCP 47, from the client; overridden by the setting
	// Microphone is the initial state of the microphone. Nothing is captured before it
	// is known.
	Microphone protocol.MuteParams
	// Adapter answers requests. If it is nil, the World answers them and posts the
	// results.
	Adapter copilot.Adapter
	// World creates the world of this daemon.
	World func(Port) World
	// Notify sends a notification to the client. It does not block.
	Notify func(method string, params any)
	// TranscriptAppend says that the client accepts transcripts that only append to the
	// previous one.
	TranscriptAppend bool
	// WordLists are files with the user's own words. They need not exist.
	WordLists []string
	// CommandFiles are files with the user's own phrases for voice commands. They need
	// not exist.
	CommandFiles []string
	// Editor asks the client's editor to execute a voice command; nil without an
	// editor.
	Editor func(context.Context, protocol.EditorCommandParams) (protocol.EditorCommandResult, error)
	// Terminal says that the user has a terminal, without a panel or buttons.
	Terminal bool
	// Keys says that a typed line in the terminal allows what needs a click elsewhere.
	Keys bool
	// Folders are the workspace folders until a client names them.
	Folders []string
	// Choose, if set, picks the adapter from the settings and the trusted folder, which may be "": when a
	// conversation begins, and between two requests when the settings change. given reports whether the
	// client said what is open. If Choose is nil, Adapter answers.
	Choose func(s protocol.Settings, folder string, given bool) copilot.Adapter
	// Acts reports whether the assistant that Choose would pick acts in a folder.
	Acts func(s protocol.Settings, given bool) bool
	// Assistants lists those that the client can choose, and the id of the one for the
	// settings; nil if only Adapter answers.
	Assistants func(s protocol.Settings) (all []protocol.Assistant, selected string)
	// Check tries one of them, in the trusted folder, and returns why it cannot answer.
	Check func(ctx context.Context, s protocol.Settings, id, folder string) error
	// Journal, if set, records every step.
	Journal *journal.Writer
	// Record, if set, stores the metadata of sessions. The daemon closes it.
	Record Recorder
	// Watch, if set, serves local watchers. The daemon closes it.
	Watch Watchers
	// Verify checks every step against the invariants.
	Verify bool
	Log    zerolog.Logger
}

// Daemon is one conversation machine and its world. Its methods are safe for concurrent
// use.
type Daemon struct {
	cfg       Config
	loop      *dispatch.Loop
	order     order
	world     World
	assistant *assistant
	content   *content
	// vocabulary holds the names that transcripts are corrected with.
	vocabulary vocabulary
	pub        publisher
	segments   map[uint64]*segmenter // of answers that the World gives

	voice    voiceCommands
	narrator narrator
	meters   meters
	held     csm.SuspendReason // of the previous step; used by the loop only
	costs    bool              // the conversation may cost something; used by the loop only

	// unreported: the recogniser said of the latest words not how sure it was.
	unreported atomic.Bool
	isMuted    atomic.Bool // the user muted the microphone

	muting sync.Mutex // keeps Mute's effect and its notification in the same order

	mu           sync.Mutex
	set          protocol.Settings
	turns        *protocol.TurnDetectionSettings // of the current conversation
	selected     string                          // last model passed to the core
	switching    bool                            // another assistant was chosen, and applies from the next request on
	modelPending bool                            // another adapter answers, and the core has not yet heard of its model; the loop's

	workspace *protocol.Workspace // nil until the client says what is open
	folder    string              // path of the folder to work in; "" for the active one
	leaving   leaving
	call      csm.Call
	calls     map[csm.Call]func(csm.Reply, protocol.Snapshot)
	why       map[csm.Event]string // reasons of posted failures
	pubMu     sync.Mutex           // guards pub, between the loop and readers
}

// New returns a daemon. Nothing runs until Run, or Drain with a virtual clock.
func New(cfg Config) *Daemon {
	d := &Daemon{
		cfg: cfg, set: cfg.Settings, content: newContent(),
		calls: map[csm.Call]func(csm.Reply, protocol.Snapshot){}, why: map[csm.Event]string{}, segments: map[uint64]*segmenter{},
	}
	d.vocabulary.open(cfg.WordLists, cfg.Folders)
	d.voice.grammar.Store(spoken.Default)
	d.narrator.d = d
	d.pub.d, d.pub.shown, d.pub.calls = d, csm.Initial(), map[uint64]uint64{}
	loop := dispatch.Config{
		Clock: cfg.Clock, Execute: d.execute, Verify: cfg.Verify,
		Overflow: func() { d.overload("events come faster than they can be handled") },
		Refused: func(k csm.Kind) {
			cfg.Log.Warn().Stringer("event", k).Msg("the event has text where a code belongs; the conversation and the journal get internalError")
		},
	}
	if cfg.Journal != nil {
		loop.Journal = cfg.Journal
	}
	d.loop = dispatch.New(loop)
	d.order.post = d.loop.Post
	if cfg.Adapter != nil {
		d.assistant = newAssistant(d, cfg.Adapter)
	}
	if cfg.Watch != nil {
		cfg.Watch.Open(d)
	}
	d.setMuted(&d.pub.microphone, cfg.Microphone)
	setSettings(&d.pub.microphone, cfg.Settings)
	if cfg.Record != nil {
		cfg.Record.Open(cfg.Settings, d.warn, d.budgetSpent)
	}
	d.world = cfg.World(d.port())
	d.world.Mute(cfg.Microphone.Muted)
	d.Configure(cfg.Settings)
	return d
}

// fromWorld posts an event of the World.
func (d *Daemon) fromWorld(e csm.Event) {
	if done, ok := e.(csm.CopilotDone); ok {
		e = d.content.ended(done)
	}
	d.order.Post(e)
}

func (d *Daemon) port() Port {
	return Port{
		Post: d.fromWorld, Settings: d.prompted, NewUtterance: d.content.newID,
		Heard: d.heard, HeardPartly: d.heardPartly, HeardSettled: d.heardSettled, Names: d.vocabulary.said, Expected: d.expected, Unfinished: d.unfinished, GoesOn: d.mayGoOn, Language: d.language, Words: d.spokenText, Answer: d.answerFromWorld,
		ToolCall: d.toolCallFromWorld, ToolResult: d.content.setResult, Summary: d.summaryFromWorld,
		Notify: d.pub.notify, Level: d.level, Output: d.output, Fail: d.fail, Warn: d.warn, Faulty: d.faulty, Spoken: d.spoken, Overload: d.overload, Log: d.cfg.Log,
		Capturing: d.capturing, Waking: d.waking, Used: d.used, Opened: d.opened,
	}
}

// Run steps the core until ctx is done, then closes everything.
func (d *Daemon) Run(ctx context.Context) error {
	d.loop.Run(ctx)
	return d.Close()
}

// Drain steps the core until nothing is pending. It is for a daemon with a virtual
// clock, instead of Run.
func (d *Daemon) Drain() { d.loop.Drain() }

// Waiter is an adapter that can report that a request waits for its service only, and
// not for anything in this process. The driver of a virtual clock needs this to know
// when to advance it.
type Waiter interface {
	// Waits reports whether the request waits for the service.
	Waits(requestID string) bool
	// Stirred delivers when the result of Waits may have changed.
	Stirred() <-chan struct{}
}

// Settle waits until the assistant waits for its service or the clock, and everything
// received for it has been queued. It is for a daemon with a virtual clock whose
// adapter is a Waiter. It returns false if that takes longer than limit.
func (d *Daemon) Settle(limit time.Duration) bool {
	outside, ok := d.adapter().(Waiter)
	if !ok {
		return true
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	for !d.assistant.settled(outside) {
		select {
		case <-d.assistant.stirred:
		case <-outside.Stirred():
		case <-late.C:
			return false
		}
	}
	return true
}

// Idle reports whether no event is pending.
func (d *Daemon) Idle() bool { return d.loop.Idle() }

// Close releases the world, the assistant and its adapter. Run calls it when it
// returns.
func (d *Daemon) Close() error {
	d.vocabulary.close()
	d.narrator.close()
	var err error
	if d.assistant != nil {
		d.assistant.close()
		err = closeAdapters(d.cfg.Adapter, d.assistant.uses())
	}
	err = errors.Join(err, d.world.Close())
	if d.cfg.Record != nil {
		err = errors.Join(err, d.cfg.Record.Close())
	}
	if d.cfg.Watch != nil {
		err = errors.Join(err, d.cfg.Watch.Close())
	}
	return err
}

// Room waits until the daemon has caught up with its events. It returns false if ctx is
// done first. Sources that can wait call it before they post.
func (d *Daemon) Room(ctx context.Context) bool { return d.loop.Room(ctx) }

// overload ends the conversation with a recoverable fault.
func (d *Daemon) overload(what string) {
	d.cfg.Log.Error().Str("what", what).Msg("a queue is full; the conversation ends in a fault")
	d.fail(csm.SessionFailed{Instance: d.loop.State().Instance, Code: csm.CodeInternalError}, what)
}

// Post queues an event.
func (d *Daemon) Post(e csm.Event) { d.loop.Post(e) }

// Call queues an event that expects an answer. done receives the answer when the step
// is taken, before anything that the step publishes.
func (d *Daemon) Call(event func(csm.Call) csm.Event, done func(csm.Reply, protocol.Snapshot)) {
	d.mu.Lock()
	d.call++
	c := d.call
	d.calls[c] = done
	d.mu.Unlock()
	d.loop.Post(event(c))
}

// answer delivers the answer to a call.
func (d *Daemon) answer(r csm.Reply, st csm.State) {
	d.mu.Lock()
	done := d.calls[r.Call]
	delete(d.calls, r.Call)
	d.mu.Unlock()
	if done != nil {
		done(r, d.snapshot(st))
	}
}

// Snapshot returns the last published state.
func (d *Daemon) Snapshot() (s protocol.Snapshot) {
	d.WithSnapshot(func(now protocol.Snapshot) { s = now })
	return s
}

// WithSnapshot calls f with a snapshot that later notifications continue from. f must
// not block or call the daemon.
func (d *Daemon) WithSnapshot(f func(protocol.Snapshot)) {
	d.pubMu.Lock()
	defer d.pubMu.Unlock()
	f(d.snapshot(d.pub.shown))
}

// State returns the core's current state.
func (d *Daemon) State() csm.State { return d.loop.State() }

// History returns the last transitions, oldest first (CON-003).
func (d *Daemon) History() []protocol.Transition {
	d.pubMu.Lock()
	defer d.pubMu.Unlock()
	return append([]protocol.Transition(nil), d.pub.history...)
}

// WithTranscript calls f with the transcript after entry since and the current tool
// calls. Later notifications continue from there. f must not block or call the daemon.
func (d *Daemon) WithTranscript(since int64, f func(protocol.TranscriptResult)) {
	d.pubMu.Lock()
	defer d.pubMu.Unlock()
	out := protocol.TranscriptResult{Tools: slices.Clone(d.pub.tools)}
	for _, e := range d.pub.entries {
		if e.Seq > since {
			out.Entries = append(out.Entries, e)
		}
	}
	f(out)
}

// ErrNoWords reports a text without words.
var ErrNoWords = errors.New("the text has no words")

// Speak reads a text aloud.
func (d *Daemon) Speak(text string, done func(csm.Reply, protocol.Snapshot)) error {
	if strings.TrimSpace(text) == "" {
		return ErrNoWords
	}
	id := d.content.newID()
	d.content.setText(id, text)
	d.Call(func(c csm.Call) csm.Event {
		return csm.UserSpeak{Call: c, Ref: id, Chars: utf8.RuneCountInString(text)}
	}, done)
	return nil
}

// Repeat speaks the last answer again, as it was spoken.
func (d *Daemon) Repeat(done func(csm.Reply, protocol.Snapshot)) error {
	return d.Speak(d.content.lastSpoken(), done)
}

// Settings returns the current settings.
func (d *Daemon) Settings() protocol.Settings { return d.settings() }

// Locale returns the language of the texts for the user.
func (d *Daemon) Locale() protocol.Locale { return d.locale() }

// Configure replaces the settings. A running conversation keeps the settings that it
// began with.
func (d *Daemon) Configure(s protocol.Settings) {
	d.mu.Lock()
	reselected, was := s.Copilot.Model != d.selected, d.set
	d.set, d.selected = s, s.Copilot.Model
	another := d.cfg.Choose != nil && (s.Agent != was.Agent || s.Chat != was.Chat)
	d.switching = d.switching || another
	d.mu.Unlock()
	if d.conversing() {
		d.refuse()
		if another {
			d.tellSwitch(was, s)
		}
	}
	d.showSettings()
	d.vocabulary.configure(s)
	d.world.Configure(s)
	if d.cfg.Record != nil {
		d.cfg.Record.Configure(s)
	}
	if d.cfg.Watch != nil {
		d.cfg.Watch.Configure(s)
	}
	d.loop.Post(csm.Configure{Config: d.coreConfig()})
	if reselected {
		d.loop.Post(csm.UserSelectModel{Model: d.content.modelID(d.modelFor(s))})
	}
}

func (d *Daemon) settings() protocol.Settings {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.set
}

func (d *Daemon) locale() protocol.Locale {
	if s := d.settings(); s.Locale != "" {
		return protocol.MatchLocale(s.Locale)
	}
	return protocol.MatchLocale(d.cfg.Locale)
}

// language returns the language that the user speaks.
func (d *Daemon) language() string {
	s := d.settings()
	return protocol.BaseLanguage(cmp.Or(s.Transcription.Language, s.Locale, d.cfg.Locale))
}

// execute executes the effects of a step on the loop's goroutine. Requests to the
// client are handed over last, so that it learns about the turn and the call first.
func (d *Daemon) execute(s dispatch.Step) {
	if _, is := s.Envelope.Event.(csm.UserSelectModel); is {
		d.modelPending = false
	}
	d.fixTurns(s)
	d.tellHeld(s.State.Hold)
	withhold := d.leave(s)
	for _, f := range s.Effects {
		switch f := f.(type) {
		case csm.PublishTool:
			if f.Of != 0 {
				d.content.callAgain(f.ToolCall, f.Of)
			}
		case csm.SendCopilot:
			d.content.markSent(f.Utterance, f.More)
		case csm.OpenAudio:
			d.muteIfTyped(f)
		case csm.ActivateSession:
			d.readWords()
			d.readCommands()
			d.choose()
			d.cost()
			d.refuse()
		case csm.Report:
			d.loop.Post(csm.SessionFailed{Instance: s.State.Instance, Code: csm.CodeInvariantViolation})
		default: // handled elsewhere
		}
		if d.assistant == nil || !d.toAssistant(f) {
			d.world.Execute(f)
		}
	}
	d.pubMu.Lock()
	d.pub.step(s)
	d.pubMu.Unlock()
	d.order.step(s)
	d.obey(s)
	d.narrator.step(s)
	if d.assistant == nil {
		return
	}
	d.assistant.follow(s.State)
	d.switchAssistant(s)
	for _, f := range s.Effects {
		switch f := f.(type) {
		case csm.SendCopilot:
			if !withhold {
				d.assistant.send(f, d.modelToSend(s.State))
			}
		case csm.CallTool:
			d.assistant.callTool(f)
		default: // handled above
		}
	}
}

// toAssistant executes an effect that belongs to the assistant, and reports whether it
// did. Two such effects are handed over later.
func (d *Daemon) toAssistant(f csm.Effect) bool {
	a := d.assistant
	switch f := f.(type) {
	case csm.SendCopilot, csm.CallTool:
	case csm.CancelCopilot:
		a.cancel(requestID(f.Request))
	case csm.SearchTools:
		a.search(f)
	case csm.CancelSearch:
		a.cancel(searching)
	case csm.CancelTool:
		a.cancelTool(f.ToolCall)
	case csm.LoadModel:
		a.load(f)
	case csm.Summarise:
		a.summarise(f)
	case csm.CancelSummary:
		a.cancel(summarising)
	default:
		return false
	}
	return true
}

// record writes words to the journal, which stores them only if the user opted in.
func (d *Daemon) record(at time.Duration, kind string, id uint64, text string) {
	d.words(at, journal.Words{Kind: kind, ID: id, Text: text})
}

func (d *Daemon) words(at time.Duration, w journal.Words) {
	if d.cfg.Journal != nil {
		d.cfg.Journal.Words(at, w)
	}
}

func (d *Daemon) level(user, assistant float64) {
	if d.cfg.Journal != nil {
		d.cfg.Journal.Level(d.cfg.Clock.Now(), journal.Level{User: user, Assistant: assistant})
	}
}

// output records an output event for the journal and for reports.
func (d *Daemon) output(o Output) {
	now := d.cfg.Clock.Now()
	since := now - o.Ago
	if d.cfg.Journal != nil {
		d.cfg.Journal.Sound(now, journal.Sound{Silent: o.Silent, Since: since.Microseconds(), Pos: o.Pos})
	}
	d.pubMu.Lock()
	defer d.pubMu.Unlock()
	d.pub.floor.output(o.Silent, since)
}

// fail posts a failure with its reason.
func (d *Daemon) fail(failure csm.Event, reason string) {
	d.mu.Lock()
	d.why[failure] = reason
	d.mu.Unlock()
	d.loop.Post(failure)
}

// reason removes and returns the reason that an event was posted with, or "". It
// belongs to that event only: if the core ignores the event, the reason is dropped.
func (d *Daemon) reason(e csm.Event) string {
	switch e.(type) {
	case csm.SessionFailed, csm.AudioFailed, csm.AudioLost, csm.ConnFailed, csm.ConnLost:
	default:
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	reason := d.why[e]
	delete(d.why, e)
	return reason
}

// warn tells the user about a problem that does not affect the conversation.
func (d *Daemon) warn(code protocol.ErrorCode, detail string) {
	message := d.spec(code).Message(d.locale())
	if detail != "" {
		message += " (" + detail + ")"
	}
	d.pub.notify(protocol.NotifyNotification, protocol.NotificationParams{
		Message: message, Severity: protocol.SeverityWarning, Kind: protocol.NotificationMessage, Code: code,
		Remediation: d.spec(code).Params(d.locale(), "").Remediation,
	})
}

// spoken returns the spoken text of a code.
func (d *Daemon) spoken(code protocol.ErrorCode) string { return d.spec(code).Spoken(d.locale()) }

// failure returns the wire form of a code, with its reason.
func (d *Daemon) failure(code csm.Code, reason string) protocol.ErrorParams {
	p := d.spec(protocol.ErrorCode(code)).Params(d.locale(), "")
	p.HasHelp = HelpPage(p.Code, d.Settings()) != ""
	p.Message = withReason(p.Message, reason)
	return p
}

// spokenText returns the spoken text of a segment.
func (d *Daemon) spokenText(seg speech.Segment) string {
	switch {
	case seg.Notice != "":
		return d.spoken(protocol.ErrorCode(seg.Notice))
	case seg.Ref != 0:
		return d.content.text(seg.Ref)
	case seg.Ask != 0:
		return d.questionAloud(seg.Ask)
	default:
		return d.content.spoken(seg.Request, seg.Start)
	}
}

// sourceText returns the displayed text of a segment.
func (d *Daemon) sourceText(seg speech.Segment) string {
	switch {
	case seg.Ask != 0:
		return d.question(seg.Ask)
	case seg.Notice != "" || seg.Ref != 0:
		return d.spokenText(seg)
	}
	return d.content.source(seg.Request, seg.Start, seg.End)
}
