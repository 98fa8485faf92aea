// Package reasoning separates a model's answer from its reasoning, which many models
// write into the same text.
//
// # Model
//
// A Filter takes the pieces of one answer, split anywhere, and returns the text that
// belongs to the answer. Reasoning stands between tags such as <think> and </think>, with
// any case and attributes, or in a channel of the Harmony format (<|channel|>analysis).
// A tag in a code block or a code span is code, and stays.
//
// # Broken markup
//
//   - A block without an end hides the rest of the answer.
//   - An end without a beginning ends a block that the model's prompt template began. The
//     text before it is reasoning, so a filter for such a model holds all text until it
//     knows. Source remembers these models, and IsLikely knows some by name.
//   - Nested blocks may lack ends. After the first end, text is held: another end shows
//     that it was reasoning, and the end of the answer that it was not.
//
// The result does not depend on how the text is split, except for an end without a
// beginning from a model that was not known to write one.
package reasoning

import (
	"strings"
	"sync"
)

// likely are parts of names of models whose prompt template begins the reasoning.
var likely = []string{"r1", "qwq", "thinking", "thinker", "reasoner", "reasoning"}

// IsLikely reports whether a model's name is that of a model whose reasoning begins
// without a tag.
func IsLikely(model string) bool {
	parts := strings.FieldsFunc(strings.ToLower(model), func(r rune) bool { return strings.ContainsRune("-_/:. ", r) })
	for _, part := range parts {
		for _, name := range likely {
			if part == name {
				return true
			}
		}
	}
	return false
}

// Source remembers which models end their reasoning without having begun it. Its zero
// value is ready, and it is safe for concurrent use.
type Source struct {
	mu       sync.Mutex
	unmarked map[string]bool // keyed by model: whether its reasoning begins without a tag
}

// New returns the filter of an answer of a model.
func (s *Source) New(model string) *Filter {
	s.mu.Lock()
	unmarked, known := s.unmarked[model]
	s.mu.Unlock()
	f := &Filter{lineStart: true, leading: true, found: func(unmarked bool) { s.found(model, unmarked) }}
	if unmarked || !known && IsLikely(model) {
		f.depth, f.unsure, f.expected = 1, true, true
	}
	return f
}

func (s *Source) found(model string, unmarked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unmarked == nil {
		s.unmarked = map[string]bool{}
	}
	s.unmarked[model] = unmarked
}

// Filter returns the answer without the reasoning. It is for one goroutine.
type Filter struct {
	found func(unmarked bool)
	rest  string          // not yet processed, because its meaning depends on what follows
	out   strings.Builder // the answer's text of this call

	depth    int             // of open blocks
	expected bool            // the only open block began without a tag, and nothing has shown that it exists
	unsure   bool            // text in a block may still belong to the answer
	held     strings.Builder // the text while unsure
	closed   bool            // a block has ended
	leading  bool            // the answer has no text yet

	header  bool            // in the header of a Harmony message
	channel strings.Builder // the header
	hidden  bool            // in a Harmony message that is not the answer

	lineStart bool
	fence     string // the mark that opened the code block, "" outside
}

// Push takes the next piece and returns what is known to belong to the answer.
func (f *Filter) Push(text string) string {
	f.rest += text
	f.process(false)
	return f.taken()
}

// End returns what was held back, once the answer has ended; whole says that it was not
// cut off. A cut text without tags from a model that begins its reasoning without a tag is
// reasoning.
func (f *Filter) End(whole bool) string {
	f.process(true)
	if f.expected && !whole {
		f.held.Reset()
	}
	f.release()
	return f.taken()
}

// Separate tells the filter that the service reports reasoning apart from the answer, so
// that no text has to be held. It returns the text that was held.
func (f *Filter) Separate() string {
	if f.expected {
		f.found(false)
		f.release()
	}
	return f.taken()
}

// release adds the text that was held to the answer.
func (f *Filter) release() {
	f.depth, f.unsure, f.expected = 0, false, false
	f.emit(f.held.String())
	f.held.Reset()
}

func (f *Filter) taken() string {
	text := f.out.String()
	f.out.Reset()
	return text
}

// process consumes the pending text as far as its meaning is certain; final says that no
// more follows.
func (f *Filter) process(final bool) {
	for f.rest != "" {
		n, more := f.next(final)
		if more {
			return
		}
		f.rest = f.rest[n:]
	}
}

// next handles the beginning of the pending text and returns its length. more says that
// the meaning depends on text that follows.
func (f *Filter) next(final bool) (n int, more bool) {
	if f.fence != "" || f.lineStart && f.readsCode() {
		if n, more := f.block(final); n > 0 || more {
			return n, more
		}
	}
	switch c := f.rest[0]; {
	case c == '`' && f.readsCode():
		n, more := span(f.rest, final)
		f.text(f.rest[:n])
		return n, more
	case special(c):
		t, n, more := tagAt(f.rest)
		switch {
		case more && !final:
			return 0, true
		case more && n > 2:
			return n, false // half a tag
		case !more && t != noTag:
			f.tag(t)
			return n, false
		}
	}
	for n = 1; n < len(f.rest) && f.rest[n-1] != '\n' && f.rest[n] != '`' && !special(f.rest[n]); n++ {
	}
	f.text(f.rest[:n])
	return n, false
}

