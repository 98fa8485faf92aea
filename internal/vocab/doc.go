// Package vocab knows the words of the user's trade: names from the workspace and
// from the user's own list. It finds them in transcripts, where a recogniser wrote
// what they sound like.
//
// # Model
//
// A Term is a name as it is written, such as parseConfigV2. Its spoken forms are the
// words that people say for it ("parse config v two"). Correct compares each run of
// heard words with the spoken forms by sound and by spelling, and replaces a run that
// is close enough. How close it has to be depends on the run: a run of ordinary
// words needs a word before it that announces a name ("the function"), or a name
// long enough not to be said by chance.
//
// Replacements are the user's own: they are applied first, word by word, and always.
//
// # The caller's loop
//
//	v := vocab.New(terms, replacements)
//	text, changes := v.Correct(heard)
//
// # Invariants
//
// A Vocabulary is immutable and safe for concurrent use. Correct is a pure function.
// Nothing in this package logs a word or sends one anywhere. Collect is bounded in
// files, bytes, terms and time.
package vocab
