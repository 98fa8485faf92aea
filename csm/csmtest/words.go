package csmtest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// words parses the rest of a line, left to right.
type words struct {
	rest string
}

// word consumes the next word, "" at the end.
func (w *words) word() string {
	w.rest = strings.TrimLeft(w.rest, " \t,")
	n := strings.IndexAny(w.rest, " \t,")
	if n < 0 {
		n = len(w.rest)
	}
	var out string
	out, w.rest = w.rest[:n], w.rest[n:]
	return out
}

// peek returns the next word without consuming it.
func (w words) peek() string { return w.word() }

// is consumes phrase if it comes next.
func (w *words) is(phrase string) bool {
	c := *w
	for _, want := range strings.Fields(phrase) {
		if c.word() != want {
			return false
		}
	}
	*w = c
	return true
}

// text consumes a quoted text; ok is false if there is none.
func (w *words) text() (s string, ok bool) {
	rest := strings.TrimLeft(w.rest, " \t,")
	if !strings.HasPrefix(rest, `"`) {
		return "", false
	}
	n := strings.IndexByte(rest[1:], '"')
	if n < 0 {
		return "", false
	}
	s, w.rest = rest[1:n+1], rest[n+2:]
	return s, true
}

// all consumes the rest.
func (w *words) all() string {
	s := strings.TrimSpace(w.rest)
	w.rest = ""
	return s
}

func (w *words) number() (uint64, error) {
	s := w.word()
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return n, nil
}

func (w *words) duration() (time.Duration, error) {
	s := w.word()
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration; write one such as 130ms or 2s", s)
	}
	return d, nil
}

// end returns an error if words are left over.
func (w *words) end() error {
	if s := w.all(); s != "" {
		return fmt.Errorf("unexpected %q", s)
	}
	return nil
}
