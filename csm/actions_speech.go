package csm

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// say adds a segment to the line.
func (r *run) say(seg speech.Segment) {
	r.st.IDs.Segment++
	seg.Seq = r.st.IDs.Segment
	r.st.Speech, _ = speech.Enqueue(r.st.Speech, seg)
	r.synthesise()
}

// synthesise has all of the line synthesised that is not yet, unless the
// conversation is held: then it runs on resume.
func (r *run) synthesise() {
	line, _ := speech.LineOf(r.st.Speech)
	if line.Asked == len(line.Segments) || r.st.held() {
		return
	}
	for _, seg := range line.Segments[line.Asked:] {
		r.emit(Speak{Gen: line.Gen, Turn: r.st.Current.ID, Segment: seg})
	}
	r.st.Speech = speech.AskedFor(r.st.Speech)
}

// segment is a piece of the answer. Pieces tile the answer, so one that begins
// before the end of the last was said already (GUD-004).
func (r *run) segment() {
	e := r.env.Event.(CopilotSegment)
	l, _ := speech.LineOf(r.st.Speech)
	if last, _ := l.Last(); e.Start < last.End {
		return
	}
	r.progress()
	r.say(speech.Segment{Request: e.Request, Start: e.Start, End: e.End})
}

// beginAnswer is the first sign of life of a round.
func (r *run) beginAnswer() {
	if _, said := r.env.Event.(CopilotSegment); said {
		r.segment()
		return
	}
	r.progress()
}

// endLine says that the answer is whole.
func (r *run) endLine() {
	r.st.Speech, r.speechOut = speech.End(r.st.Speech)
	r.endTurn(session.TurnComplete)
}

// HasPlayback says whether something of the assistant's is being said, or is on its
// way.
func (s *State) HasPlayback() bool {
	if _, open := speech.LineOf(s.Speech); open {
		return true
	}
	live, busy := copilot.LiveOf(s.Copilot)
	_, asked := s.Copilot.(copilot.WaitingForApproval)
	return busy && !live.Cancelled && !asked
}

// Silence is a set of reasons why what is buffered is not to sound.
type Silence uint8

// The reasons. Each follows from the state: it is there for as long as what it is
// about.
const (
	SilenceUser    Silence = 1 << iota // the user paused the voice
	SilenceBargeIn                     // a voice over the answer, of which it is not known yet whether the user means it
	SilenceFloor                       // the user has the floor
	SilenceHold                        // the conversation is held still
)

// Silence is why the line that was started does not sound, 0 where it does.
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
	if s.held() {
		why |= SilenceHold
	}
	return why
}

// cutIn says whether the rest of an answer waits for what the user says over it, or is
// to be dropped for it.
func (s *State) cutIn() bool {
	_, paused := s.Speech.(speech.Paused)
	in, _ := s.Conv.(Interrupted)
	return paused && s.Conv.Phase() != PhaseSpeaking && !in.Doubt
}

// gate is the one place that pauses and resumes the voice, and tells the player: by
// what was audible before the step, and what is after it. The user's reason ends with
// what was paused.
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
	case begun && !sounded && (sounds || !begins): // or it ran out: the player is not to wait with what comes later
		r.emit(ResumePlayback{Gen: gen})
	case begins && !sounds && (sounded || !begun): // before it starts, so that nothing sounds
		r.emit(PausePlayback{Gen: gen})
	}
	if begins && !begun {
		r.emit(StartPlayback{Gen: gen})
	}
}

// start begins the assistant's half of the turn (REQ-006).
func (r *run) start() {
	r.st.Current.Role = Assistant
	r.st.Speech, _ = speech.Start(r.st.Speech)
}

// readAloud says a text of the user's choice in a turn of its own.
func (r *run) readAloud() {
	e := r.env.Event.(UserSpeak)
	r.openTurn()
	r.st.Current.Role = Assistant
	r.replied = r.st.Current.ID
	r.say(speech.Segment{Ref: e.Ref, End: e.Chars})
	r.st.Speech, _ = speech.End(r.st.Speech)
}

// flush silences whatever is or was to be heard.
func (r *run) flush() {
	if _, open := speech.LineOf(r.st.Speech); !open {
		return
	}
	r.st.Speech = speech.Flush(r.st.Speech)
	r.st.VoicePaused = false      // which was about what is flushed
	r.refresh |= 1 << TimerSpeech // what is said next has all of its own time
	r.emit(Flush{Gen: r.st.Speech.Generation()})
}

// interrupt silences the assistant at once (REQ-007). The turn is over, but its
// context stays until it is known how much was heard.
func (r *run) interrupt() {
	line, _ := speech.LineOf(r.st.Speech)
	r.st.Conv = Interrupted{Line: line, Request: r.st.Current.Request}
	r.flush()
	r.cutOff()
}

// cutOff ends the turn of an answer that was interrupted.
func (r *run) cutOff() {
	r.cancel()
	r.st.Current.Interruptions++
	t := r.st.Current
	r.mayRetry(copilot.StageNone)
	r.emit(PublishTurn{Turn: t, End: TurnCutOff, Duration: r.env.At - t.Opened})
}

// cleared ends an interruption: how much was heard is known, or is what the
// cursor said last.
func (r *run) cleared() {
	in := r.prior.(Interrupted)
	if e, ok := r.env.Event.(SpeechFlushed); ok {
		r.heardUpTo(in.Line, Cursor{Seq: e.Seq, Played: e.Played, Of: e.Of})
	} else {
		r.heardUpTo(in.Line, r.st.Cursor)
	}
	r.st.Current = Turn{}
}

// heardUpTo notes what was heard of a line when playback is at c. A cursor of
// another line says nothing about this one: numbers of segments only rise.
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

// cut silences what is being said about a tool: what was heard of it is what the
// cursor says.
func (r *run) cut() {
	l, _ := speech.LineOf(r.st.Speech)
	r.heardUpTo(l, r.st.Cursor)
	r.flush()
}

// heard notes that an answer was heard up to character end (rounded down within
// a segment).
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

// heardThrough notes that segments were heard to their end, up to segment seq.
// The history is replaced once for an answer, not once for each of its segments.
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

// explain tells the user, in Listening, that the current turn failed: shown, and
// spoken where the user does not have the floor. The turn ends when that was
// heard.
func (r *run) explain(code Code) {
	r.failed(code)
	if _, quiet := r.st.Turn.(turn.Idle); !quiet {
		r.flush()
		r.finish(TurnFailed)
		return
	}
	r.say(speech.Segment{Notice: string(code)})
	r.st.Speech, _ = speech.End(r.st.Speech)
}

// explainAfter tells the same after what is still to be heard of the answer.
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

// speechBroke ends a turn that cannot be spoken: shown, not said.
func (r *run) speechBroke() {
	code := CodeSpeechFailed
	if e, _ := r.env.Event.(SpeechFailed); e.Code != "" {
		code = e.Code
	}
	r.cancel()
	r.flush()
	r.failed(code)
	r.finish(TurnFailed)
}
