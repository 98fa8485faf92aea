package headless

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Script is a parsed script.
type Script struct{ statements []statement }

// statement is one line. Only the fields of its verb are set.
type statement struct {
	line  int
	verb  string
	name  string        // auto: the effect; await: the method or state
	of    awaited       // await
	delay time.Duration // after; auto: the time to completion
	hold  time.Duration // auto speech: length of a segment
	off   bool          // auto: disabled
	noEnd bool          // auto speech: segments do not finish automatically
	text  string
	code  csm.Code
	share int  // percent
	tame  bool // copilot.tool: not destructive
}

// awaited is what an await refers to.
type awaited int

const (
	handled  awaited = iota // a message from the client was handled, or a request to it was sent
	answered                // the client answered a request
	entered                 // a state was entered
)

// SyntaxError reports where a script is invalid. Line and Column start at 1; columns
// are in characters.
type SyntaxError struct {
	Line, Column int
	Problem      string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("script line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// events are the verbs for events, with the kind of their argument.
var events = map[string]argument{
	"say": textArgument, "vad.start": noArgument, "vad.pause": noArgument, "vad.resume": noArgument, "vad.end": noArgument,
	"stt.partial": textArgument, "stt.final": textArgument, "stt.failed": codeArgument,
	"copilot.delta": textArgument, "copilot.done": noArgument, "copilot.failed": codeArgument, "copilot.tool": callArgument,
	"tools.found": noArgument, "tools.failed": codeArgument, "tool.done": textArgument, "tool.failed": codeArgument,
	"model.progress": percentArgument, "model.ready": noArgument, "model.failed": codeArgument,
	"summary.done": textArgument, "summary.failed": codeArgument,
	"tts.bufferReady": noArgument, "tts.played": noArgument, "tts.drained": noArgument, "tts.flushed": noArgument, "tts.failed": codeArgument,
	"session.ready": noArgument, "session.failed": codeArgument, "session.expiring": noArgument, "session.renewal": noArgument, "session.renewed": noArgument, "session.closed": noArgument,
	"audio.primed": noArgument, "audio.ready": noArgument, "audio.failed": codeArgument, "audio.closed": noArgument,
	"device.lost": deviceArgument, "device.restored": deviceArgument, "wake": noArgument,
	"microphone.muted": noArgument, "microphone.silent": noArgument, "microphone.clips": noArgument, "microphone.quiet": noArgument,
	"microphone.works": noArgument,
	"conn.ready":       noArgument, "conn.lost": noArgument, "conn.failed": codeArgument, "conn.closed": noArgument,
}

type argument int

const (
	noArgument argument = iota
	textArgument
	codeArgument
	callArgument    // name of a tool, whether it is harmless, and its input
	percentArgument // 0 to 100
	deviceArgument  // microphone or speaker; both without it
)

// Effects that can be answered automatically.
var autos = []string{"session", "audio", "capture", "connection", "speech", "flush", "close", "tools", "tool", "model", "summary"}

// verbs are all first words of statements.
var verbs = append(slices.Sorted(maps.Keys(events)), "after", "auto", "await")

// Parse parses a script. The error joins all *SyntaxErrors.
func Parse(source string) (*Script, error) {
	s := &Script{}
	var bad []error
	for i, text := range strings.Split(source, "\n") {
		p := parser{line: i + 1, rest: strings.TrimSuffix(text, "\r"), column: 1}
		st, err := p.statement()
		switch {
		case err != nil:
			bad = append(bad, err)
		case st.verb != "":
			s.statements = append(s.statements, st)
		}
	}
	return s, errors.Join(bad...)
}

// parser parses one line.
type parser struct {
	line, column int
	rest         string
}

func (p *parser) fail(format string, args ...any) error {
	return &SyntaxError{Line: p.line, Column: p.column, Problem: fmt.Sprintf(format, args...)}
}

// take consumes n bytes.
func (p *parser) take(n int) string {
	s := p.rest[:n]
	p.rest = p.rest[n:]
	p.column += len([]rune(s))
	return s
}

func (p *parser) blanks() {
	p.take(len(p.rest) - len(strings.TrimLeft(p.rest, " \t")))
	if strings.HasPrefix(p.rest, "#") {
		p.take(len(p.rest))
	}
}

// word returns the next word without consuming it.
func (p *parser) word() string {
	p.blanks()
	if n := strings.IndexAny(p.rest, " \t"); n >= 0 {
		return p.rest[:n]
	}
	return p.rest
}

func (p *parser) statement() (statement, error) {
	st := statement{line: p.line}
	verb := p.word()
	if verb == "" {
		return st, nil
	}
	if !slices.Contains(verbs, verb) {
		return st, p.fail("%q is no statement; allowed: %s", verb, strings.Join(verbs, ", "))
	}
	p.take(len(verb))
	st.verb = verb
	var err error
	switch verb {
	case "after":
		st.delay, err = p.duration()
	case "auto":
		err = p.auto(&st)
	case "await":
		err = p.await(&st)
	default:
		err = p.event(&st, events[verb])
	}
	if err != nil {
		return st, err
	}
	if more := p.word(); more != "" {
		return st, p.fail("%q is too much; the statement is whole before it", more)
	}
	return st, nil
}

func (p *parser) duration() (time.Duration, error) {
	w := p.word()
	d, err := time.ParseDuration(w)
	if err != nil || d < 0 || d > 24*time.Hour {
		return 0, p.fail("%q is no time; write it like 120ms or 1.5s, up to 24h", w)
	}
	p.take(len(w))
	return d, nil
}

func (p *parser) auto(st *statement) (err error) {
	w := p.word()
	if !slices.Contains(autos, w) {
		return p.fail("%q is nothing that is done by itself; allowed: %s", w, strings.Join(autos, ", "))
	}
	st.name = p.take(len(w))
	if st.off, st.delay, err = p.delayOrOff(); err != nil || st.name != "speech" {
		return err
	}
	st.hold = defaultSegment
	if p.word() != "" {
		st.noEnd, st.hold, err = p.delayOrOff()
	}
	return err
}

func (p *parser) delayOrOff() (off bool, d time.Duration, err error) {
	if p.word() == "off" {
		p.take(len("off"))
		return true, 0, nil
	}
	if d, err = p.duration(); err != nil {
		return false, 0, p.fail("%q is neither a time, like 120ms, nor off", p.word())
	}
	return false, d, nil
}

func (p *parser) await(st *statement) error {
	w := p.word()
	switch w {
	case "state":
		p.take(len(w))
		st.of, w = entered, p.word()
		if !slices.Contains(protocol.States, protocol.State(w)) {
			return p.fail("%q is no state; allowed: %s", w, join(protocol.States))
		}
	case "answer":
		p.take(len(w))
		st.of, w = answered, p.word()
		if m, ok := protocol.Lookup(w); !ok || m.Direction != protocol.DaemonToClient || m.Notification {
			return p.fail("%q is no request to the client; allowed: %s", w, strings.Join(methods(false), ", "))
		}
	default:
		if !slices.Contains(methods(true), w) {
			return p.fail("%q is no message to wait for; allowed: state STATE, answer METHOD, %s", w, strings.Join(methods(true), ", "))
		}
	}
	st.name = p.take(len(w))
	return nil
}

// methods returns the methods of requests to the client and, if all is set, of messages
// from the client.
func methods(all bool) []string {
	var out []string
	for _, m := range protocol.Messages {
		if m.Direction == protocol.DaemonToClient && !m.Notification || all && m.Direction == protocol.ClientToDaemon {
			out = append(out, m.Method)
		}
	}
	return out
}

func (p *parser) event(st *statement, a argument) error {
	p.blanks()
	switch a {
	case noArgument:
	case textArgument:
		return p.quoted(st)
	case deviceArgument:
		w := p.word()
		if _, known := devices[w]; !known {
			return p.fail("%q is no device; write microphone, speaker, or nothing for both", w)
		}
		st.name = p.take(len(w))
	case callArgument:
		if st.name = p.take(len(p.word())); st.name == "" || st.name[0] == '"' {
			return p.fail("%s needs the name of a tool, and then its input in double quotes", st.verb)
		}
		if p.word() == "harmless" {
			p.take(len("harmless"))
			st.tame = true
		}
		p.blanks()
		if err := p.quoted(st); err != nil {
			return err
		}
		if !json.Valid([]byte(st.text)) {
			return p.fail("the input of %s is not JSON", st.name)
		}
	case percentArgument:
		w := p.word()
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 || n > 100 {
			return p.fail("%q is no share in percent, 0 to 100", w)
		}
		p.take(len(w))
		st.share = n
	case codeArgument:
		w := p.word()
		if !slices.Contains(csm.Codes, csm.Code(w)) {
			return p.fail("%q is no code of a failure; allowed: %s", w, join(csm.Codes))
		}
		st.code = csm.Code(p.take(len(w)))
	}
	return nil
}

// quoted parses a text in double quotes.
func (p *parser) quoted(st *statement) error {
	quoted, err := strconv.QuotedPrefix(p.rest)
	if err != nil || quoted[0] != '"' {
		return p.fail("%s needs a text in double quotes", st.verb)
	}
	if st.text, err = strconv.Unquote(quoted); err != nil {
		return p.fail("the text has an escape that is none")
	}
	p.take(len(quoted))
	return nil
}

func join[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return strings.Join(out, ", ")
}
