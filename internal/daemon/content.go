package daemon

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// content keeps the words that the core knows by id only. It is safe for
// concurrent use, and forgets with the conversation.
type content struct {
	mu         sync.Mutex
	last       uint64 // the last id that was given out, for utterances, texts, calls and models alike
	utterances map[uint64]string
	misheard   map[uint64]string // as they were heard, of utterances that were corrected
	answers    map[uint64]*answer
	texts      map[uint64]string
	calls      map[uint64]*toolCall
	asks       map[string]bool   // tools whose calls are asked about, whatever the client says
	passed     string            // the tool whose call passed without a question last
	summaries  map[uint32]string // by the job that made it
	models     map[uint64]string // names by id; they outlive conversations
	tools      []copilot.Tool    // that the client offers; the same
	editions   edition           // the last one that an answer was given
}

func newContent() *content {
	return &content{
		utterances: map[uint64]string{}, misheard: map[uint64]string{}, answers: map[uint64]*answer{}, texts: map[uint64]string{},
		calls: map[uint64]*toolCall{}, asks: map[string]bool{}, summaries: map[uint32]string{}, models: map[uint64]string{},
	}
}

// newID gives out an id.
func (c *content) newID() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	return c.last
}

func (c *content) setUtterance(id uint64, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.utterances[id] = text
}

// setHeard keeps the words of an utterance as they are written, and as they were heard
// where that differs.
func (c *content) setHeard(id uint64, heard, written string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.utterances[id] = written
	if heard != written {
		c.misheard[id] = heard
	}
}

// heard is what was heard of an utterance that was corrected, else "".
func (c *content) heard(id uint64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.misheard[id]
}

func (c *content) utterance(id uint64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.utterances[id]
}

func (c *content) setText(id uint64, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts[id] = text
}

func (c *content) text(id uint64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.texts[id]
}

// beginRound starts a round of the answer to a request, or restarts it as a
// retry does, and says where in the whole answer it begins. All rounds of a
// request are spoken as the first one: kept says how.
func (c *content) beginRound(request uint64, round int, how spoken.Options) (bytes, chars int, kept spoken.Options) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.answers[request]
	if a == nil || round == 0 {
		if a != nil {
			how = a.how // another attempt
		}
		a = c.newAnswer(request)
		a.how = how
	}
	if round < len(a.rounds) {
		c.cut(a, a.rounds[round])
		a.rounds = a.rounds[:round]
	} else if text := a.text.String(); text != "" {
		c.cut(a, len(strings.TrimRight(text, " \n")))
		a.add("\n\n")
	}
	for len(a.rounds) <= round {
		a.rounds = append(a.rounds, a.text.Len())
	}
	return a.text.Len(), a.length(), a.how
}

// newAnswer replaces the answer to a request. The caller holds mu.
func (c *content) newAnswer(request uint64) *answer {
	c.editions++
	a := &answer{spoken: map[int]said{}, edition: c.editions}
	c.answers[request] = a
	return a
}

// cut shortens an answer. The caller holds mu.
func (c *content) cut(a *answer, bytes int) {
	if bytes < a.text.Len() {
		c.editions++
		a.edition = c.editions
		a.cut(bytes)
	}
}

// extend appends to an answer and returns its length in characters.
func (c *content) extend(request uint64, text string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.answers[request]
	if a == nil {
		a = c.newAnswer(request)
	}
	a.add(text)
	return a.length()
}

// progress is what there is of an answer up to its last complete character.
func (c *content) progress(request uint64) (text string, of edition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.answers[request]
	if a == nil {
		return "", 0
	}
	return a.text.String()[:a.whole], a.edition
}

func (c *content) setSpoken(request uint64, start, end int, seg spoken.Segment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.answers[request]; a != nil {
		a.setSpoken(said{seg.Text, seg.Class, start, end})
	}
}

func (c *content) spoken(request uint64, start int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.answers[request]; a != nil {
		return a.spoken[start].text
	}
	return ""
}

// lastSpoken is what was said of the latest answer, "" without one.
func (c *content) lastSpoken() string { return joined(c.lastPieces()) }

func joined(pieces []said) string {
	var texts []string
	for _, p := range pieces {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, " ")
}

// lastRequest is the latest request whose answer has something to be said, 0 without
// one. The caller holds mu.
func (c *content) lastRequest() (last uint64) {
	for request, a := range c.answers {
		if request > last && len(a.spoken) > 0 {
			last = request
		}
	}
	return last
}

// lastPieces are the pieces of the latest answer in their order, none without one.
func (c *content) lastPieces() []said {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.piecesOf(c.lastRequest())
}

// piecesOf are the pieces of an answer in their order. The caller holds mu.
func (c *content) piecesOf(request uint64) (pieces []said) {
	a := c.answers[request]
	if a == nil {
		return nil
	}
	spoken := a.spoken
	for _, start := range slices.Sorted(maps.Keys(spoken)) {
		pieces = append(pieces, spoken[start])
	}
	return pieces
}

// lastAnswer is the text of the latest answer, "" without one.
func (c *content) lastAnswer() string {
	c.mu.Lock()
	last := c.lastRequest()
	c.mu.Unlock()
	return c.answer(last, -1)
}

// answer is the first chars characters of an answer; all of it when chars is
// negative.
func (c *content) answer(request uint64, chars int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.answers[request]
	if a == nil {
		return ""
	}
	if chars < 0 {
		return a.text.String()
	}
	return a.text.String()[:a.offset(chars)]
}

// heardOf is how much of an answer was heard, in its characters, where the core says so of
// chars.
func (c *content) heardOf(request uint64, chars int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.answers[request]; a != nil {
		return a.heard(chars)
	}
	return chars
}

// source is characters [start, end) of an answer.
func (c *content) source(request uint64, start, end int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.answers[request]
	if a == nil {
		return ""
	}
	from := a.offset(start)
	return a.text.String()[from:max(from, a.offset(end))]
}

// forget drops all words; ids go on.
func (c *content) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.utterances)
	clear(c.misheard)
	clear(c.answers)
	clear(c.texts)
	clear(c.calls)
	clear(c.summaries)
}
