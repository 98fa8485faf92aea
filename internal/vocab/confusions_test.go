package vocab

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// tuning lists the sets that the parameters are fitted to.
var tuning = []string{"tune", "tune2", "tune3", "tune4", "tune5", "tune6", "tune7", "tune8", "tune9", "tune10"}

// confusions counts which sounds were heard for which, where the heard words differ from
// the spoken ones. A missed or inserted sound is paired with '-'.
type confusions map[[2]byte]float64

// count aligns two sounds by the costs of a table.
func (c confusions) count(a, b string, cost func(a, b byte) float64) {
	best := make([][]float64, len(a)+1)
	for i := range best {
		best[i] = make([]float64, len(b)+1)
		for j := range best[i] {
			switch {
			case i == 0 && j == 0:
			case i == 0:
				best[i][j] = best[i][j-1] + cost(b[j-1], '-')
			case j == 0:
				best[i][j] = best[i-1][j] + cost(a[i-1], '-')
			default:
				best[i][j] = min(best[i-1][j-1]+cost(a[i-1], b[j-1]), best[i-1][j]+cost(a[i-1], '-'), best[i][j-1]+cost(b[j-1], '-'))
			}
		}
	}
	for i, j := len(a), len(b); i > 0 || j > 0; {
		switch {
		case i > 0 && j > 0 && best[i][j] == best[i-1][j-1]+cost(a[i-1], b[j-1]):
			i, j = i-1, j-1
			c[[2]byte{a[i], b[j]}]++
			c[[2]byte{b[j], a[i]}]++
		case i > 0 && best[i][j] == best[i-1][j]+cost(a[i-1], '-'):
			i--
			c[[2]byte{a[i], '-'}]++
		default:
			j--
			c[[2]byte{b[j], '-'}]++
		}
	}
}

// prior is the cost of a pair without data.
func prior(a, b byte) float64 {
	vowels := class['a']
	av, bv := class[a] == vowels, class[b] == vowels
	switch {
	case a == b:
		return 0
	case b == '-' && av:
		return 3
	case b == '-':
		return 3.5
	case av && bv:
		return 2.5
	case av != bv:
		return 6.5
	case class[a] == class[b]:
		return 3
	}
	return 4.5
}

// pseudo is the weight of the prior, in pairs per sound.
const pseudo = 40

// learned returns the costs that follow from the counts.
func (c confusions) learned() map[[2]byte]float64 {
	total, sum := map[byte]float64{}, 0.0
	for p, n := range c {
		total[p[0]] += n
		if p[1] != '-' {
			sum += n
		}
	}
	// joint is the probability of a pair, smoothed with the prior.
	joint := func(a, b byte) float64 {
		norm := math.Exp(-prior(a, '-'))
		for i := range len(soundLetters) {
			norm += math.Exp(-prior(a, soundLetters[i]))
		}
		p := (c[[2]byte{a, b}] + pseudo*math.Exp(-prior(a, b))/norm) / (total[a] + pseudo)
		return p * total[a] / sum
	}
	out := map[[2]byte]float64{}
	for i := range len(soundLetters) {
		a := soundLetters[i]
		for j := range i {
			b := soundLetters[j]
			cost := 0.5*math.Log(joint(a, a)*joint(b, b)) - math.Log((joint(a, b)+joint(b, a))/2)
			out[[2]byte{a, b}] = max(cost, 0.2)
			out[[2]byte{b, a}] = out[[2]byte{a, b}]
		}
		q := total[a] / sum
		out[[2]byte{a, '-'}] = max(0.5*math.Log(joint(a, a)/(q*q))-math.Log(joint(a, '-')/q), 0.2)
	}
	return out
}

// segments returns the sounds of the spoken and heard words where they differ.
func segments(list []recording) (out [][2]string) {
	sounds := func(words []string) (s string) {
		for _, w := range heard(strings.Join(words, " ")) {
			s += w.sound
		}
		return s
	}
	for _, r := range list {
		for _, p := range pairs(heardWords(strings.ReplaceAll(r.spoken, " . ", " dot ")), heardWords(r.heard)) {
			if len(p[0]) > 0 && !slices.Equal(p[0], p[1]) {
				out = append(out, [2]string{sounds(p[0]), sounds(p[1])})
			}
		}
	}
	return out
}

// learnConfusions alternates between aligning and learning.
func learnConfusions(list [][2]string) map[[2]byte]float64 {
	var costs map[[2]byte]float64
	for range 6 {
		c := confusions{}
		for _, s := range list {
			c.count(s[0], s[1], func(a, b byte) float64 {
				if costs == nil || a == b {
					return prior(a, b)
				}
				return costs[[2]byte{a, b}]
			})
		}
		costs = c.learned()
	}
	return costs
}

func formatConfusions(costs map[[2]byte]float64) string {
	var lines []string
	for p, cost := range costs {
		if p[0] > p[1] {
			lines = append(lines, fmt.Sprintf("%c%c %.0f\n", p[0], p[1], cost*unit))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// BenchmarkConfusions prints confusions.txt as learned from the tuning sets.
func BenchmarkConfusions(b *testing.B) {
	var list [][2]string
	for _, set := range tuning {
		_, recordings := load(b, set)
		list = append(list, segments(recordings)...)
	}
	for b.Loop() {
		fmt.Print(formatConfusions(learnConfusions(list)))
	}
}
