package kokoro

import (
	"strings"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio/voice/pronounce"
)

// Lengths of pieces in symbols; a word has about six with its blank.
const (
	maxSymbols    = 510 // the model's limit
	longestPiece  = 100 // longer ones take more memory, and say less exactly what was heard
	mostFirst     = 34  // two or three more words cost a quick machine little, and sound better
	leastFirst    = 16
	shortestPiece = 14 // a shorter one sounds clipped, and costs as much as this
)

// piece is a part of a text that is computed in one run.
type piece struct {
	start, end int // bytes of the text
	phonemes   string
	symbols    int
	// mark is the punctuation at the end, or "" if the piece ends within a clause.
	mark   string
	tokens []pronounce.Token
}

// plan cuts a text into pieces.
type plan struct {
	text   string
	tokens []pronounce.Token
	start  int // where the next piece begins in the text
}

// spoken reports whether there is anything left to speak.
func (p *plan) spoken() bool {
	for _, t := range p.tokens {
		if t.Phonemes != "" {
			return true
		}
	}
	return false
}

// next returns the next piece, of about limit symbols at most. ok is false at the end.
func (p *plan) next(limit int) (next piece, ok bool) {
	if !p.spoken() {
		return piece{}, false
	}
	n := cut(p.text, p.tokens, min(limit, longestPiece))
	next = makePiece(p.tokens[:n])
	next.start, next.end = p.start, len(p.text)
	if p.tokens = p.tokens[n:]; p.spoken() {
		next.end = max(p.start, p.tokens[0].Start)
	}
	p.start = next.end
	return next, true
}

func makePiece(tokens []pronounce.Token) piece {
	made := piece{tokens: tokens, phonemes: pronounce.Join(tokens)}
	for i := len(tokens) - 1; i >= 0 && tokens[i].Mark != ""; i-- {
		if made.mark == "" || tokens[i].Mark == "\n" {
			made.mark = tokens[i].Mark
		}
	}
	if made.mark == "" { // without any mark the model tends to swallow the last word
		made.phonemes += ","
	}
	made.symbols = utf8.RuneCountInString(made.phonemes)
	return made
}

// halves cuts a piece in two. ok is false if it is a single word.
func (c piece) halves(text string) (first, second piece, ok bool) {
	n := cut(text, c.tokens, c.symbols/2)
	if n >= len(c.tokens) {
		return piece{}, piece{}, false
	}
	first, second = makePiece(c.tokens[:n]), makePiece(c.tokens[n:])
	return first, second, first.symbols > 1 && second.symbols > 1
}

// boundary is a place between two tokens where a piece can end.
type boundary struct{ tokens, symbols, quality int }

// The qualities of boundaries.
const (
	afterFunctionWord = iota
	withinClause
	beforePhrase
	clauseEnd
	sentenceEnd
	paragraphEnd
)

// phraseWords begin a phrase, so that a short pause before them sounds natural. After them,
// and after the other function words, it does not.
var (
	phraseWords   = set("and or but nor so because since while when where which who that if unless until before after than as in on at from with without into for by about between through during under over against across within via per to is are was were has have had will can should must")
	functionWords = set("the a an this these those my your his her its our their each every no not i you he she it we they of do does did be been don't doesn't can't isn't")
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// cut returns the number of tokens in the first piece: the sentence, or a part of it that
// has no more symbols than limit.
func cut(text string, tokens []pronounce.Token, limit int) int {
	var found []boundary
	symbols := 0
	for i, t := range tokens {
		symbols += utf8.RuneCountInString(t.Phonemes) + 1
		if symbols > 2*limit && len(found) > 0 {
			break
		}
		last := i+1 == len(tokens)
		if !last && (tokens[i+1].Mark != "" || inOneWord(t, tokens[i+1]) && symbols < limit) {
			continue
		}
		b := boundary{i + 1, symbols, quality(text, tokens, i)}
		if last {
			b.quality = sentenceEnd
		}
		found = append(found, b)
		if b.quality == paragraphEnd || b.quality == sentenceEnd && symbols >= shortestPiece {
			break
		}
	}
	if len(found) == 0 {
		return 1
	}
	return best(found, limit)
}

// inOneWord reports whether two tokens stand for the same number or sign.
func inOneWord(a, b pronounce.Token) bool { return a.Start == b.Start && a.End == b.End }

// quality says how natural a pause after the token at i is.
func quality(text string, tokens []pronounce.Token, i int) int {
	switch tokens[i].Mark {
	case "":
	case "\n":
		return paragraphEnd
	case ".", "!", "?", "…":
		return sentenceEnd
	default:
		return clauseEnd
	}
	word := func(t pronounce.Token) string { return strings.ToLower(text[t.Start:t.End]) }
	switch {
	case phraseWords[word(tokens[i])], functionWords[word(tokens[i])]:
		return afterFunctionWord
	case i+1 < len(tokens) && phraseWords[word(tokens[i+1])]:
		return beforePhrase
	}
	return withinClause
}

// best picks the most natural boundary within limit. The last one is the end of the sentence,
// or too far away.
func best(found []boundary, limit int) int {
	end := found[len(found)-1]
	if end.symbols <= limit {
		return end.tokens
	}
	for q := sentenceEnd; q >= afterFunctionWord; q-- {
		least := limit / 3
		switch q {
		case beforePhrase:
			least = limit / 2
		case withinClause: // rather a longer piece than a pause within a phrase
			if end.quality >= sentenceEnd && end.symbols <= limit*5/4 {
				return end.tokens
			}
			least = limit / 2
		}
		for i := len(found) - 1; i >= 0; i-- {
			b := found[i]
			if b.quality >= q && b.symbols >= max(least, min(shortestPiece, limit*2/3)) && b.symbols <= limit && end.symbols-b.symbols >= shortestPiece {
				return b.tokens
			}
		}
	}
	for i := len(found) - 1; i > 0; i-- {
		if found[i].symbols <= limit {
			return found[i].tokens
		}
	}
	return found[0].tokens
}
