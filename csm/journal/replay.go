package journal

import (
	"bytes"
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
	Lost    int           `json:"lost,omitempty"`  // events that are missing or have no known state before them
	// OtherCore says that another core wrote the journal: its digests are not
	// compared, only its lanes, phases and effects.
	OtherCore bool `json:"otherCore,omitempty"`
	// Unfinished is the last event, if it has no outcome.
	Unfinished *Unfinished `json:"unfinished,omitempty"`
	// Stops is where a record stops that has no end.
	Stops *Stop `json:"stops,omitempty"`
	// Difference is the first place where the replay and the record differ, nil if
	// they are identical.
	Difference *Difference `json:"difference,omitempty"`
}

// Unfinished is an event whose outcome is missing: the process ended in its step, or
// just after it.
type Unfinished struct {
	File  string `json:"file,omitempty"`
	Line  int    `json:"line"`
	Seq   uint64 `json:"seq"`
	Event string `json:"event"`
	Phase string `json:"phase"`           // before it
	Panic string `json:"panic,omitempty"` // of this build's step; "" if it does not panic
}

func (u Unfinished) String() string {
	now := "does not panic in this build"
	if u.Panic != "" {
		now = "panics in this build: " + u.Panic
	}
	return fmt.Sprintf("the last event, on %s, is event %d (%s) in %s; it has no outcome, so the process ended in its step or just after; the step %s",
		where(u.File, u.Line), u.Seq, u.Event, u.Phase, now)
}

// Difference is one place where a replay and a record differ.
type Difference struct {
	File  string `json:"file,omitempty"`
	Line  int    `json:"line"`
	Seq   uint64 `json:"seq"`
	Event string `json:"event"` // "snapshot" for one
	What  string `json:"what"`  // order, lanes, phases, effects or digests
	Want  string `json:"recorded"`
	Got   string `json:"replayed"`
}

func (d Difference) String() string {
	return fmt.Sprintf("%s, event %d (%s): %s differ:\n  recorded: %s\n  replayed: %s", where(d.File, d.Line), d.Seq, d.Event, d.What, d.Want, d.Got)
}

// Replay steps the core through a journal's events and compares what comes of each
// with what was recorded. An error means that the journal cannot be replayed at all.
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
			r.unknown, last = true, l // until a snapshot follows
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

// replayer is a replay under way.
type replayer struct {
	res     Result
	core    csm.Stepper
	state   csm.State
	next    csm.State // kept here, so that no step allocates it
	seq     uint64
	unknown bool // an outcome is missing, so the state is not known
	digest  digester
}

// step takes an event that has an outcome.
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

// compare finds where a step and its record differ. The digest covers the effects
// too, so their JSON is made only where it must tell which of the two it is.
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
	} else if digest != l.Digest { // the state, or a field of the event that no effect shows
		r.differ(l, "digests", l.Digest, digest)
	}
	return err
}

// snapshot begins with a state, resumes with one after a loss, or compares it with
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
		return fmt.Errorf("%s: the snapshot cannot be read: %w; replay it with the build that wrote it", where(l.File, l.Number), err)
	}
	r.seq, r.unknown, r.digest.last = l.Seq, false, l.Digest
	r.res.Elapsed = l.Time()
	return nil
}

// unfinished steps the last event, whose outcome is missing.
func (r *replayer) unfinished(l *Line) error {
	u := &Unfinished{File: l.File, Line: l.Number, Seq: l.Seq, Event: l.Event, Phase: r.state.Phase().String()}
	env, err := l.Envelope()
	if err != nil || l.Seq != r.seq+1 { // events before it are lost too
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
