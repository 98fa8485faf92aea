// Package journal records a conversation's events as they left the dispatcher,
// and proves by replay that the core made of them what it made then.
//
// # Format
//
// One JSON object a line. The first is the header. Every other line is an event
// with the state and the effects that came of it, a note, a gap, a snapshot of
// the whole state, or the end:
//
//	{"journal":2,"build":"...","core":"...","config":"...","bounds":{...},"content":"redacted","started":"...","speed":1,"sum":"..."}
//	{"seq":1,"at":12000,"lane":"signal","event":"user.start","data":{...},"phase":"Idle",
//	 "effects":[{"OpenAudio":{...}}],"state":"9f86d081884c7d65","n":2,"sum":"..."}
//	{"at":20000,"data":{...},"note":"level","n":3,"sum":"..."}
//	{"gap":12,"n":4,"sum":"..."}
//	{"seq":14,"at":21000,"phase":"Idle","snapshot":{...},"state":"...","n":5,"sum":"..."}
//	{"end":"closed","n":6,"sum":"..."}
//
// Times are microseconds. state is the Digest of the state after the event, and
// of the effects; n is the number of the line in its file; sum is a CRC-32 over
// the line before it that begins with the sum of the header. Notes are for
// people: levels for a picture and, only where content is "full", the words.
// Events hold no words, so a redacted journal replays to the same transitions as
// a full one; it differs in its notes alone.
//
// # Files
//
// A journal on disk is NAME.jsonl, then NAME.1.jsonl and so on, each of a bounded
// size, the oldest of which are deleted. Every one but the first begins with a
// snapshot, so that it replays on its own, and names the end of the one before
// it, so that a sequence replays as one. A Ring in memory is bounded in the same
// way, and saves what it has as one file.
//
// A line is written whole, in one write. After the process died, whatever it was
// doing, the file can be read through its last whole line, and Journal.Stops says
// what is missing. The disk is synced when a file is full and at the end; see
// Files. Where lines were lost, because the disk was full or slow, there is a gap
// mark, and a snapshot from which the replay goes on.
//
// # What is found
//
// Reading finds any change of any line, notes and the header among them, and a
// line that is missing, twice or moved: *Damage names it. It does not find that
// whole lines are missing at the end of the last file, but that the end mark is.
// Replaying finds any event after which the core is in another state, or asks for
// other effects, than the one that wrote the journal.
//
// # Redaction
//
// Events, states and effects have no strings but the words of closed lists. What
// a handler puts into an event in the place of one is refused: the journal says
// internalError there, in a note what event it was, and nothing of the text.
//
// # Journals of other builds
//
// The header's core names the table, the events and the fields of the states of
// the build that wrote it. Where this build's is the same, a replay is compared
// digest by digest, and a difference means that the core's behaviour changed, or
// that the journal was made up. Where it is another, digests mean nothing: the
// replay compares lanes, phases and effects, says so (Result.OtherCore), and its
// first difference is the first place where the two cores part. A field that only
// this core has does not count; in a configuration it has its default. A snapshot
// of another core is used when it can be read, and an error otherwise.
//
// Format 1 had no sums, numbers, snapshots and end, and another digest. It is
// read and replayed as another core's journal. Edits of an event's fields that
// the core makes nothing of are not found in it.
//
// Journals of the tree, in testdata/journals, stay as they were recorded. Each
// must read without damage; its events must break no invariant of the present
// core (Rerun); one whose core is the present one must replay identically; and
// what the present core makes of each, event by event, stands beside it in
// NAME.trace. When the core changes on purpose, "go test ./csm/journal -update"
// writes the traces anew, and the change of each is reviewed like code.
package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Version is the version of the format that is written. A reader takes it and
// those before it.
const Version = 2

// Content says whether the words were recorded.
type Content string

// The kinds of content.
const (
	Redacted Content = "redacted"
	Full     Content = "full"
)

// Header is the first line of a file. A caller fills Build, Content, Started,
// Speed and Config; the rest is the writer's.
type Header struct {
	Journal int            `json:"journal"`
	Build   string         `json:"build"`
	Core    string         `json:"core,omitempty"`   // Core of the build that wrote it
	Config  string         `json:"config,omitempty"` // hash of the JSON of the configuration that the core was to get
	Bounds  map[string]int `json:"bounds,omitempty"` // numbers of the configuration that bound the core
	Content Content        `json:"content"`
	Started time.Time      `json:"started"`
	Speed   float64        `json:"speed"` // of the conversation's clock against the wall's

	Part    int    `json:"part,omitempty"`    // how many files were before it
	First   string `json:"first,omitempty"`   // sum of the header of the first one
	Follows string `json:"follows,omitempty"` // sum of the last line of the one before
	Sum     string `json:"sum,omitempty"`     // of this line before this field
}

// Configured returns h with the hash and the bounds of c, the configuration that
// the core is about to get.
func (h Header) Configured(c csm.Config) Header {
	b, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("journal: the configuration has no JSON: %v", err)) // it is numbers alone
	}
	h.Config, h.Bounds = hash(b), bounds(c)
	return h
}

// line is the header as it is written, and its sum.
func (h Header) line() ([]byte, uint32, error) {
	h.Journal, h.Core, h.Sum = Version, Core(), ""
	if h.Config == "" {
		h = h.Configured(csm.DefaultConfig())
	}
	b, err := json.Marshal(h)
	if err != nil {
		return nil, 0, fmt.Errorf("journal header: %w", err)
	}
	line := seal(b[:len(b)-1], 0)
	sum, err := unseal(line[:len(line)-1], 0)
	return line, sum, err
}

// Note kinds.
const (
	NoteLevel   = "level"   // Level
	NoteWords   = "words"   // Words; in full journals only
	NoteRefused = "refused" // Refused
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

// Refused says that the next event held text where a code belongs. The text is
// not in the journal; it is a mistake of the handler that sent the event.
type Refused struct {
	Event   string `json:"event"`
	Strings int    `json:"strings"`
}
