// Gen writes the files that are generated from Go: the editor wire in TypeScript and
// JSON Schema, its table of protected files, the settings for the editor and for the docs, the statecharts in
// docs/design/statecharts.md, and the table of meaning in docs/design/meaning.md.
//
//	go run ./internal/gen          # in the module root: write the files
//	go run ./internal/gen -check   # fail if one is stale
//
// Each file is an entry of files, with the function that returns its content. All of
// them are pure functions of the Go packages, so a stale file is detected by
// comparison.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// file is a generated file: its path relative to the module root, and the function
// that returns its content.
type file struct {
	path string
	make func() ([]byte, error)
}

var files = []file{
	{"protocol/schema.gen.json", schemaJSON},
	{"extension/src/protocol.gen.ts", typeScript},
	{"extension/settings.gen.json", settingsJSON},
	{"extension/src/tools/protected.gen.ts", protectedNames},
	{"docs/settings.md", settingsMarkdown},
	{"docs/voice-commands.md", commandsMarkdown},
	{statecharts, statechartsMarkdown},
	{meaningPage, meaningMarkdown},
}

func main() {
	check := flag.Bool("check", false, "write nothing; fail if a file is stale")
	flag.Parse()
	if err := run(*check, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes stale files, or with check names them in the error.
func run(check bool, out io.Writer) error {
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("no go.mod here; run it in the module root")
	}
	var stale []string
	for _, f := range files {
		want, err := f.make()
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		have, err := os.ReadFile(f.path)
		if err == nil && bytes.Equal(have, want) {
			continue
		}
		stale = append(stale, f.path)
		if check {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(f.path, want, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(out, f.path)
	}
	if check && len(stale) > 0 {
		return fmt.Errorf("stale: %q; run `go run ./internal/gen` and commit them", stale)
	}
	return nil
}
