package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// maxLine limits the size of a message, in bytes. Agents send whole files in one message.
const maxLine = 32 << 20

// lines is a stream of JSON-RPC messages, one per line. It skips lines that are not
// messages, because programs that an agent starts also write to its output.
type lines struct {
	r *bufio.Reader
	c io.Closer
	// read is the latest message as it came, until the next one is read. jsonrpc2 decodes the
	// params and encodes them again, which loses what a member that is named twice said first,
	// and digits of large numbers.
	read []byte

	mu sync.Mutex
	w  io.Writer
}

// params returns the params of the latest message as they came. Only the handler of that
// message may call it: it runs before the next message is read.
func (l *lines) params() json.RawMessage {
	var m struct {
		Params json.RawMessage `json:"params"`
	}
	_ = json.Unmarshal(l.read, &m) // it was decoded before
	return m.Params
}

func newLines(rwc io.ReadWriteCloser) *lines {
	return &lines{r: bufio.NewReaderSize(rwc, 64<<10), w: rwc, c: rwc}
}

// ReadObject implements jsonrpc2.ObjectStream.
func (l *lines) ReadObject(v any) error {
	for {
		line, err := l.line()
		if err != nil {
			return err
		}
		if isMessage(line) && json.Unmarshal(line, v) == nil {
			l.read = line
			return nil
		}
	}
}

// isMessage reports whether a line is a request, a notification or a response.
func isMessage(line []byte) bool {
	var m struct {
		Method *string         `json:"method"`
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &m) != nil {
		return false
	}
	id := len(m.ID) > 0 && string(m.ID) != "null"
	if m.Method != nil {
		return m.Result == nil && m.Error == nil && (id || m.ID == nil)
	}
	return id && (m.Result != nil || m.Error != nil)
}

// line reads a line. It returns an empty line in place of one that is too long.
func (l *lines) line() ([]byte, error) {
	var out []byte
	for over := false; ; {
		part, err := l.r.ReadSlice('\n')
		if over = over || len(out)+len(part) > maxLine; over {
			out = nil
		} else {
			out = append(out, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, err
		default:
			return bytes.TrimSpace(out), nil
		}
	}
}

// WriteObject implements jsonrpc2.ObjectStream.
func (l *lines) WriteObject(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.w.Write(append(b, '\n'))
	return err
}

// Close implements jsonrpc2.ObjectStream.
func (l *lines) Close() error { return l.c.Close() }
