package csmtest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// Pick chooses one of n things; what says of which kind. The choices of a
// conversation are the picker's alone, so that it can be a generator that shrinks,
// an enumeration or a script.
type Pick func(what string, n int) int

// StepFunc is csm.Step, or what a test puts in its place.
type StepFunc func(csm.State, csm.Envelope) (csm.State, []csm.Effect)

// World is a conversation with its environment: it answers effects as its picker
// chooses, makes things up in between, and checks every step. It has no clock and
// no goroutine.
type World struct {
	Pick Pick
	Step StepFunc // csm.Step when nil

	State   csm.State
	At      time.Duration
	Log     []csm.Envelope // what happened so far
	Effects []csm.Effect   // of the last step
	// Injected is the event that had a stale variant which was let in, nil when
	// there was none.
	Injected csm.Event

	owed      []owed
	timers    [csm.NumTimers]csm.TimerState // as the effects started them
	sent      map[string]bool               // what was handed over, by effect and ids
	utterance uint64
	call      csm.Call
	tool      uint64
	sources   int
}

// owed is an answer that is under way.
type owed struct {
	event  csm.Event
	source int // answers of one source keep their order, mostly; 0 is the core itself
	late   bool
}

// NewWorld is a world before the first event.
func NewWorld(pick Pick) *World {
	return &World{Pick: pick, State: csm.Initial(), sent: map[string]bool{}}
}

// Fire has an event happen now. The error says which promise was broken.
func (w *World) Fire(e csm.Event) error {
	env := csm.Envelope{Seq: uint64(len(w.Log)) + 1, At: w.At, Event: e}
	w.Log = append(w.Log, env)
	before := shared(w.State)
	next, fx := w.step(env)
	w.Effects = fx
	if after := shared(w.State); after != before {
		return fmt.Errorf("invariant 0: the step wrote to its input, which had %s and has %s", before, after)
	}
	if err := csm.CheckStep(w.State, env, next, fx); err != nil {
		return err
	}
	if next.Counters != w.State.Counters {
		if err := refused(w.State, next, fx); err != nil {
			return fmt.Errorf("invariant 11: the event was counted as one without a meaning, and %w", err)
		}
	}
	w.State = next
	if t, ok := e.(csm.TimerFired); ok && t.Timer < csm.NumTimers && w.timers[t.Timer].Gen == t.Gen {
		w.timers[t.Timer] = csm.TimerState{}
	}
	for _, f := range fx {
		if err := w.take(f); err != nil {
			return err
		}
	}
	for t := range csm.NumTimers {
		if is := next.Timers[t]; is.Armed && is != w.timers[t] || !is.Armed && w.timers[t].Armed {
			return fmt.Errorf("invariant 8: timer %v is %+v, and in the world %+v", t, is, w.timers[t])
		}
	}
	return nil
}

func (w *World) step(env csm.Envelope) (csm.State, []csm.Effect) {
	if w.Step != nil {
		return w.Step(w.State, env)
	}
	return csm.Step(w.State, env)
}

// Inject tries every stale variant of an event on the present state, which stays.
// The error says which was let in, and what it changed.
func (w *World) Inject(e csm.Event) error {
	for _, v := range StaleVariants(w.State, e) {
		next, fx := w.step(csm.Envelope{Seq: uint64(len(w.Log)) + 1, At: w.At, Event: v.Event})
		if err := refused(w.State, next, fx); err != nil {
			w.Injected = e
			return fmt.Errorf("invariant 11: %s (%s) is stale, and %w", v.Class(), compact(v.Event), err)
		}
	}
	return nil
}

// refused says how a step did more than to count an event and to refuse its call.
func refused(before, after csm.State, fx []csm.Effect) error {
	if err := unchanged(before, after); err != nil {
		return err
	}
	for _, f := range fx {
		if _, ok := f.(csm.Reply); !ok {
			return fmt.Errorf("asks for %s", f.Name())
		}
	}
	return nil
}

// take notes what an effect asks for, and chooses how it ends.
func (w *World) take(f csm.Effect) error {
	switch f := f.(type) {
	case csm.Post:
		e, err := csm.DecodeEvent(f.Event, nil)
		w.owed = append(w.owed, owed{event: e})
		return err
	case csm.StartTimer:
		w.timers[f.Timer] = csm.TimerState{Gen: f.Gen, Armed: true, At: w.At + f.After}
		return nil
	case csm.StopTimer:
		w.timers[f.Timer] = csm.TimerState{}
		return nil
	default:
	}
	if _, waits := answers[f.Name()]; !waits {
		return nil
	}
	if id := f.Name() + " " + compact(f, "History", "Segment", "Deadline", "Summary", "Previous", "More", "Items"); onceOnly[f.Name()] {
		if w.sent[id] {
			return fmt.Errorf("invariant 2: %s was asked for twice", id)
		}
		w.sent[id] = true
	}
	o := Done // mostly, or nothing gets far
	if n := w.Pick("outcome", 24); n >= 20 {
		o = Failed + Outcome(n-20)
	}
	w.sources++
	for _, e := range w.story(f, o) {
		w.owed = append(w.owed, owed{event: e, source: w.sources, late: o == Late})
	}
	return nil
}

