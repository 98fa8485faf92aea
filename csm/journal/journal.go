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
// Times are microseconds. state is the first half of the SHA-256 of the state's
// JSON. Notes are for people: levels for a picture and, only where content is
// "full", the words. Events hold no words, so a redacted journal replays to the
// same transitions as a full one; it differs in its notes alone.
package journal

import (
	"bufio"
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
	digest, err := Digest(state)
	if err != nil {
		return Line{}, err
	}
	return Line{
		Seq: env.Seq, At: env.At.Microseconds(), Lane: csm.LaneOf(env.Event).String(),
		Event: env.Event.Kind().String(), Data: data, Phase: state.Phase().String(),
		State: digest, Effects: effects,
	}, nil
}

// EncodeEffects writes effects as [{"Name":{fields}}, ...].
func EncodeEffects(fx []csm.Effect) (json.RawMessage, error) {
	list := make([]map[string]csm.Effect, len(fx))
	for i, f := range fx {
		list[i] = map[string]csm.Effect{f.Name(): f}
	}
	return json.Marshal(list)
}

// Digest identifies a state.
func Digest(s csm.State) (string, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8]), nil
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
		l := Line{Number: n}
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("journal line %d is not whole (%w); it was cut off or changed, and what is before it can be kept by deleting it and what follows", n, err)
		}
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
