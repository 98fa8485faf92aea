package csmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// Pick chooses one of n things of the kind what. All choices of a conversation are the
// picker's, so it can be a shrinking generator, an enumeration or a script.
type Pick func(what string, n int) int

// StepFunc is csm.Step or a test's replacement.
type StepFunc func(csm.State, csm.Envelope) (csm.State, []csm.Effect)

// World is a conversation in its environment. Its picker chooses among the moves of
// csm/world and invented events, and every step is checked. It has no clock and no
// goroutine.
type World struct {
	world.Place
	Pick Pick
	Step StepFunc // csm.Step if nil

	At      time.Duration
	Log     []csm.Envelope // events so far
	Effects []csm.Effect   // effects of the last step
	// Injected is the event whose stale variant was accepted, nil if none was.
	Injected csm.Event

	timers [csm.NumTimers]csm.TimerState // as started by the effects
	sent   map[string]bool               // requests that were sent, by effect and ids
	call   csm.Call
	madeUp bool // the handlers violated their contract, which voids the core's
}

// limits are the limits of walks, larger than those of an exploration.
var limits = world.Limits{
	Groups: ^(world.Configuring | world.Quiet), Pending: 2, Segments: 2, Attempts: 2, Calls: 2, Drafts: 2,
}

// NewWorld returns a world before the first event.
func NewWorld(pick Pick) *World {
	return &World{Place: world.Place{State: csm.Initial(), Limits: &limits}, Pick: pick, sent: map[string]bool{}}
}

// Fire steps an event. The error is the violated invariant.
func (w *World) Fire(e csm.Event) error {
	m, lawful, known := w.MoveOf(e, alike)
	return w.happen(m, lawful, known)
}

// happen applies a move: one that the handlers' contract allows (lawful), a report about
// a request (known), or neither.
func (w *World) happen(m world.Move, lawful, known bool) error {
	e := csm.Envelope{Seq: uint64(len(w.Log)) + 1, At: w.At, Event: m.Event}
	w.Log = append(w.Log, e)
	before := shared(w.State)
	next, fx := w.step(e)
	w.Effects = fx
	if after := shared(w.State); after != before {
		return fmt.Errorf("invariant 0: the step modified its input from %s to %s", before, after)
	}
	if err := csm.CheckStep(w.State, e, next, fx); err != nil {
		return err
	}
	ignored := next.Counters != w.State.Counters
	if ignored {
		if err := refused(w.State, next, fx); err != nil {
			return fmt.Errorf("invariant 11: the event was counted as meaningless, but %w", err)
		}
	}
	if known || !ignored {
		w.Env.Apply(m)
	}
	w.madeUp = w.madeUp || !lawful && !ignored
	w.State = next
	if err := w.Env.Take(&w.State, fx); err != nil && !w.madeUp {
		if !errors.Is(err, world.ErrFull) {
			return err
		}
		w.madeUp = true
	}
	if err := w.onceOnly(fx); err != nil {
		return err
	}
	return w.timed(m.Event, fx)
}

// onceOnly records requests, which must not repeat with the same ids.
func (w *World) onceOnly(fx []csm.Effect) error {
	for _, f := range fx {
		switch f.(type) {
		case csm.SendCopilot, csm.CallTool, csm.SearchTools, csm.Summarise, csm.LoadModel:
			id := csm.NameOf(f) + " " + compact(f, "History", "Segment", "Deadline", "Summary", "Previous", "More", "Items")
			if w.sent[id] {
				return fmt.Errorf("invariant 2: %s was requested twice", id)
			}
			w.sent[id] = true
		default:
		}
	}
	return nil
}

// timed tracks the deadlines that effects start and stop, and reports where the core's
// differ.
func (w *World) timed(e csm.Event, fx []csm.Effect) error {
	if t, ok := e.(csm.TimerFired); ok && t.Timer < csm.NumTimers && w.timers[t.Timer].Gen == t.Gen {
		w.timers[t.Timer] = csm.TimerState{}
	}
	for _, f := range fx {
		switch f := f.(type) {
		case csm.StartTimer:
			w.timers[f.Timer] = csm.TimerState{Gen: f.Gen, Armed: true, At: w.At + f.After}
		case csm.StopTimer:
			w.timers[f.Timer] = csm.TimerState{}
		default:
		}
	}
	for t := range csm.NumTimers {
		if is := w.State.Timers[t]; is.Armed && is != w.timers[t] || !is.Armed && w.timers[t].Armed {
			return fmt.Errorf("invariant 8: timer %v is %+v in the core, but %+v in the world", t, is, w.timers[t])
		}
	}
	return nil
}

