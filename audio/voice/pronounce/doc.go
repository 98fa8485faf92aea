// Package pronounce converts English text to the phoneme symbols of the Kokoro voices.
//
//	d, err := pronounce.Load(dir, pronounce.American)
//	for _, t := range d.Tokens("Open main.go.") {
//		// "Open" ˈOpən, "main.go" mˈAn dˈɑt ɡˈO, "."
//	}
//
// # Model
//
// Text becomes spoken words and marks: numbers, symbols, identifiers and abbreviations are
// written out. Each word is then looked up, in this order:
//
//  1. the developers' words of words.txt;
//  2. the lists of misaki, gold before silver (Apache-2.0; files beside the model);
//  3. its stem in those lists, for an inflected word;
//  4. as letters, for acronyms and words without a vowel;
//  5. its parts, for a compound of two known words;
//  6. the letter-to-sound rules of Flite, or as letters in a build without cgo.
//
// The neighbours of a word decide weak forms ("the", "a", "to") and heteronyms ("read").
//
// # Invariants
//
// Symbols are only those of Kokoro's vocabulary. Tokens are in the order of the text, and
// everything that can be spoken is in one of them. A Dictionary is safe for concurrent use.
package pronounce
