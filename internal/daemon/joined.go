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

// inOneSentence reports whether an utterance is the end of a sentence that began before it.
func (j *Joined) inOneSentence(end string) bool {
	if j == nil {
		return false
	}
	words := strings.Fields(j.Text)
	n := len(words)
	for n > 0 && (n == len(words) || !strings.ContainsAny(words[n-1][len(words[n-1])-1:], ".?!")) {
		n--
	}
	return len(words)-n > len(strings.Fields(end))
}

// joinedText is Joined as it is sent.
type joinedText struct {
	before         []uint64
	heard, written string
}

// setJoined stores the text of an utterance and those before it. changes are its corrections.
func (c *content) setJoined(id uint64, j Joined, written string, changes []vocab.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.joined[id] = joinedText{j.Before, j.Text, written}
	if len(changes) > 0 {
		c.corrected[id], c.latest = changes, id
	}
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
// is the first of them. It is the whole that the last one ends.
func (c *content) joinedTo(ids []uint64) (first int, j joinedText, ok bool) {
	last := len(ids) - 1
	j = c.joined[ids[last]]
	first = last - len(j.before)
	if len(j.before) == 0 || first < 0 || !slices.Equal(ids[first:last], j.before) || !plausible(j.written, c.apart(ids[first:])) {
		return 0, joinedText{}, false
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

// message returns the text to show for the last utterance of a message, what was heard of it one by one,
// and of how many utterances that is; 0 if it was not recognised as one with those before.
func (c *content) message(ids []uint64) (text, heard string, of int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, j, ok := c.joinedTo(ids)
	if !ok {
		return "", "", 0
	}
	if heard = c.apart(ids[first:]); len(c.corrected[ids[len(ids)-1]]) > 0 {
		heard = j.heard // what undoing the correction brings back
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
