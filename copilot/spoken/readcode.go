package spoken

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// ReadCode selects how code blocks are spoken.
type ReadCode string

// The modes. The zero value means ReadCodeName.
const (
	ReadCodeName ReadCode = "name" // announces the block
	ReadCodeSkip ReadCode = "skip" // says nothing, unless the answer has no other text
	ReadCodeFull ReadCode = "full" // reads it aloud
)

// maxReadCode limits the speech for one block that is read aloud, in bytes: about two
// minutes, and below the request limit of hosted voices. The rest is announced.
const maxReadCode = 1500

// renderCode returns the spoken text of a code block.
func (c *Chunker) renderCode(src []byte) string {
	if len(bytes.TrimSpace(src)) == 0 {
		return ""
	}
	if c.opts.Code == ReadCodeFull {
		return c.lang.readCode(codeLines(src))
	}
	name := ""
	if c.kind == kindFence {
		name = languageName(string(c.info))
	}
	text := c.lang.block(name, countLines(src))
	if name == "diff" {
		text = c.lang.changed(src)
	}
	if c.opts.Code == ReadCodeSkip {
		if c.skipped == "" {
			c.skipped = text
		}
		return ""
	}
	return text
}

// countLines counts the lines of a block, without blank ones at its ends.
func countLines(src []byte) int {
	return bytes.Count(bytes.Trim(src, "\r\n"), []byte("\n")) + 1
}

// rest returns the segment of what is left at the end of the answer. It has words only if
// no other segment had: an answer that consists of code is announced, not silent.
func (c *Chunker) rest() Segment {
	s := Segment{Start: c.start, End: c.start + len(c.src), Class: ClassProse}
	if !c.spoke && c.skipped != "" {
		s.Text, s.Class = c.skipped, ClassCode
		s.Chars, s.Words = utf8.RuneCountInString(s.Text), strings.Count(s.Text, " ")+1
	}
	return s
}

// codeLines returns the non-blank lines of a code block.
func codeLines(src []byte) (lines []string) {
	for line := range bytes.Lines(src) {
		if said := bytes.TrimSpace(line); len(said) > 0 {
			lines = append(lines, string(said))
		}
	}
	return lines
}

// readCode reads lines aloud, each as a sentence, and announces lines beyond the limit.
func (l *language) readCode(lines []string) string {
	var said strings.Builder
	for i, line := range lines {
		text := l.readLine(line)
		if text == "" {
			continue
		}
		if said.Len()+len(text) > maxReadCode {
			return said.String() + l.block("", len(lines)-i)
		}
		said.WriteString(text + ". ")
	}
	return strings.TrimSpace(said.String())
}

// readLine speaks a line of code like speakCode, but of any length.
func (l *language) readLine(line string) string {
	var parts []string
	for word := range strings.FieldsSeq(line) {
		for len(word) > maxSpokenCode {
			n := maxSpokenCode
			for !utf8.RuneStart(word[n]) {
				n--
			}
			parts, word = append(parts, l.speakCode(word[:n])), word[n:]
		}
		if text := l.speakCode(word); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}

// maxDiffFiles limits the files of a diff that are named.
const maxDiffFiles = 3

// changed summarises a diff: which files it changes, and by how many lines.
func (l *language) changed(src []byte) string {
	var files []string
	added, removed := 0, 0
	for line := range strings.Lines(string(src)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- "):
			name, _, _ := strings.Cut(strings.TrimSpace(line[4:]), "\t")
			name = name[strings.LastIndexAny(name, `/\`)+1:]
			if name != "null" && name != "" && !slices.Contains(files, name) {
				files = append(files, name)
			}
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	if len(files) > maxDiffFiles {
		files = nil
	}
	for i, name := range files {
		files[i] = l.speakCode(name)
	}
	return l.diff(files, added, removed)
}
