package daemon

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
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
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// World carries out the effects on devices, connection and voice, and reports
// what happens by posting events.
type World interface {
	// Execute carries out one effect. It does not block.
	Execute(e csm.Effect)
	// Configure gives the settings that hold from the next conversation on.
	Configure(s protocol.Settings)
	// Mute stops the use of captured sound, or allows it again: at once. While it
	// is muted the World does not capture for the wake phrase.
	Mute(muted bool)
	// Close releases everything and leaves no goroutine.
	Close() error
}

// Sayer is a World with a voice for what belongs to no turn: it speaks a short
// text, unless something else is heard. It does not block.
type Sayer interface{ Say(text string) }

// Config is what a Daemon is made of. Clock, Settings and World are needed.
type Config struct {
	Clock    dispatch.Clock
	Started  time.Time // what the clock's zero is on the wire
	Settings protocol.Settings
	Locale   string // BCP 47, of the client; the setting goes before it
	// Microphone is how the microphone begins; nothing is captured before.
	Microphone protocol.MuteParams
	// Adapter answers requests. Without one they are the World's, which posts
	// what comes of them.
	Adapter copilot.Adapter
	// World makes the world of this daemon.
	World func(Port) World
	// Notify publishes a notification to the client. It does not block.
	Notify func(method string, params any)
	// TranscriptAppend says that the client takes transcripts that only continue
	// the one before.
	TranscriptAppend bool
	// WordLists are files with the user's own words, which need not exist.
	WordLists []string
	// CommandFiles are files with the user's own phrases for voice commands, which need
	// not exist.
	CommandFiles []string
	// Editor has the client's editor do what a voice command asks for; nil where there is
	// no editor.
	Editor func(context.Context, protocol.EditorCommandParams) (protocol.EditorCommandResult, error)
	// Folders are the workspace, where no client names it.
	Folders []string
	// Choose, if set, is who answers from a conversation's beginning on, by its settings
	// and the first folder of the workspace ("" where that is not known); nil is Adapter.
	Choose func(s protocol.Settings, folder string) copilot.Adapter
	// Journal, if set, records every step.
	Journal *journal.Writer
	// Record, if set, keeps the metadata of sessions; the daemon closes it.
	Record Recorder
	// Watch, if set, has local clients follow; the daemon closes it.
	Watch Watchers
	// Verify has every step checked against the invariants.
	Verify bool
	Log    zerolog.Logger
}

// Port is what a World sees of its daemon.
type Port struct {
	Post     func(csm.Event)
	Settings func() protocol.Settings
	// NewUtterance gives out an id for something the user says.
	NewUtterance func() uint64
	// Heard sets the words of an utterance and returns the event that its final
	// transcript is.
	Heard func(epoch uint32, utterance uint64, text string, confidence float64) csm.Final
	// HeardPartly sets what was understood so far.
	HeardPartly func(epoch uint32, utterance uint64, text string) csm.Partial
	// Names are the names that the user is likely to say, as they are said, the user's own
	// first. They are for engines of this machine.
	Names func() []string
	// Words is what a segment says aloud.
	Words func(speech.Segment) string
	// Answer extends the answer to a request by text, for a World that answers
	// requests itself, and posts what comes of it; end ends the round.
	Answer func(request uint64, round int, text string, end bool)
	// ToolCall keeps a call that such a World's answer asks for, and returns the
	// event that it is.
	ToolCall func(request uint64, round int, call copilot.ToolCall) csm.CopilotToolCall
	// ToolResult keeps what a call brought.
	ToolResult func(toolCall uint64, result string)
	// Summary keeps the summary of a job; "" is an extract of what was said.
	Summary func(e csm.Summarise, text string)
	// Notify publishes to the client.
	Notify func(method string, params any)
	Level  func(user, assistant float64) // dBFS, for the journal
	// Output reports that the output fell silent, or sounds again.
	Output func(Output)
	// Capturing says whether the microphone's device is being captured for a
	// conversation, Waking whether it is for the wake phrase.
	Capturing, Waking func(bool)
	// Fail posts a failure with its reason for the user: what is missing or
	// refused, and what to do. The reason holds no secret and no path.
	Fail func(failure csm.Event, reason string)
	// Overload ends the conversation, since more is to be done than can be: what says
	// what does not keep up. It does not block.
	Overload func(what string)
	// Warn tells the user of something that no conversation needs: in the code's
	// words, with what is behind it, as for Fail.
	Warn func(code protocol.ErrorCode, detail string)
	// Used takes what a service was used for. It does not block.
	Used func(usage.Use)
	// Spoken is what is said aloud of a code, in the user's language.
	Spoken func(code protocol.ErrorCode) string
	Log    zerolog.Logger
}

