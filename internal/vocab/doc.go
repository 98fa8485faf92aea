// Package vocab corrects the names in transcripts: names from the workspace and from the
// user's own list that a recogniser wrote as they sound.
//
// # Model
//
// A Term is a name as written, such as parseConfigV2. Its spoken forms are the words that
// people say for it ("parse config v two"). Correct is a noisy-channel model: it aligns
// the sounds of each run of heard words with those of the spoken forms, using the costs
// of sound confusions (confusions.txt), and weighs the result against the words as heard.
// At each place, the name with the most evidence remains. Decision trees (trees.txt) then
// estimate how likely the name was said, from its lead over other names, its length, the
// correctly heard words and the context. All tables are learned from the tuning sets of
// testdata, never from the test set.
//
// Numbers after words such as "port" and "line" are written in digits, where the words
// cannot mean anything else (numbers.go). English only.
//
// Replacements are the user's own rules. They are applied first, word by word, and
// always.
//
// # The caller's loop
//
//	v := vocab.New(terms, replacements)
//	text, changes := v.Correct(heard)
//
// # Invariants
//
// A Vocabulary is immutable and safe for concurrent use. Correct is a pure function. This
// package does not log or transmit any words. Collect is limited in files, bytes, terms
// and time.
package vocab
