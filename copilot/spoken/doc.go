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
//   - The ranges [Start, End) of all segments up to and including Flush's tile the source:
//     in order, without gap or overlap. So every position in the speech can be traced to a
//     position in the text.
//   - Only the last segment of Flush can have an empty Text (for example a trailing blank
//     line): there is nothing to speak, but the range is still covered.
//   - A number, abbreviation, path, URL, version, code span, link, code block or table is
//     never divided, including "No. 5", "z. B.", "1 000", and code that contains full stops.
//     Neither is a character and its combining marks.
//   - A segment of text covers at most MaxChars runes or, if that is more, a third of it
//     plus its longest indivisible piece, plus the adjacent markers and blanks; never more
//     than 4096 (or four times MaxChars). A code block or table is spoken in a few sentences.
//   - The text held back has the same bound, and so has the latency of the first words. An
//     unclosed backtick or bracket holds back 2*MaxChars or MaxChars more runes, at most its
//     paragraph; then it counts as plain text. Only code blocks and tables are held back to
//     their end.
//   - [Align] maps each character of a segment's text to its source, in order, and exactly
//     where a word is spoken as written.
//   - The segment size does not change the words that are spoken.
//   - No more than twelve letters and digits are spoken in a row: an id is said by its first
//     four characters, a secret not at all, and a longer name in parts. Names of code are
//     never taken for ids.
package spoken
