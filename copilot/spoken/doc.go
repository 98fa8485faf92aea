// Package spoken converts between written and spoken language: it turns an assistant's
// streamed Markdown into segments that can be read aloud, and it recognises the short
// things people say to a voice assistant. It is pure: no I/O, no clock, no goroutine, no
// global mutable state.
//
// # Model
//
// A [Chunker] reads one answer as it streams. Its decisions depend on the source text
// alone, never on how the stream was split into deltas: pushing a text in one call, byte
// by byte or split within a rune gives the same segments.
//
// The chunker classifies lines into blocks by their first characters, so that speech can
// start before the end of a paragraph; the Markdown library needs the whole paragraph. A
// test checks our blocks against the library's. Block content goes to the sentence
// scanner without its block markers. Sentences with markup then go to the library, unless
// a fast path handles their markup. Large tables are announced rather than read, and so
// is code unless [Options] says otherwise. The library does not find the blocks, because
// it parses only whole texts: each delta would cost as much as the answer so far, and
// open links, quotes and stars take quadratic time (BenchmarkRendering).
//
// A [Grammar] classifies what people say: only a whole utterance can be a command; the
// same words within a sentence are dictation. Its phrases are data files per language, in
// commands.
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