// alike says whether two events are equal except for content.
func alike(a, b csm.Event) bool {
	if csm.KindOf(a) != csm.KindOf(b) {
		return false
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for _, field := range idFields {
		if _, not := notStale[csm.KindOf(a).String()+"."+field]; not {
			continue
		}
		if f := x.FieldByName(field); f.IsValid() && !f.Equal(y.FieldByName(field)) {
			return false
		}
	}
	return true
}

func (w *World) step(env csm.Envelope) (csm.State, []csm.Effect) {
	if w.Step != nil {
		return w.Step(w.State, env)
	}
	return csm.Step(w.State, env)
}

// Inject tries every stale variant of an event in the current state, which does not
// change. The error names the accepted variant and its effect.
func (w *World) Inject(e csm.Event) error {
	for _, v := range StaleVariants(w.State, e) {
		next, fx := w.step(csm.Envelope{Seq: uint64(len(w.Log)) + 1, At: w.At, Event: v.Event})
		if err := refused(w.State, next, fx); err != nil {
			w.Injected = e
			return fmt.Errorf("invariant 11: %s (%s) is stale, but %w", v.Class(), compact(v.Event), err)
		}
	}
	return nil
}

// refused returns an error if a step did more than count the event and reject its call.
func refused(before, after csm.State, fx []csm.Effect) error {
	if err := unchanged(before, after); err != nil {
		return err
	}
	for _, f := range fx {
		if _, ok := f.(csm.Reply); !ok {
			return fmt.Errorf("emitted %s", csm.NameOf(f))
		}
	}
	return nil
}

// Next chooses and applies the next move, mostly an answer that is owed.
func (w *World) Next() error {
	if w.Pick("what", 12) == 11 {
		k := csm.Kind(w.Pick("kind", int(csm.NumKinds)))
		if k == csm.KindFatal || k == csm.KindReset { // only the core posts these
			k = csm.KindUserInterrupt
		}
		return w.Fire(w.Invent(k))
	}
	m := w.Any(w.Pick)
	if err := w.happen(m, true, true); err != nil {
		return err
	}
	if m.Class == world.Answer && w.Pick("repeat", 12) == 11 {
		return w.Fire(m.Event)
	}
	return nil
}

// Invent creates an event of a kind with mostly live ids. It fills fields by name and
// type, so that new kinds need no code here.
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

// config returns a configuration in which much can happen: tools, any turn mode, and a
// short history limit.
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
		f.SetUint(w.Env.Next + 1)
	case name == "ToolCall" && (k == csm.KindUserRetry || k == csm.KindCopilotToolCall):
		f.SetUint(w.Env.Next + 1)
	case slices.Contains(idFields, name):
		ids := slices.Clone(live[name])
		switch last := given(w.State, name); {
		case name == "Utterance":
			ids = append(ids, w.Env.Next)
		case last != 0 || len(ids) == 0:
			ids = append(ids, last)
		}
		n := ids[w.Pick(name, len(ids))]
		if off := small(12); off < 2 && n > off { // sometimes one that has ended
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
		f.SetUint(1 << small(7))
	case f.Type() == reflect.TypeFor[csm.Device]():
		f.SetUint(small(int(csm.Speaker) + 1))
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

// Begin replays events of another world, so that a walk continues from there.
func (w *World) Begin(log []csm.Envelope) error {
	for _, env := range log {
		w.At = max(w.At, env.At)
		if err := w.Fire(env.Event); err != nil {
			return err
		}
	}
	return nil
}

// Walk makes n moves and tries stale events in between.
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
		if err := w.Next(); err != nil {
			return err
		}
	}
	return nil
}

// Rest answers everything that is owed, lets deadlines expire, and expects the
// conversation to come to rest: idle, or listening with nothing pending.
func (w *World) Rest() error {
	for range 600 {
		if m, ok := w.owed(); ok {
			if err := w.happen(m, true, true); err != nil {
				return err
			}
			continue
		}
		e, done, err := w.settle()
		if done || err != nil {
			return err
		}
		if err := w.Fire(e); err != nil {
			return err
		}
	}
	return fmt.Errorf("no rest: the conversation never settles: %s", describe(w.State))
}

// owed returns one of the core's own events, or else an answer to one of its requests:
// its end, or a step towards it.
func (w *World) owed() (next world.Move, ok bool) {
	for _, m := range w.Moves(nil) {
		switch {
		case m.Class == world.Post, w.Env.Settles(m):
			return m, true
		case m.Class == world.Answer && !ok && w.Env.Owes(m):
			next, ok = m, true
		}
	}
	return next, ok
}

func (w *World) settle() (e csm.Event, done bool, err error) {
	if w.State.UserPaused() {
		return csm.Resume{Reason: csm.SuspendUser}, false, nil // only the user ends a pause by the user
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
			return csm.UserCommit{}, false, nil // drafts wait for the user's commit
		}
	case csm.Speaking:
		if w.State.VoicePaused {
			return csm.UserPlayback{}, false, nil // only the user ends a pause of the voice
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
		return nil, false, fmt.Errorf("no rest: nothing is owed, no deadline is armed, and the conversation is stuck in %v: %s", w.State.Phase(), describe(w.State))
	}
	w.At = max(w.At, w.timers[due].At)
	return csm.TimerFired{Timer: due, Gen: w.timers[due].Gen}, false, nil
}

// shared returns the parts of a state that share memory with other states: the contents
// of its slices.
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
