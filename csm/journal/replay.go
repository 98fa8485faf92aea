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
	Elapsed time.Duration `json:"-"` // of the conversation
	// Difference is the first place where the replay and the record part, nil
	// when they are identical.
	Difference *Difference `json:"difference,omitempty"`
}

// Difference is one place where a replay and a record part.
type Difference struct {
	Line  int    `json:"line"`
	Seq   uint64 `json:"seq"`
	Event string `json:"event"`
	What  string `json:"what"` // order, lanes, event fields, phases, effects or states
	Want  string `json:"recorded"`
	Got   string `json:"replayed"`
}

func (d Difference) String() string {
	return fmt.Sprintf("line %d, event %d (%s): %s differ:\n  recorded: %s\n  replayed: %s", d.Line, d.Seq, d.Event, d.What, d.Want, d.Got)
}

// Replay steps the core through a journal's events and compares what comes of
// each with what was recorded, byte for byte. An error means that the journal
// cannot be replayed at all.
func Replay(j *Journal) (Result, error) {
	var res Result
	state := csm.Initial()
	for _, l := range j.Lines {
		if l.Gap > 0 {
			return res, fmt.Errorf("journal line %d: %d lines were lost here, so what follows cannot be replayed; the %d events before it were identical", l.Number, l.Gap, res.Events)
		}
		if l.Event == "" {
			continue
		}
		env, err := l.Envelope()
		if err != nil {
			return res, err
		}
		before := state.Phase()
		next, fx := csm.Step(state, env)
		if d, err := compare(l, res.Events, env, next, fx); err != nil || d != nil {
			res.Difference = d
			return res, err
		}
		state = next
		res.Events++
		res.Elapsed = env.At
		if next.Phase() != before {
			res.Phases++
		}
	}
	return res, nil
}

func compare(l Line, index int, env csm.Envelope, s csm.State, fx []csm.Effect) (*Difference, error) {
	got, err := encodeStep(env, s, fx)
	if err != nil {
		return nil, err
	}
	differ := func(what, want, got string) *Difference {
		return &Difference{Line: l.Number, Seq: l.Seq, Event: l.Event, What: what, Want: want, Got: got}
	}
	switch {
	case l.Seq != uint64(index)+1:
		return differ("order", fmt.Sprint(l.Seq), fmt.Sprint(index+1)), nil
	case l.Lane != got.Lane:
		return differ("lanes", l.Lane, got.Lane), nil
	case !bytes.Equal(l.Data, got.Data):
		return differ("event fields", string(l.Data), string(got.Data)), nil
	case l.Phase != got.Phase:
		return differ("phases", l.Phase, got.Phase), nil
	case !bytes.Equal(l.Effects, got.Effects):
		return differ("effects", string(l.Effects), string(got.Effects)), nil
	case l.State != got.State:
		return differ("states", l.State, got.State), nil
	}
	return nil, nil
}
