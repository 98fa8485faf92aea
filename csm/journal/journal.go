// Package journal records a conversation's events as they left the dispatcher,
// and proves by replay that the core made of them what it made then.
//
// # Format
//
// One JSON object a line. The first is the header. Every other line is an event
// with the state and the effects that came of it, a note, or a gap:
//
//	{"journal":1,"build":"...","content":"redacted","started":"...","speed":1}
//	{"seq":1,"at":12000,"lane":"signal","event":"user.start","data":{...},
//	 "phase":"Idle","state":"9f86d081884c7d65","effects":[{"OpenAudio":{...}}]}
//	{"note":"level","at":20000,"data":{...}}
//	{"gap":12}
//
// Times are microseconds. state is the first half of a SHA-256 over the event
// and the JSON of the state after it, so that no change of an event goes
// unnoticed, also where the core makes nothing of it. Notes are for people:
// levels for a picture and, only where content is "full", the words. Events hold
// no words, so a redacted journal replays to the same transitions as a full one;
// it differs in its notes alone.
//
// # What a replay finds
//
// Any change of an event's line, a line that is missing, added or moved between
// others, and a last line that is not whole. It does not find what no event
// depends on: a changed or missing note, a changed header, and whole lines that
// are missing at the end, as after a crash.
package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Version is the version of the format. A reader takes its own and no other.
const Version = 1

// Content says whether the words were recorded.
type Content string

// The kinds of content.
const (
	Redacted Content = "redacted"
	Full     Content = "full"
)

// Header is the first line.
type Header struct {
	Journal int       `json:"journal"`
	Build   string    `json:"build"`
	Content Content   `json:"content"`
	Started time.Time `json:"started"`
	Speed   float64   `json:"speed"` // of the conversation's clock against the wall's
}

// Note kinds.
const (
	NoteLevel = "level" // Level
	NoteWords = "words" // Words; in full journals only
)

// Level is both voices' loudness over a stretch of time, in dBFS (RMS).
type Level struct {
	User      float64 `json:"user"`
	Assistant float64 `json:"assistant"`
}

// Words says what an id stands for. Kind is utterance, answer, notice or text.
type Words struct {
	Kind string `json:"kind"`
	ID   uint64 `json:"id"`
	Text string `json:"text"`
}

// Line is one line after the header: an event, a note or a gap.
type Line struct {
	Seq     uint64          `json:"seq,omitempty"`
	At      int64           `json:"at,omitempty"` // microseconds
	Lane    string          `json:"lane,omitempty"`
	Event   string          `json:"event,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	Phase   string          `json:"phase,omitempty"`
	State   string          `json:"state,omitempty"`
	Effects json.RawMessage `json:"effects,omitempty"`
	Note    string          `json:"note,omitempty"`
	Gap     int             `json:"gap,omitempty"` // lines that were lost here

	Number int `json:"-"` // in the file, from 1
}

// Time is when the line's event happened.
func (l Line) Time() time.Duration { return time.Duration(l.At) * time.Microsecond }

// encodeStep writes an event's line. The dispatcher's times are whole
// microseconds, so nothing of them is lost.
func encodeStep(env csm.Envelope, state csm.State, fx []csm.Effect) (Line, error) {
	data, err := json.Marshal(env.Event)
	if err != nil {
		return Line{}, err
	}
	effects, err := EncodeEffects(fx)
	if err != nil {
		return Line{}, err
	}
	l := Line{
		Seq: env.Seq, At: env.At.Microseconds(), Lane: csm.LaneOf(env.Event).String(),
		Event: env.Event.Kind().String(), Data: data, Phase: state.Phase().String(), Effects: effects,
	}
	l.State, err = digest(l, state)
	return l, err
}

// EncodeEffects writes effects as [{"Name":{fields}}, ...].
func EncodeEffects(fx []csm.Effect) (json.RawMessage, error) {
	list := make([]map[string]csm.Effect, len(fx))
	for i, f := range fx {
		list[i] = map[string]csm.Effect{f.Name(): f}
	}
	return json.Marshal(list)
}

// digest identifies an event and the state after it.
func digest(l Line, s csm.State) (string, error) {
	state, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %s %s\n", l.Seq, l.At, l.Event, l.Data)
	h.Write(state)
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// Journal is what was read.
type Journal struct {
	Header Header
	Lines  []Line
}

// maxLine bounds one line: far above any event, below what a damaged file could
// make a reader allocate.
const maxLine = 4 << 20

// Read reads a journal. Errors name the line.
func Read(r io.Reader) (*Journal, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), maxLine)
	j := &Journal{}
	for n := 1; sc.Scan(); n++ {
		if n == 1 {
			if err := readHeader(sc.Bytes(), &j.Header); err != nil {
				return nil, err
			}
			continue
		}
		l, err := readLine(sc.Bytes())
		if err != nil {
			return nil, fmt.Errorf("journal line %d is not whole (%w); it was cut off or changed, and what is before it can be kept by deleting it and what follows", n, err)
		}
		l.Number = n
		j.Lines = append(j.Lines, l)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read journal after line %d: %w", len(j.Lines)+1, err)
	}
	if j.Header.Journal == 0 {
		return nil, errors.New("the journal is empty; it needs a header line at least")
	}
	return j, nil
}

func readLine(b []byte) (l Line, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return l, err
	}
	if d.More() {
		return l, errors.New("more than one object")
	}
	switch [3]bool{l.Event != "", l.Note != "", l.Gap > 0} {
	case [3]bool{true, false, false}, [3]bool{false, true, false}, [3]bool{false, false, true}:
		return l, nil
	default:
		return l, errors.New("it is not one of event, note and gap")
	}
}

func readHeader(line []byte, h *Header) error {
	if err := json.Unmarshal(line, h); err != nil || h.Journal == 0 {
		return errors.New("journal line 1 is no header; this is not a journal")
	}
	if h.Journal != Version {
		return fmt.Errorf("the journal has format %d and this build reads format %d; replay it with the build that wrote it (%s)", h.Journal, Version, h.Build)
	}
	return nil
}

// Envelope decodes the event of a line.
func (l Line) Envelope() (csm.Envelope, error) {
	k, ok := csm.KindByName(l.Event)
	if !ok {
		return csm.Envelope{}, fmt.Errorf("journal line %d: event %q is not known to this build", l.Number, l.Event)
	}
	e, err := csm.DecodeEvent(k, l.Data)
	if err != nil {
		return csm.Envelope{}, fmt.Errorf("journal line %d: %w", l.Number, err)
	}
	return csm.Envelope{Seq: l.Seq, At: l.Time(), Event: e}, nil
}
