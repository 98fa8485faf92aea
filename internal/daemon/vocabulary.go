package daemon

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/internal/vocab"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// vocabulary is the names that transcripts are corrected by: the user's own, from the
// setting and from files. It is safe for concurrent use.
type vocabulary struct {
	files []string // of the user's lists, which need not exist

	mu  sync.Mutex // of building
	now atomic.Pointer[vocab.Vocabulary]
}

// build reads what the names are made of. It takes as long as the files do.
func (v *vocabulary) build(set protocol.Settings) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !set.Words.Correct {
		v.now.Store(nil)
		return
	}
	terms, replacements := vocab.ParseList(set.Vocabulary)
	for _, name := range v.files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // most users have none
		}
		t, r := vocab.ParseFile(string(text))
		terms, replacements = append(terms, t...), append(replacements, r...)
	}
	v.now.Store(vocab.New(slices.Clip(terms), replacements))
}

// corrected is what was heard, with names written as they are. Commands, yes and no
// and words that ask for nothing stay as they were heard.
func (d *Daemon) corrected(text string) string {
	if spoken.Classify(text).Class != spoken.UtteranceContent {
		return text
	}
	out, _ := d.vocabulary.now.Load().Correct(text)
	return out
}
