package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// maxLine limits the size of a message, in bytes. Agents send whole files in one message.
const maxLine = 32 << 20

// maxWords limits what is kept of the words that an agent prints before its first message, in bytes
// as printed and in characters as shown.
const (
	maxWords  = 4 << 10
	showWords = 200
)

// lines is a stream of JSON-RPC messages, one per line. It skips lines that are not
// messages, because programs that an agent starts also write to its output.
type lines struct {
	r     *bufio.Reader
	c     io.Closer
	early *early
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
	e := &early{from: rwc}
	return &lines{r: bufio.NewReaderSize(e, 64<<10), early: e, w: rwc, c: rwc}
}

// early keeps what an agent prints before its first message: a program that does not speak the
// protocol says why in words.
type early struct {
	from    io.Reader
	printed func() // called when it has printed something; may be nil

	mu   sync.Mutex
	text []byte
	over bool // the first message was read
}

// Read implements io.Reader.
func (e *early) Read(p []byte) (int, error) {
	n, err := e.from.Read(p)
	e.mu.Lock()
	keep := !e.over && n > 0
	if keep {
		e.text = append(e.text, p[:min(n, maxWords-len(e.text))]...)
	}
	e.mu.Unlock()
	if keep && e.printed != nil {
		e.printed()
	}
	return n, err
}

// begun reports whether a message was read.
func (e *early) begun() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.over
}

// begin says that a message was read.
func (e *early) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over, e.text = true, nil
}

// words returns the beginning of what was printed, in one line. It is empty once a message was read.
func (e *early) words() string {
	e.mu.Lock()
	text := strings.ToValidUTF8(string(plain(e.text)), "")
	e.mu.Unlock()
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(text); len(r) > showWords {
		text = strings.TrimSpace(string(r[:showWords-1])) + "…"
	}
	return text
}

// ReadObject implements jsonrpc2.ObjectStream.
func (l *lines) ReadObject(v any) error {
	for {
		line, err := l.line()
		if err != nil {
			return err
		}
		if line = l.message(line); line != nil && json.Unmarshal(line, v) == nil {
			l.read = line
			l.early.begin()
			return nil
		}
	}
}

// message returns the message of a line, or nil. Control sequences and a byte order mark beside it do
// not count. The first message is the response to the client's first request, and may follow words
// such as "Loading...". Later, a message after words is one that a log quotes.
func (l *lines) message(line []byte) []byte {
	if isMessage(line) {
		return line
	}
	line = plain(line)
	if isMessage(line) {
		return line
	}
	if l.early.begun() {
		return nil
	}
	for range maxBraces {
		at := bytes.IndexByte(line, '{')
		if at < 0 {
			return nil
		}
		if line = line[at:]; isMessage(line) && !isRequest(line) {
			return line
		}
		line = line[1:]
	}
	return nil
}

// maxBraces is how many braces of a line are tried as the beginning of a message.
const maxBraces = 16

// control matches the control sequences of a terminal: titles, colours, cursor movements.
var control = regexp.MustCompile(`\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-?]*[ -/]*[@-~]|[=>@-Z^_])`)

// plain returns a line without control sequences, and without a byte order mark and control
// characters around it. JSON contains none of them.
func plain(line []byte) []byte {
	if bytes.IndexByte(line, '\x1b') >= 0 {
		line = control.ReplaceAll(line, nil)
	}
	return bytes.TrimFunc(line, func(r rune) bool { return r == '\ufeff' || unicode.IsControl(r) || unicode.IsSpace(r) })
}

// isRequest reports whether a message has a method.
func isRequest(message []byte) bool {
	var m struct {
		Method *string `json:"method"`
	}
	return json.Unmarshal(message, &m) == nil && m.Method != nil
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
