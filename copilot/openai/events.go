package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Limits of server-sent events, in bytes: of a line, and of the data of an event, which can have
// many lines.
const (
	maxLine  = 1 << 20
	maxEvent = 2 << 20
)

// events reads the data of server-sent events (HTML, 9.2.6), ignoring names, ids and
// comments. Some servers send no empty line between two events, so a line that is a whole chunk or
// the mark of the end is an event by itself.
type events struct {
	lines *bufio.Scanner
	over  *bool // an event was too large
}

func newEvents(r io.Reader) events {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	return events{lines, new(bool)}
}

// next returns the data of the next event, and false at the end of the stream and at an event
// that is too large. It drops an incomplete last event.
func (e events) next() (data []byte, ok bool) {
	for e.lines.Scan() {
		line := e.lines.Bytes()
		if len(line) == 0 && len(data) > 0 {
			return data, true
		}
		if value, found := bytes.CutPrefix(line, []byte("data:")); found {
			value = bytes.TrimPrefix(value, []byte(" "))
			first := len(data) == 0
			data = append(append(data, value...), '\n')
			if first && isWhole(value) {
				return data, true
			}
			if len(data) > maxEvent {
				*e.over = true
				return nil, false
			}
		}
	}
	*e.over = errors.Is(e.lines.Err(), bufio.ErrTooLong)
	return nil, false
}

// doneMark ends a stream.
const doneMark = "[DONE]"

// isWhole reports whether a line is a chunk or the mark of the end.
func isWhole(line []byte) bool {
	line = bytes.TrimSpace(line)
	return string(line) == doneMark || len(line) > 0 && line[0] == '{' && json.Valid(line)
}
