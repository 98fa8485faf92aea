package moonshine

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tokens with a fixed meaning. The byte b is the token firstByte+b.
const (
	tokenBegin = 1
	tokenEnd   = 2
	firstByte  = 3
	firstPiece = firstByte + 256
	firstMark  = 32000 // the model's own marks, which are not text
	numTokens  = 32768
)

// space stands for a space in a token.
const space = "▁"

// vocabulary is the model's tokenizer: SentencePiece BPE, in which the rank of a merge is
// the id of the token that it makes.
type vocabulary struct {
	texts []string         // by token
	ids   map[string]int32 // of the pieces
	stops []int32          // tokens that end a sentence: . ? !
}

// readVocabulary reads a tokenizer.bin: for each token its length, in one byte, or in two
// from 128 on, and its bytes.
func readVocabulary(path string) (*vocabulary, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the tokenizer: %w", errors.Unwrap(err))
	}
	return parseVocabulary(data)
}

func parseVocabulary(data []byte) (*vocabulary, error) {
	v := &vocabulary{ids: make(map[string]int32, numTokens)}
	for len(data) > 0 {
		length := int(data[0])
		data = data[1:]
		if length >= 128 && len(data) > 0 {
			length += int(data[0])*128 - 128
			data = data[1:]
		}
		if length > len(data) {
			return nil, fmt.Errorf("the tokenizer ends within token %d; install the model again", len(v.texts))
		}
		v.texts = append(v.texts, string(data[:length]))
		data = data[length:]
	}
	if len(v.texts) != numTokens {
		return nil, fmt.Errorf("the tokenizer has %d tokens instead of %d; install the model again", len(v.texts), numTokens)
	}
	for id := int32(firstPiece); id < firstMark; id++ {
		if text := v.texts[id]; text != "" {
			v.ids[text] = id
		}
	}
	for id, text := range v.texts {
		if text == "." || text == "?" || text == "!" {
			v.stops = append(v.stops, int32(id))
		}
	}
	return v, nil
}

// encode returns the tokens that the model was trained to write the text with.
func (v *vocabulary) encode(text string) []int32 {
	if text == "" {
		return nil
	}
	type symbol struct {
		text string // empty for a byte, which merges with nothing
		id   int32
	}
	var symbols []symbol
	for rest := space + strings.ReplaceAll(text, " ", space); rest != ""; {
		_, size := utf8.DecodeRuneInString(rest)
		if id, ok := v.ids[rest[:size]]; ok {
			symbols = append(symbols, symbol{rest[:size], id})
		} else {
			for _, b := range []byte(rest[:size]) {
				symbols = append(symbols, symbol{"", firstByte + int32(b)})
			}
		}
		rest = rest[size:]
	}
	for {
		best, at := int32(numTokens), 0
		for i := range len(symbols) - 1 {
			a, b := symbols[i].text, symbols[i+1].text
			if a == "" || b == "" {
				continue
			}
			if id, ok := v.ids[a+b]; ok && id < best {
				best, at = id, i
			}
		}
		if best == numTokens {
			break
		}
		symbols[at] = symbol{v.texts[best], best}
		symbols = append(symbols[:at+1], symbols[at+2:]...)
	}
	tokens := make([]int32, len(symbols))
	for i, s := range symbols {
		tokens[i] = s.id
	}
	return tokens
}

// decode returns the text of tokens.
func (v *vocabulary) decode(tokens []int32) string {
	var text strings.Builder
	for _, t := range tokens {
		text.WriteString(v.text(t))
	}
	return strings.TrimPrefix(text.String(), " ")
}

// text returns the text of a token, which begins with a space where a word begins. It is
// empty for tokens that are not text.
func (v *vocabulary) text(token int32) string {
	if token < firstByte || token >= firstMark {
		return ""
	}
	return strings.ReplaceAll(v.texts[token], space, " ")
}

// spells reports whether a token has a letter or a digit, or a part of one.
func (v *vocabulary) spells(token int32) bool {
	return strings.IndexFunc(v.text(token), func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == utf8.RuneError
	}) >= 0
}

// continues reports whether a token is a further part of the word before it.
func (v *vocabulary) continues(token int32) bool {
	return v.spells(token) && !strings.HasPrefix(v.text(token), " ")
}
