// Package speech is the speech output region: one line of segments on its way
// from text to the user's ear.
//
// # Model
//
// A line is what the assistant says in one go: the segments of an answer, an
// explanation, a text that is read aloud. It is open until End, and is done when
// its last segment was played. Audio carries the generation of the line's last
// flush; what comes with another generation is stale. A flush closes the line at
// once, whatever its state, and bumps the generation.
//
//	Closed -> Buffering -> Held -> Playing -> Draining -> Closed
//	             ^                   \-> Paused -^ (and back)
//
// Buffering has nothing to play yet (also after an underrun); Held has audio and
// waits to be started; Draining plays what is left of an ended line; Paused stands
// still in the middle.
package speech

import "fmt"

// Segment is one piece of text to be spoken. It names its words, which are not
// in the core: characters [Start, End) of the answer to Request, or the notice
// or text that the core's caller keeps under Ref, or the question about a call.
type Segment struct {
	Seq     uint32 `json:"seq"` // unique in a conversation, ascending
	Request uint64 `json:"request,omitempty"`
	Start   int    `json:"start,omitempty"`
	End     int    `json:"end,omitempty"`
	Ref     uint64 `json:"ref,omitempty"`
	Notice  string `json:"notice,omitempty"` // a code of the closed list
	Ask     uint64 `json:"ask,omitempty"`    // the call of a tool that the user is asked about
}

// Line is an open line of segments. Segments is never modified in place.
type Line struct {
	Gen      uint32    `json:"gen"`
	Segments []Segment `json:"segments"`
	Asked    int       `json:"asked"`  // how many segments are being synthesised, or were
	Played   int       `json:"played"` // how many were heard to their end
	Ended    bool      `json:"ended"`
}

// State is a closed sum: Closed, Buffering, Held, Playing, Paused or Draining.
//
//sumtype:decl
type State interface {
	fmt.Stringer
	parts() (name, Paused)
	// Generation is the live generation.
	Generation() uint32
}

// The states.
type (
	Closed    struct{ Gen uint32 }
	Buffering struct{ Line }
	Held      struct{ Line }
	Playing   struct{ Line }
	// Paused HasWords when the user said some over it that count, however short they
	// are.
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
	held
	playing
	paused
	draining
	sounding // playing, draining
	begun    // sounding, paused: the player was told to start
	open     // all but closed
	all
)

var names = [...]string{"closed", "buffering", "held", "playing", "paused", "draining", "sounding", "begun", "open", "all"}

func (n name) String() string { return names[n] }

var parents = map[name]name{
	playing: sounding, draining: sounding, sounding: begun, paused: begun, begun: open, buffering: open, held: open, open: all, closed: all,
}

// state is the one place where a state is made of its name and data.
func state(n name, d Paused) State {
	switch n {
	case buffering:
		return Buffering{d.Line}
	case held:
		return Held{d.Line}
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
func (s Held) parts() (name, Paused)      { return held, Paused{Line: s.Line} }
func (s Playing) parts() (name, Paused)   { return playing, Paused{Line: s.Line} }
func (s Paused) parts() (name, Paused)    { return paused, s }
func (s Draining) parts() (name, Paused)  { return draining, Paused{Line: s.Line} }

func (Closed) String() string    { return closed.String() }
func (Buffering) String() string { return buffering.String() }
func (Held) String() string      { return held.String() }
func (Playing) String() string   { return playing.String() }
func (Paused) String() string    { return paused.String() }
func (Draining) String() string  { return draining.String() }

// Generation is the generation of the line's audio.
func (l Line) Generation() uint32 { return l.Gen }

// Generation is the generation that the next line will have.
func (s Closed) Generation() uint32 { return s.Gen }

// LineOf returns the open line of s, and whether there is one.
func LineOf(s State) (Line, bool) {
	at, d := s.parts()
	if at == closed {
		return Line{}, false
	}
	return d.Line, true
}

// Audible says whether s has audio that is playing.
func Audible(s State) bool {
	switch s.(type) {
	case Playing, Draining:
		return true
	default:
		return false
	}
}

// Last is the segment that ends the line so far; ok is false for an empty line.
func (l Line) Last() (seg Segment, ok bool) {
	if len(l.Segments) == 0 {
		return Segment{}, false
	}
	return l.Segments[len(l.Segments)-1], true
}

// Outcome is what an input meant.
type Outcome uint8

// The outcomes. Stale and Ignored leave the state as it was.
const (
	Stale Outcome = iota
	Ignored
	Queued   // the segment is to be synthesised
	Started  // playback is to start
	Waits    // audio is there: held
	Advanced // a segment was heard to its end
	Underran // everything so far was heard, and more is to come
	Done     // the line was heard to its end
	Stopped  // playback is to pause
)

// Begun says whether the player was told to start the line of s, and has not run out
// of it.
func Begun(s State) bool {
	_, paused := s.(Paused)
	return paused || Audible(s)
}

// Sounds says whether audio of generation gen is being played, or is stopped
// within.
func Sounds(s State, gen uint32) bool { return Begun(s) && s.Generation() == gen }

// Enqueue adds a segment, opening a line where none is. One that has ended continues.
func Enqueue(s State, seg Segment) (State, Outcome) { return next(s, enqueue, change{seg: seg}) }

// End says that no more segments come. A line that is still sounding is done when
// it drained, even if its last segment was heard.
func End(s State) (State, Outcome) { return next(s, end, change{}) }

// AskedFor says that all of the line is being synthesised.
func AskedFor(s State) State { return only(next(s, asked, change{})) }

// Buffered says that there is audio of segment seq to play, which is held until it is
// released. That of a segment which was heard already is stale.
func Buffered(s State, gen, seq uint32) (State, Outcome) {
	return next(s, buffered, change{gen: gen, seq: seq})
}

// Start lets a held line play.
func Start(s State) (State, Outcome) { return next(s, start, change{}) }

// NoteWords notes that the user said words over a paused line that count.
func NoteWords(s State) State { return only(next(s, words, change{})) }

// Played says that segment seq was heard to its end.
func Played(s State, gen, seq uint32) (State, Outcome) {
	return next(s, played, change{gen: gen, seq: seq})
}

// Drained says that everything through segment seq was heard. When seq is the
// last of an ended line, the line is done; otherwise the line ran dry.
func Drained(s State, gen, seq uint32) (State, Outcome) {
	return next(s, drained, change{gen: gen, seq: seq})
}

// Pause stops a playing line where it is.
func Pause(s State) (State, Outcome) { return next(s, pause, change{}) }

// Resume continues with a paused line.
func Resume(s State) (State, Outcome) { return next(s, resume, change{}) }

// Restart begins the unheard rest of a line again under a new generation, because the
// connection that carried its audio is gone: every segment of it has to be
// synthesised again. A line that was whole and heard is closed.
func Restart(s State) State { return only(next(s, restart, change{})) }

// Flush closes whatever is open and bumps the generation.
func Flush(s State) State { return only(next(s, flush, change{})) }

func only(s State, _ Outcome) State { return s }