// Daemon is one conversation machine and its world. Its methods are safe for
// concurrent use.
type Daemon struct {
	cfg       Config
	loop      *dispatch.Loop
	world     World
	assistant *assistant
	content   *content
	// vocabulary is what transcripts are corrected by.
	vocabulary vocabulary
	pub        publisher
	segments   map[uint64]*segmenter // of answers that the World gives

	voice voiceCommands
	held  csm.SuspendReason // of the step before; of the loop

	muting sync.Mutex // keeps what Mute does and what it publishes together

	mu       sync.Mutex
	set      protocol.Settings
	turns    *protocol.TurnDetectionSettings // of the conversation that runs
	selected string                          // the model that the core was told of
	call     csm.Call
	calls    map[csm.Call]func(csm.Reply, protocol.Snapshot)
	why      map[csm.Event]string // the reasons of failures that are posted
	pubMu    sync.Mutex           // of pub, between the loop and readers
}

// New makes a daemon. Nothing runs until Run, or Drain where the clock is
// virtual.
func New(cfg Config) *Daemon {
	d := &Daemon{
		cfg: cfg, set: cfg.Settings, content: newContent(),
		calls: map[csm.Call]func(csm.Reply, protocol.Snapshot){}, why: map[csm.Event]string{}, segments: map[uint64]*segmenter{},
	}
	d.vocabulary.open(cfg.WordLists, cfg.Folders)
	d.voice.grammar.Store(spoken.Default)
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
	if cfg.Adapter != nil {
		d.assistant = newAssistant(d, cfg.Adapter)
	}
	if cfg.Watch != nil {
		cfg.Watch.Open(d)
	}
	setMuted(&d.pub.microphone, cfg.Microphone)
	setSettings(&d.pub.microphone, cfg.Settings)
	if cfg.Record != nil {
		cfg.Record.Open(cfg.Settings, d.warn, func() { d.loop.Post(csm.UserStop{}) })
	}
	d.world = cfg.World(d.port())
	d.world.Mute(cfg.Microphone.Muted)
	d.Configure(cfg.Settings)
	return d
}

func (d *Daemon) port() Port {
	return Port{
		Post: d.loop.Post, Settings: d.prompted, NewUtterance: d.content.newID,
		Heard: d.heard, HeardPartly: d.heardPartly, Names: d.vocabulary.said, Words: d.spokenText, Answer: d.answerFromWorld,
		ToolCall: d.toolCallFromWorld, ToolResult: d.content.setResult, Summary: d.summaryFromWorld,
		Notify: d.pub.notify, Level: d.level, Output: d.output, Fail: d.fail, Warn: d.warn, Spoken: d.spoken, Overload: d.overload, Log: d.cfg.Log,
		Capturing: d.capturing, Waking: d.waking, Used: d.used,
	}
}

// Run steps the core until ctx is done, and then closes everything.
func (d *Daemon) Run(ctx context.Context) error {
	d.loop.Run(ctx)
	return d.Close()
}

// Drain steps the core until nothing is left to do now. It is for a daemon with
// a virtual clock, which is not Run.
func (d *Daemon) Drain() { d.loop.Drain() }

// Waiter is an adapter that can tell that it waits for its service, and for
// nothing in this process. Whoever moves a virtual clock must know.
type Waiter interface {
	// Waits says so of a request.
	Waits(requestID string) bool
	// Stirred delivers when the answer of Waits may have changed.
	Stirred() <-chan struct{}
}

