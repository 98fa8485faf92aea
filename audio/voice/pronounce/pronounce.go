package pronounce

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Variant is a variety of English.
type Variant int

// The varieties that the lists cover.
const (
	American Variant = iota
	British
)

// Files are the names of a variant's lists, the better one first.
func (v Variant) Files() []string {
	if v == British {
		return []string{"gb_gold.json", "gb_silver.json"}
	}
	return []string{"us_gold.json", "us_silver.json"}
}

// Dictionary pronounces English.
type Dictionary struct {
	variant        Variant
	lists          []*lexicon
	developerWords map[string]string // of words.txt
}

// Token is a spoken word or a mark.
type Token struct {
	// Start and End are the bytes of the text that the token stands for. Words that stand
	// for one number or sign have the same range.
	Start, End int
	// Phonemes are the symbols of a word, or "".
	Phonemes string
	// Mark is the punctuation of a pause, "\n" for a paragraph, or "".
	Mark string
}

// Load reads the lists of a variant from a folder.
func Load(dir string, v Variant) (*Dictionary, error) {
	var lists [][]byte
	for _, name := range v.Files() {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("cannot read the pronunciations %s: %w", name, errors.Unwrap(err))
		}
		lists = append(lists, data)
	}
	d, err := New(v, lists...)
	if err != nil {
		return nil, fmt.Errorf("cannot read the pronunciations: %w; install the model again", err)
	}
	return d, nil
}

// New makes a dictionary from lists in misaki's format, the better one first.
func New(v Variant, lists ...[]byte) (*Dictionary, error) {
	d := &Dictionary{variant: v, developerWords: parseDevelopersWords()}
	for i, data := range lists {
		l, err := parseLexicon(data)
		if err != nil {
			if names := v.Files(); i < len(names) {
				err = fmt.Errorf("%s: %w", names[i], err)
			}
			return nil, err
		}
		d.lists = append(d.lists, l)
	}
	if len(d.lists) == 0 {
		return nil, errors.New("a dictionary needs a list of pronunciations")
	}
	return d, nil
}

// Phonemes returns the symbols of a text, with blanks between words.
func (d *Dictionary) Phonemes(text string) string { return Join(d.Tokens(text)) }

// Join returns the symbols of tokens, with blanks between words.
func Join(tokens []Token) string {
	var b strings.Builder
	for _, t := range tokens {
		switch {
		case t.Phonemes != "":
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(t.Phonemes)
		case t.Mark != "\n" && b.Len() > 0:
			b.WriteString(t.Mark)
		}
	}
	return b.String()
}

// Tokens returns the words and marks of a text in order.
func (d *Dictionary) Tokens(text string) []Token {
	items := d.read(text)
	tokens := make([]Token, len(items))
	next := following{} // nothing follows the last word
	for i := len(items) - 1; i >= 0; i-- {
		t := Token{Start: items[i].start, End: items[i].end}
		switch items[i].kind {
		case mark, paragraph:
			t.Mark, next = items[i].text, following{}
		case letters:
			t.Phonemes = d.spelled(items[i].text)
			next = follow(t.Phonemes)
		case word:
			t.Phonemes = d.inContext(items, i, next)
			next = follow(t.Phonemes)
		}
		tokens[i] = t
	}
	return tokens
}