// onceOnly are the effects that must not happen twice with the same ids.
var onceOnly = map[string]bool{"SendCopilot": true, "CallTool": true, "SearchTools": true, "Summarise": true, "LoadModel": true}

// story are the events by which an effect is answered, with what happens on the
// way to the terminal.
func (w *World) story(f csm.Effect, o Outcome) []csm.Event {
	out := Answers(f, o, csm.Codes[w.Pick("code", len(csm.Codes))])
	switch f := f.(type) {
	case csm.SendCopilot:
		if o != Lost {
			out = slices.Insert(out, 1, w.speech(f)...)
		}
	case csm.Speak:
		if o == Done || o == Late {
			out = append(out, must("tts.drained", flat(f)))
		}
	case csm.Flush:
		for i, e := range out {
			out[i], _ = with(e, "Seq", uint64(w.State.IDs.Segment))
		}
	default:
	}
	return out
}

// speech is what an answer consists of: up to two segments, and a tool call where
// there are any.
func (w *World) speech(f csm.SendCopilot) []csm.Event {
	var out []csm.Event
	for n := range w.Pick("segments", 3) {
		n += 3 * f.Round // characters are counted over all rounds
		fields := flat(f)
		fields["Start"], fields["End"], fields["Chars"] = 10*n, 10*n+10, 10*n+10
		out = append(out, must("copilot.delta", fields), must("copilot.segment", fields))
	}
	for w.State.Current.Config != nil && w.State.Current.Config.Tools && w.Pick("tool", 2) == 1 {
		w.tool++
		fields := flat(f)
		fields["ToolCall"], fields["Destructive"] = w.tool, w.Pick("destructive", 3) == 2
		out = append(out, must("copilot.toolCall", fields))
	}
	return out
}

// Next chooses what happens next: an answer that is under way, mostly the oldest,
// a deadline, something of the user's, or something made up.
func (w *World) Next() csm.Event {
	if p := w.State.Phase(); (p == csm.PhaseIdle || p == csm.PhaseFaulted) && len(w.owed) == 0 && w.Pick("start", 8) > 0 {
		return csm.UserStart{}
	}
	kind := w.Pick("what", 100)
	switch {
	case len(w.owed) > 0 && kind < 55:
		i := w.choose()
		e := w.owed[i].event
		if w.Pick("repeat", 12) < 11 {
			w.owed = slices.Delete(slices.Clone(w.owed), i, i+1)
		}
		return e
	case kind < 59:
		return w.deadline()
	case kind < 92:
		return w.voice()
	default:
		k := csm.Kind(w.Pick("kind", int(csm.NumKinds)))
		if k == csm.KindFatal || k == csm.KindReset { // the core's own, which nobody else can post
			k = csm.KindUserInterrupt
		}
		return w.Invent(k)
	}
}

// choose is the answer that comes next: the first one of some source.
func (w *World) choose() int {
	var first []int
	for i, o := range w.owed {
		if !slices.ContainsFunc(w.owed[:i], func(p owed) bool { return p.source == o.source }) {
			first = append(first, i)
		}
	}
	i := first[w.Pick("source", len(first))]
	switch {
	case w.owed[i].late && w.Pick("late", 4) < 3:
		return 0
	case w.Pick("order", 16) == 15:
		return w.Pick("owed", len(w.owed))
	default:
		return i
	}
}

// What the user does, what holds a conversation still, and what helps it up again.
var (
	usersOwn = []string{
		"vad.start", "vad.start", "vad.end", "stt.final", "stt.final", "vad.end", "stt.failed", "user.text", "user.commit", "user.retry",
		"user.speak", "user.playback", "user.interrupt", "stt.partial", "user.approve", "user.approve", "vad.pause", "vad.resume", "user.model",
		"session.expiring",
	}
	decides    = []string{"vad.start", "vad.start", "vad.end", "vad.end", "stt.final", "stt.final", "user.approve", "stt.failed", "user.commit", "user.text", "suspend"}
	holdsStill = []string{"suspend", "device.lost", "session.renewal", "conn.lost"}
	helpsUp    = []string{"resume", "device.restored", "session.renewed", "resume", "device.restored", "session.renewed", "suspend", "vad.start", "vad.end", "stt.final", "stt.failed", "conn.lost"}
)

