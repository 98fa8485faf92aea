package daemon

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// voiceCommands handles the user's spoken or typed commands to the conversation itself.
// To the core, a command is words that stop the assistant, or words that leave the
// floor to it. This type runs the rest of the command once the core has taken the
// words.
type voiceCommands struct {
	grammar atomic.Pointer[spoken.Grammar]
	problem atomic.Bool // a problem with a remedy is shown
	skips   atomic.Bool // code is skipped in this conversation

	mu     sync.Mutex
	wishes map[uint64]wish // keyed by the utterance, until its transcript is taken
	editor chan struct{}   // closed when the editor has answered the last command; nil before the first

	// Used by the loop only.
	next   func()     // action to run when nobody speaks
	before turn.State // of the user's turn after the last step

	agent agentChoice
	asked atomic.Uint64 // the call that was asked about last

	sounding atomic.Pointer[speech.Segment] // current or last spoken segment

	level  atomic.Int32 // loudness, in steps
	speed  atomic.Int32 // in percent; 0 uses the settings
	files  sync.Mutex   // held while reading the user's files, one read at a time
	warned string       // last warning about them; guarded by files
}

// wish is the action of an utterance: immediate, or deferred until nobody speaks.
type wish struct {
	do    func()
	waits bool
}

// Rater is a World whose voice has an adjustable speed per conversation; 1 is normal.
type Rater interface{ SetRate(rate float64) }

// Amplifier is a World whose voice has an adjustable volume per conversation; 1 is
// normal.
type Amplifier interface{ SetVolume(volume float64) }

// VoiceSwitcher is a World whose voice has several speakers.
type VoiceSwitcher interface {
	// SwitchVoice switches to the speaker by places after the current one, from the next
	// sentence until the end of the conversation; by is 1 or -1, and the list is a circle. It
	// returns the value for agentvoice.voice.name and the name to say, both "" if the voice
	// cannot be switched.
	SwitchVoice(by int) (name, spoken string)
}

func (d *Daemon) grammar() *spoken.Grammar { return d.voice.grammar.Load() }

// readCommands rereads the user's phrases in the background, because they may have
// changed since the last conversation. Phrases that have no effect are reported once.
func (d *Daemon) readCommands() {
	d.content.askAsBefore()
	d.voice.mu.Lock()
	d.voice.agent = agentChoice{}
	d.voice.mu.Unlock()
	d.voice.skips.Store(false)
	d.voice.level.Store(0)
	d.voice.speed.Store(0)
	if len(d.cfg.CommandFiles) == 0 {
		return
	}
	go func() {
		v := &d.voice
		v.files.Lock()
		defer v.files.Unlock()
		g := ReadGrammar(d.cfg.CommandFiles)
		v.grammar.Store(g)
		var problems []string
		for _, p := range g.Problems() {
			problems = append(problems, p.String())
		}
		if now := strings.Join(problems, "; "); now != v.warned {
			v.warned = now
			if now != "" {
				d.pub.notify(protocol.NotifyNotification, protocol.NotificationParams{
					Message: fmt.Sprintf(voiceWords[d.locale()].unused, now), Severity: protocol.SeverityWarning, Kind: protocol.NotificationMessage,
				})
			}
		}
	}()
}

// maxCommandFile limits a user's file of phrases, in bytes.
const maxCommandFile = 256 << 10

// ReadGrammar returns the grammar with the phrases of a user's files, which need not
// exist.
func ReadGrammar(files []string) *spoken.Grammar {
	var texts []string
	for _, name := range files {
		if text, err := workspace.ReadFile(name, maxCommandFile); err == nil {
			texts = append(texts, string(text))
		}
	}
	return spoken.NewGrammar(texts...)
}

// takesNoFloor reports whether a command leaves the floor to the assistant.
func (d *Daemon) takesNoFloor(c spoken.Command) bool {
	if _, quiet := d.quiet(spoken.Utterance{Command: c, Number: 1}); quiet {
		return true
	}
	if c.Agent() {
		return d.agentAction(c, "") != nil
	}
	return c.Editor() && d.cfg.Editor != nil
}

