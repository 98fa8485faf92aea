package daemon

import (
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Transcripts of an answer replace one another, each with all of its text. Sent
// for every delta, they would take time and bandwidth that grow with the square
// of its length. So a client that says capabilities.transcriptAppend gets the new
// text only; to others, beyond wholeBytes the text is sent again only when it has
// grown by a growth-th, which bounds all transcripts of an answer together to a
// multiple of its length.
const (
	wholeBytes = 4 << 10
	growth     = 16
)

// told is what the client has of the answer that is coming.
type told struct {
	turn    string
	request uint64
	edition edition
	bytes   int   // of its text
	seq     int64 // of the transcript that said so
}

// answer publishes what came of an answer.
func (p *publisher) answer(s dispatch.Step, turn string, request uint64) {
	text, of := p.d.content.progress(request)
	last := p.told
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

// transcript publishes the words of one half of a turn so far, and what was heard of
// them where they were corrected.
func (p *publisher) transcript(s dispatch.Step, turn string, role protocol.Role, text, heard string, final bool) {
	e := protocol.TranscriptEntry{
		TurnID: turn, Role: role, Text: text, Heard: heard, Final: final, Seq: p.nextTranscript(), Timestamp: p.d.wall(s.Envelope.At),
	}
	p.notify(protocol.NotifyTranscript, protocol.TranscriptParams{TurnID: turn, Role: role, Text: text, Heard: heard, Final: final, Seq: e.Seq})
	p.keep(e)
}

func (p *publisher) nextTranscript() int64 {
	p.words++
	return p.words
}

// keep has an entry take the place of what it continues. Words that interrupt belong
// to the turn that they interrupt until they are known to be a question: there is one
// microphone, so they are one entry.
func (p *publisher) keep(e protocol.TranscriptEntry) {
	for i := len(p.entries) - 1; i >= max(0, len(p.entries)-4); i-- {
		if old := p.entries[i]; (old.TurnID == e.TurnID || e.Role == protocol.RoleUser) && old.Role == e.Role && !old.Final {
			p.entries[i] = e
			return
		}
	}
	p.entries = append(p.entries, e)
}
