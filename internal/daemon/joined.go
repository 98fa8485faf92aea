package daemon

import (
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/internal/vocab"
)

// Joined is the text of consecutive utterances that were recognised as one sound. A pause in a
// sentence spoils the words on both sides of it: "Which tester? Failing." is "Which tests are failing?".
type Joined struct {
	Text   string
	Before []uint64 // the utterances before the one that ends it
}

// inOneSentence reports whether words are the end of a sentence that began before them. That takes two
// words more: a recogniser may hear one word as two.
func (j *Joined) inOneSentence(end string) bool {
	words, last := strings.Fields(j.Text), tokens(end)
	n := len(words)
	for n > 0 && (n == len(words) || !strings.ContainsAny(words[n-1][len(words[n-1])-1:], ".?!")) {
		n--
	}
	sentence := tokens(strings.Join(words[n:], " "))
	if len(last) == 0 || len(sentence) < len(last)+2 {
		return false
	}
	return slices.EqualFunc(sentence[len(sentence)-len(last):], last, func(a, b token) bool { return a.text == b.text })
}

// joinedText is Joined as it is sent, with its corrections.
type joinedText struct {
	before         []uint64
	heard, written string
	changes        []vocab.Change
}

// setJoined stores the text of an utterance and those before it. Something of these may have been cut off:
// the wake phrase is no part of a message.
func (c *content) setJoined(id uint64, j Joined, written string, changes []vocab.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(j.Before) > 0 && !slices.ContainsFunc(j.Before, func(id uint64) bool { return c.shortened[id] }) {
		c.joined[id] = joinedText{j.Before, j.Text, written, changes}
	}
}

// setShortened says that a part of an utterance is no part of the message.
func (c *content) setShortened(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shortened[id] = true
}

// words returns the words of an utterance and of those merged with it.
func (c *content) words(utterance uint64, more []uint64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := append([]uint64{utterance}, more...)
	said := ""
	for n := len(ids); n > 0; {
		if first, j, ok := c.joinedTo(ids[:n]); ok {
			said, n = spoken.Join(j.written, said), first
		} else {
			n--
			said = spoken.Join(c.utterances[ids[n]], said)
		}
	}
	return strings.TrimSpace(said)
}

// joinedTo returns the text of the last utterances of a message that were recognised as one, and which
// is the first of them. Those before the last one are one utterance, or were recognised as one too.
func (c *content) joinedTo(ids []uint64) (first int, j joinedText, ok bool) {
	last := len(ids) - 1
	j = c.joined[ids[last]]
	first = last - len(j.before)
	if first == last || first < 0 || !slices.Equal(ids[first:last], j.before) || !plausible(j.heard, c.apart(ids[first:])) {
		return 0, joinedText{}, false
	}
	if len(j.before) > 1 {
		if begin, _, whole := c.joinedTo(ids[:last]); !whole || begin != first {
			return 0, joinedText{}, false
		}
	}
	return first, j, true
}

// apart returns the words of utterances as they were recognised one by one.
func (c *content) apart(ids []uint64) (said string) {
	for _, id := range ids {
		said = spoken.Join(said, c.utterances[id])
	}
	return said
}

// continues reports whether an utterance with these words may end a message with what it is joined to.
func (c *content) continues(ids []uint64, text string, j *Joined) bool {
	if j == nil || len(j.Before) == 0 || len(j.Before) > len(ids) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := ids[len(ids)-len(j.Before):]
	return slices.Equal(before, j.Before) && plausible(j.Text, spoken.Join(c.apart(before), text))
}

// message returns the text to show for the last utterance of a message, what was heard of it one by one,
// and of how many utterances that is; 0 if it was not recognised as one with those before. Its corrections
// take the place of theirs.
func (c *content) message(ids []uint64) (text, heard string, of int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, j, ok := c.joinedTo(ids)
	if !ok {
		return "", "", 0
	}
	for _, id := range ids[first:] {
		c.forgetCorrection(id)
	}
	heard = c.apart(ids[first:])
	if last := ids[len(ids)-1]; len(j.changes) > 0 {
		heard = j.heard // what undoing the corrections brings back
		c.misheard[last], c.corrected[last], c.latest = j.heard, j.changes, last
	}
	return j.written, heard, len(ids) - first
}

// mayLack is the part of the words that may be fewer in the whole than in its parts: a model that loses its
// way leaves words out, and one that hears a word in two halves writes two.
const mayLack = 8

// plausible reports whether a text can be what was said in parts.
func plausible(whole, parts string) bool {
	n := len(strings.Fields(parts))
	return len(strings.Fields(whole)) >= n-max(1, n/mayLack)
}
