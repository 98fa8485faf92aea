package vocab

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// A sound is a letter. Vowels: a father, A cat, u cut, o law, W cow, I my, e bed,
// R bird, c day, i bit, E see, O go, Y boy, x book, U too. Consonants sound like the
// letter, and C cheese, D they, J jam, N sing, S she, T thin, Z measure.
const soundLetters = "aAuoWIeRciEOYxUbCdDfghJklmNnprsStTvwyzZ"

// lettersText maps letters in context to sounds. internal/tools/wordsounds generates it
// and documents the format.
//
//go:embed letters.txt
var lettersText string

// letterSounds maps letters in context to their sounds.
var letterSounds = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(lettersText) {
		letters, said, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		out[letters] = said
	}
	return out
})

// letterNames holds the pronunciation of the names of the letters a to z.
var letterNames = strings.Fields("c bE sE dE E ef JE cC I Jc kc el em en O pE kyU ar es tE yU vE dubulyU eks wI zE")

// sound returns the pronunciation of a word. A single letter, a digit and a dot are
// pronounced as their names.
func sound(word string) string {
	switch {
	case word == ".":
		word = "dot"
	case isDigits(word):
		var out strings.Builder
		for _, w := range strings.Fields(number(word)) {
			out.WriteString(sound(w))
		}
		return out.String()
	}
	word = strings.Map(plainLetter, word)
	if len(word) == 1 {
		return letterNames[word[0]-'a']
	}
	known := letterSounds()
	padded := edges + word + edges
	var out []byte
	for at := len(edges); at < len(edges)+len(word); at++ {
		for n := 2 * len(edges); n >= 0; n-- {
			said, ok := known[padded[at-n/2:at+1+(n+1)/2]]
			if !ok {
				continue
			}
			for i := range len(said) {
				if l := len(out); l == 0 || out[l-1] != said[i] { // doubled letters sound once
					out = append(out, said[i])
				}
			}
			break
		}
	}
	return string(out)
}

// edges pads a word at both ends, by the context that lettersText uses.
const edges = "____"

func plainLetter(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return r
	case strings.ContainsRune("äàáâå", r):
		return 'a'
	case strings.ContainsRune("éèêë", r):
		return 'e'
	case strings.ContainsRune("öôóò", r):
		return 'o'
	case strings.ContainsRune("üûúù", r):
		return 'u'
	case r == 'ß':
		return 's'
	}
	return -1
}

// confusionsText holds the cost of a recogniser confusing one sound with another, or
// missing it ("-"), in hundredths of log odds. BenchmarkConfusions learns it from the
// tuning sets in testdata.
//
//go:embed confusions.txt
var confusionsText string

// unit is 1 in alignment costs.
const unit = 100

// lost and swapped are the costs of missing a sound and of confusing two.
var lost, swapped = costs()

func costs() (lost [128]int32, swapped [128][128]int32) {
	for line := range strings.Lines(confusionsText) {
		f := strings.Fields(line)
		cost, err := strconv.Atoi(f[1])
		if err != nil {
			panic("confusions.txt: " + err.Error())
		}
		a, b := f[0][0], f[0][1]
		if b == '-' {
			lost[a] = int32(cost)
			continue
		}
		swapped[a][b], swapped[b][a] = int32(cost), int32(cost)
	}
	return lost, swapped
}

// weight returns the cost of missing every sound of s.
func weight(s string) float64 {
	w := int32(0)
	for i := range len(s) {
		w += lost[s[i]&127]
	}
	return float64(w) / unit
}

// distance returns the cost of the cheapest alignment of two sounds, or a value above
// limit.
func distance(a, b string, limit float64, row []int32) float64 {
	row = append(row[:0], 0)
	for j := range len(b) {
		row = append(row, row[j]+lost[b[j]&127])
	}
	most := int32(limit * unit)
	for i := range len(a) {
		costs, gone := &swapped[a[i]&127], lost[a[i]&127]
		diagonal, least := row[0], row[0]+gone
		row[0] = least
		left := least
		for j := range len(b) {
			s, above := b[j]&127, row[j+1]
			left = min(diagonal+costs[s], above+gone, left+lost[s])
			diagonal, row[j+1] = above, left
			least = min(least, left)
		}
		if least > most {
			return float64(least) / unit
		}
	}
	return float64(row[len(b)]) / unit
}

// profile counts sounds by class, vowels last. It is a cheap lower bound for sounds that
// have little in common.
type profile [7]int8

// class maps a sound to its class in a profile, from 1; 0 if the sound is easily missed.
var class = func() (out [128]int8) {
	for c, group := range []string{"pbfv", "tdTD", "kg", "szSCJZ", "mnN", "lr", "aAuoWIeRciEOYxU"} {
		for i := range len(group) {
			out[group[i]] = int8(c) + 1
		}
	}
	return out
}()

// leastApart is the lowest cost of missing a sound, or of confusing sounds of different
// classes.
var leastApart = func() float64 {
	least := int32(1 << 30)
	for i := range len(soundLetters) {
		a := soundLetters[i]
		if class[a] == 0 {
			continue
		}
		least = min(least, lost[a])
		for j := range len(soundLetters) {
			if b := soundLetters[j]; class[b] != class[a] {
				least = min(least, swapped[a][b])
			}
		}
	}
	return float64(least) / unit
}()

func profileOf(s string) (p profile) {
	for i := range len(s) {
		if c := class[s[i]&127]; c > 0 {
			p[c-1]++
		}
	}
	return p
}

// apart returns a lower bound of the alignment cost of two sounds.
func (p profile) apart(o profile) float64 {
	var more, less int8
	for i := range p {
		if d := p[i] - o[i]; d > 0 {
			more += d
		} else {
			less -= d
		}
	}
	return leastApart * float64(max(more, less))
}
