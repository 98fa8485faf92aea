package world

import "github.com/agentvoice/agentvoice-daemon/csm"

// unknown is the id of an utterance that does not exist.
const unknown = 1 << 40

// Stale appends answers that are stale in any state: of an older instance, epoch,
// request, generation or deadline. They include late and repeated answers.
func (p *Place) Stale(out []csm.Event) []csm.Event {
	s := &p.State
	if s.Instance > 0 {
		in := s.Instance - 1
		out = append(out,
			csm.SessionReady{Instance: in}, csm.SessionFailed{Instance: in, Code: csm.CodeSessionFailed},
			csm.SessionExpiring{Instance: in}, csm.SessionRenewal{Instance: in}, csm.SessionRenewed{Instance: in}, csm.SessionClosed{Instance: in},
			csm.AudioPrimed{Instance: in}, csm.AudioReady{Instance: in}, csm.AudioFailed{Instance: in, Code: csm.CodeAudioFailed},
			csm.AudioLost{Instance: in}, csm.AudioRestored{Instance: in}, csm.AudioClosed{Instance: in}, csm.ConnClosed{Instance: in},
		)
	}
	if s.IDs.Epoch > 0 {
		ep := s.IDs.Epoch - 1
		if p.Env.Epoch != 0 { // a successor may have been dialled
			ep = p.Env.Epoch - 1
		}
		out = append(out,
			csm.ConnReady{Epoch: ep}, csm.ConnLost{Epoch: ep, Code: csm.CodeConnectionLost}, csm.ConnFailed{Epoch: ep, Code: csm.CodeConnectionFailed},
			csm.SpeechStarted{Epoch: ep, Utterance: p.Env.Next + 1}, csm.SpeechPaused{Epoch: ep, Utterance: p.Env.Open},
			csm.SpeechResumed{Epoch: ep, Utterance: p.Env.Open}, csm.SpeechStopped{Epoch: ep, Utterance: p.Env.Open},
			csm.Partial{Epoch: ep, Utterance: p.Env.Open}, csm.Final{Epoch: ep, Utterance: p.Env.Open, Words: 1},
			csm.RecognitionLost{Epoch: ep, Utterance: p.Env.Open, Code: csm.CodeRecognitionFailed},
		)
	}
	if ep := p.Env.Epoch; ep != 0 { // an unknown utterance has no words
		out = append(out, csm.SpeechStopped{Epoch: ep, Utterance: unknown}, csm.Partial{Epoch: ep, Utterance: unknown},
			csm.Final{Epoch: ep, Utterance: unknown, Words: 1}, csm.RecognitionLost{Epoch: ep, Utterance: unknown, Code: csm.CodeRecognitionFailed})
	}
	out = p.staleAnswers(out)
	gen := s.Speech.Generation()
	if gen > 0 {
		out = staleSpeech(out, gen-1, s.IDs.Segment)
		if s.Phase() != csm.PhaseInterrupted {
			out = append(out, csm.SpeechFlushed{Gen: gen - 1, Seq: s.IDs.Segment, Played: 1, Of: 2})
		}
		if gen > 1 {
			out = append(out, csm.SpeechFlushed{Gen: gen - 2, Seq: s.IDs.Segment, Played: 1, Of: 2})
		}
	}
	if !p.voice(func(Item) bool { return true }) { // every segment has ended
		out = append(out, csm.SpeechPlayed{Gen: gen, Seq: s.IDs.Segment})
	}
	for t := range csm.NumTimers {
		gen := s.Timers[t].Gen
		if s.Timers[t].Armed {
			gen-- // the previous one
		}
		out = append(out, csm.TimerFired{Timer: t, Gen: gen})
	}
	return out
}

// staleAnswers appends answers of ended requests, and what a cancelled one still reports
// before its terminal.
func (p *Place) staleAnswers(out []csm.Event) []csm.Event {
	words := func(id uint64) {
		out = append(out, csm.CopilotSent{Request: id, Attempt: 1}, csm.CopilotDelta{Request: id, Chars: 1}, csm.CopilotSegment{Request: id, End: 1})
	}
	last := p.State.IDs.Request
	owed := false
	for _, it := range p.Env.Owed.All() {
		if rules[it.Rule].effect != "SendCopilot" {
			continue
		}
		owed = owed || it.ID == last
		if it.Cancelled {
			words(it.ID)
		}
	}
	for id := last; id > 0 && id+1 >= last; id-- {
		if id == last && owed {
			continue
		}
		words(id)
		out = append(out, csm.CopilotDone{Request: id}, csm.CopilotDone{Request: id, Cancelled: true}, csm.CopilotDone{Request: id, Code: csm.CodeCopilotFailed})
	}
	return out
}

func staleSpeech(out []csm.Event, gen, seq uint32) []csm.Event {
	return append(out, csm.SpeechBuffered{Gen: gen, Seq: seq}, csm.SpeechPlayed{Gen: gen, Seq: seq}, csm.SpeechDrained{Gen: gen, Seq: seq},
		csm.SpeechFailed{Gen: gen, Seq: seq, Code: csm.CodeSpeechFailed})
}
