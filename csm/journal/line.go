package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Line is one line after the header: an event, an outcome, a note, a snapshot of the
// state, or the end. In a Journal, events include their outcome; an event without an
// outcome has no Phase.
type Line struct {
	Seq      uint64          `json:"seq,omitempty"`
	At       int64           `json:"at,omitempty"` // microseconds
	Lane     string          `json:"lane,omitempty"`
	Event    string          `json:"event,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	Phase    string          `json:"phase,omitempty"`
	Effects  json.RawMessage `json:"effects,omitempty"`
	Snapshot json.RawMessage `json:"snapshot,omitempty"` // the state after event Seq
	Digest   string          `json:"digest,omitempty"`
	Note     string          `json:"note,omitempty"`
	End      string          `json:"end,omitempty"` // reason of the end

	Number int    `json:"-"` // line number in its file
	File   string `json:"-"`

	text    []byte // text of the line, without the digest of an outcome
	outcome []byte // text of the event's outcome
}

// Reasons of the end of a file.
const (
	endClosed  = "closed"  // the recording ended
	endRotated = "rotated" // it continues in the next file
	endSaved   = "saved"   // a copy; the recording continued
)

// Time is the time of the line's event.
func (l Line) Time() time.Duration { return time.Duration(l.At) * time.Microsecond }

func where(file string, line int) string {
	if file == "" {
		return fmt.Sprintf("journal line %d", line)
	}
	return fmt.Sprintf("%s line %d", file, line)
}

// Envelope decodes the event of a line.
func (l Line) Envelope() (csm.Envelope, error) {
	k, known := csm.KindByName(l.Event)
	if !known {
		return csm.Envelope{}, fmt.Errorf("%s: unknown event %q; the journal is from another build", where(l.File, l.Number), l.Event)
	}
	e, err := csm.DecodeEvent(k, l.Data)
	if err != nil {
		return csm.Envelope{}, fmt.Errorf("%s: %w", where(l.File, l.Number), err)
	}
	return csm.Envelope{Seq: l.Seq, At: l.Time(), Event: e}, nil
}

// encodeEvent encodes the line of an event. The dispatcher's times are whole
// microseconds, so they are exact.
func encodeEvent(env csm.Envelope) ([]byte, error) {
	data, err := json.Marshal(env.Event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(Line{
		Seq: env.Seq, At: env.At.Microseconds(), Lane: csm.LaneOf(env.Event).String(), Event: csm.KindOf(env.Event).String(), Data: data,
	})
}

// digestField is the last field of an outcome.
const digestField = `,"digest":"`

// encodeOutcome encodes the line of an outcome, without its digest.
func encodeOutcome(s *csm.State, fx []csm.Effect) ([]byte, error) {
	effects, err := encodeEffects(fx)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(Line{Phase: s.Phase().String(), Effects: effects})
	return bytes.TrimSuffix(b, []byte("}")), err
}

// encodeEffects encodes effects as [{"Name":{fields}}, ...]. The event in a Post is
// encoded by name, since its number differs between cores.
func encodeEffects(fx []csm.Effect) (json.RawMessage, error) {
	b := []byte{'['}
	for i, f := range fx {
		var fields any = f
		if post, ok := f.(csm.Post); ok {
			fields = map[string]string{"event": post.Event.String()}
		}
		data, err := json.Marshal(fields)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"`+csm.NameOf(f)+`":`...), data...), '}')
	}
	return append(b, ']'), nil
}

// parse reads a line.
func parse(b []byte) (l Line, err error) {
	l.text = b
	if l.parseOutcome(b) {
		return l, nil
	}
	if err := json.Unmarshal(b, &l); err != nil {
		return l, err
	}
	kinds := 0
	for _, is := range []bool{l.Event != "", l.Note != "", l.Snapshot != nil, l.End != ""} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		return l, errors.New("not an event, outcome, note, snapshot or end")
	}
	return l, nil
}

// parseOutcome splits an outcome as text. It does not decode the effects, since the
// digest covers them, which halves the time to read.
func (l *Line) parseOutcome(b []byte) bool {
	rest, outcome := bytes.CutPrefix(b, []byte(`{"phase":"`))
	phase, rest, effects := bytes.Cut(rest, []byte(`","effects":`))
	fx, rest, digest := bytes.Cut(rest, []byte(digestField))
	sum, ended := bytes.CutSuffix(rest, []byte(`"}`))
	if !outcome || !effects || !digest || !ended {
		return false
	}
	l.Phase, l.Effects, l.Digest = string(phase), fx, string(sum)
	l.text = b[:len(b)-len(digestField)-len(rest)]
	return true
}
