package spoken_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"golang.org/x/tools/txtar"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// answersOf concatenates the answers of testdata with the given names, separated by
// blanks and possibly with a star, repeated to size bytes.
func answersOf(b *testing.B, size int, names string) string {
	b.Helper()
	var once, all strings.Builder
	for _, name := range strings.Fields(names) {
		files, err := filepath.Glob("testdata/answers/" + name + ".txtar")
		if err != nil || len(files) == 0 {
			b.Fatal("no answers", name, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			once.Write(txtar.Parse(data).Files[0].Data)
			once.WriteString("\n\n")
		}
	}
	for all.Len() < size {
		all.WriteString(once.String())
	}
	return all.String()[:size]
}

// BenchmarkRendering measures the rendering of answers of several shapes, whole and in
// deltas of a token, and of pathological text. The last rows are the Markdown library: once for the whole
// answer, and again for each delta, as an approach without an incremental parser would
// need.
func BenchmarkRendering(b *testing.B) {
	const size = 100_000
	hostile := map[string]string{"open-brackets": "[", "open-links": "[a](", "open-code": "` `` ``` ", "open-emphasis": "_a*b", "open-quotes": ">"}
	texts := map[string]string{}
	for shape, names := range map[string]string{
		"answers": "*", "prose": "long-paragraph thinking-aloud wrapped-at-72 question-back", "lists": "nested-list multi-sentence-items list-with-paragraphs task-list",
		"tables": "table-wide table-options table-in-text table-check-marks", "code": "json yaml sql shell-session python-traceback", "diffs": "diff",
		"links": "urls answer-with-link-list reference-links", "identifiers": "paths-and-lines snake-and-kebab function-signature types",
		"markup": "bold-terms key-value code-review-severity underscore-emphasis",
	} {
		texts[shape] = answersOf(b, size, names)
	}
	for name, shape := range hostile {
		texts[name] = strings.Repeat(shape, size/len(shape))
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	for name, source := range texts {
		for _, delta := range []int{len(source), 4} {
			b.Run(map[bool]string{true: "whole/", false: "deltas/"}[delta > 4]+name, func(b *testing.B) {
				b.SetBytes(int64(len(source)))
				b.ReportAllocs()
				for b.Loop() {
					c := spoken.New(spoken.Options{})
					for at := 0; at < len(source); at += delta {
						c.Push(source[at:min(at+delta, len(source))])
					}
					c.Flush()
				}
			})
		}
		b.Run("library/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			for b.Loop() {
				markdown.Parse(text.NewReader([]byte(source)))
			}
		})
	}
	b.Run("library-by-delta/answers-of-2kB", func(b *testing.B) {
		source := []byte(texts["answers"][:2000])
		b.SetBytes(int64(len(source)))
		for b.Loop() {
			for at := 4; at <= len(source); at += 4 {
				markdown.Parse(text.NewReader(source[:at]))
			}
		}
	})
}
