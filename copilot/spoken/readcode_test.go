package spoken

import (
	"strings"
	"testing"
)

// TestReadCode: a block is announced, left out or read aloud, and the segments cover the
// whole answer in each mode.
func TestReadCode(t *testing.T) {
	const answer = "Close it first:\n\n```go\ndefer f.Close()\nx := readAll(f)\n```\n\nThen run the tests.\n"
	for _, tt := range []struct {
		code ReadCode
		want []string
	}{
		{"", []string{"Close it first:", "A Go block of 2 lines, in the panel.", "Then run the tests."}},
		{ReadCodeName, []string{"Close it first:", "A Go block of 2 lines, in the panel.", "Then run the tests."}},
		{ReadCodeSkip, []string{"Close it first:", "Then run the tests."}},
		{ReadCodeFull, []string{"Close it first:", "defer f dot close. x is read all f.", "Then run the tests."}},
	} {
		t.Run(string(tt.code), func(t *testing.T) {
			c := New(Options{Code: tt.code})
			var said []string
			end := 0
			for _, seg := range append(c.Push(answer), c.Flush()...) {
				if seg.Start != end {
					t.Errorf("a segment begins at %d, and the one before it ended at %d", seg.Start, end)
				}
				if end = seg.End; seg.Text != "" {
					said = append(said, seg.Text)
				}
			}
			if end != len(answer) {
				t.Errorf("the segments end at %d of %d", end, len(answer))
			}
			if got := strings.Join(said, "|"); !strings.EqualFold(got, strings.Join(tt.want, "|")) {
				t.Errorf("said %q, want %q", said, tt.want)
			}
		})
	}
}

// TestReadCodeIsBounded: the end of a long block is announced.
func TestReadCodeIsBounded(t *testing.T) {
	c := New(Options{Code: ReadCodeFull})
	answer := "```\n" + strings.Repeat("some words in a line\n", 200) + strings.Repeat("x", 3000) + "\n```\n"
	segs := append(c.Push(answer), c.Flush()...)
	if len(segs) == 0 || len(segs[0].Text) > maxReadCode+100 || !strings.Contains(segs[0].Text, "some words in a line. some words") {
		t.Fatalf("said %+v", segs)
	}
	if !strings.HasSuffix(segs[0].Text, "lines, in the panel.") {
		t.Errorf("the rest is not named: %q", segs[0].Text[len(segs[0].Text)-60:])
	}
}
