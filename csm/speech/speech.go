// Package speech is the speech output region: one line of speech segments, from text to
// playback.
//
// # Model
//
// A line is what the assistant says at one time: the segments of an answer, an
// explanation, or a text that is read aloud. It is open until End, and done when its last
// segment was played. Audio carries the generation of the line; reports of another
// generation are stale. A flush closes the line immediately in any state and increments
// the generation.
//
//	Closed -> Buffering -> Ready -> Playing -> Draining -> Closed
//	             ^                   \-> Paused -^ (and back)
//
// Buffering has no audio yet (or again, after an underrun); Ready has audio and waits to
// be started; Draining plays the rest of an ended line; Paused stopped in the middle.
package speech

import "fmt"

// Segment is one piece of text to be spoken. It identifies its words, which are outside
// of the core: characters [Start, End) of the answer to Request, the notice or text that
// the caller keeps under Ref, or the question about a call.
type Segment struct {
	Seq     uint32 `json:"seq"` // unique in a conversation, ascending
	Request uint64 `json:"request,omitempty"`
	Start   int    `json:"start,omitempty"`
	End     int    `json:"end,omitempty"`
	Ref     uint64 `json:"ref,omitempty"`
	Notice  string `json:"notice,omitempty"` // an error code
	Ask     uint64 `json:"ask,omitempty"`    // the tool call that the user is asked about
}

// Line is an open line of segments. Segments is never modified in place.
type Line struct {
	Gen      uint32    `json:"gen"`
	Segments []Segment `json:"segments"`
	Asked    int       `json:"asked"`  // number of segments whose synthesis was requested
	Played   int       `json:"played"` // number of segments that were played
	Ended    bool      `json:"ended"`
}

// State is a closed sum: Closed, Buffering, Ready, Playing, Paused or Draining.
//
//sumtype:decl
type State interface {
	fmt.Stringer
	parts() (name, Paused)
	// Generation returns the live generation.
	Generation() uint32
}

// The states.
type (
	Closed    struct{ Gen uint32 }
	Buffering struct{ Line }
	Ready     struct{ Line }
	Playing   struct{ Line }
	// Paused HasWords if the user said words over it that count, however short.
	Paused struct {
		Line
		HasWords bool `json:",omitempty"`
	}
	Draining struct{ Line }
)

// name is a state without its data, or a superstate.
type name uint8

const (
	closed name = iota
	buffering
	ready
	playing
	paused
	draining
	sounding // playing, draining
	begun    // sounding, paused: the player was started
	open     // all but closed
	all
)

var names = [...]string{"closed", "buffering", "ready", "playing", "paused", "draining", "sounding", "begun", "open", "all"}

func (n name) String() string { return names[n] }

var parents = map[name]name{
	playing: sounding, draining: sounding, sounding: begun, paused: begun, begun: open, buffering: open, ready: open, open: all, closed: all,
}

// state is the only function that builds a state from its name and data.
func state(n name, d Paused) State {
	switch n {
	case buffering:
		return Buffering{d.Line}
	case ready:
		return Ready{d.Line}
	case playing:
		return Playing{d.Line}
	case paused:
		return d
	case draining:
		return Draining{d.Line}
	default:
		return Closed{Gen: d.Gen}
	}
}

func (s Closed) parts() (name, Paused)    { return closed, Paused{Line: Line{Gen: s.Gen}} }
func (s Buffering) parts() (name, Paused) { return buffering, Paused{Line: s.Line} }
func (s Ready) parts() (name, Paused)     { return ready, Paused{Line: s.Line} }
func (s Playing) parts() (name, Paused)   { return playing, Paused{Line: s.Line} }
func (s Paused) parts() (name, Paused)    { return paused, s }
func (s Draining) parts() (name, Paused)  { return draining, Paused{Line: s.Line} }

func (Closed) String() string    { return closed.String() }
func (Buffering) String() string { return buffering.String() }
func (Ready) String() string     { return ready.String() }
func (Playing) String() string   { return playing.String() }
func (Paused) String() string    { return paused.String() }
func (Draining) String() string  { return draining.String() }

// Generation returns the generation of the line's audio.
func (l Line) Generation() uint32 { return l.Gen }

// Generation returns the generation of the next line.
func (s Closed) Generation() uint32 { return s.Gen }

// LineOf returns the open line of s, if there is one.
func LineOf(s State) (Line, bool) {
	at, d := s.parts()
	if at == closed {
		return Line{}, false
	}
	return d.Line, true
}

// Audible says whether s is playing audio.
func Audible(s State) bool {
	switch s.(type) {
	case Playing, Draining:
		return true
	default:
		return false
	}
}

// Last returns the last segment so far; ok is false for an empty line.
func (l Line) Last() (seg Segment, ok bool) {
	if len(l.Segments) == 0 {
		return Segment{}, false
	}
	return l.Segments[len(l.Segments)-1], true
}

// Outcome is the meaning of an input.
type Outcome uint8

// The outcomes. Stale and Ignored do not change the state.
const (
	Stale Outcome = iota
	Ignored
	Queued   // the segment must be synthesised
	Started  // playback must start
	Waits    // audio is ready, and waits to be started
	Advanced // a segment was played
	Underran // everything so far was played, and more will come
	Done     // the line was played completely
	Stopped  // playback must pause
)

// Begun says whether the player was started on the line of s and has not underrun.
func Begun(s State) bool {
	_, paused := s.(Paused)
	return paused || Audible(s)
}

// Sounds says whether audio of generation gen is playing or paused.
func Sounds(s State, gen uint32) bool { return Begun(s) && s.Generation() == gen }

// Enqueue adds a segment and opens a line if there is none. An ended line continues.
func Enqueue(s State, seg Segment) (State, Outcome) { return next(s, enqueue, change{seg: seg}) }

// End says that no more segments will come. A line that is still sounding is done when it
// drained, even if its last segment was played.
func End(s State) (State, Outcome) { return next(s, end, change{}) }

// AskedFor says that the synthesis of the whole line was requested.
func AskedFor(s State) State { return only(next(s, asked, change{})) }

// Buffered says that audio of segment seq is ready; it waits until it is started. Audio of a
// segment that was already heard is stale.
func Buffered(s State, gen, seq uint32) (State, Outcome) {
	return next(s, buffered, change{gen: gen, seq: seq})
}

// Start starts playing a ready line.
func Start(s State) (State, Outcome) { return next(s, start, change{}) }

// NoteWords records that the user said words over a paused line that count.
func NoteWords(s State) State { return only(next(s, words, change{})) }

// Played says that segment seq was played.
func Played(s State, gen, seq uint32) (State, Outcome) {
	return next(s, played, change{gen: gen, seq: seq})
}

// Drained says that everything through segment seq was played. If seq is the last of an
// ended line, the line is done; otherwise it underran.
func Drained(s State, gen, seq uint32) (State, Outcome) {
	return next(s, drained, change{gen: gen, seq: seq})
}

// Pause pauses a playing line.
func Pause(s State) (State, Outcome) { return next(s, pause, change{}) }

// Resume resumes a paused line.
func Resume(s State) (State, Outcome) { return next(s, resume, change{}) }

// Restart restarts the unheard rest of a line under a new generation, after the
// connection that carried its audio was lost: all its segments must be synthesised again.
// It closes a line that ended and was heard.
func Restart(s State) State { return only(next(s, restart, change{})) }

// Flush closes any open line and increments the generation.
func Flush(s State) State { return only(next(s, flush, change{})) }

func only(s State, _ Outcome) State { return s }
