package csm

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// say appends a segment to the line.
func (r *run) say(seg speech.Segment) {
	r.st.IDs.Segment++
	seg.Seq = r.st.IDs.Segment
	r.st.Speech, _ = speech.Enqueue(r.st.Speech, seg)
	r.synthesise()
}

// synthesise requests synthesis of the rest of the line, unless nothing can be played:
// then it runs on resume.
func (r *run) synthesise() {
	line, _ := speech.LineOf(r.st.Speech)
	if line.Asked == len(line.Segments) || r.st.voiceless() {
		return
	}
	for _, seg := range line.Segments[line.Asked:] {
		r.emit(Speak{Gen: line.Gen, Turn: r.st.Current.ID, Segment: seg})
	}
	r.st.Speech = speech.AskedFor(r.st.Speech)
}

// segment handles a piece of the answer. Pieces tile the answer, so one that starts
// before the end of the previous one is a repetition (GUD-004).
func (r *run) segment() {
	e := r.env.Event.(CopilotSegment)
	l, _ := speech.LineOf(r.st.Speech)
	if last, _ := l.Last(); e.Start < last.End {
		return
	}
	r.progress()
	r.say(speech.Segment{Request: e.Request, Start: e.Start, End: e.End})
}

// beginAnswer handles the first sign of a round's answer.
func (r *run) beginAnswer() {
	if _, said := r.env.Event.(CopilotSegment); said {
		r.segment()
		return
	}
	r.progress()
}

// endLine marks the answer as complete.
func (r *run) endLine() {
	r.st.Speech, r.speechOut = speech.End(r.st.Speech)
	r.endTurn(session.TurnComplete)
}

// HasPlayback says whether the assistant is speaking or about to speak.
func (s *State) HasPlayback() bool {
	if _, open := speech.LineOf(s.Speech); open {
		return true
	}
	live, busy := copilot.LiveOf(s.Copilot)
	_, asked := s.Copilot.(copilot.WaitingForApproval)
	return busy && !live.Cancelled && !asked
}

// Silence is a set of reasons why buffered audio must not play.
type Silence uint8

// The reasons. Each is derived from the state.
const (
	SilenceUser    Silence = 1 << iota // the user paused the voice
	SilenceBargeIn                     // an unconfirmed interruption
	SilenceFloor                       // the user has the floor
	SilenceHold                        // nothing can be played
)

// Silence returns why the started line is silent, 0 if it plays.
func (s *State) Silence() (why Silence) {
	if s.VoicePaused {
		why |= SilenceUser
	}
	if in, _ := s.Conv.(Interrupted); in.Doubt {
		why |= SilenceBargeIn
	}
	if s.Conv.Phase() == PhaseListening {
		why |= SilenceFloor
	}
	if s.voiceless() {
		why |= SilenceHold
	}
	return why
}

// cutIn says whether the rest of an answer is paused while the user speaks over it.
func (s *State) cutIn() bool {
	_, paused := s.Speech.(speech.Paused)
	in, _ := s.Conv.(Interrupted)
	return paused && s.Conv.Phase() != PhaseSpeaking && !in.Doubt
}

// gate resumes the voice, and tells the player what changed: it compares what was audible before
// the step with what may be audible after it. A pause by the user ends with the paused speech.
func (r *run) gate(before *State) {
	st := &r.st
	if !st.HasPlayback() {
		st.VoicePaused = false
	}
	if st.Silence() != 0 {
		st.Speech, _ = speech.Pause(st.Speech)
	} else {
		st.Speech, _ = speech.Resume(st.Speech)
	}
	gen := st.Speech.Generation()
	begun, begins := speech.Sounds(before.Speech, gen), speech.Begun(st.Speech)
	sounded, sounds := speech.Audible(before.Speech), speech.Audible(st.Speech)
	switch {
	case begun && !sounded && (sounds || !begins): // also on underrun, so that the player does not wait with later audio
		r.emit(ResumePlayback{Gen: gen})
	case begins && !sounds && (sounded || !begun): // before it starts, so that nothing is audible
		r.emit(PausePlayback{Gen: gen})
	}
	if begins && !begun {
		r.emit(StartPlayback{Gen: gen})
	}
}

// start starts the assistant's half of the turn (REQ-006).
func (r *run) start() {
	r.st.Current.Role = Assistant
	r.st.Speech, _ = speech.Start(r.st.Speech)
}

// readAloud reads a text of the user's choice in a turn of its own.
func (r *run) readAloud() {
	e := r.env.Event.(UserSpeak)
	r.openTurn()
	r.st.Current.Role = Assistant
	r.replied = r.st.Current.ID
	r.say(speech.Segment{Ref: e.Ref, End: e.Chars})
	r.st.Speech, _ = speech.End(r.st.Speech)
}

