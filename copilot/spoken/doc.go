// Package spoken is the boundary between written and spoken words: it turns an
// assistant's streamed Markdown into pieces that can be read aloud, and it
// recognises the short things people say to a voice assistant. It is pure code:
// no I/O, no clock, no goroutine, no state outside the values it returns.
//
// # Model
//
// A [Chunker] reads one answer as it comes. Its decisions depend on the source text
// alone, never on how the stream was cut into deltas: Push of a text in one call,
// byte by byte or in the middle of a rune gives the same segments.
//
// Lines are sorted into blocks by their beginning, so that speech need not wait for
// the end of a paragraph, which the Markdown library does. Its blocks are the judge
// of ours in a test. What is within a block goes without the marks around it to the
// scanner of sentences, and each sentence that holds markup to the library, unless its
// markup is of the common kinds. Large tables are named, not read, and so is code unless
// [Options] says otherwise. The library does not sort the blocks, too: it parses a whole
// text only, so that each delta would cost what the answer costs so far, and takes
// quadratic time for open links, quotes and stars (BenchmarkRendering).
//
// A [Grammar] sorts what people say: a whole utterance can be a command, and what is said
// within a sentence is dictation. Its phrases are data files by language, in commands.
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
//   - A number, abbreviation, path, URL, version, code span, link, code block or
//     table is never divided: also not "No. 5", "z. B.", "1 000", or code that holds
//     full stops. Nor is a character and its combining marks.
//   - A segment of text covers at most MaxChars runes or, if that is more, a third of
//     it and the longest of those it must not divide, plus the marks and blanks around
//     it; in no case more than 4096 (or four times MaxChars). The text of a code block
//     or table is a sentence or a few.
//   - What is held back has the same bound, and so has the wait for the first words;
//     a backtick or bracket that nothing closes holds back 2*MaxChars or MaxChars
//     runes more, or its paragraph. After that it is plain text. Only code blocks and
//     tables are waited for to their end.
//   - [Align] maps each character of a segment's text to its source: in order, and exactly
//     where a word is spoken as it is written.
//   - Sizes do not change the words: segments of any size speak the same in all.
package spoken
