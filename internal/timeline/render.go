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

// Options has what a journal does not contain.
type Options struct {
	// Verdict is the result of replaying the journal, in a word or two; empty if it
	// was not replayed. Differs marks it as a failure.
	Verdict string
	Differs bool
}

// Render writes the picture of a conversation as a self-contained HTML page. It
// returns an error only if w does.
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

// scriptHash lets the page's content security policy allow only its own script.
func scriptHash() string {
	sum := sha256.Sum256([]byte(pageJS))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
