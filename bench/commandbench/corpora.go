package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// corpus is a set of texts that are not commands: dictated or read by people, or
// transcribed by recognizers.
type corpus struct {
	name  string
	texts []string
}

// names lists the files that the dictation mentions.
func names() (map[string]bool, error) {
	known := map[string]bool{}
	files, err := filepath.Glob("internal/vocab/testdata/*.vocab")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			if name, kind, _ := strings.Cut(strings.TrimSpace(line), "\t"); kind == "file" || kind == "open" {
				known[spoken.NameWords(name)] = true
			}
		}
	}
	return known, err
}

// meant lists texts of the corpora that are commands word for word: people said just
// that, a list or a table of a document has it as an entry of its own, or a sentence about
// a name of the workspace cannot be told from a command, such as "switch to setMode". Any
// other trigger is false.
var meant = map[string]bool{
	"no": true, "pause": true, "goodbye": true, "one moment please": true, "ja": true, "yes": true,
	"then wait": true, "line 57": true, "so do that": true, "run the tests": true, "try again": true, "say it again": true, "ask again": true,
	"retry": true, "stop speaking": true, "mute the microphone": true, "why": true,
	"show me tgmath h": true, "open abc cpython 311 pyc": true, "switch to set mode": true, "switch to said mode": true,
}

// corpora returns all text corpora of the tree.
func corpora() ([]corpus, error) {
	people := corpus{name: "words of recordings"}
	for _, r := range speechdata.All() {
		if r.Words != "" {
			people.texts = append(people.texts, r.Words)
		}
	}
	dictated, err := columns("internal/vocab/testdata/*.tsv", 2, 3)
	if err != nil {
		return nil, err
	}
	heard, err := columns("internal/vocab/testdata/*.tsv", 5)
	if err != nil {
		return nil, err
	}
	turns, err := columns("audio/turns/testdata/*.in", 0, 1, 2, 3)
	if err != nil {
		return nil, err
	}
	partials, err := columns("audio/turns/testdata/*.tsv", 4)
	if err != nil {
		return nil, err
	}
	for i, p := range partials {
		_, partials[i], _ = strings.Cut(p, "=")
	}
	// The guide and README quote commands, so they are excluded.
	answers, err := sentences("copilot/spoken/testdata/answers/*.txtar", "docs/design/*.md", "docs/design/decisions/*.md",
		"docs/agents.md", "docs/embedding.md", "docs/extending.md", "docs/hearing-and-voice.md", "docs/models.md", "docs/privacy.md", "docs/protocol.md", "docs/settings.md", "ARCHITECTURE.md")
	if err != nil {
		return nil, err
	}
	return []corpus{
		people, {"dictation to a coding assistant", dictated}, {"the same as PocketSphinx heard it", heard},
		{"turns with pauses", turns}, {"the same while they were spoken", partials}, {"sentences of answers and documents", answers},
	}, nil
}

// columns returns a column of table files, without empty fields.
func columns(pattern string, fields ...int) (texts []string, err error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			row := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
			for _, f := range fields {
				if f < len(row) && strings.ContainsFunc(row[f], isLetter) {
					texts = append(texts, row[f])
				}
			}
		}
	}
	return texts, nil
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127 }

// sentenceEnd splits prose into parts that could be dictated at once.
var sentenceEnd = regexp.MustCompile(`[.!?。！？]+(?:\s|$)|\n\s*\n|\n\s*(?:[-*#>|]|\d+[.)])|\|`)

// sentences returns the lines and sentences of documents.
func sentences(patterns ...string) (texts []string, err error) {
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			if name == "docs/voice-commands.md" || name == "docs/design/meaning.md" { // list the commands themselves
				continue
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			for _, s := range sentenceEnd.Split(string(data), -1) {
				if s = strings.TrimSpace(s); strings.ContainsFunc(s, isLetter) {
					texts = append(texts, s)
				}
			}
		}
	}
	return texts, nil
}
