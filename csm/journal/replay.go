package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Result is what a replay found.
type Result struct {
	Events  int           `json:"events"`
	Phases  int           `json:"transitions"`
	Elapsed time.Duration `json:"-"`               // of the conversation
	After   uint64        `json:"after,omitempty"` // events before a journal that begins with a snapshot
	Lost    int           `json:"lost,omitempty"`  // lines that gap marks count
	// OtherCore says that another core wrote the journal, or format 1: its states
	// are not compared, only its phases and effects.
	OtherCore bool `json:"otherCore,omitempty"`
	// Stops is where a record stops that has no end.
	Stops *Stop `json:"stops,omitempty"`
	// Difference is the first place where the replay and the record part, nil
	// when they are identical.
	Difference *Difference `json:"difference,omitempty"`
}

// Difference is one place where a replay and a record part.
type Difference struct {
	File  string `json:"file,omitempty"`
	Line  int    `json:"line"`
	Seq   uint64 `json:"seq"`
	Event string `json:"event"` // "snapshot" for one
	What  string `json:"what"`  // order, lanes, event fields, phases, effects or states
	Want  string `json:"recorded"`
	Got   string `json:"replayed"`
}

func (d Difference) String() string {
	at := fmt.Sprintf("line %d", d.Line)
	if d.File != "" {
		at = d.File + " " + at
	}
	return fmt.Sprintf("%s, event %d (%s): %s differ:\n  recorded: %s\n  replayed: %s", at, d.Seq, d.Event, d.What, d.Want, d.Got)
}

// Replay steps the core through a journal's events and compares what comes of
// each with what was recorded. An error means that the journal cannot be
// replayed at all.
func Replay(j *Journal) (Result, error) {
	r := newReplayer(j)
	for i := range j.Lines {
		if err := r.line(&j.Lines[i]); err != nil || r.res.Difference != nil {
			return r.res, err
		}
	}
	return r.res, nil
}

// replayer is a replay under way.
type replayer struct {
	res    Result
	core   csm.Stepper
	state  csm.State
	next   csm.State // kept here, so that no step makes it anew
	seq    uint64
	lost   int // lines of a gap that no snapshot followed yet
	gap    *Line
	digest *digester
	// seen, if set, gets each step in the place of the comparison.
	seen func(l *Line, env csm.Envelope, before, after csm.State, fx []csm.Effect)
}

func newReplayer(j *Journal) *replayer {
	return &replayer{
		state: csm.Initial(), digest: newDigester(),
		res: Result{Stops: j.Stops, OtherCore: j.Header.Journal < 2 || j.Header.Core != Core()},
	}
}

func (r *replayer) line(l *Line) error {
	switch {
	case l.Gap > 0:
		r.lost += l.Gap
		r.res.Lost += l.Gap
		r.gap = l
		return nil
	case l.Snapshot != nil:
		return r.snapshot(l)
	case l.Event == "":
		return nil
	case r.lost > 0:
		return fmt.Errorf("%s: %d lines were lost here and no snapshot follows, so what comes after cannot be replayed; the %d events before it were identical",
			r.gap.where(), r.lost, r.res.Events)
	}
	env, err := l.Envelope()
	if err == nil && r.res.OtherCore {
		env.Event, err = completed(env.Event, l.Data)
	}
	if err != nil {
		return err
	}
	if l.Seq != r.seq+1 {
		r.differ(l, "order", fmt.Sprint(l.Seq), fmt.Sprint(r.seq+1))
		return nil
	}
	var fx []csm.Effect
	r.next, fx = r.core.Step(r.state, env)
	if r.seen != nil {
		r.seen(l, env, r.state, r.next, fx)
	} else if err := r.compare(l, env, &r.next, fx); err != nil || r.res.Difference != nil {
		return err
	}
	if r.next.Phase() != r.state.Phase() {
		r.res.Phases++
	}
	r.state = r.next
	r.seq = l.Seq
	r.res.Events++
	r.res.Elapsed = env.At
	return nil
}

// snapshot begins with a state, goes on with one after a gap, or compares one
// with the state that the replay is in.
func (r *replayer) snapshot(l *Line) error {
	fresh := r.seq == 0 && r.res.Events == 0
	if !fresh && r.lost == 0 && l.Seq != r.seq {
		r.differ(l, "order", fmt.Sprint(l.Seq), fmt.Sprint(r.seq))
		return nil
	}
	if !fresh && r.lost == 0 && (r.res.OtherCore || r.digest.of(&r.state, nil) == l.State) {
		return nil
	}
	var s csm.State
	if err := s.UnmarshalJSON(l.Snapshot); err != nil {
		return fmt.Errorf("%s: the snapshot cannot be read: %w", l.where(), err)
	}
	switch got := r.digest.of(&s, nil); {
	case !r.res.OtherCore && got != l.State:
		return fmt.Errorf("%s: the snapshot is not the state that was recorded (%s, and its digest says %s); replay it with the build that wrote it", l.where(), got, l.State)
	case !fresh && r.lost == 0:
		b, err := r.state.MarshalJSON()
		r.differ(l, "states", string(l.Snapshot), string(b))
		return err
	}
	if fresh {
		r.res.After = l.Seq
	}
	r.state, r.seq, r.lost = s, l.Seq, 0
	r.res.Elapsed = l.Time()
	return nil
}