// special reports whether a tag may begin with c.
func special(c byte) bool { return c == '<' || c == '[' || c == triangle[0] }

// readsCode reports whether the text is markdown rather than reasoning.
func (f *Filter) readsCode() bool { return (f.depth == 0 || f.unsure) && !f.header && !f.hidden }

// block handles the rest of a line that begins or ends a code block or is part of one. It
// returns 0 for other lines.
func (f *Filter) block(final bool) (n int, more bool) {
	if !f.lineStart {
		if n = strings.IndexByte(f.rest, '\n') + 1; n == 0 {
			n = len(f.rest)
		}
		f.text(f.rest[:n])
		return n, false
	}
	blank := len(f.rest) - len(strings.TrimLeft(f.rest, " \t"))
	n = blank + 1
	if n > len(f.rest) {
		n = 0 // blank so far
	} else if c := f.rest[blank]; c == '`' || c == '~' {
		for n < len(f.rest) && f.rest[n] == c {
			n++
		}
	}
	if (n == 0 || n == len(f.rest)) && !final && strings.Trim(f.rest, " \t`~") == "" {
		return 0, true
	}
	marks := ""
	if n > 0 {
		marks = f.rest[blank:n]
	}
	switch code := len(marks) >= len("```"); {
	case f.fence == "" && !code:
		return 0, false
	case f.fence == "":
		f.fence = marks
	case code && strings.HasPrefix(marks, f.fence):
		f.fence = ""
	}
	if n == 0 {
		n = len(f.rest)
	}
	f.text(f.rest[:n])
	return n, false
}

// maxSpan is how many bytes after its mark a code span may end.
const maxSpan = 1000

// span returns the length of the code span at the beginning of a text, or of its mark if
// it has no end in its line.
func span(text string, final bool) (n int, more bool) {
	run := len(text) - len(strings.TrimLeft(text, "`"))
	if run == len(text) && !final {
		return 0, true
	}
	for at := run; at < run+maxSpan; {
		switch {
		case at == len(text) && !final:
			return 0, true
		case at == len(text) || text[at] == '\n':
			return run, false
		case text[at] != '`':
			at++
			continue
		}
		end := len(text) - len(strings.TrimLeft(text[at:], "`"))
		switch {
		case end == len(text) && !final:
			return 0, true
		case end-at == run:
			return end, false
		}
		at = end
	}
	return run, false
}

// text handles text without tags.
func (f *Filter) text(s string) {
	f.lineStart = s == "" && f.lineStart || strings.HasSuffix(s, "\n")
	switch {
	case f.header:
		if f.channel.Len() < maxTag {
			f.channel.WriteString(s)
		}
	case f.hidden:
	case f.unsure:
		f.held.WriteString(s)
	case f.depth == 0:
		f.emit(s)
	}
}

// emit appends to the answer. Blank text between the reasoning and the answer is dropped.
func (f *Filter) emit(s string) {
	if f.leading && f.closed {
		s = strings.TrimLeft(s, " \t\r\n")
	}
	if strings.TrimSpace(s) != "" {
		f.leading = false
	}
	f.out.WriteString(s)
}

func (f *Filter) tag(t tag) {
	if f.hidden && (t == opens || t == closes) {
		return
	}
	f.lineStart = true
	switch t {
	case opens:
		if f.unsure && strings.TrimSpace(f.held.String()) == "" {
			f.depth-- // this begins the block that was expected, or the next one
			f.held.Reset()
		}
		f.depth++
		f.unsure, f.expected = false, false
	case closes:
		f.close()
	case channel, role:
		f.header, f.hidden = true, false
		f.channel.Reset()
		f.held.Reset()
		f.depth, f.unsure, f.expected, f.closed = 0, false, false, true
	case message:
		name := strings.TrimSpace(strings.ToLower(f.channel.String()))
		name = strings.TrimSpace(strings.TrimPrefix(name, "assistant"))
		f.hidden = f.header && name != "" && !strings.HasPrefix(name, "final")
		f.header = false
	case ends:
		f.header, f.hidden = false, false
	case noTag, empty:
	}
}

// close handles the end of a block.
func (f *Filter) close() {
	switch {
	case f.depth == 0 && f.closed: // a repeated end
		return
	case f.depth == 0:
		f.out.Reset()
		f.found(true)
	case f.expected:
		f.found(true)
	}
	if f.unsure {
		f.held.Reset()
	}
	f.depth, f.expected = max(0, f.depth-1), false
	f.unsure, f.closed = f.depth > 0, f.closed || f.depth == 0
}
