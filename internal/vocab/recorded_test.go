package vocab

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// recording is a sentence that was spoken in a synthetic voice, and what PocketSphinx
// understood. internal/tools/wordsbench made it.
type recording struct {
	kind, voice, spoken string
	written             string // names in backquotes
	heard               string
}

func (r recording) names() (out []string) {
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(r.written, -1) {
		out = append(out, m[1])
	}
	return out
}

// recogniser hears the recording as PocketSphinx did, but with only a share of its
// errors: of the places where it heard other words than were said, the rest is right.
func recogniser(list []recording, share float64) []recording {
	chance := rand.New(rand.NewPCG(1, 2))
	out := slices.Clone(list)
	for i, r := range out {
		var heard []string
		for _, p := range pairs(strings.Fields(r.spoken), strings.Fields(r.heard)) {
			if chance.Float64() < share {
				heard = append(heard, p[1]...)
			} else {
				heard = append(heard, p[0]...)
			}
		}
		out[i].heard = strings.Join(heard, " ")
	}
	return out
}

// pairs are the words that were said and heard, cut where both are the same word.
func pairs(said, heard []string) (out [][2][]string) {
	n, m := len(said), len(heard)
	common := make([][]int, n+1) // words that the rests share
	for i := range common {
		common[i] = make([]int, m+1)
	}
	same := func(i, j int) bool { return strings.EqualFold(said[i], heard[j]) }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if same(i, j) {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var open [2][]string
	for i, j := 0, 0; i < n || j < m; {
		if i < n && j < m && same(i, j) {
			out = append(out, open, [2][]string{said[i : i+1], heard[j : j+1]})
			open, i, j = [2][]string{}, i+1, j+1
			continue
		}
		if j == m || i < n && common[i+1][j] >= common[i][j+1] {
			open[0] = append(open[0], said[i])
			i++
		} else {
			open[1] = append(open[1], heard[j])
			j++
		}
	}
	return append(out, open)
}

func load(tb testing.TB, set string) (*Vocabulary, []recording) {
	tb.Helper()
	var terms []Term
	for _, f := range rows(tb, set+".vocab", 2) {
		terms = append(terms, Term{Text: f[0], Kind: Kind(f[1])})
	}
	var list []recording
	for _, f := range rows(tb, set+".tsv", 6) {
		list = append(list, recording{kind: f[0], voice: f[1], spoken: f[2], written: f[3], heard: f[5]})
	}
	return New(terms, nil), list
}

func rows(tb testing.TB, name string, n int) (out [][]string) {
	tb.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) < n {
			tb.Fatalf("%s: %q has %d fields, want %d", name, line, len(f), n)
		}
		out = append(out, f)
	}
	return out
}

// figures are what a set of recordings shows.
type figures struct {
	names, missedBefore, missedAfter int
	// written counts names that stand as they are written, afterwards.
	written int
	// plain counts ordinary words, changed those in runs that became a name although
	// nobody said one. other counts runs that became another name than was said.
	plain, changed     int
	sentences, touched int // sentences, and those with a wrong change
	corrections, other int
}

func (f *figures) add(o figures) {
	f.names, f.missedBefore, f.missedAfter, f.written = f.names+o.names, f.missedBefore+o.missedBefore, f.missedAfter+o.missedAfter, f.written+o.written
	f.plain, f.changed, f.sentences, f.touched = f.plain+o.plain, f.changed+o.changed, f.sentences+o.sentences, f.touched+o.touched
	f.corrections, f.other = f.corrections+o.corrections, f.other+o.other
}

func (f figures) String() string {
	part := func(a, b int) string {
		return fmt.Sprintf("%d of %d (%.1f %%)", a, b, 100*float64(a)/float64(max(b, 1)))
	}
	return fmt.Sprintf("names wrong before %s, after %s; as written %s; ordinary words changed %s; sentences with a wrong change %s; changes %d, to another name %d",
		part(f.missedBefore, f.names), part(f.missedAfter, f.names), part(f.written, f.names), part(f.changed, f.plain), part(f.touched, f.sentences), f.corrections, f.other)
}

