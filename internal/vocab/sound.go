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

// lettersText has how letters sound among others. internal/tools/wordsounds writes it,
// and says how to read it.
//
//go:embed letters.txt
var lettersText string

// letterSounds are the sounds of letters with the letters around them.
var letterSounds = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(lettersText) {
		letters, said, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		out[letters] = said
	}
	return out
})

// letterNames are the names of the letters a to z, as they sound.
var letterNames = strings.Fields("c bE sE dE E ef JE cC I Jc kc el em en O pE kyU ar es tE yU vE dubulyU eks wI zE")

// sound is a word as it sounds. A letter alone, a digit and a dot sound like their
// names.
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

// edges are outside of a word, as far as lettersText looks.
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

// confusionsText has what it costs a recogniser to take a sound for another, or to
// hear none ("-"), in hundredths of the logarithm of the odds. BenchmarkConfusions
// learns it from the sets tune of testdata.
//
//go:embed confusions.txt
var confusionsText string

// unit is 1 in the costs of an alignment.
const unit = 100

// lost and swapped are what a sound costs, and one for another.
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

// weight is what it would cost to lose all of a sound.
func weight(s string) float64 {
	w := int32(0)
	for i := range len(s) {
		w += lost[s[i]&127]
	}
	return float64(w) / unit
}

// distance is the cheapest alignment of two sounds, or more than limit.
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

// profile counts sounds by how they are made, vowels last. It is a quick way to tell
// sounds apart that share little.
type profile [7]int8

// class is the place of a sound in a profile, from 1; 0 for a sound that is easily lost.
var class = func() (out [128]int8) {
	for c, group := range []string{"pbfv", "tdTD", "kg", "szSCJZ", "mnN", "lr", "aAuoWIeRciEOYxU"} {
		for i := range len(group) {
			out[group[i]] = int8(c) + 1
		}
	}
	return out
}()

// leastApart is the least that it costs to lose a sound of a class, or to take it for
// one of another class.
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

// apart is less than an alignment of two sounds costs.
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
