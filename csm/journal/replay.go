package journal

import (
	"bytes"
	"fmt"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Result is the result of a replay.
type Result struct {
	Events  int           `json:"events"`
	Phases  int           `json:"transitions"`
	Elapsed time.Duration `json:"-"`               // duration of the conversation
	After   uint64        `json:"after,omitempty"` // last event before the initial snapshot
	Lost    int           `json:"lost,omitempty"`  // events that are missing or follow an unknown state
	// OtherCore says that another core wrote the journal: only lanes, phases and effects
	// are compared, not digests.
	OtherCore bool `json:"otherCore,omitempty"`
	// Unfinished is the last event, if it has no outcome.
	Unfinished *Unfinished `json:"unfinished,omitempty"`
	// Stops is where a truncated record stops.
	Stops *Stop `json:"stops,omitempty"`
	// Difference is the first difference between the replay and the record, nil if they
	// are identical.
	Difference *Difference `json:"difference,omitempty"`
}

// Unfinished is an event without an outcome: the process exited during its step or just
// after.
type Unfinished struct {
	File  string `json:"file,omitempty"`
	Line  int    `json:"line"`
	Seq   uint64 `json:"seq"`
	Event string `json:"event"`
	Phase string `json:"phase"`           // phase before it
	Panic string `json:"panic,omitempty"` // panic of this build's step, "" if none
}

func (u Unfinished) String() string {
	now := "does not panic in this build"
	if u.Panic != "" {
		now = "panics in this build: " + u.Panic
	}
	return fmt.Sprintf("the last event, on %s, is event %d (%s) in %s; it has no outcome, so the process exited during its step or just after; the step %s",
		where(u.File, u.Line), u.Seq, u.Event, u.Phase, now)
}

// Difference is a difference between a replay and its record.
type Difference struct {
	File  string `json:"file,omitempty"`
	Line  int    `json:"line"`
	Seq   uint64 `json:"seq"`
	Event string `json:"event"` // or "snapshot"
	What  string `json:"what"`  // order, lanes, phases, effects or digests
	Want  string `json:"recorded"`
	Got   string `json:"replayed"`
}

func (d Difference) String() string {
	return fmt.Sprintf("%s, event %d (%s): %s differ:\n  recorded: %s\n  replayed: %s", where(d.File, d.Line), d.Seq, d.Event, d.What, d.Want, d.Got)
}

// Replay steps the core through a journal's events and compares each result with the
// record. It returns an error if the journal cannot be replayed at all.
func Replay(j *Journal) (Result, error) {
	r := replayer{state: csm.Initial(), res: Result{Stops: j.Stops, OtherCore: j.Header.Core != Core()}}
	var last *Line
	for i := range j.Lines {
		l := &j.Lines[i]
		var err error
		switch {
		case l.Snapshot != nil:
			err = r.snapshot(l)
		case l.Phase != "":
			err = r.step(l)
		case l.Event != "":
			r.unknown, last = true, l // until the next snapshot
		}
		if err != nil || r.res.Difference != nil {
			return r.res, err
		}
	}
	if r.unknown {
		return r.res, r.unfinished(last)
	}
	return r.res, nil
}

// replayer is a replay in progress.
type replayer struct {
	res     Result
	core    csm.Stepper
	state   csm.State
	next    csm.State // a field to avoid allocating it in each step
	seq     uint64
	unknown bool // an outcome is missing, so the state is unknown
	digest  digester
}

// step replays an event with its outcome.
func (r *replayer) step(l *Line) error {
	env, err := l.Envelope()
	if err != nil {
		return err
	}
	if r.unknown || l.Seq != r.seq+1 {
		r.differ(l, "order", fmt.Sprint(l.Seq), fmt.Sprint(r.seq+1))
		return nil
	}
	var fx []csm.Effect
	r.next, fx = r.core.Step(r.state, env)
	if err := r.compare(l, env, fx); err != nil || r.res.Difference != nil {
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

// compare locates the difference between a step and its record. The digest covers the
// effects too, so their JSON is encoded only to tell which of the two differs.
func (r *replayer) compare(l *Line, env csm.Envelope, fx []csm.Effect) error {
	if lane := csm.LaneOf(env.Event).String(); l.Lane != lane {
		r.differ(l, "lanes", l.Lane, lane)
		return nil
	}
	if phase := r.next.Phase().String(); l.Phase != phase {
		r.differ(l, "phases", l.Phase, phase)
		return nil
	}
	digest := l.Digest
	if !r.res.OtherCore {
		digest = r.digest.next(l.text, l.outcome, &r.next, fx)
		if digest == l.Digest {
			return nil
		}
	}
	effects, err := encodeEffects(fx)
	if !bytes.Equal(l.Effects, effects) {
		r.differ(l, "effects", string(l.Effects), string(effects))
	} else if digest != l.Digest { // the state differs, or a field of the event that affects no effect
		r.differ(l, "digests", l.Digest, digest)
	}
	return err
}

// snapshot sets the initial state, resumes after a loss, or compares the snapshot with
// the state of the replay.
func (r *replayer) snapshot(l *Line) error {
	fresh := r.res.Events == 0
	switch {
	case !fresh && !r.unknown && l.Seq != r.seq:
		r.differ(l, "order", fmt.Sprint(l.Seq), fmt.Sprint(r.seq))
		return nil
	case !fresh && !r.unknown:
		if !r.res.OtherCore && l.Digest != r.digest.last {
			r.differ(l, "digests", l.Digest, r.digest.last)
		}
		return nil
	case fresh:
		r.res.After = l.Seq
	default:
		r.res.Lost += int(l.Seq - r.seq)
	}
	if err := r.state.UnmarshalJSON(l.Snapshot); err != nil {
		return fmt.Errorf("%s: cannot decode the snapshot: %w; replay it with the build that wrote it", where(l.File, l.Number), err)
	}
	r.seq, r.unknown, r.digest.last = l.Seq, false, l.Digest
	r.res.Elapsed = l.Time()
	return nil
}

// unfinished steps the last event, whose outcome is missing.
func (r *replayer) unfinished(l *Line) error {
	u := &Unfinished{File: l.File, Line: l.Number, Seq: l.Seq, Event: l.Event, Phase: r.state.Phase().String()}
	env, err := l.Envelope()
	if err != nil || l.Seq != r.seq+1 { // earlier events are lost too
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			u.Panic = fmt.Sprint(p)
		}
	}()
	r.res.Unfinished = u
	r.core.Step(r.state, env)
	return nil
}

func (r *replayer) differ(l *Line, what, want, got string) {
	event := l.Event
	if l.Snapshot != nil {
		event = "snapshot"
	}
	r.res.Difference = &Difference{File: l.File, Line: l.Number, Seq: l.Seq, Event: event, What: what, Want: want, Got: got}
}
