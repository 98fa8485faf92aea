// Command wordsbench records PocketSphinx's transcripts of sentences in Flite's voices:
//
//	wordsbench -in FILE -out FILE
//
// A row of the input is kind, voice, spoken and written (names in backquotes),
// separated by tabs; the output appends the confidence and the transcript.
// internal/vocab/testdata holds such recordings, and the benchmarks of internal/vocab
// print the results of the correction on them.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	in := flag.String("in", "", "sentences to speak")
	out := flag.String("out", "", "the recording to write")
	flag.Parse()
	if err := record(*in, *out); err != nil {
		fmt.Fprintln(os.Stderr, "wordsbench:", err)
		os.Exit(1)
	}
}

// readRows returns the tab-separated fields of a file's lines, at least n per line.
func readRows(name string, n int) (rows [][]string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) < n {
			return nil, fmt.Errorf("%s: a line has %d fields, want %d", name, len(fields), n)
		}
		rows = append(rows, fields)
	}
	return rows, lines.Err()
}
