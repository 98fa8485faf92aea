// Package vocab knows the words of the user's trade: names from the workspace and
// from the user's own list. It finds them in transcripts, where a recogniser wrote
// what they sound like.
//
// # Model
//
// A Term is a name as it is written, such as parseConfigV2. Its spoken forms are the
// words that people say for it ("parse config v two"). Correct is a noisy channel: it
// aligns the sounds of each run of heard words with those of the spoken forms, by what
// it costs to take one sound for another (confusions.txt), and weighs that against the
// words as they stand. Of the names for a place the one with the most evidence is left.
// Decision trees (trees.txt) then say how likely it was said, by its lead over other
// names, its length, the words that were heard right and the words around it. All
// tables are learned from the sets tune of testdata, none from the set test.
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
