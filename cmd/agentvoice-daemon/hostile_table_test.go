package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostileCell is what must happen to an attempt of a hostile repository in one place.
type hostileCell struct {
	Happens string
	Files   []string        // that may not be opened, or may; below the folder, or $OUT
	Says    []string        // parts of what the user is told or asked
	Asks    string          // typed words of the user
	Call    json.RawMessage // of a coding agent
}

// hostileRow is an attempt. The extension's tests read the same table.
type hostileRow struct {
	What                   string
	Talk, Extension, Agent hostileCell
}

// hostileFiles is the folder of the repository that attacks and of the table of what it tries.
var hostileFiles = filepath.Join("..", "..", "testdata", "hostile")

func hostileTable(t *testing.T) (rows []hostileRow) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(hostileFiles, "table.json"))
	if err == nil {
		err = json.Unmarshal(text, &rows)
	}
	if err != nil || len(rows) == 0 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	return rows
}

// TestHostileTableIsDocumented: limits.md has the table that the tests prove.
//
//test:documents
func TestHostileTableIsDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "design", "limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"| What it tries | `talk` | Tools of the editor | A coding agent |", "| --- | --- | --- | --- |"}
	for _, r := range hostileTable(t) {
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s |", r.What, r.Talk.Happens, r.Extension.Happens, r.Agent.Happens))
	}
	if want := strings.Join(lines, "\n") + "\n"; !strings.Contains(string(doc), want) {
		t.Errorf("docs/design/limits.md does not contain the table of testdata/hostile/table.json:\n%s", want)
	}
}
