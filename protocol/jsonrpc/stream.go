// Package jsonrpc carries JSON-RPC 2.0 over a pair of byte streams, as
// vscode-jsonrpc does: each message is a header with Content-Length, an empty
// line and a body.
//
// # Model
//
// Stream is an ObjectStream for github.com/sourcegraph/jsonrpc2 that is stricter than the
// library's codec: it bounds header and body, reads the whole body before decoding it,
// and answers invalid messages with an error response and skips them, so that the
// connection's handler sees only well-formed requests and responses.
//
// # The caller's loop
//
//	stream := jsonrpc.NewStream(os.Stdin, os.Stdout, func(r jsonrpc.Refusal) { log(r) })
//	conn := jsonrpc2.NewConn(ctx, stream, handler, jsonrpc2.SetLogger(quiet))
//	<-conn.DisconnectNotify()
//	if err := stream.Err(); err != nil { ... } // a *HeaderError, or a broken write
//
// # Invariants
//
// Writes are atomic and in the order of the calls. Reading ends only at the end
// of the input, on an input error, and on a header that cannot be parsed: where
// the next message begins is then unknown. A response is never answered with an
// error that carries its id, since that id belongs to a request of ours and the
// peer would take it for one of its own.
package jsonrpc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// MaxBody is the largest accepted body, in bytes. A larger one is skipped and answered
// with invalidRequest.
const MaxBody = 16 << 20

// Refusal is a rejected message.
type Refusal struct {
	Code   protocol.ErrorCode // parseError or invalidRequest
	Reason string             // quotes nothing of the message
	Size   int64              // bytes of the body
}

// Stream is a jsonrpc2.ObjectStream. Its methods are safe for concurrent use, except that
// only one goroutine may read.
type Stream struct {
	in      *bufio.Reader
	out     io.Writer
	closers [2]io.Closer
	refused func(Refusal)
	limit   int64 // MaxBody

	writing sync.Mutex
	broken  error // first write error; later writes would produce garbage

	ending sync.Mutex
	ended  error // why reading ended
}

var _ jsonrpc2.ObjectStream = (*Stream)(nil)

// NewStream returns a stream that owns in and out. It calls refused, which may be nil,
// for each rejected message, on the reading goroutine.
func NewStream(in io.ReadCloser, out io.WriteCloser, refused func(Refusal)) *Stream {
	if refused == nil {
		refused = func(Refusal) {}
	}
	return &Stream{
		in:      bufio.NewReaderSize(in, maxHeaderLine),
		out:     out,
		closers: [2]io.Closer{out, in},
		refused: refused,
		limit:   MaxBody,
	}
}

// Encode encodes a message with its header, for messages that are sent to many peers.
func Encode(obj any) ([]byte, error) {
	body, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	message := make([]byte, 0, len(body)+40)
	message = fmt.Appendf(message, "Content-Length: %d\r\n\r\n", len(body))
	return append(message, body...), nil
}

// WriteObject writes obj as one message with one Write. After a failed write all further
// writes return the same error.
func (s *Stream) WriteObject(obj any) error {
	message, err := Encode(obj)
	if err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.broken != nil {
		return s.broken
	}
	if _, err := s.out.Write(message); err != nil {
		s.broken = fmt.Errorf("write message: %w", err)
	}
	return s.broken
}

// ReadObject reads the next request, notification or response into v. It answers, reports
// and skips invalid messages. It returns io.EOF at the end of the input,
// io.ErrUnexpectedEOF if the input ends within a message, a *HeaderError, or an input or
// write error.
func (s *Stream) ReadObject(v any) error {
	for {
		h, err := readHeader(s.in)
		if err != nil {
			return s.end(err)
		}
		bad, err := s.readMessage(h, v)
		if err != nil {
			return s.end(err)
		}
		if bad == nil {
			return nil
		}
		s.refused(Refusal{Code: bad.code, Reason: bad.reason, Size: h.length})
		if bad.silent {
			continue
		}
		if err := s.WriteObject(bad.response()); err != nil {
			return s.end(err)
		}
	}
}

// readMessage reads one body. bad says why it was rejected; the stream is positioned
// after the body in any case.
func (s *Stream) readMessage(h header, v any) (bad *defect, err error) {
	if h.length > s.limit || h.charset != "" {
		return s.skip(h)
	}
	body := make([]byte, h.length)
	if _, err := io.ReadFull(s.in, body); err != nil {
		return nil, midMessage(err)
	}
	if !utf8.Valid(body) {
		return &defect{code: protocol.CodeParseError, reason: "the body is not UTF-8"}, nil
	}
	if !json.Valid(body) {
		return &defect{code: protocol.CodeParseError, reason: "the body is not JSON"}, nil
	}
	if bad := check(body); bad != nil {
		return bad, nil
	}
	if err := json.Unmarshal(body, v); err != nil {
		return invalid("the body is neither a request nor a response", nil), nil
	}
	return nil, nil
}

// skip discards a body without buffering it.
func (s *Stream) skip(h header) (*defect, error) {
	start, err := s.in.Peek(int(min(h.length, prefixLength)))
	if err != nil {
		return nil, midMessage(err)
	}
	bad := invalid(fmt.Sprintf("the body is larger than %d bytes", s.limit), requestID(start))
	if h.charset != "" {
		bad = &defect{code: protocol.CodeParseError, reason: "the body is not UTF-8: Content-Type names another charset"}
	}
	if _, err := io.CopyN(io.Discard, s.in, h.length); err != nil {
		return nil, midMessage(err)
	}
	return bad, nil
}

// midMessage turns io.EOF within a message into io.ErrUnexpectedEOF.
func midMessage(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *Stream) end(err error) error {
	s.ending.Lock()
	defer s.ending.Unlock()
	if s.ended == nil {
		s.ended = err
	}
	return err
}

// Err returns why reading ended: nil while it continues, after an end of the input
// between messages, and after Close.
func (s *Stream) Err() error {
	s.ending.Lock()
	defer s.ending.Unlock()
	if errors.Is(s.ended, io.EOF) {
		return nil
	}
	return s.ended
}

// Close closes both byte streams, the output first so that the peer notices.
func (s *Stream) Close() error {
	_ = s.end(io.EOF) // later read errors are caused by Close itself
	return errors.Join(s.closers[0].Close(), s.closers[1].Close())
}
