// Package journal records a conversation's events as they leave the dispatcher, and
// verifies by replay that the core reacts to them as it did then.
//
// # Format
//
// One JSON object per line. The first is the header. An event is written before the
// core's step and its outcome afterwards: if the step panics, the event is the last line.
// Other lines are notes, snapshots of the whole state, and the end:
//
//	{"journal":3,"build":"...","core":"...","content":"redacted","started":"...","speed":1}
//	{"seq":1,"at":12000,"lane":"signal","event":"user.start","data":{...}}
//	{"phase":"Idle","effects":[{"OpenAudio":{...}}],"digest":"9f86d081884c7d65"}
//	{"at":20000,"data":{...},"note":"level"}
//	{"seq":14,"at":21000,"phase":"Idle","snapshot":{...},"digest":"..."}
//	{"end":"closed"}
//
// Times are in microseconds. Notes are for display: levels, when the output fell silent,
// and the words if content is "full". Events contain no words, so a redacted journal
// replays to the same transitions as a full one.
//
// # Damage
//
// The digests form a chain: each is a hash of the previous one, of the lines of the event
// and its outcome, and of the complete effects and state. Replay therefore detects every
// changed, removed or moved event and outcome, and every event that the core handles
// differently, and names its line. Notes are not in the chain. Reading detects lines that
// are not JSON (*Damage) and a missing end (Journal.Stops): the process crashed, or the
// file was truncated.
//
// If events are lost because the disk is full or slow, the record resumes with a snapshot
// in place of an outcome, and the event numbers show the gap.
//
// # Files
//
// A journal on disk is NAME.jsonl, then NAME.1.jsonl and so on, each of bounded size; the
// oldest are deleted. All files but the first start with a snapshot, so each replays on
// its own and a sequence replays as one. A Ring keeps its parts in memory likewise, and
// saves them as one file.
//
// The loop only queues. A goroutine writes the queue and commits in groups, whenever the
// queue is empty. Flush waits for that; the dispatcher calls it before a panicking step
// ends the process.
//
// # Other builds
//
// The header's core identifies the table, the events and the state fields of the build
// that wrote the journal. If it differs from this build's, replay compares lanes, phases
// and effects but no digests, and says so (Result.OtherCore). This build reads only
// format 3; formats 1 and 2 were never released.
//
// The journals in testdata/journals are never re-recorded. Their events must not violate
// an invariant of the current core, and NAME.trace has its reaction to each. After an
// intentional change of the core, "go test ./csm/journal -update" rewrites the traces;
// review the diff like code.
package journal

import "time"

// Version is the version of the format.
const Version = 3

// Content says whether the words are recorded.
type Content string

// The kinds of content.
const (
	Redacted Content = "redacted"
	Full     Content = "full"
	Off      Content = "" // nothing is recorded: see SetContent. Never in a file
)

// Header is the first line of a file. The caller sets Build, Content, Started and Speed;
// the writer sets the rest.
type Header struct {
	Journal int       `json:"journal"`
	Build   string    `json:"build"`
	Core    string    `json:"core"` // Core of the writing build
	Content Content   `json:"content"`
	Started time.Time `json:"started"`
	Speed   float64   `json:"speed"`          // conversation clock relative to wall clock
	Part    int       `json:"part,omitempty"` // number of earlier files
}

// Note kinds.
const (
	NoteLevel  = "level"  // Level
	NoteOutput = "output" // Sound
	NoteWords  = "words"  // Words; in full journals only
)

// Level is the loudness of both voices over an interval, in dBFS (RMS).
type Level struct {
	User      float64 `json:"user"`
	Assistant float64 `json:"assistant"`
}

// Sound says that the output fell silent or resumed, which no transition depends on.
// Since is the time in microseconds on the journal's clock; Pos is the output position in
// rendered samples.
type Sound struct {
	Silent bool  `json:"silent"`
	Since  int64 `json:"since"`
	Pos    int64 `json:"pos"`
}

// Words are the text of an id. Kind is utterance, heard, joined, answer, notice or text.
type Words struct {
	Kind string `json:"kind"`
	ID   uint64 `json:"id"`
	Text string `json:"text"`
	Of   int    `json:"of,omitempty"` // joined: how many utterances, the last of which is ID, were recognised as one
}