// quiet returns the immediate action of a command that leaves the floor to the
// assistant.
func (d *Daemon) quiet(u spoken.Utterance) (do func(), ok bool) {
	switch u.Command {
	case spoken.CommandSlower:
		return func() { d.changeSpeed(1 / speedStep) }, true
	case spoken.CommandFaster:
		return func() { d.changeSpeed(speedStep) }, true
	case spoken.CommandNormalSpeed:
		return func() { d.setSpeed(d.settings().Voice.Rate) }, true
	case spoken.CommandSpeed:
		return func() {
			if u.Number < minSpeed || u.Number > maxSpeed {
				d.say(voiceWords[d.locale()].speeds)
				return
			}
			d.setSpeed(u.Number)
		}, true
	case spoken.CommandLouder:
		return func() { d.changeVolume(1) }, true
	case spoken.CommandQuieter:
		return func() { d.changeVolume(-1) }, true
	case spoken.CommandNextVoice:
		return func() { d.switchVoice(1) }, true
	case spoken.CommandPreviousVoice:
		return func() { d.switchVoice(-1) }, true
	case spoken.CommandMute:
		return func() { d.Mute(protocol.MuteParams{Muted: true, By: protocol.MutedByUser}) }, true
	case spoken.CommandUnmute:
		return func() { d.Mute(protocol.MuteParams{}) }, true
	case spoken.CommandSleep:
		return func() {
			if !d.settings().Wake.Enabled {
				d.say(voiceWords[d.locale()].noWake)
				return
			}
			d.loop.Post(csm.UserStop{})
		}, true
	case spoken.CommandEnd:
		return func() { d.loop.Post(csm.UserStop{}) }, true
	}
	return nil, false
}

// after returns the action of a command that stops the assistant, to be run as soon as
// nobody speaks. ok is false if the command does not apply.
func (d *Daemon) after(u spoken.Utterance) (do func(), ok bool) {
	speak := func(text string) (func(), bool) {
		return func() { _ = d.Speak(text, func(csm.Reply, protocol.Snapshot) {}) }, text != ""
	}
	switch u.Command {
	case spoken.CommandRepeat, spoken.CommandFromStart:
		return speak(d.content.lastSpoken())
	case spoken.CommandRepeatSentence:
		return speak(d.lastSentence())
	case spoken.CommandReadCode:
		return speak(d.lastCode())
	case spoken.CommandTryAgain:
		return func() { d.Retry(copilot.StageNone, func(csm.Reply, protocol.Snapshot) {}) }, d.loop.State().Retry.Utterance != 0
	}
	return nil, false
}

// commanded returns the core's class for words that are a command to the conversation,
// and queues their action until the core has taken them. A command that does not apply
// is content, and instead is sent in its place.
func (d *Daemon) commanded(q question, utterance uint64, text string) (class csm.Class, instead string) {
	u := d.grammar().Classify(text)
	if u.Class != spoken.UtteranceCommand && u.Class != spoken.UtteranceContent {
		return csm.Content, ""
	}
	if do, ok := d.quiet(u); ok {
		d.wish(utterance, wish{do: do})
		return csm.Backchannel, ""
	}
	if do := d.agentCommand(u, text); do != nil {
		d.wish(utterance, wish{do: do})
		return d.beside(), ""
	}
	if u.Command == spoken.CommandUndo && q.open { // "take that back" is said of the yes
		return csm.No, ""
	}
	if p, ok := d.editorCommand(u, text); ok {
		d.wish(utterance, wish{do: func() { d.askEditor(p, func() { d.submitAgain(utterance, text) }) }})
		return d.beside(), ""
	}
	switch u.Command {
	case spoken.CommandSkip, spoken.CommandScratch:
		if !q.open {
			return csm.Stop, ""
		}
	case spoken.CommandSkipCode:
		return d.skipCode(utterance), ""
	case spoken.CommandHelp, spoken.CommandWhatDidYouDo:
		tell := d.help()
		if u.Command == spoken.CommandWhatDidYouDo {
			tell = d.deeds()
		}
		if !d.takesCommands() {
			d.wish(utterance, wish{do: func() { d.say(tell) }})
			return csm.Backchannel, ""
		}
		d.wish(utterance, wish{do: func() { _ = d.Speak(tell, func(csm.Reply, protocol.Snapshot) {}) }, waits: true})
		return csm.Stop, ""
	case spoken.CommandRepeat, spoken.CommandRepeatSentence, spoken.CommandFromStart:
		if w, asked := d.loop.State().Copilot.(copilot.WaitingForApproval); asked { // the question stays open
			d.wish(utterance, wish{do: func() { d.askAgain(w.Calls[0].ID) }})
			return d.beside(), ""
		}
	case spoken.CommandReadChange, spoken.CommandShowChange:
		if w, asked := d.loop.State().Copilot.(copilot.WaitingForApproval); asked { // the question stays open
			return d.aboutChange(utterance, w.Calls[0].ID, u.Command == spoken.CommandShowChange), ""
		}
	case spoken.CommandWhy:
		if w, asked := d.loop.State().Copilot.(copilot.WaitingForApproval); asked { // the question stays open
			d.wish(utterance, wish{do: func() { d.say(d.reasonOf(w.Calls[0].ID)) }})
			return d.beside(), ""
		}
	case spoken.CommandAlwaysAsk:
		if tool := d.askedAbout(); tool != "" {
			d.wish(utterance, wish{do: func() { d.alwaysAsk(tool) }})
			return d.beside(), ""
		}
	case spoken.CommandUndoCorrection:
		if q.open {
			break
		}
		if heard, sent, ok := d.undoCorrection(d.content.lastCorrected()); sent {
			return csm.Content, d.asHeard(heard)
		} else if ok {
			d.wish(utterance, wish{do: func() { d.sayAloud(voiceWords[d.locale()].uncorrected) }})
			return csm.Backchannel, ""
		}
	case spoken.CommandSummarise:
		if d.content.lastSpoken() != "" && !q.open {
			return csm.Content, voiceWords[d.locale()].summarise
		}
	}
	if do, ok := d.after(u); ok && d.takesCommands() {
		d.wish(utterance, wish{do: do, waits: true})
		return csm.Stop, ""
	}
	return csm.Content, ""
}

