package spoken_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

var update = flag.Bool("update", false, "rewrite what the answers of testdata/answers sound like")

// TestAnswers compares the speech for answers of many shapes, one segment per line. Judge
// a difference as a listener before you accept it with -update.
func TestAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(files) < 80 {
		t.Fatalf("%d answers in testdata/answers, want at least 80 (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			shape, err := txtar.ParseFile(file)
			if err != nil || len(shape.Files) != 2 {
				t.Fatalf("%s has no answer.md and spoken.txt: %v", file, err)
			}
			o := spoken.Options{Locale: "en"}
			if strings.Contains(file, "german") {
				o.Locale = "de"
			}
			answer := string(shape.Files[0].Data)
			segments := chunk(o, answer)
			checkTiles(t, answer, segments)
			var said strings.Builder
			for _, s := range segments {
				if s.Text != "" {
					checkPositions(t, answer[s.Start:s.End], s.Text)
					fmt.Fprintf(&said, "%-8s%s\n", s.Class, s.Text)
				}
			}
			if *update {
				shape.Files[1].Data = []byte(said.String())
				if err := os.WriteFile(file, txtar.Format(shape), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(shape.Files[1].Data); said.String() != want {
				t.Errorf("said\n%s\nwant\n%s", said.String(), want)
			}
		})
	}
}
