package timeline

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
)

// Options says what a journal itself does not.
type Options struct {
	// Verdict is what a replay of the journal found, in a word or two; empty when
	// it was not replayed. Differs marks it as a failure.
	Verdict string
	Differs bool
}

// Render writes the picture of a conversation as one HTML page that needs no
// other file. It fails only when w does.
func Render(j *journal.Journal, w io.Writer, o Options) error {
	out := bufio.NewWriter(w)
	if err := pageTemplate.Execute(out, newPage(j, o)); err != nil {
		return fmt.Errorf("write timeline: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write timeline: %w", err)
	}
	return nil
}

// scriptHash lets the page's policy allow its own script and no other.
func scriptHash() string {
	sum := sha256.Sum256([]byte(pageJS))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