// beside returns the class of a command that leaves the floor and an open question to the assistant.
// After a yes it takes that back: who wants to see the change, or does something else, is not sure yet.
func (d *Daemon) beside() csm.Class {
	if d.loop.State().Deciding() {
		return csm.Pause
	}
	return csm.Backchannel
}

// asking reports whether a question about a tool is open, so that an utterance is its
// answer.
func (d *Daemon) asking() bool {
	_, asked := d.loop.State().Copilot.(copilot.WaitingForApproval)
	return asked
}

func (d *Daemon) wish(utterance uint64, w wish) {
	d.voice.mu.Lock()
	defer d.voice.mu.Unlock()
	if d.voice.wishes == nil {
		d.voice.wishes = map[uint64]wish{}
	}
	d.voice.wishes[utterance] = w
}

// obey runs the action of a step's utterance, immediately or as soon as nobody speaks.
// A further utterance cancels the deferred action.
func (d *Daemon) obey(s dispatch.Step) {
	v := &d.voice
	if line, open := speech.LineOf(s.State.Speech); open && line.Played < len(line.Segments) && speech.Audible(s.State.Speech) {
		if now, was := line.Segments[line.Played], v.sounding.Load(); was == nil || *was != now {
			v.sounding.Store(&now)
		}
	}
	switch e := s.Envelope.Event.(type) {
	case csm.Final:
		if u, pending := turn.Find(v.before, e.Utterance); pending && !u.Dropped {
			d.take(e.Utterance)
		} else { // an interrupt dropped the words, or they were given up
			d.forgetWish(e.Utterance)
		}
	case csm.SpeechStarted:
		v.next = nil
	case csm.UserInterrupt:
		d.take(typedWish)
	}
	v.before = s.State.Turn
	if w, asked := s.State.Copilot.(copilot.WaitingForApproval); asked {
		v.asked.Store(w.Calls[0].ID)
	}
	if _, listens := s.State.Conv.(csm.Listening); v.next != nil && listens && s.State.Current.ID == 0 {
		do := v.next
		v.next = nil
		do()
	}
}

// forgetWish drops the action of an utterance, and reports whether there was one.
func (d *Daemon) forgetWish(utterance uint64) bool {
	d.voice.mu.Lock()
	defer d.voice.mu.Unlock()
	_, wished := d.voice.wishes[utterance]
	delete(d.voice.wishes, utterance)
	return wished
}

// typedWish is the key of a typed command that first stops the assistant; it has no
// utterance.
const typedWish = 0

func (d *Daemon) take(utterance uint64) {
	v := &d.voice
	v.mu.Lock()
	w, asked := v.wishes[utterance]
	delete(v.wishes, utterance)
	v.mu.Unlock()
	switch {
	case !asked:
	case w.waits:
		v.next = w.do
	default:
		w.do()
	}
}

// say tells the user something outside of a turn, aloud and in writing.
func (d *Daemon) say(text string) {
	d.show(text)
	d.sayAloud(text)
}

// show notifies the client of a text.
func (d *Daemon) show(text string) {
	d.pub.notify(protocol.NotifyNotification, protocol.NotificationParams{
		Message: text, Severity: protocol.SeverityInfo, Kind: protocol.NotificationMessage,
	})
}

// sayAloud speaks a text outside of a turn.
func (d *Daemon) sayAloud(text string) {
	if voice, ok := d.world.(Sayer); ok {
		voice.Say(text)
	}
}

