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
	state()
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

func (Closed) state()    {}
func (Buffering) state() {}
func (Held) state()      {}
func (Playing) state()   {}
func (Paused) state()    {}
func (Draining) state()  {}

func (Closed) String() string    { return "closed" }
func (Buffering) String() string { return "buffering" }
func (Held) String() string      { return "held" }
func (Playing) String() string   { return "playing" }
func (Paused) String() string    { return "paused" }
func (Draining) String() string  { return "draining" }

// Generation is the generation of the line's audio.
func (l Line) Generation() uint32 { return l.Gen }

// Generation is the generation that the next line will have.
func (c Closed) Generation() uint32 { return c.Gen }

// LineOf returns the open line of s, and whether there is one.
func LineOf(s State) (Line, bool) {
	switch s := s.(type) {
	case Buffering:
		return s.Line, true
	case Held:
		return s.Line, true
	case Playing:
		return s.Line, true
	case Paused:
		return s.Line, true
	case Draining:
		return s.Line, true
	default:
		return Line{}, false
	}
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

// Enqueue adds a segment, opening a line where none is. One that has ended goes on.
func Enqueue(s State, seg Segment) (State, Outcome) {
	l, open := LineOf(s)
	if !open {
		return Buffering{Line{Gen: s.Generation(), Segments: []Segment{seg}}}, Queued
	}
	l.Ended = false
	segs := make([]Segment, 0, len(l.Segments)+1)
	l.Segments = append(append(segs, l.Segments...), seg)
	return with(s, l), Queued
}

// End says that no more segments come. A line that is still sounding is done when
// it drained, even if its last segment was heard.
func End(s State) (State, Outcome) {
	l, open := LineOf(s)
	if !open || l.Ended {
		return s, Ignored
	}
	l.Ended = true
	if _, dry := s.(Buffering); dry && l.Played == len(l.Segments) {
		return Closed{Gen: l.Gen}, Done
	}
	return with(s, l), Advanced
}

// AskedFor says that all of the line is being synthesised.
func AskedFor(s State) State {
	l, open := LineOf(s)
	if !open {
		return s
	}
	l.Asked = len(l.Segments)
	return with(s, l)
}

// Buffered says that there is audio of segment seq to play, which is held until it is
// released. That of a segment which was heard already is stale.
func Buffered(s State, gen, seq uint32) (State, Outcome) {
	if gen != s.Generation() {
		return s, Stale
	}
	b, _ := s.(Buffering)
	if b.Played == len(b.Segments) { // nothing is waited for, or all of it was heard already
		return s, Ignored
	}
	if seq < b.Segments[b.Played].Seq {
		return s, Stale
	}
	return Held{b.Line}, Waits
}

// Start lets a held line play.
func Start(s State) (State, Outcome) {
	h, ok := s.(Held)
	if !ok {
		return s, Ignored
	}
	return play(h.Line), Started
}

// Begun says whether the player was told to start the line of s, and has not run out
// of it.
func Begun(s State) bool {
	_, paused := s.(Paused)
	return paused || Audible(s)
}

// NoteWords notes that the user said words over a paused line that count.
func NoteWords(s State) State {
	if p, ok := s.(Paused); ok {
		p.HasWords = true
		return p
	}
	return s
}

// Sounds says whether audio of generation gen is being played, or is stopped
// within.
func Sounds(s State, gen uint32) bool {
	_, ok := heardLine(s, gen)
	return ok
}

// heardLine is the line of s if any of it can have been heard lately.
func heardLine(s State, gen uint32) (Line, bool) {
	switch s := s.(type) {
	case Playing:
		return s.Line, s.Gen == gen
	case Paused:
		return s.Line, s.Gen == gen
	case Draining:
		return s.Line, s.Gen == gen
	default:
		return Line{}, false
	}
}

// Played says that segment seq was heard to its end.
func Played(s State, gen, seq uint32) (State, Outcome) {
	l, ok := heardLine(s, gen)
	if !ok {
		return s, Stale
	}
	if l.Played == l.Asked || l.Segments[l.Played].Seq != seq {
		return s, Stale
	}
	l.Played++
	return with(s, l), Advanced
}

// Drained says that everything through segment seq was heard. When seq is the
// last of an ended line, the line is done; otherwise the line ran dry.
func Drained(s State, gen, seq uint32) (State, Outcome) {
	l, ok := heardLine(s, gen)
	if !ok {
		return s, Stale
	}
	for l.Played < l.Asked && l.Segments[l.Played].Seq <= seq {
		l.Played++
	}
	if l.Ended && l.Played == len(l.Segments) {
		return Closed{Gen: l.Gen}, Done
	}
	return Buffering{l}, Underran
}

// Pause stops a playing line where it is.
func Pause(s State) (State, Outcome) {
	if !Audible(s) {
		return s, Ignored
	}
	l, _ := LineOf(s)
	return Paused{Line: l}, Stopped
}

// Resume goes on with a paused line.
func Resume(s State) (State, Outcome) {
	p, ok := s.(Paused)
	if !ok {
		return s, Ignored
	}
	return play(p.Line), Started
}

// Restart begins the unheard rest of a line again under a new generation, because the
// connection that carried its audio is gone: every segment of it has to be
// synthesised again. A line that was whole and heard is closed.
func Restart(s State) State {
	l, open := LineOf(s)
	switch {
	case !open:
		return s
	case l.Ended && len(l.Segments) == l.Played:
		return Flush(s)
	default:
		return Buffering{Line{Gen: l.Gen + 1, Segments: l.Segments[l.Played:], Ended: l.Ended}}
	}
}

// Flush closes whatever is open and bumps the generation.
func Flush(s State) State { return Closed{Gen: s.Generation() + 1} }

func play(l Line) State {
	if l.Ended {
		return Draining{l}
	}
	return Playing{l}
}

// with puts a changed line back into the state it came from; a playing line
// that has ended drains.
func with(s State, l Line) State {
	switch s := s.(type) {
	case Held:
		return Held{l}
	case Paused:
		s.Line = l
		return s
	case Playing, Draining:
		return play(l)
	default:
		return Buffering{l}
	}
}
