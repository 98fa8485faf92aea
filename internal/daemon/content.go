package daemon

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// content keeps the words that the core knows by id only. It is safe for
// concurrent use, and forgets with the conversation.
type content struct {
	mu         sync.Mutex
	last       uint64 // the last id that was given out, for utterances, texts, calls and models alike
	utterances map[uint64]string
	answers    map[uint64]*answer
	texts      map[uint64]string
	calls      map[uint64]*toolCall
	summaries  map[uint32]string // by the job that made it
	models     map[uint64]string // names by id; they outlive conversations
	tools      []copilot.Tool    // that the client offers; the same
}

// answer is what the assistant wrote, and how the pieces of it are spoken.
type answer struct {
	text   string
	rounds []int          // where each round begins, in bytes of text
	spoken map[int]string // by the segment's first character
}

func newContent() *content {
	return &content{
		utterances: map[uint64]string{}, answers: map[uint64]*answer{}, texts: map[uint64]string{},
		calls: map[uint64]*toolCall{}, summaries: map[uint32]string{}, models: map[uint64]string{},
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

// beginRound starts a round of the answer to a request, or starts it anew as a
// retry does, and says where in the whole answer it begins.
func (c *content) beginRound(request uint64, round int) (bytes, chars int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.answers[request]
	if a == nil || round == 0 {
		a = &answer{spoken: map[int]string{}}
		c.answers[request] = a
	}
	if round < len(a.rounds) {
		a.text, a.rounds = a.text[:a.rounds[round]], a.rounds[:round]
	} else if a.text != "" {
		a.text = strings.TrimRight(a.text, " \n") + "\n\n"
	}
	for len(a.rounds) <= round {
		a.rounds = append(a.rounds, len(a.text))
	}
	return len(a.text), utf8.RuneCountInString(a.text)
}

// extend appends to an answer and returns its length in characters.
func (c *content) extend(request uint64, text string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.answers[request]
	if a == nil {
		a = &answer{spoken: map[int]string{}}
		c.answers[request] = a
	}
	a.text += text
	return utf8.RuneCountInString(a.text)
}

func (c *content) setSpoken(request uint64, start int, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.answers[request]; a != nil {
		a.spoken[start] = text
	}
}

func (c *content) spoken(request uint64, start int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.answers[request]; a != nil {
		return a.spoken[start]
	}
	return ""
}

// lastSpoken is what was said of the latest answer, "" without one.
func (c *content) lastSpoken() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var last uint64
	for request, a := range c.answers {
		if request > last && len(a.spoken) > 0 {
			last = request
		}
	}
	if last == 0 {
		return ""
	}
	pieces := c.answers[last].spoken
	var said []string
	for _, start := range slices.Sorted(maps.Keys(pieces)) {
		said = append(said, pieces[start])
	}
	return strings.Join(said, " ")
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
		return a.text
	}
	for i := range a.text {
		if chars == 0 {
			return a.text[:i]
		}
		chars--
	}
	return a.text
}

// source is characters [start, end) of an answer.
func (c *content) source(request uint64, start, end int) string {
	whole := c.answer(request, end)
	return whole[len(c.answer(request, start)):]
}

// forget drops all words; ids go on.
func (c *content) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.utterances)
	clear(c.answers)
	clear(c.texts)
	clear(c.calls)
	clear(c.summaries)
}