func (r *replayer) differ(l *Line, what, want, got string) {
	event := l.Event
	if l.Snapshot != nil {
		event = "snapshot"
	}
	r.res.Difference = &Difference{File: l.File, Line: l.Number, Seq: l.Seq, Event: event, What: what, Want: want, Got: got}
}

// compare finds where a step and its record part. The digest holds the effects
// too, so their JSON is made only where it must tell which of the two it is.
func (r *replayer) compare(l *Line, env csm.Envelope, s *csm.State, fx []csm.Effect) error {
	if lane := csm.LaneOf(env.Event).String(); l.Lane != lane {
		r.differ(l, "lanes", l.Lane, lane)
		return nil
	}
	if phase := s.Phase().String(); l.Phase != phase {
		r.differ(l, "phases", l.Phase, phase)
		return nil
	}
	var text [2 * digestSize]byte
	if !r.res.OtherCore && string(r.digest.hex(&text, s, fx)) == l.State {
		return nil
	}
	got, err := encodeStep(r.digest, env, s, fx)
	switch {
	case err != nil:
		return err
	case r.res.OtherCore && sameEffects(l.Effects, got.Effects):
	case !bytes.Equal(l.Effects, got.Effects):
		r.differ(l, "effects", string(l.Effects), string(got.Effects))
	case !bytes.Equal(l.Data, got.Data):
		r.differ(l, "event fields", string(l.Data), string(got.Data))
	default:
		r.differ(l, "states", l.State, got.State)
	}
	return nil
}

// completed gives a configuration of another core what this one has besides: its
// defaults, and not zero, which would be deadlines that are over at once.
func completed(e csm.Event, data []byte) (csm.Event, error) {
	if _, ok := e.(csm.Configure); !ok {
		return e, nil
	}
	c := csm.Configure{Config: csm.DefaultConfig()}
	err := json.Unmarshal(data, &c)
	return c, err
}

// sameEffects says whether the effects that another core recorded are those that
// this core asks for. What this core says besides, in fields that the other did
// not have, does not count.
func sameEffects(recorded, got []byte) bool {
	var a, b any
	if json.Unmarshal(recorded, &a) != nil || json.Unmarshal(got, &b) != nil {
		return false
	}
	list, ok := a.([]any)
	if !ok {
		return false
	}
	for _, f := range list {
		if f, ok := f.(map[string]any); ok {
			forgetNumber(f["Post"])
		}
	}
	return within(a, b)
}

// forgetNumber takes out the number of the event of a Post, which older builds
// wrote in the place of its name.
func forgetNumber(post any) {
	if post, ok := post.(map[string]any); ok {
		if _, number := post["event"].(float64); number {
			delete(post, "event")
		}
	}
}

func within(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		for k, v := range a {
			ok = ok && within(v, b[k])
		}
		return ok
	case []any:
		b, ok := b.([]any)
		ok = ok && len(a) == len(b)
		for i := range a {
			ok = ok && within(a[i], b[i])
		}
		return ok
	default:
		return a == b
	}
}

// Audit is what a present core makes of an old journal's events, whatever was
// recorded of them.
type Audit struct {
	Events    int
	Violation *Violation // the first, nil for none
	// Steps are what it made of each: "seq event -> phase: effects".
	Steps []string
}

// Violation is a step that broke an invariant.
type Violation struct {
	Line int
	Err  error
}

// Rerun steps the core through a journal's events without comparing anything
// with the record, and checks each step against the invariants.
func Rerun(j *Journal) (a Audit, err error) {
	r := newReplayer(j)
	r.res.OtherCore = true
	r.seen = func(l *Line, env csm.Envelope, before, after csm.State, fx []csm.Effect) {
		if broken := csm.CheckStep(before, env, after, fx); broken != nil && a.Violation == nil {
			a.Violation = &Violation{l.Number, broken}
		}
		effects, failed := EncodeEffects(fx)
		if failed != nil && err == nil {
			err = failed
		}
		a.Steps = append(a.Steps, fmt.Sprintf("%d %s -> %v: %s", l.Seq, l.Event, after.Phase(), effects))
	}
	for i := range j.Lines {
		if failed := r.line(&j.Lines[i]); failed != nil {
			return a, failed
		}
		if d := r.res.Difference; d != nil {
			return a, fmt.Errorf("the journal is not in order: %v", d)
		}
	}
	a.Events = r.res.Events
	return a, err
}
