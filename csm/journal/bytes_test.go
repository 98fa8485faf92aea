//go:build !race

package journal_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// A change of any byte of an event or an outcome is found, on its line or the next.
func TestAnyFlippedByteIsFound(t *testing.T) {
	text := recorded(t, header)
	whole := []byte(strings.Join(lines(text)[:lineWith(t, text, `"stt.final"`)+5], "\n") + "\n")
	var places []int
	n := 0
	for _, l := range strings.SplitAfter(string(whole), "\n") {
		if strings.Contains(l, `"digest"`) || strings.HasPrefix(l, `{"seq"`) {
			for at := range len(l) {
				places = append(places, n+at)
			}
		}
		n += len(l)
	}
	check := func(fatal func(string, ...any), at int, bits byte) {
		flipped := append([]byte(nil), whole...)
		flipped[at] ^= bits
		if res, err := replay(string(flipped)); err == nil && res.Unfinished == nil {
			fatal("byte %d from %q to %q is not found", at, whole[at], flipped[at])
		}
	}
	for _, at := range places {
		check(t.Fatalf, at, 1<<(at%8))
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t.Fatalf, rapid.SampledFrom(places).Draw(t, "at"), byte(rapid.IntRange(1, 255).Draw(t, "bits")))
	})
}

// A journal truncated anywhere is read up to its last complete line, replays that far,
// and reports what is missing.
func TestCutAtEveryByte(t *testing.T) {
	whole := recorded(t, header)
	head := strings.IndexByte(whole, '\n')
	for at := range len(whole) {
		part := whole[:at]
		j, err := journal.Read(strings.NewReader(part))
		if at <= head {
			if err == nil || !strings.Contains(err.Error(), "line 1") {
				t.Fatalf("cut at %d of the header: %v", at, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", at, err)
		}
		read := strings.Count(part, "\n")
		torn := len(part) - strings.LastIndexByte(part, '\n') - 1
		if whole[at] == '\n' { // the line is complete except for the line feed
			read, torn = read+1, 0
		}
		if at == len(whole)-1 {
			if j.Stops != nil {
				t.Fatalf("without the last line feed it stops: %v", j.Stops)
			}
			continue
		}
		if j.Stops == nil || j.Stops.Line != read || j.Stops.Torn != torn {
			t.Fatalf("cut at %d: %+v, want %d whole lines and %d bytes", at, j.Stops, read, torn)
		}
		if s := j.Stops.String(); !strings.Contains(s, fmt.Sprintf("line %d", read)) {
			t.Fatalf("cut at %d: %s", at, s)
		}
		if torn > 1 {
			continue // the replay is the same as with one byte of the line
		}
		res, err := journal.Replay(j)
		if err != nil || res.Difference != nil || res.Stops != j.Stops {
			t.Fatalf("cut at %d: %+v, %v", at, res, err)
		}
		last := lines(part)[read-1]
		if u := res.Unfinished; (u != nil) != strings.HasPrefix(last, `{"seq"`) || u != nil && (u.Line != read || u.Panic != "") {
			t.Fatalf("cut at %d after %s: unfinished %+v", at, last, u)
		}
	}
}
