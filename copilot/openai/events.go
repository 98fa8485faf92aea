package openai

import (
	"bufio"
	"bytes"
	"io"
)

// maxLine is the maximum length of a line of server-sent events, in bytes.
const maxLine = 1 << 20

// events reads the data of server-sent events (HTML, 9.2.6), ignoring names, ids and
// comments.
type events struct{ lines *bufio.Scanner }

func newEvents(r io.Reader) events {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	return events{lines}
}

// next returns the data of the next event, and false at the end of the stream. It drops
// an incomplete last event.
func (e events) next() (data []byte, ok bool) {
	for e.lines.Scan() {
		line := e.lines.Bytes()
		if len(line) == 0 && len(data) > 0 {
			return data, true
		}
		if value, found := bytes.CutPrefix(line, []byte("data:")); found {
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		}
	}
	return nil, false
}