// Settle waits until the assistant waits for its service or for the clock, and
// everything that was received for it is in the lanes. It is for a daemon with a
// virtual clock whose adapter is a Waiter. It gives up after limit, and says so.
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

// Idle says whether no event waits for its step.
func (d *Daemon) Idle() bool { return d.loop.Idle() }

// Close releases the world, and the assistant with its adapter. Run does it by itself.
func (d *Daemon) Close() error {
	d.vocabulary.close()
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

// Room waits until the daemon keeps up with what it was given, and says whether ctx
// lasted so long. A source that can wait calls it before it posts.
func (d *Daemon) Room(ctx context.Context) bool { return d.loop.Room(ctx) }

// overload ends the conversation in a fault, from which it recovers.
func (d *Daemon) overload(what string) {
	d.cfg.Log.Error().Str("what", what).Msg("a queue is full; the conversation ends in a fault")
	d.fail(csm.SessionFailed{Instance: d.loop.State().Instance, Code: csm.CodeInternalError}, what)
}

// Post queues an event.
func (d *Daemon) Post(e csm.Event) { d.loop.Post(e) }

// Call queues an event that answers, and has done called with the answer when
// its step is taken, before anything that the step publishes.
func (d *Daemon) Call(event func(csm.Call) csm.Event, done func(csm.Reply, protocol.Snapshot)) {
	d.mu.Lock()
	d.call++
	c := d.call
	d.calls[c] = done
	d.mu.Unlock()
	d.loop.Post(event(c))
}

// answer gives a call its answer.
func (d *Daemon) answer(r csm.Reply, st csm.State) {
	d.mu.Lock()
	done := d.calls[r.Call]
	delete(d.calls, r.Call)
	d.mu.Unlock()
	if done != nil {
		done(r, d.snapshot(st))
	}
}

// Snapshot is the state that was published last.
func (d *Daemon) Snapshot() (s protocol.Snapshot) {
	d.WithSnapshot(func(now protocol.Snapshot) { s = now })
	return s
}

// WithSnapshot calls f with the snapshot that what is published afterwards
// follows on from. f does not block, and calls nothing of the daemon.
func (d *Daemon) WithSnapshot(f func(protocol.Snapshot)) {
	d.pubMu.Lock()
	defer d.pubMu.Unlock()
	f(d.snapshot(d.pub.shown))
}

// State is the core's state now.
func (d *Daemon) State() csm.State { return d.loop.State() }

// History is the last transitions, oldest first (CON-003).
func (d *Daemon) History() []protocol.Transition {
	d.pubMu.Lock()
	defer d.pubMu.Unlock()
	return append([]protocol.Transition(nil), d.pub.history...)
}

// WithTranscript calls f with what was said since entry seq, and with the calls of
// tools as they stand: what is published afterwards follows on from that. f does not
// block, and calls nothing of the daemon.
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

// ErrNoWords says that a text has no words.
var ErrNoWords = errors.New("the text has no words")

// SendText says something in writing: it takes the path of spoken words.
func (d *Daemon) SendText(text string, done func(csm.Reply, protocol.Snapshot)) error {
	words := len(strings.Fields(text))
	if words == 0 {
		return ErrNoWords
	}
	id := d.content.newID()
	written, obeyed := d.typed(id, strings.TrimSpace(text), done)
	if obeyed {
		return nil
	}
	d.content.setUtterance(id, written)
	d.Call(func(c csm.Call) csm.Event { return csm.UserText{Call: c, Utterance: id, Words: words} }, done)
	return nil
}

// Speak has a text read aloud.
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

// Repeat says the last answer again, as it was said.
func (d *Daemon) Repeat(done func(csm.Reply, protocol.Snapshot)) error {
	return d.Speak(d.content.lastSpoken(), done)
}

// Settings are those that hold.
func (d *Daemon) Settings() protocol.Settings { return d.settings() }

// Locale is the language that the user is addressed in.
func (d *Daemon) Locale() protocol.Locale { return d.locale() }

// Configure replaces the settings. What runs keeps those it began with.
func (d *Daemon) Configure(s protocol.Settings) {
	d.mu.Lock()
	reselected := s.Copilot.Model != d.selected
	d.set, d.selected = s, s.Copilot.Model
	d.mu.Unlock()
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
		d.loop.Post(csm.UserSelectModel{Model: d.content.modelID(s.Copilot.Model)})
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

// execute carries out the effects of a step, on the loop's goroutine. What the
// client is asked for is handed over last, so that it hears of the turn and of the
// call before.
func (d *Daemon) execute(s dispatch.Step) {
	d.fixTurns(s)
	d.tellHeld(s.State.Hold)
	for _, f := range s.Effects {
		switch f := f.(type) {
		case csm.PublishTool:
			if f.Of != 0 {
				d.content.callAgain(f.ToolCall, f.Of)
			}
		case csm.ActivateSession:
			d.vocabulary.refresh()
			d.readCommands()
			d.choose()
		case csm.Report:
			d.loop.Post(csm.SessionFailed{Instance: s.State.Instance, Code: csm.CodeInvariantViolation})
		default: // somebody else's
		}
		if d.assistant == nil || !d.toAssistant(f) {
			d.world.Execute(f)
		}
	}
	d.pubMu.Lock()
	d.pub.step(s)
	d.pubMu.Unlock()
	d.obey(s)
	if d.assistant == nil {
		return
	}
	d.assistant.follow(s.State)
	for _, f := range s.Effects {
		switch f := f.(type) {
		case csm.SendCopilot:
			d.assistant.send(f, d.modelOf(s.State))
		case csm.CallTool:
			d.assistant.callTool(f)
		default: // it was carried out above
		}
	}
}

// toAssistant carries out an effect that is the assistant's, and says whether it
// is. Two of them are handed over later.
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

// record notes words in the journal, which keeps them only where that was asked
// for.
func (d *Daemon) record(at time.Duration, kind string, id uint64, text string) {
	if d.cfg.Journal != nil {
		d.cfg.Journal.Words(at, journal.Words{Kind: kind, ID: id, Text: text})
	}
}

func (d *Daemon) level(user, assistant float64) {
	if d.cfg.Journal != nil {
		d.cfg.Journal.Level(d.cfg.Clock.Now(), journal.Level{User: user, Assistant: assistant})
	}
}

// output records a fact about the output, for the journal and for reports.
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

// reason takes the reason that an event was posted with, "" for none. It belongs to
// that event alone: where the core makes nothing of it, nobody is told.
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

// warn tells the user of something that no conversation needs.
func (d *Daemon) warn(code protocol.ErrorCode, detail string) {
	message := d.spec(code).Message(d.locale())
	if detail != "" {
		message += " (" + detail + ")"
	}
	d.pub.notify(protocol.NotifyNotification, protocol.NotificationParams{
		Message: message, Severity: protocol.SeverityWarning, Kind: protocol.NotificationMessage, Code: code,
	})
}

// spoken is what is said aloud of a code.
func (d *Daemon) spoken(code protocol.ErrorCode) string { return d.spec(code).Spoken(d.locale()) }

// failure is a code as clients are told of it, with the reason behind it.
func (d *Daemon) failure(code csm.Code, reason string) protocol.ErrorParams {
	p := d.spec(protocol.ErrorCode(code)).Params(d.locale(), "")
	p.HasHelp = HelpPage(p.Code, d.Settings()) != ""
	if reason != "" {
		p.Message += " (" + reason + ")"
	}
	return p
}

// spokenText is what a segment says aloud.
func (d *Daemon) spokenText(seg speech.Segment) string {
	switch {
	case seg.Notice != "":
		return d.spoken(protocol.ErrorCode(seg.Notice))
	case seg.Ref != 0:
		return d.content.text(seg.Ref)
	case seg.Ask != 0:
		return d.question(seg.Ask)
	default:
		return d.content.spoken(seg.Request, seg.Start)
	}
}

// sourceText is what a segment shows.
func (d *Daemon) sourceText(seg speech.Segment) string {
	if seg.Notice != "" || seg.Ref != 0 || seg.Ask != 0 {
		return d.spokenText(seg)
	}
	return d.content.source(seg.Request, seg.Start, seg.End)
}
