package main

import (
	"slices"
	"strings"
	"testing"
)

func TestWrapKeepsEveryWord(t *testing.T) {
	text := "  you: " + strings.Repeat("a few words that go on and on ", 9) + "end"
	rows := wrap(text, 40)
	for _, r := range rows {
		if n := len([]rune(r)); n > 40 {
			t.Errorf("row of %d characters: %q", n, r)
		}
	}
	if !slices.Equal(strings.Fields(strings.Join(rows, " ")), strings.Fields(text)) {
		t.Errorf("words were lost: %q", rows)
	}
	if rows := wrap(text, 0); len(rows) != 1 || rows[0] != text {
		t.Errorf("without a width: %q", rows)
	}
	if rows := wrap(strings.Repeat("x", 95), 40); len(rows) != 3 {
		t.Errorf("a word longer than a row: %q", rows)
	}
}