// key is a name without case and punctuation: names that sound alike have the same.
func key(name string) string { return strings.Join(words(name), " ") }

// measure corrects recordings. Before, a name counts as right where its words were
// heard one after the other; afterwards also where it is written.
func measure(correct func(string) (string, []Change), list []recording) (f figures) {
	for _, r := range list {
		names, saidWords := r.names(), heardText(r.spoken)
		said := map[string]string{} // what was said for each name
		for i, frame := 0, strings.Split(r.written, "`"); i < len(names); i++ {
			said[key(names[i])] = spokenName(r.spoken, frame, i)
		}
		out, changes := correct(r.heard)
		f.sentences++
		plain := len(strings.Fields(saidWords))
		for _, n := range names {
			f.names++
			plain -= len(strings.Fields(said[key(n)]))
			before := strings.Contains(" "+heardText(r.heard)+" ", " "+heardText(said[key(n)])+" ")
			after := strings.Contains(" "+heardText(out)+" ", " "+heardText(said[key(n)])+" ")
			written := slices.ContainsFunc(changes, func(c Change) bool { return key(c.Written) == key(n) })
			if !before {
				f.missedBefore++
			}
			if !after && !written {
				f.missedAfter++
			}
			if written {
				f.written++
			}
		}
		f.plain += plain
		wrong := false
		for _, c := range changes {
			f.corrections++
			if slices.ContainsFunc(names, func(n string) bool { return key(n) == key(c.Written) }) {
				continue
			}
			wrong = true
			if len(names) > 0 && !strings.Contains(" "+saidWords+" ", " "+heardText(c.Heard)+" ") {
				f.other++
			} else {
				f.changed += len(strings.Fields(c.Heard))
			}
		}
		if wrong {
			f.touched++
		}
	}
	return f
}

func heardText(s string) string { return strings.Join(heardWords(s), " ") }

// spokenName is what was said for the i-th name of a sentence.
func spokenName(spoken string, frame []string, i int) string {
	rest := strings.TrimPrefix(spoken, frame[0])
	for n := 0; ; n++ {
		after := frame[2*n+2]
		name, next := rest, ""
		if strings.TrimSpace(after) != "" {
			name, next, _ = strings.Cut(rest, after)
		}
		if n == i {
			return strings.TrimSpace(name)
		}
		rest = next
	}
}

// The sets that parameters were chosen by share neither names nor sentences with the
// set that the figures are of.
func TestRecordedSetsAreDisjoint(t *testing.T) {
	seen := map[string]string{}
	for _, set := range append(slices.Clone(tuning), "test") {
		_, list := load(t, set)
		for _, r := range list {
			for _, what := range append(r.names(), strings.Join(strings.Split(r.written, "`"), " ")) {
				if other := seen[what]; set == "test" && other != "" {
					t.Errorf("%q is in the set %s too", what, other)
				}
				if set != "test" {
					seen[what] = set
				}
			}
		}
	}
}

// BenchmarkRecorded prints what the correction makes of the recordings, by the share
// of PocketSphinx's errors, and how long it takes a sentence.
func BenchmarkRecorded(b *testing.B) {
	for _, share := range []float64{0.25, 0.5, 1} {
		b.Run(fmt.Sprintf("errors=%.2f", share), func(b *testing.B) {
			v, list := load(b, "test")
			list = recogniser(list, share)
			for b.Loop() {
				f := measure(v.Correct, list)
				part := func(a, of int) float64 { return 100 * float64(a) / float64(of) }
				b.ReportMetric(part(f.missedBefore, f.names), "%misheard-before")
				b.ReportMetric(part(f.missedAfter, f.names), "%misheard-after")
				b.ReportMetric(part(f.names-f.written, f.names), "%not-as-written-after")
				b.ReportMetric(part(f.changed, f.plain), "%words-wrongly-changed")
				b.ReportMetric(part(f.touched, f.sentences), "%sentences-wrongly-changed")
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*len(list)), "ms/sentence")
			b.ReportMetric(0, "ns/op")
		})
	}
}
