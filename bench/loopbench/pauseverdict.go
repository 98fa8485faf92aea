package main

import (
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

// span is where a sentence is in a recording of several sentences.
type span struct {
	onset time.Duration
	pause time.Duration // start of the inserted pause; the onset without one
	rest  time.Duration // end of the inserted pause; the onset without one
	end   time.Duration // of the voice
}

// outcome says how a sentence reached the agent.
type outcome int

// The outcomes, best first.
const (
	first  outcome = iota // the first request had the whole sentence
	joined                // requests with a part of it were cancelled; one message has it all
	partly                // one message has only a part of it
	split                 // several messages have it, or an answer was audible before its end
	absent                // no message has any of it
)

func (o outcome) String() string {
	return [...]string{"first", "joined", "partly", "split", "absent"}[o]
}

// verdict is what became of a sentence.
type verdict struct {
	outcome  outcome
	messages []string      // of the agent's conversation
	requests []request     // for this sentence
	reply    time.Duration // from the end of the voice to the first audio of the answer; 0 without one
}

// utterance is what was recognised of a part of a recording.
type utterance struct {
	onset, end time.Duration // of the voice
	words      string
	joined     string // with the words before it, recognised as one
}

// conversation is what a recording of several sentences led to. The first of them only loads the
// models, and is not judged.
type conversation struct {
	spans      []span
	requests   []request       // in the order of their arrival
	utterances []utterance     // in the order of their onsets
	audible    []time.Duration // when the assistant began to be audible
}

// judge returns what became of each sentence but the first. The words of a sentence are accepted in
// any of its texts, as written or as they reach the agent without a pause, and as they were
// recognised if something was recognised of both its parts.
func (c conversation) judge(texts [][]string) []verdict {
	verdicts := make([]verdict, len(c.spans))
	for i, r := range c.requests {
		v := &verdicts[c.sentenceAt(r.at)]
		v.requests = append(v.requests, r)
		if c.remains(i) {
			v.messages = append(v.messages, r.last())
		}
	}
	for i := range verdicts[1:] {
		v := &verdicts[i+1]
		v.outcome = c.outcomeOf(i+1, *v, append(slices.Clone(texts[i]), c.recognised(i+1)...))
		v.reply = c.replyTo(i + 1)
	}
	return verdicts[1:]
}

// remains reports whether the message of a request is part of the agent's conversation: the next
// request has it among the earlier messages. The end of the conversation alone would not do, since
// old messages are summarised.
func (c conversation) remains(i int) bool {
	if i+1 == len(c.requests) {
		return true
	}
	next := c.requests[i+1].users
	return slices.Contains(next[:max(len(next)-1, 0)], c.requests[i].last())
}

// recognised returns the words of a sentence as they were recognised, if they are of both its parts.
func (c conversation) recognised(i int) []string {
	s := c.spans[i]
	var words []string
	joined := ""
	before, after := false, false
	for _, u := range c.utterances {
		if u.words == "" || u.onset >= s.end || u.end <= s.onset {
			continue
		}
		words = append(words, u.words)
		joined = u.joined
		before = before || u.onset <= s.pause
		after = after || u.end > s.rest
	}
	if !before || !after {
		return nil
	}
	if joined != "" {
		return []string{strings.Join(words, " "), joined}
	}
	return []string{strings.Join(words, " ")}
}

// sentenceAt returns the last sentence that began before a time.
func (c conversation) sentenceAt(at time.Duration) int {
	later := slices.IndexFunc(c.spans, func(s span) bool { return s.onset > at })
	if later < 0 {
		later = len(c.spans)
	}
	return max(later-1, 0)
}

func (c conversation) outcomeOf(i int, v verdict, texts []string) outcome {
	s := c.spans[i]
	talkedOver := slices.ContainsFunc(c.audible, func(at time.Duration) bool {
		return len(v.requests) > 0 && at > v.requests[0].at && at > s.pause && at < s.end
	})
	switch {
	case len(v.messages) > 1 || talkedOver:
		return split
	case len(v.messages) == 0:
		return absent
	case !isWhole(v.messages[0], texts):
		return partly
	case isWhole(v.requests[0].last(), texts):
		return first
	default:
		return joined
	}
}

// replyTo returns the time from the end of a sentence to the first audio before the next one.
func (c conversation) replyTo(i int) time.Duration {
	for _, at := range c.audible {
		if at > c.spans[i].end && (i+1 == len(c.spans) || at < c.spans[i+1].onset) {
			return at - c.spans[i].end
		}
	}
	return 0
}

// isWhole reports whether at most a quarter of the words of one of the texts are wrong.
func isWhole(said string, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		wrong, words := wer.Compute(text, said)
		return wrong <= words/4
	})
}