// Limits of the speech rate, and the step per command.
const (
	minSpeed, maxSpeed = 0.5, 3.0
	speedStep          = 1.25
)

func (d *Daemon) changeSpeed(by float64) {
	now := float64(d.voice.speed.Load()) / 100
	if now == 0 {
		now = d.settings().Voice.Rate
	}
	d.setSpeed(now * by)
}

func (d *Daemon) setSpeed(speed float64) {
	speed = min(max(speed, minSpeed), maxSpeed)
	d.voice.speed.Store(int32(speed*100 + 0.5))
	if voice, ok := d.world.(Rater); ok {
		voice.SetRate(speed)
	}
}

// Volume changes in steps of 3 dB, up to 12 dB in either direction.
const (
	volumeStep = 1.4125
	maxLevel   = 4
)

func (d *Daemon) changeVolume(by int32) {
	level := min(max(d.voice.level.Load()+by, -maxLevel), maxLevel)
	d.voice.level.Store(level)
	volume := 1.0
	for range level {
		volume *= volumeStep
	}
	for range -level {
		volume /= volumeStep
	}
	if voice, ok := d.world.(Amplifier); ok {
		voice.SetVolume(volume)
	}
}

// switchVoice switches to the next or the previous speaker and has it say its name. The choice
// is kept in the settings: by the editor, and here for the next conversation.
func (d *Daemon) switchVoice(by int) {
	var name, says string
	if voice, ok := d.world.(VoiceSwitcher); ok {
		name, says = voice.SwitchVoice(by)
	}
	words := voiceWords[d.locale()]
	if name == "" {
		d.say(words.oneVoice)
		return
	}
	d.mu.Lock()
	d.set.Voice.Name = name
	d.mu.Unlock()
	d.say(fmt.Sprintf(words.newVoice, says))
	if d.cfg.Editor != nil {
		d.askEditor(protocol.EditorCommandParams{Command: protocol.EditorKeepVoice, Names: []string{name}}, func() {})
	}
}

// lastSentence returns the last heard piece of the latest answer.
func (d *Daemon) lastSentence() string {
	pieces := d.content.lastPieces()
	if len(pieces) == 0 {
		return ""
	}
	return pieces[d.heardLast(pieces)].text
}

// heardLast returns the index of the piece being spoken, or spoken last.
func (d *Daemon) heardLast(pieces []said) int {
	if seg := d.voice.sounding.Load(); seg != nil {
		if at := slices.IndexFunc(pieces, func(p said) bool { return p.start == seg.Start && d.content.spoken(seg.Request, seg.Start) == p.text }); at >= 0 {
			return at
		}
	}
	return len(pieces) - 1
}

// lastCode returns the last mentioned code of the latest answer in spoken form, or "".
func (d *Daemon) lastCode() string {
	pieces := d.content.lastPieces()
	if len(pieces) == 0 {
		return ""
	}
	at := d.heardLast(pieces)
	for ; at >= 0 && pieces[at].class != spoken.ClassCode; at-- {
	}
	if at < 0 { // it has not been reached yet
		at = slices.IndexFunc(pieces, func(p said) bool { return p.class == spoken.ClassCode })
	}
	if at < 0 {
		return ""
	}
	answer := []rune(d.content.lastAnswer())
	source := string(answer[pieces[at].start:min(pieces[at].end, len(answer))])
	how := d.spokenAs()
	how.Code = spoken.ReadCodeFull
	c := spoken.New(how)
	var read []string
	for _, seg := range append(c.Push(source), c.Flush()...) {
		if seg.Class == spoken.ClassCode {
			read = append(read, seg.Text)
		}
	}
	return strings.Join(read, " ")
}

// skipCode omits code from now on. If code is being spoken and the answer is complete,
// playback continues after the code.
func (d *Daemon) skipCode(utterance uint64) csm.Class {
	pieces := d.content.lastPieces()
	st := d.loop.State()
	_, busy := copilot.LiveOf(st.Copilot)
	line, open := speech.LineOf(st.Speech)
	if open && line.Played < len(line.Segments) && !busy && len(pieces) > 0 && d.takesCommands() {
		if at := d.heardLast(pieces); pieces[at].class == spoken.ClassCode {
			rest := joined(slices.DeleteFunc(slices.Clone(pieces[at:]), func(p said) bool { return p.class == spoken.ClassCode }))
			d.wish(utterance, wish{waits: true, do: func() {
				d.voice.skips.Store(true)
				_ = d.Speak(rest, func(csm.Reply, protocol.Snapshot) {})
			}})
			return csm.Stop
		}
	}
	d.wish(utterance, wish{do: func() { d.voice.skips.Store(true) }})
	return csm.Backchannel
}
