// Package journal records a conversation's events as they leave the dispatcher,
// and proves by replay that the core made of them what it made then.
//
// # Format
//
// One JSON object a line. The first is the header. An event is written before the
// core's step, and its outcome after: if the step panics, the event is the last
// line. The other lines are notes, snapshots of the whole state, and the end:
//
//	{"journal":3,"build":"...","core":"...","content":"redacted","started":"...","speed":1}
//	{"seq":1,"at":12000,"lane":"signal","event":"user.start","data":{...}}
//	{"phase":"Idle","effects":[{"OpenAudio":{...}}],"digest":"9f86d081884c7d65"}
//	{"at":20000,"data":{...},"note":"level"}
//	{"seq":14,"at":21000,"phase":"Idle","snapshot":{...},"digest":"..."}
//	{"end":"closed"}
//
// Times are microseconds. Notes are for people: levels for a picture, when the
// output fell silent and, only where content is "full", the words. Events hold no
// words, so a redacted journal replays to the same transitions as a full one.
//
// # Damage
//
// The digests are a chain: each is a hash of the one before, of the lines of the
// event and its outcome, and of the effects and the state in full. A replay
// therefore finds every event and outcome that was changed, removed or moved, and
// every event that the core handles in another way, and names its line. Notes are
// not in the chain. Reading finds lines that are not JSON (*Damage), and a missing
// end (Journal.Stops): the process died, or the file was cut off.
//
// If events are lost, because the disk is full or slow, the record resumes with a
// snapshot in the place of an outcome, and the numbers of the events show the gap.
//
// # Files
//
// A journal on disk is NAME.jsonl, then NAME.1.jsonl and so on, each of a bounded
// size; the oldest are deleted. Every file but the first begins with a snapshot, so
// each replays on its own, and a sequence replays as one. A Ring keeps its parts in
// memory in the same way, and saves them as one file.
//
// The loop only queues. A goroutine writes what is queued and commits in groups,
// whenever the queue is empty. Flush waits for that; the dispatcher calls it before
// the panic of a step ends the process.
//
// # Other builds
//
// The header's core names the table, the events and the fields of the states of the
// build that wrote the journal. Where it is not this build's, a replay compares
// lanes, phases and effects, but no digests, and says so (Result.OtherCore). This
// build reads format 3 only; formats 1 and 2 were never released.
//
// The journals in testdata/journals stay as they were recorded. Their events must
// break no invariant of the present core, and what it makes of each is in
// NAME.trace. When the core changes on purpose, "go test ./csm/journal -update"
// rewrites the traces, and the change of each is reviewed like code.
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
	Off      Content = "" // nothing is recorded: see SetContent. No file has it
)

// Header is the first line of a file. A caller fills Build, Content, Started and
// Speed; the rest is the writer's.
type Header struct {
	Journal int       `json:"journal"`
	Build   string    `json:"build"`
	Core    string    `json:"core"` // Core of the build that wrote it
	Content Content   `json:"content"`
	Started time.Time `json:"started"`
	Speed   float64   `json:"speed"`          // of the conversation's clock against the wall's
	Part    int       `json:"part,omitempty"` // how many files were before it
}

// Note kinds.
const (
	NoteLevel  = "level"  // Level
	NoteOutput = "output" // Sound
	NoteWords  = "words"  // Words; in full journals only
)

// Level is both voices' loudness over a stretch of time, in dBFS (RMS).
type Level struct {
	User      float64 `json:"user"`
	Assistant float64 `json:"assistant"`
}

// Sound says that the output fell silent, or sounds again: a fact about the
// assistant's voice that no transition depends on. Since is when, in microseconds
// on the journal's clock; Pos is the position of the output, in samples rendered.
type Sound struct {
	Silent bool  `json:"silent"`
	Since  int64 `json:"since"`
	Pos    int64 `json:"pos"`
}

// Words says what an id stands for. Kind is utterance, answer, notice or text.
type Words struct {
	Kind string `json:"kind"`
	ID   uint64 `json:"id"`
	Text string `json:"text"`
}
