package main

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table")

// The figures match the table in testdata, and no dictation counts as a command. The
// number of sentences in documents changes all the time, so it is not compared.
func TestTable(t *testing.T) {
	t.Chdir("../..")
	var b bytes.Buffer
	if err := run(&b); err != nil {
		t.Fatal(err)
	}
	have := regexp.MustCompile(`(?m)^(sentences of answers and documents|all {3,})(.*)$`).ReplaceAllStringFunc(b.String(), func(line string) string {
		if strings.Contains(line, "%") {
			return line
		}
		f := strings.Fields(line)
		return strings.Join(f[:len(f)-3], " ") + ": " + f[len(f)-1] + " false"
	})
	const golden = "bench/commandbench/testdata/table.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if have != string(want) {
		t.Errorf("the table is\n%s\nwant\n%s", have, want)
	}
	if i := strings.Index(have, "  false"); i >= 0 {
		t.Errorf("dictation counts as a command:\n%s", have[i:])
	}
}