// flush silences all speech that is or was to be heard.
func (r *run) flush() {
	if _, open := speech.LineOf(r.st.Speech); !open {
		return
	}
	r.st.Speech = speech.Flush(r.st.Speech)
	r.st.VoicePaused = false      // it applied to the flushed speech
	r.refresh |= 1 << TimerSpeech // the next speech gets its full time
	r.fx = slices.DeleteFunc(r.fx, func(e Effect) bool { _, speak := e.(Speak); return speak })
	r.emit(Flush{Gen: r.st.Speech.Generation()})
}

// interrupt silences the assistant immediately (REQ-007) and ends the turn. Player and service
// then say how much was heard.
func (r *run) interrupt() {
	line, _ := speech.LineOf(r.st.Speech)
	r.st.Conv = Interrupted{Line: line, Request: r.st.Current.Request}
	r.flush()
	r.end(TurnCutOff)
}

// Cleared says whether the assistant was interrupted for good: its turn has ended, and only its
// context is left.
func (s *State) Cleared() bool {
	in, ok := s.Conv.(Interrupted)
	return ok && !in.Doubt
}

// cleared forgets an interrupted turn: how much was heard is known, or taken from the last
// cursor.
func (r *run) cleared(in Interrupted) {
	if e, ok := r.env.Event.(SpeechFlushed); ok {
		r.heardUpTo(in.Line, Cursor{Seq: e.Seq, Played: e.Played, Of: e.Of})
	} else {
		r.heardUpTo(in.Line, r.st.Cursor)
	}
	r.st.Current = Turn{}
}

// heardUpTo records what was heard of a line at cursor c. A cursor of another line is
// ignored: segment numbers only increase.
func (r *run) heardUpTo(l speech.Line, c Cursor) {
	for _, seg := range l.Segments[l.Played:] {
		switch {
		case seg.Seq < c.Seq:
			r.heard(seg, seg.End)
		case seg.Seq == c.Seq && c.Of > 0:
			r.heard(seg, seg.Start+int(int64(seg.End-seg.Start)*min(c.Played, c.Of)/c.Of))
		}
	}
}

// cut silences speech about a tool. The cursor says how much of it was heard.
func (r *run) cut() {
	l, _ := speech.LineOf(r.st.Speech)
	r.heardUpTo(l, r.st.Cursor)
	r.flush()
}

// heard records that an answer was heard up to character end, rounded down within a
// segment.
func (r *run) heard(seg speech.Segment, end int) {
	if seg.Request == 0 {
		return
	}
	if end <= history.HeardOf(r.st.History.Said(), seg.Request) {
		return
	}
	r.st.History = history.Heard(r.st.History, r.st.Current.ID, seg.Request, end)
	r.emit(PublishHeard{Turn: r.st.Current.ID, Request: seg.Request, Chars: end})
}

// heardThrough records that segments were heard completely, up to segment seq. It
// replaces the history once per answer rather than once per segment.
func (r *run) heardThrough(segs []speech.Segment, seq uint32) {
	for i, seg := range segs {
		if seg.Seq > seq || seg.Request == 0 {
			continue
		}
		if i+1 == len(segs) || segs[i+1].Seq > seq || segs[i+1].Request != seg.Request {
			r.st.History = history.Heard(r.st.History, r.st.Current.ID, seg.Request, seg.End)
		}
		r.emit(PublishHeard{Turn: r.st.Current.ID, Request: seg.Request, Chars: seg.End})
	}
}

// explain informs the user, in Listening, that the current turn failed: in writing, and
// aloud unless the user has the floor. The turn ends when the explanation was heard.
func (r *run) explain(code Code) {
	r.failed(code)
	if _, quiet := r.st.Turn.(turn.Idle); !quiet {
		r.end(TurnFailed)
		return
	}
	r.say(speech.Segment{Notice: string(code)})
	r.st.Speech, _ = speech.End(r.st.Speech)
}

// explainAfter explains after the rest of the answer was heard.
func (r *run) explainAfter(code Code) {
	r.failed(code)
	r.say(speech.Segment{Notice: string(code)})
	r.st.Speech, _ = speech.End(r.st.Speech)
}

func (r *run) failed(code Code) {
	r.code = code
	r.st.Current.Failed = code
	r.mayRetry(copilot.StageOf(r.was))
	r.endTurn(session.TurnError)
	r.emit(Notify{Turn: r.st.Current.ID, Code: code})
}

// speechBroke ends a turn that cannot be spoken; its text is only shown.
func (r *run) speechBroke() {
	code := CodeSpeechFailed
	if e, _ := r.env.Event.(SpeechFailed); e.Code != "" {
		code = e.Code
	}
	r.cancel()
	r.failed(code)
	r.end(TurnFailed)
}
