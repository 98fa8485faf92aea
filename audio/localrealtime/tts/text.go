package tts

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxPiece bounds what the engine gets at once, in bytes: it works out the
// whole piece before its first audio, so long ones would be late, and it is not
// written for words of a thousand letters.
const maxPiece = 300

// punctuation is what the engine understands of what it cannot read.
var punctuation = strings.NewReplacer(
	"‘", "'", "’", "'", "“", `"`, "”", `"`, "«", `"`, "»", `"`,
	"–", ", ", "—", ", ", "−", "-", "×", " times ", "÷", " divided by ", "→", ", ",
	"€", " euros ", "£", " pounds ", "°", " degrees ", "©", " copyright ",
	"ß", "ss", "æ", "ae", "Æ", "AE", "œ", "oe", "Œ", "OE", "ø", "o", "Ø", "O", "ł", "l", "Ł", "L", "đ", "d", "ı", "i",
)

// plain is text in the printable ASCII that the engine can read: accents are
// dropped, control characters and what has no likeness become spaces, and runs
// of spaces one. Numbers lose their separators, and no comma is left within a word.
func plain(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(punctuation.Replace(numerals(text))) {
		switch {
		case unicode.Is(unicode.Mn, r): // the accent of the letter before
		case r > ' ' && r <= '~':
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(spaced(b.String())), " ")
}

// pieces cuts plain text into what the engine says in one go, each at most
// maxPiece long: at the last end of a sentence that fits, else at a comma, else
// at a space, else anywhere. Pieces without a letter or digit are left out.
func pieces(text string) []string {
	var list []string
	for text = plain(text); text != ""; {
		n := cut(text)
		piece := strings.TrimSpace(text[:n])
		text = strings.TrimSpace(text[n:])
		if strings.ContainsFunc(piece, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			list = append(list, piece)
		}
	}
	return list
}

// cut is the length of the first piece of text.
func cut(text string) int {
	if len(text) <= maxPiece {
		return len(text)
	}
	// One byte more, so that a mark at the very end still has its space.
	window := text[:maxPiece+1]
	for _, marks := range []string{".!?", ",;:"} {
		for i := maxPiece - 1; i > 0; i-- {
			if window[i+1] == ' ' && strings.IndexByte(marks, window[i]) >= 0 {
				return i + 1
			}
		}
	}
	if i := strings.LastIndexByte(window, ' '); i > 0 {
		return i
	}
	return maxPiece
}
