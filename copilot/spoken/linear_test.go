//go:build !race

package spoken

import (
	"fmt"
	"strings"
	"testing"
)

// shapes are texts whose lines or blocks are held back.
var shapes = map[string]string{
	"prose":     "The test expects a value that the function never returns, so it fails. ",
	"list":      "- first the scanner, then the parser\n1. and the rest of it\n",
	"code":      "\treturn parse(lines)\n",
	"table":     "| name | value |\n",
	"quote":     "> it was said before, and now again\n",
	"backticks": "`a` and ``b`` and `c ",
	"brackets":  "[a [b](c) and [d ",
	"no blanks": "abcdefghij",
	"wide":      "これはテストです",
	// Text that assistants do not write but may quote.
	"open brackets":  "[",
	"open links":     "[a](",
	"open emphasis":  "_a*b",
	"open tags":      "<a",
	"odd backticks":  "` `` ``` ",
	"nested quotes":  ">",
	"deep lists":     "- ",
	"deeper quotes":  "> > - 1. a\n\n",
	"tagged bracket": "[`<*",
}

// inDeltas reads about size bytes of a shape in deltas of four bytes, and returns the
// number of bytes examined, repeats included.
func inDeltas(name string, size int) (work int) {
	text := strings.Repeat(shapes[name], size/len(shapes[name]))
	if name == "code" {
		text = "```go\n" + text + "```\n"
	}
	c := New(Options{})
	for at := 0; at < len(text); at += 4 {
		c.Push(text[at:min(at+4, len(text))])
	}
	work = c.work
	c.Flush()
	return work
}

// Ten times the text takes ten times the work, not a hundred times.
func TestWorkIsLinear(t *testing.T) {
	for name := range shapes {
		short, long := inDeltas(name, 20_000), inDeltas(name, 200_000)
		t.Logf("%s: %.1f and %.1f looks at each byte", name, float64(short)/20_000, float64(long)/200_000)
		if long > 11*short {
			t.Errorf("%s: %d bytes are looked at for 20 kB, %d for 200 kB", name, short, long)
		}
	}
}

// BenchmarkChunkerBySize shows that the time per byte does not depend on the length of
// the answer, in deltas of four bytes.
func BenchmarkChunkerBySize(b *testing.B) {
	for name := range shapes {
		for _, kB := range []int{20, 82, 200} {
			b.Run(fmt.Sprintf("%s/%dkB", strings.ReplaceAll(name, " ", "-"), kB), func(b *testing.B) {
				for b.Loop() {
					inDeltas(name, kB*1000)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*kB*1000), "ns/byte")
			})
		}
	}
}
