package openai

import (
	"slices"
	"strings"
	"testing"
)

func TestEvents(t *testing.T) {
	const stream = ": comment\n\nevent: a\ndata: one\nid: 7\n\ndata:two\r\ndata:  three\r\n\r\n\n\ndata\ndata: four\n\ndata: cut short"
	want := []string{"one\n", "two\n three\n", "four\n"}
	var got []string
	for all := newEvents(strings.NewReader(stream)); ; {
		data, ok := all.next()
		if !ok {
			break
		}
		got = append(got, string(data))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	endless := strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", maxEvent/1000+10)
	e := newEvents(strings.NewReader(endless))
	if data, ok := e.next(); ok || len(data) > 0 || !*e.over {
		t.Errorf("an event without end: %d bytes, %v, over %v", len(data), ok, *e.over)
	}
	for length, read := range map[int]bool{maxLine / 2: true, maxLine: false} {
		e := newEvents(strings.NewReader("data: " + strings.Repeat("x", length) + "\n\n"))
		if data, ok := e.next(); ok != read {
			t.Errorf("of a line of %d bytes %d are read: %v", length, len(data), ok)
		}
	}
}
