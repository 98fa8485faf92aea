package moonshine

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// letters is a vocabulary of the end and the letters a to d, each a word.
var letters = &vocabulary{texts: []string{"", "", "", "▁a", "▁b", "▁c", "▁d", "."}, stops: []int32{7}}

// language gives logits for the next letter from those before.
type language struct {
	logits func(tokens []int32) []float32
	rows   [][]int32
}

func (l *language) step(parents []int, tokens []int32) ([][]float32, error) {
	if l.rows == nil {
		l.rows = [][]int32{nil}
	}
	var rows [][]int32
	var out [][]float32
	for i, p := range parents {
		rows = append(rows, append(slices.Clip(l.rows[p]), tokens[i]))
		out = append(out, l.logits(rows[i]))
	}
	l.rows = rows
	return out, nil
}

func spell(tokens []int32) string {
	var s strings.Builder
	for _, t := range tokens {
		s.WriteString(strings.TrimPrefix(letters.texts[t], space))
	}
	return s.String()
}

// likely makes a language from the probabilities of next letters, where '$' is the end.
func likely(next map[string]map[byte]float64) *language {
	return &language{logits: func(tokens []int32) []float32 {
		out := slices.Repeat([]float32{-40}, len(letters.texts))
		for c, p := range next[spell(tokens)] {
			token := int(tokenEnd)
			if c != '$' {
				token = slices.IndexFunc(letters.texts, func(s string) bool { return strings.HasSuffix(s, string(c)) })
			}
			out[token] = float32(math.Log(p)) + 5 // logits are not normalized
		}
		return out
	}}
}

