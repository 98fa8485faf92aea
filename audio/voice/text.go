package voice

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxPiece limits the engine's input per call, in bytes. The engine processes the whole
// piece before the first audio, so long pieces would be late, and it is not designed
// for words of a thousand letters.
const maxPiece = 300

// punctuation replaces marks that the engine cannot read with equivalents that it can.
var punctuation = strings.NewReplacer(
	"‘", "'", "’", "'", "“", `"`, "”", `"`, "«", `"`, "»", `"`,
	"–", ", ", "—", ", ", "−", "-", "×", " times ", "÷", " divided by ", "→", ", ",
	"€", " euros ", "£", " pounds ", "°", " degrees ", "©", " copyright ",
	"ß", "ss", "æ", "ae", "Æ", "AE", "œ", "oe", "Œ", "OE", "ø", "o", "Ø", "O", "ł", "l", "Ł", "L", "đ", "d", "ı", "i",
)

// plain converts text to the printable ASCII that the engine can read: it drops
// accents, replaces control characters and characters without an equivalent with
// spaces, and collapses runs of spaces. Numbers lose their separators, and no comma
// remains within a word.
func plain(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(punctuation.Replace(numerals(text))) {
		switch {
		case unicode.Is(unicode.Mn, r): // a combining accent of the preceding letter
		case r > ' ' && r <= '~':
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(spaced(b.String())), " ")
}

// pieces cuts plain text into pieces for the engine, each at most maxPiece long: at the
// last end of a sentence that fits, else at a comma, else at a space, else anywhere.
// Pieces without a letter or digit are dropped.
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

// cut returns the length of the first piece of text.
func cut(text string) int {
	if len(text) <= maxPiece {
		return len(text)
	}
	// Include one more byte, so that a mark at the very end still has its space.
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
