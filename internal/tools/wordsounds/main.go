// Command wordsounds learns letter-to-sound rules from a pronouncing dictionary:
//
//	wordsounds -dict /usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict \
//		-common internal/vocab/common.txt > internal/vocab/letters.txt
//
// A line of the output is a letter in its context ("_" is the edge of a word), a space,
// and the letter's sounds in the alphabet of internal/vocab. The line with the longest
// context takes precedence. A line is written only if it differs from the line with one
// letter less, so the output holds exceptions to exceptions: the IGTree of Daelemans and
// van den Bosch (1996).
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// sounds maps the dictionary's phones to the alphabet of internal/vocab.
var sounds = map[string]byte{
	"AA": 'a', "AE": 'A', "AH": 'u', "AO": 'o', "AW": 'W', "AY": 'I', "EH": 'e', "ER": 'R', "EY": 'c', "IH": 'i', "IY": 'E',
	"OW": 'O', "OY": 'Y', "UH": 'x', "UW": 'U',
	"B": 'b', "CH": 'C', "D": 'd', "DH": 'D', "F": 'f', "G": 'g', "HH": 'h', "JH": 'J', "K": 'k', "L": 'l', "M": 'm', "N": 'n',
	"NG": 'N', "P": 'p', "R": 'r', "S": 's', "SH": 'S', "T": 't', "TH": 'T', "V": 'v', "W": 'w', "Y": 'y', "Z": 'z', "ZH": 'Z',
}

// Learning: a common word counts as commonWeight others, and a line must correct at least
// this weight of words.
const (
	commonWeight = 20
	shortWord    = 4 // letters; frequent words are short
	shortWeight  = 60
	rounds       = 5 // of aligning letters with sounds
	around       = 4 // letters on each side
)

type entry struct {
	word   string
	phones string
	weight float64
	cut    []int // in phones, after each letter
}

func main() {
	dict := flag.String("dict", "", "dictionary, in the format of CMUdict")
	common := flag.String("common", "", "common words, which count more")
	least := flag.Float64("least", 25, "how much a line has to correct, in words")
	flag.Parse()
	if err := run(*dict, *common, *least); err != nil {
		fmt.Fprintln(os.Stderr, "wordsounds:", err)
		os.Exit(1)
	}
}

func run(dict, common string, least float64) error {
	list, err := os.ReadFile(common)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, w := range strings.Fields(string(list)) {
		known[w] = true
	}
	entries, err := read(dict, known)
	if err != nil {
		return err
	}
	align(entries)
	out := bufio.NewWriter(os.Stdout)
	for _, line := range learn(entries, least) {
		_, _ = fmt.Fprintln(out, line)
	}
	return out.Flush()
}

// read returns the words of a dictionary that consist of letters, with their first
// pronunciation.
func read(name string, common map[string]bool) (out []entry, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 2 || strings.Trim(f[0], "abcdefghijklmnopqrstuvwxyz") != "" || len(f)-1 > 2*len(f[0]) || len(f[0]) < 2 {
			continue
		}
		e := entry{word: f[0], weight: 1}
		for _, p := range f[1:] {
			s, ok := sounds[strings.TrimRight(p, "012")]
			if !ok {
				return nil, fmt.Errorf("%s: unknown phone %q of %q", name, p, f[0])
			}
			e.phones += string(s)
		}
		if isCommon(f[0], common) {
			e.weight = commonWeight
			if len(f[0]) <= shortWord {
				e.weight = shortWeight
			}
		}
		out = append(out, e)
	}
	return out, nil
}

func isCommon(word string, common map[string]bool) bool {
	for _, ending := range [][2]string{{"", ""}, {"s", ""}, {"ed", ""}, {"ed", "e"}, {"ing", ""}, {"ing", "e"}, {"er", ""}, {"er", "e"}, {"ies", "y"}} {
		if stem, ok := strings.CutSuffix(word, ending[0]); ok && common[stem+ending[1]] {
			return true
		}
	}
	return false
}

// align assigns each letter up to two sounds, choosing the likeliest alignment.
func align(entries []entry) {
	cost := map[string]float64{}
	for round := range rounds {
		count, total := map[string]float64{}, map[byte]float64{}
		for i := range entries {
			e := &entries[i]
			e.cut = cheapest(e, func(letter byte, said string) float64 {
				if c, ok := cost[string(letter)+said]; ok {
					return c
				}
				if round == 0 {
					return first(letter, said)
				}
				return 12
			})
			at := 0
			for j, to := range e.cut {
				count[e.word[j:j+1]+e.phones[at:to]]++
				total[e.word[j]]++
				at = to
			}
		}
		for k, n := range count {
			cost[k] = -math.Log(n / total[k[0]])
		}
	}
}

// first returns the initial cost: consonants sound like consonants, vowels like vowels.
func first(letter byte, said string) float64 {
	vowels := "aAuoWIeRciEOYxU"
	switch {
	case said == "":
		return 2
	case strings.ContainsRune("aeiouy", rune(letter)) == strings.Contains(vowels, said[:1]):
		return 1 + 2.5*float64(len(said)-1)
	}
	return 5
}

// cheapest splits the sounds of a word after each letter at the lowest cost.
func cheapest(e *entry, cost func(byte, string) float64) []int {
	n, m := len(e.word), len(e.phones)
	best, from := make([][]float64, n+1), make([][]int, n+1)
	for i := range best {
		best[i], from[i] = make([]float64, m+1), make([]int, m+1)
		for j := range best[i] {
			best[i][j] = math.Inf(1)
		}
	}
	best[0][0] = 0
	for i := range n {
		for j := range m + 1 {
			for k := j; k <= min(m, j+2); k++ {
				if c := best[i][j] + cost(e.word[i], e.phones[j:k]); c < best[i+1][k] {
					best[i+1][k], from[i+1][k] = c, j
				}
			}
		}
	}
	cut := make([]int, n)
	for i, j := n, m; i > 0; i-- {
		cut[i-1] = j
		j = from[i][j]
	}
	return cut
}

// context returns a letter with n letters around it, nearest first. n determines the
// position of the letter.
func context(word string, at, n int) string {
	padded := strings.Repeat("_", around) + word + strings.Repeat("_", around)
	at += around
	return padded[at-n/2 : at+1+(n+1)/2]
}

// learn returns the lines that reproduce the pronunciations.
func learn(entries []entry, least float64) (lines []string) {
	said := map[string]string{} // from the lines so far
	for n := range 2*around + 1 {
		counts := map[string]map[string]float64{}
		for _, e := range entries {
			at := 0
			for i, to := range e.cut {
				c := context(e.word, i, n)
				if counts[c] == nil {
					counts[c] = map[string]float64{}
				}
				counts[c][e.phones[at:to]] += e.weight
				at = to
			}
		}
		var added []string
		for c, ways := range counts {
			best := ""
			for way, weight := range ways {
				if weight > ways[best] || weight == ways[best] && way < best {
					best = way
				}
			}
			before := longest(said, c, n)
			if n == 0 || ways[best]-ways[before] >= least && best != before {
				added = append(added, c+" "+best)
			}
		}
		slices.Sort(added)
		for _, a := range added {
			c, way, _ := strings.Cut(a, " ")
			said[c] = way
		}
		lines = append(lines, added...)
	}
	return lines
}

// longest returns the sounds that the lines so far give a letter with n around it.
func longest(said map[string]string, c string, n int) string {
	for k := n - 1; k >= 0; k-- {
		at := n / 2
		if way, ok := said[c[at-k/2:at+1+(k+1)/2]]; ok {
			return way
		}
	}
	return ""
}