func mustSearch(t *testing.T, l *language, names *Names, width int) hypothesis {
	t.Helper()
	h, err := search(letters, l, l.logits(nil), names, width, 40)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// garden has the most probable first letter on a path that is less probable as a whole.
var garden = map[string]map[byte]float64{
	"": {'a': 0.6, 'b': 0.4}, "a": {'c': 0.5, 'd': 0.5}, "b": {'d': 0.95, 'c': 0.05},
	"ac": {'$': 1}, "ad": {'$': 1}, "bd": {'$': 0.7, '.': 0.3}, "bc": {'$': 1}, "bd.": {'$': 1},
}

func TestBeamsFindWhatGreedMisses(t *testing.T) {
	if got := spell(mustSearch(t, likely(garden), nil, 1).tokens); got != "ac" {
		t.Errorf("greedy: %s", got)
	}
	h := mustSearch(t, likely(garden), nil, 4)
	if got := spell(h.tokens); got != "ac" && got != "ad" || math.Abs(h.sum-math.Log(0.3)) > 1e-4 {
		t.Errorf("%s %v", got, h.sum) // 0.3 against 0.4 * 0.95 * 0.7
	}
	delete(garden["bd"], '.')
	garden["bd"]['$'] = 1
	if h := mustSearch(t, likely(garden), nil, 4); spell(h.tokens) != "bd" || math.Abs(h.sum-math.Log(0.38)) > 1e-4 || !h.complete {
		t.Errorf("%s %v", spell(h.tokens), h.sum)
	}
}

func TestNamesNeedEvidence(t *testing.T) {
	names := &Names{vocabulary: letters, root: &node{}}
	names.add([]int32{4, 5}) // bc
	for _, tt := range []struct {
		b, c float64
		want string
	}{{0.2, 0.9, "bc"}, {0.02, 0.9, "ad"}, {0.45, 0.05, "bd"}, {0.0005, 0.9, "ad"}} {
		l := likely(map[string]map[byte]float64{
			"": {'a': 1 - tt.b, 'b': tt.b}, "a": {'d': 1}, "ad": {'$': 1},
			"b": {'c': tt.c, 'd': 1 - tt.c}, "bc": {'$': 1}, "bd": {'$': 1},
		})
		if tt.want == "bd" {
			l = likely(map[string]map[byte]float64{"": {'b': 1}, "b": {'c': tt.c, 'd': 1 - tt.c}, "bc": {'$': 1}, "bd": {'$': 1}})
		}
		h := mustSearch(t, l, names, 4)
		if got := spell(h.tokens); got != tt.want {
			t.Errorf("b %v, c %v: %s, want %s", tt.b, tt.c, got, tt.want)
		}
	}
}

func TestLoopsAndLimits(t *testing.T) {
	always := func(s string) *language {
		return &language{logits: func(tokens []int32) []float32 {
			out := slices.Repeat([]float32{-40}, len(letters.texts))
			out[3+int(s[len(tokens)%len(s)]-'a')] = 0
			return out
		}}
	}
	for _, width := range []int{1, 4} {
		h := mustSearch(t, always("abc"), nil, width)
		if got := spell(h.tokens); got != "abc" || h.complete || len(h.logs) != 3 {
			t.Errorf("a loop: %s %v", got, h.complete)
		}
		const long = "abcdacbdbadcdbacabdcbcadcabddcabbacdabcdacdb"
		h = mustSearch(t, always(long), nil, width)
		if got := spell(h.tokens); got != long[:40] || h.complete {
			t.Errorf("a long text: %s %v", got, h.complete)
		}
	}
	for _, tokens := range []string{"aaaa", "abababab", "abcabcabcabc", "xyabcabc"} {
		var ids []int32
		for _, c := range tokens {
			ids = append(ids, int32(c))
		}
		if keep := beforeLoop(ids); keep != len(ids) {
			t.Errorf("%s is a loop from %d", tokens, keep)
		}
	}
}

// random is a language whose logits depend on all letters before.
func random(t *rapid.T) *language {
	seed := rapid.Uint64().Draw(t, "seed")
	return &language{logits: func(tokens []int32) []float32 {
		x := seed
		for _, token := range tokens {
			x = (x ^ uint64(token)) * 0x9E3779B97F4A7C15
		}
		out := make([]float32, len(letters.texts))
		for i := range out {
			x = x*6364136223846793005 + 1442695040888963407
			out[i] = float32(x>>40) / (1 << 22) // 0 to 4
		}
		out[0], out[1] = -40, -40
		out[tokenEnd] += float32(len(tokens)) / 2
		return out
	}}
}

// TestOneBeamIsGreedy: a beam of one follows the most probable tokens, and a wider one has
// the probability of its text.
func TestOneBeamIsGreedy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := random(t)
		h, err := search(letters, l, l.logits(nil), nil, 1, 30)
		if err != nil {
			t.Fatal(err)
		}
		var greedy []int32
		sum := 0.0
		for len(greedy) < 30 {
			d := normalize(l.logits(greedy))
			best := d.best(1)[0]
			sum += d.log(best)
			if best == tokenEnd {
				break
			}
			greedy = append(greedy, best)
		}
		if !slices.Equal(h.tokens, greedy) || math.Abs(h.sum-sum) > 1e-6 {
			t.Fatalf("%s %v, greedy %s %v", spell(h.tokens), h.sum, spell(greedy), sum)
		}
		l.rows = nil
		wide, _ := search(letters, l, l.logits(nil), nil, 4, 30)
		again, sum := []int32(nil), 0.0
		for _, token := range append(slices.Clip(wide.tokens), tokenEnd) {
			sum += normalize(l.logits(again)).log(token)
			again = append(again, token)
		}
		if wide.complete && math.Abs(sum-wide.sum) > 1e-6 {
			t.Fatalf("%s %v, on its own %v", spell(wide.tokens), wide.sum, sum)
		}
	})
}

func TestMostProbableTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logits := rapid.SliceOfNDistinct(rapid.Float32Range(-20, 20), 8, 60, rapid.ID).Draw(t, "logits")
		d := normalize(logits)
		sum := 0.0
		for i := range logits {
			sum += math.Exp(d.log(int32(i)))
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Fatalf("the probabilities add up to %v", sum)
		}
		sorted := slices.Sorted(slices.Values(logits))
		slices.Reverse(sorted)
		for i, token := range d.best(8) {
			if logits[token] != sorted[i] {
				t.Fatalf("%d: %v, want %v", i, logits[token], sorted[i])
			}
		}
	})
}
