package daemon

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// BenchmarkSegmenter renders long answers in deltas of ten bytes, as production does. The
// time per byte does not depend on the length.
func BenchmarkSegmenter(b *testing.B) {
	files, err := filepath.Glob("../../copilot/spoken/testdata/answers/*.txtar")
	if err != nil || len(files) == 0 {
		b.Fatal("no answers", err)
	}
	var all strings.Builder
	for all.Len() < 200_000 {
		for _, f := range files {
			shape, err := txtar.ParseFile(f)
			if err != nil {
				b.Fatal(err)
			}
			all.Write(shape.Files[0].Data)
			all.WriteString("\n\n")
		}
	}
	for name, size := range map[string]int{"20kB": 20_000, "200kB": 200_000} {
		text := all.String()[:size]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				s := newSegmenter(newContent(), 1, 0, func(csm.Event) {}, spoken.Options{})
				for at := 0; at < size; at += 10 {
					s.push(text[at : at+10])
				}
				s.flush()
			}
		})
	}
}
