package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"agentvoice-daemon": main})
}

// The binary as users run it. frame makes the input of serve from JSON, one
// message a line; unframe makes lines of its output, and fails where that is
// anything but the protocol.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"frame":   func(ts *testscript.TestScript, neg bool, args []string) { convert(ts, neg, args, frame) },
			"unframe": func(ts *testscript.TestScript, neg bool, args []string) { convert(ts, neg, args, unframe) },
		},
	})
}

func convert(ts *testscript.TestScript, neg bool, args []string, how func(string) (string, error)) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: frame|unframe FROM TO")
	}
	out, err := how(ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out), 0o600))
}

func frame(lines string) (string, error) {
	var out strings.Builder
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(&out, "Content-Length: %d\r\n\r\n%s", len(line), line)
		}
	}
	return out.String(), nil
}

func unframe(stream string) (string, error) {
	var out bytes.Buffer
	in := bufio.NewReader(strings.NewReader(stream))
	for {
		if _, err := in.Peek(1); err == io.EOF {
			return out.String(), nil
		}
		var length int
		if _, err := fmt.Fscanf(in, "Content-Length: %d\r\n\r\n", &length); err != nil {
			return "", fmt.Errorf("standard output holds something else than the protocol: %w", err)
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			return "", err
		}
		if err := json.Compact(&out, body); err != nil {
			return "", err
		}
		out.WriteByte('\n')
	}
}
