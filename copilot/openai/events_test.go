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
	for stream, want := range map[string][]string{
		"data: {\"a\":1}\ndata: {\"a\":2}\r\nevent: x\ndata: [DONE]":     {"{\"a\":1}\n", "{\"a\":2}\n", "[DONE]\n"},
		"data: {\"a\":1}\n\ndata: {\"a\":\ndata: 2}\n\ndata: [DONE]\n\n": {"{\"a\":1}\n", "{\"a\":\n2}\n", "[DONE]\n"},
		"data: {\"a\":1}\ndata: {\"a\"":                                  {"{\"a\":1}\n"},
	} {
		var got []string
		all := newEvents(strings.NewReader(stream))
		for data, ok := all.next(); ok; data, ok = all.next() {
			got = append(got, string(data))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", stream, got, want)
		}
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
