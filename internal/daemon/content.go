package daemon

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/vocab"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// content stores the words that the core knows by id only. It is safe for concurrent
// use. Its words are dropped when the conversation ends.
type content struct {
	mu         sync.Mutex
	last       uint64 // last allocated id, shared by utterances, texts, calls and models
	utterances map[uint64]string
	joined     map[uint64]joinedText     // by the utterance that ends it
	shortened  map[uint64]bool           // utterances of which something is no part of the message
	misheard   map[uint64]string         // the original words of corrected utterances
	corrected  map[uint64][]vocab.Change // the changes that can be undone, by utterance
	latest     uint64                    // the last corrected utterance; 0 if that was undone
	dictated   map[uint64]bool           // utterances that were recognised from speech
	sent       map[uint64]bool           // utterances that the assistant was sent
	answers    map[uint64]*answer
	ends       map[uint64]protocol.AnswerEnd // how answers ended, by request
	texts      map[uint64]string
	calls      map[uint64]*toolCall
	own        map[string]ownCall // that an agent made by itself, by its name for them
	asks       map[string]bool    // tools whose calls always need approval, whatever the client says
	passed     string             // the tool whose call was last allowed without a question
	summaries  map[uint32]string  // keyed by the job that made it
	models     map[uint64]string  // names by id; kept across conversations
	tools      []copilot.Tool     // offered by the client; kept across conversations
	editions   edition            // last edition assigned to an answer
}

func newContent() *content {
	return &content{
		dictated: map[uint64]bool{}, ends: map[uint64]protocol.AnswerEnd{}, own: map[string]ownCall{},
		utterances: map[uint64]string{}, joined: map[uint64]joinedText{}, shortened: map[uint64]bool{}, misheard: map[uint64]string{}, corrected: map[uint64][]vocab.Change{}, sent: map[uint64]bool{}, answers: map[uint64]*answer{}, texts: map[uint64]string{},
		calls: map[uint64]*toolCall{}, asks: map[string]bool{}, summaries: map[uint32]string{}, models: map[uint64]string{},
	}
}

// newID allocates an id.
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

// setHeard stores the words of an utterance as written, and as heard if that differs.
// changes are the corrections between them.
func (c *content) setHeard(id uint64, heard, written string, changes []vocab.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.utterances[id] = written
	if heard != written {
		c.misheard[id] = heard
	}
	if len(changes) > 0 {
		c.corrected[id], c.latest = changes, id
	}
}

// setDictated says that the words of an utterance were recognised from speech.
func (c *content) setDictated(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dictated[id] = true
}

// isDictated reports whether words of any of the utterances were recognised from speech.
func (c *content) isDictated(utterance uint64, more []uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dictated[utterance] || slices.ContainsFunc(more, func(id uint64) bool { return c.dictated[id] })
}

// heard returns the original words of a corrected utterance, else "".
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

// beginRound starts or, for a retry, restarts a round of the answer to a request. It
// returns where the round begins in the whole answer. All rounds of a request are
// spoken like the first one, as given by kept.
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

// progress returns an answer up to its last complete character, without the space at its
// end: it separates a round from the next one, which may bring calls before any words.
func (c *content) progress(request uint64) (text string, of edition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.answers[request]
	if a == nil {
		return "", 0
	}
	return strings.TrimRight(a.text.String()[:a.whole], " \n"), a.edition
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

// lastSpoken returns the latest answer as spoken, or "".
func (c *content) lastSpoken() string { return joined(c.lastPieces()) }

func joined(pieces []said) string {
	var texts []string
	for _, p := range pieces {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, " ")
}

// lastRequest returns the latest request whose answer has spoken pieces, or 0. The
// caller holds mu.
func (c *content) lastRequest() (last uint64) {
	for request, a := range c.answers {
		if request > last && len(a.spoken) > 0 {
			last = request
		}
	}
	return last
}

// lastPieces returns the pieces of the latest answer in order.
func (c *content) lastPieces() []said {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.piecesOf(c.lastRequest())
}

// piecesOf returns the pieces of an answer in order. The caller holds mu.
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

// lastAnswer returns the text of the latest answer, or "".
func (c *content) lastAnswer() string {
	c.mu.Lock()
	last := c.lastRequest()
	c.mu.Unlock()
	return c.answer(last, -1)
}

// answer returns the first chars characters of an answer, or all of it if chars is
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

// ended completes the end of a round: whether the whole answer ends with a question.
func (c *content) ended(done csm.CopilotDone) csm.CopilotDone {
	done.Asks = done.Code == "" && !done.Cancelled && spoken.Asks(c.answer(done.Request, -1))
	return done
}

// heardOf converts the core's playback position chars into the number of characters of
// an answer that were heard.
func (c *content) heardOf(request uint64, chars int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.answers[request]; a != nil {
		return a.heard(chars)
	}
	return chars
}

// source returns characters [start, end) of an answer.
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

// forget drops all words. Ids are not reused.
func (c *content) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.utterances)
	clear(c.joined)
	clear(c.shortened)
	clear(c.misheard)
	clear(c.corrected)
	clear(c.dictated)
	clear(c.sent)
	c.latest = 0
	clear(c.answers)
	clear(c.ends)
	clear(c.own)
	clear(c.texts)
	clear(c.calls)
	clear(c.summaries)
}
