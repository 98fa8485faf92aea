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

// allAnswers concatenates the answers of testdata, repeated to size bytes.
func allAnswers(b *testing.B, size int) string {
	b.Helper()
	files, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(files) == 0 {
		b.Fatal("no answers", err)
	}
	var all strings.Builder
	for all.Len() < size {
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				b.Fatal(err)
			}
			all.Write(txtar.Parse(data).Files[0].Data)
			all.WriteString("\n\n")
		}
	}
	return all.String()[:size]
}

// BenchmarkRendering measures the rendering of answers: whole, in deltas of a token, and
// for pathological text. The last rows are the Markdown library: once for the whole
// answer, and again for each delta, as an approach without an incremental parser would
// need.
func BenchmarkRendering(b *testing.B) {
	const size = 100_000
	hostile := map[string]string{"brackets": "[", "links": "[a](", "backticks": "` `` ``` ", "emphasis": "_a*b", "quotes": ">"}
	texts := map[string]string{"answers": allAnswers(b, size)}
	for name, shape := range hostile {
		texts[name] = strings.Repeat(shape, size/len(shape))
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	for name, source := range texts {
		for _, delta := range []int{len(source), 4} {
			b.Run(map[bool]string{true: "whole/", false: "deltas/"}[delta > 4]+name, func(b *testing.B) {
				b.SetBytes(int64(len(source)))
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
