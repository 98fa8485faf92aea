// Package spoken is the boundary between written and spoken words: it turns an
// assistant's streamed Markdown into pieces that can be read aloud, and it
// recognises the short things people say to a voice assistant. It is pure code:
// no I/O, no clock, no goroutine, no state outside the values it returns.
//
// # Model
//
// A [Chunker] is a fold over the runes of one answer. Its decisions depend on
// the source text alone, never on how the stream was cut into deltas: Push of a
// text in one call, byte by byte or in the middle of a rune gives the same
// segments. Lines are sorted into blocks (paragraph, list item, heading, fenced
// or indented code, table); within text blocks a segment ends with a sentence.
// Code and tables are named, not read.
//
// # Caller's loop
//
//	c := spoken.New(spoken.Options{})
//	for delta := range answer {
//		speak(c.Push(delta))
//	}
//	speak(c.Flush())
//
// # Invariants
//
//   - The ranges [Start, End) of all segments up to and including Flush's tile
//     the source: in order, without gap or overlap. So a position in the speech
//     can always be traced to a position in the text.
//   - Only the last segment of Flush can have an empty Text (a trailing blank
//     line, say): there is nothing to speak, the range is still accounted for.
//   - A number, abbreviation, path, URL, version or code span is never divided.
package spoken
