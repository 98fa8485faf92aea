//go:build !race

package spoken_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// checkAtoms fails if a segment ends inside an atom.
func checkAtoms(t *rapid.T, w written, segs []spoken.Segment) {
	for _, s := range segs {
		for _, a := range w.atoms {
			if a.start < s.End && s.End < a.end {
				t.Fatalf("the %s %q is cut before %q; segment %q\nsource %q", a.kind, w.text[a.start:a.end], w.text[s.End:a.end], w.text[s.Start:s.End], w.text)
			}
		}
	}
}

// pushed feeds the answer to a chunker in random deltas, many of which end within a rune.
func pushed(t *rapid.T, c *spoken.Chunker, text string) []spoken.Segment {
	var out []spoken.Segment
	longest := rapid.SampledFrom([]int{1, 3, 9, 60}).Draw(t, "longest delta")
	for rest := text; rest != ""; {
		n := rapid.IntRange(0, min(len(rest), longest)).Draw(t, "delta")
		out = append(out, c.Push(rest[:n])...)
		rest = rest[n:]
	}
	return out
}

// Every character of an answer is in one segment, no boundary falls into an atom, and the
// deltas do not matter. A scanner that misses any kind of atom fails this test.
func TestPropertyNoAtomIsDivided(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyAnswer(false).Draw(t, "answer")
		o := sizes(w.locale).Draw(t, "options")
		want := chunk(o, w.text)
		checkTiles(t, w.text, want)
		checkAtoms(t, w, want)
		c := spoken.New(o)
		if got := append(pushed(t, c, w.text), c.Flush()...); !reflect.DeepEqual(got, want) {
			t.Fatalf("deltas changed the result\ngot  %+v\nwant %+v", got, want)
		}
	})
}

// The spoken words do not depend on the segment size: text rendered in pieces equals the
// whole block. Blanks are ignored, because Japanese segments are joined without them, and
// so are full stops, because the one that closes a heading is omitted if only a picture
// follows the cut. TestRegressions and the chunker's tests cover full stops.
func TestPropertySizesDoNotChangeTheWords(t *testing.T) {
	letters := func(segs []spoken.Segment) string {
		return strings.Join(strings.FieldsFunc(strings.Join(texts(segs), ""), func(r rune) bool { return unicode.IsSpace(r) || r == '.' }), "")
	}
	rapid.Check(t, func(t *rapid.T) {
		w := anyAnswer(false).Draw(t, "answer")
		const whole = 1 << 20
		want := letters(chunk(spoken.Options{MinChars: whole, MaxChars: whole, FirstMinChars: whole, Locale: w.locale}, w.text))
		if got := letters(chunk(sizes(w.locale).Draw(t, "options"), w.text)); got != want {
			t.Fatalf("in pieces %q\nas a whole %q\nsource %q", got, want, w.text)
		}
	})
}

// An answer can end anywhere: earlier segments are unaffected, Flush returns the rest,
// and positions restart with the next answer.
func TestPropertyFlushAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyAnswer(false).Draw(t, "answer")
		o := sizes(w.locale).Draw(t, "options")
		at := rapid.IntRange(0, len(w.text)).Draw(t, "flush")
		c := spoken.New(o)
		early := pushed(t, c, w.text[:at])
		if all := chunk(o, w.text); len(early) > len(all) || len(early) > 0 && !reflect.DeepEqual(early, all[:len(early)]) {
			t.Fatalf("what came early changed\ngot  %+v\nwant %+v", early, all)
		}
		first := append(early, c.Flush()...)
		checkTiles(t, w.text[:at], first)
		for _, part := range []struct {
			text string
			got  []spoken.Segment
		}{{w.text[:at], first}, {w.text[at:], append(pushed(t, c, w.text[at:]), c.Flush()...)}} {
			if want := chunk(o, part.text); len(part.got)+len(want) > 0 && !reflect.DeepEqual(part.got, want) {
				t.Fatalf("flushed at %d of %q\ngot  %+v\nwant %+v", at, w.text, part.got, want)
			}
		}
	})
}

// A segment of prose, without its silent start, is at most as long as MaxChars or, if
// that is more, a third of it plus the longest indivisible piece. No more than that is
// ever held back, which bounds the latency of the first words.
func TestPropertyLengthAndLatencyAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyAnswer(true).Draw(t, "answer")
		o := sizes(w.locale).Draw(t, "options")
		limit := o.MaxChars
		if limit == 0 {
			limit = 280
		}
		// Plus blanks or closing marks, and the deciding rune.
		limit = max(limit, limit/3+w.longest) + 4
		c := spoken.New(o)
		covered := 0
		for i, r := range w.text {
			at := i + utf8.RuneLen(r)
			for _, s := range c.Push(w.text[i:at]) {
				covered = s.End
				if n := utf8.RuneCountInString(strings.TrimSpace(w.text[s.Start:s.End])); n > limit {
					t.Fatalf("a segment of %d characters, the limit is %d: %q", n, limit, w.text[s.Start:s.End])
				}
			}
			// A line that looks like a code block is held back until its kind is certain.
			if n := utf8.RuneCountInString(strings.TrimSpace(w.text[covered:at])); n > limit+w.longest {
				t.Fatalf("%d characters are held back, the limit is %d: %q", n, limit+w.longest, w.text[covered:at])
			}
		}
	})
}
