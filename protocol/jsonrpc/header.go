package jsonrpc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"mime"
	"strconv"
	"strings"
)

// Limits of a header.
const (
	maxHeaderLine  = 4096 // bytes, including the line ending
	maxHeaderLines = 32
	prefixLength   = 1024 // bytes of an oversized body that are searched for its id
)

// HeaderError is a malformed header. It ends the connection.
type HeaderError struct {
	Problem string // quotes nothing of the header but field names
}

// Error formats problem and remedy in one line.
func (e *HeaderError) Error() string {
	return "message header: " + e.Problem + "; send \"Content-Length: N\\r\\n\\r\\n\" and N bytes of JSON"
}

func badHeader(format string, args ...any) error {
	return &HeaderError{Problem: fmt.Sprintf(format, args...)}
}

type header struct {
	length  int64
	charset string // if not UTF-8
}

// readHeader reads up to the empty line. Field names are case-insensitive; fields other
// than Content-Length and Content-Type are ignored.
func readHeader(in *bufio.Reader) (header, error) {
	h := header{length: -1}
	for n := 0; ; n++ {
		line, err := readLine(in, n == 0)
		if err != nil {
			return header{}, err
		}
		if line == "" && n > 0 {
			break
		}
		if n == maxHeaderLines {
			return header{}, badHeader("it has more than %d lines", maxHeaderLines)
		}
		if err := h.field(line); err != nil {
			return header{}, err
		}
	}
	if h.length < 0 {
		return header{}, badHeader("it has no Content-Length")
	}
	return h, nil
}

// readLine reads a line without its ending. Only before the first line may the input end.
func readLine(in *bufio.Reader, first bool) (string, error) {
	line, err := in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", badHeader("a line is longer than %d bytes", maxHeaderLine)
	case errors.Is(err, io.EOF) && !(first && len(line) == 0):
		return "", io.ErrUnexpectedEOF
	case err != nil:
		return "", err
	}
	text, ok := strings.CutSuffix(string(line), "\r\n")
	if !ok {
		return "", badHeader("a line does not end with \\r\\n")
	}
	return text, nil
}

func (h *header) field(line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" || strings.ContainsFunc(name, notInName) {
		return badHeader("a line is not \"Name: value\"")
	}
	value = strings.TrimSpace(value)
	switch {
	case strings.EqualFold(name, "Content-Length"):
		if h.length >= 0 {
			return badHeader("it has two Content-Lengths")
		}
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil {
			return badHeader("Content-Length is not a number of bytes")
		}
		h.length = int64(n)
	case strings.EqualFold(name, "Content-Type"):
		_, params, err := mime.ParseMediaType(value)
		if err != nil {
			return badHeader("Content-Type is malformed")
		}
		// Older LSP clients send "utf8".
		if c := strings.ToLower(params["charset"]); c != "utf-8" && c != "utf8" {
			h.charset = c
		}
	}
	return nil
}

func notInName(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
