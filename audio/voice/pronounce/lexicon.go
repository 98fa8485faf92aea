package pronounce

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"strings"
)

// lexicon is a word list in a compact form, which takes less memory than a map of strings.
type lexicon struct {
	// entries holds one record for each word: the word, a zero byte, the default
	// pronunciation, and for each variant a zero byte, the part of speech, '=' and the
	// pronunciation. A newline ends a record.
	entries []byte
	// index is a hash table of positions in entries, plus one; 0 is free.
	index []uint32
	seed  maphash.Seed
}

// entry is one word's pronunciations.
type entry struct {
	base     string
	variants string // zero byte, part of speech, '=', pronunciation; repeated
}

// as returns the pronunciation for a part of speech.
func (e entry) as(part string) string {
	for v := range strings.SplitSeq(e.variants, "\x00") {
		if name, phonemes, ok := strings.Cut(v, "="); ok && name == part && phonemes != "" {
			return phonemes
		}
	}
	return e.base
}

// find looks up a word exactly as written.
func (l *lexicon) find(word string) (entry, bool) {
	mask := uint64(len(l.index) - 1)
	for i := maphash.String(l.seed, word) & mask; l.index[i] != 0; i = (i + 1) & mask {
		record := l.entries[l.index[i]-1:]
		if len(record) <= len(word) || record[len(word)] != 0 || string(record[:len(word)]) != word {
			continue
		}
		record = record[len(word)+1:]
		base, variants, _ := strings.Cut(string(record[:bytes.IndexByte(record, '\n')]), "\x00")
		return entry{base, variants}, true
	}
	return entry{}, false
}

// each calls f with every word and its pronunciations.
func (l *lexicon) each(f func(word string, e entry)) {
	for record := range bytes.SplitSeq(l.entries, []byte{'\n'}) {
		word, rest, ok := strings.Cut(string(record), "\x00")
		if !ok {
			continue
		}
		base, variants, _ := strings.Cut(rest, "\x00")
		f(word, entry{base, variants})
	}
}

// parseLexicon reads a list in misaki's format: a JSON object whose values are a
// pronunciation or an object of them by part of speech.
func parseLexicon(data []byte) (*lexicon, error) {
	p := &listParser{rest: data, entries: make([]byte, 0, len(data))}
	var starts []uint32
	err := p.object(func(word []byte) error {
		starts = append(starts, uint32(len(p.entries)))
		p.entries = append(p.entries, word...)
		return p.value()
	})
	if err != nil {
		return nil, err
	}
	l := &lexicon{entries: bytes.Clone(p.entries), seed: maphash.MakeSeed()}
	l.index = make([]uint32, 1<<bits.Len(uint(len(starts)*4/3+1)))
	mask := uint64(len(l.index) - 1)
	for _, start := range starts {
		word := l.entries[start:]
		word = word[:bytes.IndexByte(word, 0)]
		i := maphash.Bytes(l.seed, word) & mask
		for l.index[i] != 0 {
			i = (i + 1) & mask
		}
		l.index[i] = start + 1
	}
	return l, nil
}

var errList = errors.New("not a list of pronunciations")

// listParser reads the subset of JSON that the lists use. encoding/json would take several
// times as long, and a voice must be ready soon.
type listParser struct {
	rest    []byte
	entries []byte
}

// next skips blanks and returns the next byte, or 0 at the end.
func (p *listParser) next() byte {
	p.rest = bytes.TrimLeft(p.rest, " \t\r\n")
	if len(p.rest) == 0 {
		return 0
	}
	return p.rest[0]
}

func (p *listParser) take(c byte) error {
	if p.next() != c {
		return fmt.Errorf("%w: %q expected", errList, c)
	}
	p.rest = p.rest[1:]
	return nil
}

// text reads a string. The lists contain no escapes.
func (p *listParser) text() ([]byte, error) {
	if err := p.take('"'); err != nil {
		return nil, err
	}
	end := bytes.IndexByte(p.rest, '"')
	if end < 0 || bytes.ContainsAny(p.rest[:end], "\\\n\x00") {
		return nil, fmt.Errorf("%w: unsupported string", errList)
	}
	s := p.rest[:end]
	p.rest = p.rest[end+1:]
	return s, nil
}

// object reads an object and calls field before each value.
func (p *listParser) object(field func(name []byte) error) error {
	if err := p.take('{'); err != nil {
		return err
	}
	for p.next() != '}' {
		name, err := p.text()
		if err != nil {
			return err
		}
		if err := p.take(':'); err != nil {
			return err
		}
		if err := field(name); err != nil {
			return err
		}
		if p.next() != ',' {
			break
		}
		p.rest = p.rest[1:]
	}
	return p.take('}')
}

// value reads a pronunciation or an object of them, and completes the record.
func (p *listParser) value() error {
	var base, variants []byte
	var err error
	if p.next() != '{' {
		base, err = p.text()
	} else {
		err = p.object(func(part []byte) error {
			if p.next() == 'n' { // null: no pronunciation of its own
				p.rest = bytes.TrimPrefix(p.rest, []byte("null"))
				return nil
			}
			phonemes, err := p.text()
			if string(part) == "DEFAULT" {
				base = phonemes
			} else {
				variants = append(append(append(append(variants, 0), part...), '='), phonemes...)
			}
			return err
		})
	}
	p.entries = append(append(append(append(p.entries, 0), base...), variants...), '\n')
	return err
}
