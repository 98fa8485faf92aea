package reasoning

import (
	"slices"
	"strings"
)

// tag is the meaning of a tag.
type tag int

const (
	noTag   tag = iota
	empty       // an element without content
	opens       // begins reasoning
	closes      // ends reasoning
	channel     // Harmony: the name of the channel follows
	role        // Harmony: the role of the message follows
	message     // Harmony: the text of the message follows
	ends        // Harmony: the message has ended
)

// triangle begins the tags of Kimi.
const triangle = "◁"

// fixed are the tags without variants other than case.
var fixed = []struct {
	text string
	tag  tag
}{
	{"<|channel|>", channel}, {"<|start|>", role}, {"<|message|>", message}, {"<|end|>", ends}, {"<|return|>", ends}, {"<|call|>", ends},
	{"<|begin_of_thought|>", opens}, {"<|end_of_thought|>", closes}, {"<|begin_of_solution|>", empty}, {"<|end_of_solution|>", empty},
	{"<|start_thinking|>", opens}, {"<|end_thinking|>", closes}, {"<|start_response|>", empty}, {"<|end_response|>", empty},
	{"[THINK]", opens}, {"[/THINK]", closes}, {triangle + "think▷", opens}, {triangle + "/think▷", closes},
}

// names are the names of elements that hold reasoning, which may follow a namespace.
var names = []string{"think", "thinking", "thought", "thoughts", "reasoning"}

// maxTag is the maximum length of a tag in bytes.
const maxTag = 200

// tagAt returns the tag at the beginning of a text and its length. If the text is too
// short to tell, more is true, and n is its length if it cannot be anything but a tag.
func tagAt(text string) (t tag, n int, more bool) {
	for _, f := range fixed {
		have := text[:min(len(text), len(f.text))]
		if have != f.text[:len(have)] && (text[0] != '<' || !strings.EqualFold(have, f.text[:len(have)])) {
			continue
		}
		if len(have) == len(f.text) {
			return f.tag, len(have), false
		}
		n, more = len(text), true
	}
	if more || text[0] != '<' {
		return noTag, n, more
	}
	return element(text)
}

// element is tagAt for an XML element.
func element(text string) (t tag, n int, more bool) {
	const blanks = " \t\r\n"
	rest := strings.TrimLeft(text[1:min(len(text), maxTag)], " \t")
	slashed := strings.HasPrefix(rest, "/")
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "/"), " \t")
	end := strings.IndexFunc(rest, func(r rune) bool { return !isName(r) })
	short := len(text) < maxTag
	if end < 0 {
		if short && isHalf(rest) {
			return noTag, len(text), true
		}
		return noTag, 0, short
	}
	name := strings.ToLower(rest[:end])
	name = name[strings.LastIndexByte(name, ':')+1:]
	if !slices.Contains(names, name) || !strings.ContainsRune(blanks+"/>", rune(rest[end])) {
		return noTag, 0, false
	}
	stop := strings.IndexAny(rest[end:], "<>")
	switch {
	case stop < 0 && short:
		return noTag, len(text), true
	case stop < 0 || rest[end+stop] == '<':
		return noTag, 0, false
	}
	n = len(text[:min(len(text), maxTag)]) - len(rest) + end + stop + 1
	switch {
	case slashed:
		return closes, n, false
	case stop > 0 && rest[end+stop-1] == '/':
		return empty, n, false
	}
	return opens, n, false
}

func isName(r rune) bool {
	return r == ':' || r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// isHalf reports whether a text begins the name of an element that holds reasoning.
func isHalf(text string) bool {
	return text != "" && slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, strings.ToLower(text)) })
}
