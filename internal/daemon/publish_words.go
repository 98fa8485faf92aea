package daemon

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Each transcript of an answer replaces the previous one and contains all of its text.
// Sending one for every delta would cost time and bandwidth quadratic in the length of
// the answer. A client with capabilities.transcriptAppend therefore gets only the new
// text. For other clients, beyond wholeBytes the text is sent again only when it has
// grown by 1/growth, which bounds the sum of all transcripts of an answer to a multiple
// of its length.
const (
	wholeBytes = 4 << 10
	growth     = 16
)

// told is the part of the answer in progress that the client has received.
type told struct {
	turn    string
	request uint64
	edition edition
	bytes   int   // length of its text
	seq     int64 // seq of the transcript that contained it
}

// answer publishes the progress of an answer.
func (p *publisher) answer(s dispatch.Step, turn string, request uint64) {
	text, of := p.d.content.progress(request)
	last := p.told
	if text == "" && (last.turn != turn || last.request != request) {
		return // a sign of life before the first words
	}
	grows := last.turn == turn && last.request == request && last.edition == of && last.bytes <= len(text)
	e := protocol.TranscriptEntry{
		TurnID: turn, Role: protocol.RoleAssistant, Text: text, Timestamp: p.d.wall(s.Envelope.At),
	}
	switch {
	case grows && p.d.cfg.TranscriptAppend:
		if len(text) == last.bytes {
			return
		}
		e.Seq = p.nextTranscript()
		p.notify(protocol.NotifyTranscript, protocol.TranscriptParams{
			TurnID: turn, Role: e.Role, Text: text[last.bytes:], Seq: e.Seq, After: last.seq,
		})
	case grows && len(text) > wholeBytes && len(text) < last.bytes+last.bytes/growth:
		e.Seq = last.seq
		p.keep(e)
		return
	default:
		e.Seq = p.nextTranscript()
		p.notify(protocol.NotifyTranscript, protocol.TranscriptParams{TurnID: turn, Role: e.Role, Text: text, Seq: e.Seq})
	}
	p.keep(e)
	p.told = told{turn, request, of, len(text), e.Seq}
}

// transcript publishes the words so far of one half of a turn and, if they were
// corrected, the original words.
func (p *publisher) transcript(s dispatch.Step, e protocol.TranscriptEntry) {
	e.Seq, e.Timestamp = p.nextTranscript(), p.d.wall(s.Envelope.At)
	p.notify(protocol.NotifyTranscript, paramsOf(e))
	p.keep(e)
}

// said publishes the final words of an utterance, in place of those of an utterance before that they
// include; 0 without one.
func (p *publisher) said(s dispatch.Step, utterance, before uint64, e protocol.TranscriptEntry) {
	e.Seq, e.Timestamp = p.nextTranscript(), p.d.wall(s.Envelope.At)
	params := paramsOf(e)
	at := slices.IndexFunc(p.entries, func(e protocol.TranscriptEntry) bool { return e.Seq == p.lastSaid.seq })
	if before == 0 || before != p.lastSaid.utterance || at < 0 {
		p.keep(e)
	} else {
		params.Replaces = p.lastSaid.seq
		p.entries[at] = e
		p.entries = slices.DeleteFunc(p.entries, func(o protocol.TranscriptEntry) bool { return !o.Final && o.Role == e.Role && o.TurnID == e.TurnID })
	}
	p.lastSaid = saidWords{utterance, e.Seq}
	p.notify(protocol.NotifyTranscript, params)
}

// saidWords are the final words of an utterance, as published.
type saidWords struct {
	utterance uint64
	seq       int64
}

func paramsOf(e protocol.TranscriptEntry) protocol.TranscriptParams {
	return protocol.TranscriptParams{
		TurnID: e.TurnID, Role: e.Role, Text: e.Text, Heard: e.Heard, Correction: e.Correction, Final: e.Final, Seq: e.Seq, End: e.End,
	}
}

// uncorrect publishes the line of a corrected utterance again, with the words as heard.
func (p *publisher) uncorrect(utterance uint64) {
	for i := range p.entries {
		if e := &p.entries[i]; e.Correction == utteranceID(utterance) {
			before := e.Seq
			e.Text, e.Heard, e.Correction, e.Seq = e.Heard, "", "", p.nextTranscript()
			if p.lastSaid.seq == before {
				p.lastSaid.seq = e.Seq
			}
			again := paramsOf(*e)
			again.Replaces = before
			p.notify(protocol.NotifyTranscript, again)
			return
		}
	}
}

func (p *publisher) nextTranscript() int64 {
	p.words++
	return p.words
}

// keep stores an entry in place of the one it continues. Words that interrupt belong to
// the interrupted turn until they are known to be a question. Both are one entry,
// because there is only one microphone.
func (p *publisher) keep(e protocol.TranscriptEntry) {
	for i := len(p.entries) - 1; i >= max(0, len(p.entries)-4); i-- {
		if old := p.entries[i]; (old.TurnID == e.TurnID || e.Role == protocol.RoleUser) && old.Role == e.Role && !old.Final {
			p.entries[i] = e
			return
		}
	}
	p.entries = append(p.entries, e)
}