// deadline is one that runs, if any does.
func (w *World) deadline() csm.Event {
	var armed []csm.Timer
	for t := range csm.NumTimers {
		if w.timers[t].Armed {
			armed = append(armed, t)
		}
	}
	if len(armed) == 0 {
		return csm.TimerFired{}
	}
	t := armed[w.Pick("timer", len(armed))]
	return csm.TimerFired{Timer: t, Gen: w.timers[t].Gen}
}

// voice is something of the user's, or of what a conversation is held still by:
// what needs more than chance to make sense.
func (w *World) voice() csm.Event {
	kinds := usersOwn
	_, asked := w.State.Copilot.(copilot.WaitingForApproval)
	_, held := w.State.Speech.(speech.Held)
	_, calling := w.State.Copilot.(copilot.CallingTool)
	switch {
	case calling && w.Pick("calling", 6) == 5:
		kinds = []string{"user.stop", "user.interrupt", "suspend"}
	case (asked || held) && w.Pick("answer", 2) == 1:
		kinds = decides
	case w.State.Retry.Utterance != 0 && w.Pick("again", 6) == 5:
		kinds = []string{"user.retry", "suspend", "resume"}
	case w.State.Phase() == csm.PhaseSuspended:
		kinds = helpsUp
	case w.Pick("trouble", 8) == 7:
		kinds = holdsStill
	}
	k, _ := csm.KindByName(kinds[w.Pick("voice", len(kinds))])
	return w.Invent(k)
}

// Invent makes up an event of a kind, with ids that are mostly live. It fills the
// fields by their names and types, so that it knows every kind there will be.
func (w *World) Invent(k csm.Kind) csm.Event {
	zero, err := csm.DecodeEvent(k, nil)
	if err != nil {
		panic(fmt.Sprintf("csmtest: kind %d: %v", k, err))
	}
	v := reflect.New(reflect.TypeOf(zero)).Elem()
	live := LiveIDs(w.State)
	for i := range v.NumField() {
		w.fill(k, v.Type().Field(i).Name, v.Field(i), live)
	}
	e := v.Interface().(csm.Event)
	if t, ok := e.(csm.TimerFired); ok {
		e = csm.TimerFired{Timer: t.Timer, Gen: w.State.Timers[t.Timer].Gen}
	}
	return e
}

// config is a configuration in which something happens: tools, any mode of turns,
// and a history that is soon too long.
func (w *World) config() csm.Config {
	c := csm.DefaultConfig()
	c.Tools = w.Pick("tools", 3) > 0
	c.Turns = turn.Mode(w.Pick("turns", 3))
	c.HistoryMax, c.HistoryKeep, c.RoundsMax, c.QueueMax = 3+w.Pick("history", 4), 2, 2, 1+w.Pick("queue", 3)
	return c
}

func (w *World) fill(k csm.Kind, name string, f reflect.Value, live map[string][]uint64) {
	small := func(n int) uint64 { return uint64(w.Pick(name, n)) }
	switch {
	case name == "Call":
		w.call++
		f.SetUint(uint64(w.call) * small(2))
	case name == "Timer":
		f.SetUint(small(int(csm.NumTimers)))
	case name == "Utterance" && (k == csm.KindSpeechStarted || k == csm.KindUserText):
		w.utterance++
		f.SetUint(w.utterance)
	case name == "ToolCall" && (k == csm.KindUserRetry || k == csm.KindCopilotToolCall):
		w.tool++
		f.SetUint(w.tool)
	case slices.Contains(idFields, name):
		ids := slices.Clone(live[name])
		switch last := given(w.State, name); {
		case name == "Utterance":
			ids = append(ids, w.utterance)
		case last != 0 || len(ids) == 0:
			ids = append(ids, last)
		}
		n := ids[w.Pick(name, len(ids))]
		if off := small(12); off < 2 && n > off { // sometimes one that is over
			n -= off
		}
		setNumber(f, n)
	case f.Type() == reflect.TypeFor[csm.Code]():
		if n := small(len(csm.Codes) + 8); n < uint64(len(csm.Codes)) {
			f.SetString(string(csm.Codes[n]))
		}
	case f.Type() == reflect.TypeFor[csm.Config]():
		f.Set(reflect.ValueOf(w.config()))
	case f.Type() == reflect.TypeFor[csm.Class]():
		if w.State.Approval.State != 0 && small(2) == 1 {
			f.SetUint(uint64([]csm.Class{csm.Yes, csm.No, csm.No, csm.Stop}[small(4)]))
			return
		}
		f.SetUint(small(int(csm.NumClasses)))
	case name == "Stage":
		f.SetUint(small(int(copilot.StageCall) + 1))
	case f.Type() == reflect.TypeFor[csm.SuspendReason]():
		f.SetUint(1 << small(6))
	case name == "Start" || name == "End":
		end := uint64(0)
		if l, ok := speech.LineOf(w.State.Speech); ok && len(l.Segments) > 0 {
			end = uint64(l.Segments[len(l.Segments)-1].End)
		}
		if name == "End" {
			setNumber(f, end+10)
		} else {
			setNumber(f, end)
		}
	case f.Kind() == reflect.Bool:
		f.SetBool(small(2) == 1)
	case f.CanUint() || f.CanInt():
		setNumber(f, small(4))
	}
}

// Begin has what happened elsewhere happen here first, so that a walk goes on from
// there. What the world owes for it is taken as given.
func (w *World) Begin(log []csm.Envelope) error {
	for _, env := range log {
		w.At = max(w.At, env.At)
		if i := slices.IndexFunc(w.owed, func(o owed) bool { return o.event == env.Event }); i >= 0 {
			w.owed = slices.Delete(slices.Clone(w.owed), i, i+1)
		}
		if err := w.Fire(env.Event); err != nil {
			return err
		}
		v := reflect.ValueOf(env.Event)
		for name, last := range map[string]*uint64{"Utterance": &w.utterance, "ToolCall": &w.tool} {
			if f := v.FieldByName(name); f.IsValid() {
				*last = max(*last, f.Uint())
			}
		}
	}
	return nil
}

// Walk has n things happen, and tries stale events in between.
func (w *World) Walk(n int) error {
	if len(w.Log) == 0 && w.Pick("configure", 4) > 0 {
		if err := w.Fire(csm.Configure{Config: w.config()}); err != nil {
			return err
		}
	}
	for range n {
		if k := w.Pick("stale", 3*int(csm.NumKinds)); k < int(csm.NumKinds) {
			if err := w.Inject(w.Invent(csm.Kind(k))); err != nil {
				return err
			}
		}
		w.At += time.Duration(w.Pick("ms", 400)) * time.Millisecond
		if err := w.Fire(w.Next()); err != nil {
			return err
		}
	}
	return nil
}

// Rest answers everything that is owed, lets deadlines run out, and expects the
// conversation to come to rest: idle, or listening with nothing under way.
func (w *World) Rest() error {
	for range 600 {
		e, done, err := w.settle()
		if done || err != nil {
			return err
		}
		if err := w.Fire(e); err != nil {
			return err
		}
	}
	return fmt.Errorf("no rest: the conversation goes on for ever: %s", describe(w.State))
}

func (w *World) settle() (e csm.Event, done bool, err error) {
	if len(w.owed) > 0 {
		e, w.owed = w.owed[0].event, w.owed[1:]
		return e, false, nil
	}
	if w.State.UserPaused() {
		return csm.Resume{Reason: csm.SuspendUser}, false, nil // a pause by the user lasts until the user ends it
	}
	switch c := w.State.Conv.(type) {
	case csm.Idle:
		if !c.Starting {
			return nil, true, nil
		}
	case csm.Listening:
		cur := w.State.Current
		if cur.ID == 0 && len(w.State.Queue) == 0 {
			return nil, true, nil
		}
		if cur.Utterance != 0 && cur.Request == 0 && cur.Failed == "" && w.State.Turn == (turn.Idle{}) {
			return csm.UserCommit{}, false, nil // what is to be sent by hand waits for the user's
		}
	case csm.Speaking:
		if w.State.VoicePaused {
			return csm.UserPlayback{}, false, nil // a pause of the user's lasts until the user ends it
		}
	default:
	}
	due, ok := csm.NumTimers, false
	for t := range csm.NumTimers {
		if w.timers[t].Armed && (!ok || w.timers[t].At < w.timers[due].At) {
			due, ok = t, true
		}
	}
	if !ok {
		return nil, false, fmt.Errorf("no rest: nothing is owed, no deadline runs, and the conversation stands in %v: %s", w.State.Phase(), describe(w.State))
	}
	w.At = max(w.At, w.timers[due].At)
	return csm.TimerFired{Timer: due, Gen: w.timers[due].Gen}, false, nil
}

// shared is what of a state lies in memory that another state may share: the
// contents of its slices.
func shared(s csm.State) string {
	var b strings.Builder
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface, reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Slice, reflect.Map:
			if v.Len() > 0 {
				fmt.Fprintf(&b, "%+v", v.Interface())
			}
		}
	}
	walk(reflect.ValueOf(s))
	return b.String()
}

func describe(s csm.State) string {
	b, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b))
}
