package csm

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// sample is a state that was reached by stepping, with what is needed to continue.
type sample struct {
	name string
	s    State
	seq  uint64
	at   time.Duration
}

// corpus reaches every phase in the relevant variants: with and without a queue; the user
// silent, speaking and awaited; a line open, held and paused; a request live and
// cancelled.
func corpus(t *testing.T) []sample {
	t.Helper()
	var out []sample
	add := func(name string, d *drive) *drive {
		out = append(out, sample{name, d.s, d.seq, d.at})
		return d
	}
	fork := func(d *drive) *drive { c := *d; return &c }
	idleCorpus(t, add)
	listeningCorpus(t, add)
	processingCorpus(t, add)
	speakingCorpus(t, add)
	assistantCorpus(t, add)
	voiceCorpus(t, add)
	bargeCorpus(t, add)

	// A conversation can be suspended, fail and be ended in any state.
	for _, from := range out {
		if !from.s.Phase().Active() {
			continue
		}
		d := &drive{t: t, s: from.s, seq: from.seq, at: from.at}
		add(from.name+", suspended", fork(d).do(Suspend{Reason: SuspendUser}))
		add(from.name+", renewal", fork(d).do(SessionRenewal{Instance: from.s.Instance}))
		add(from.name+", device lost", fork(d).do(AudioLost{Instance: from.s.Instance}))
		add(from.name+", microphone lost", fork(d).do(AudioLost{from.s.Instance, Microphone}))
		add(from.name+", speaker lost", fork(d).do(AudioLost{from.s.Instance, Speaker}))
		add(from.name+", connection lost", fork(d).do(ConnLost{from.s.openedEpoch(), CodeConnectionLost, false}))
		add(from.name+", failed", fork(d).do(SessionFailed{from.s.Instance, CodeSessionFailed}))
		add(from.name+", ended", fork(d).do(UserStop{}))
	}
	return out
}

func (s State) openedEpoch() uint32 { return (&run{st: s}).openEpoch() }

func idleCorpus(t *testing.T, add func(string, *drive) *drive) {
	add("idle", newDrive(t))
	add("idle again", newDrive(t).toListening().do(UserStop{}, SessionClosed{1}, AudioClosed{1}, ConnClosed{Instance: 1}).want(PhaseIdle))
	add("starting", newDrive(t).do(UserStart{}))
	add("starting, session ready", newDrive(t).do(UserStart{}, SessionReady{1}))
	add("starting, devices open", newDrive(t).do(UserStart{}, AudioPrimed{1}))
	prep := func() *drive {
		return newDrive(t).do(UserStart{}, SessionReady{1}, AudioPrimed{1}).want(PhasePreparing)
	}
	add("preparing", prep())
	add("preparing, captured", prep().do(AudioReady{1}))
	add("preparing, connected", prep().do(ConnReady{1}))
	add("preparing, held", prep().do(ConnReady{1}, AudioLost{Instance: 1}).want(PhaseSuspended))
	add("preparing after a fault, request cancelled", newDrive(t).toListening().ask(1).
		do(SessionFailed{1, CodeSessionFailed}, UserStart{}, SessionReady{2}, AudioPrimed{2}).want(PhasePreparing))

	add("faulted", prep().do(ConnFailed{1, CodeConnectionFailed}).want(PhaseFaulted))
	add("recovering", prep().do(ConnFailed{1, CodeConnectionFailed}, UserStart{}).want(PhaseFaulted))
	add("recovering, session ready", prep().do(ConnFailed{1, CodeConnectionFailed}, UserStart{}, SessionReady{2}))
	d := prep()
	for n := uint32(1); n < 3; n++ {
		d.do(ConnFailed{n, CodeConnectionFailed}, UserStart{}, SessionReady{n + 1}, AudioPrimed{n + 1})
	}
	add("breaker open", d.do(ConnFailed{3, CodeConnectionFailed}).want(PhaseFaulted))
	fatal := prep()
	fatal.s, _ = Step(fatal.s, Envelope{fatal.seq + 1, fatal.at, SessionFailed{1, CodeAuthentication}})
	add("faulted for good", fatal.want(PhaseFaulted))
	add("terminating", prep().do(UserStop{}).want(PhaseTerminating))
	add("terminating, session left", prep().do(UserStop{}, AudioClosed{1}, ConnClosed{Instance: 1}).want(PhaseTerminating))
	closed := newDrive(t).do(UserStart{}, UserStop{}, SessionClosed{1})
	closed.s, _ = Step(closed.s, Envelope{closed.seq + 1, closed.at, AudioClosed{1}})
	add("terminating, all closed", closed.want(PhaseTerminating))
}

func listeningCorpus(t *testing.T, add func(string, *drive) *drive) {
	l := func() *drive { return newDrive(t).toListening() }
	add("listening", l())
	add("listening, user speaks", l().do(SpeechStarted{1, 1, 0, 0}))
	add("listening, suspended, user speaks", l().do(Suspend{Reason: SuspendUser}, SpeechStarted{1, 1, 0, 0}))
	add("listening, words awaited", l().do(SpeechStarted{1, 1, 0, 0}, SpeechStopped{Epoch: 1, Utterance: 1, Pos: 9}))
	add("listening, user speaks, words awaited", l().do(SpeechStarted{1, 1, 0, 0}, SpeechStopped{Epoch: 1, Utterance: 1, Pos: 9}, SpeechStarted{1, 2, 99, 0}))
	add("listening, explaining", l().ask(1).do(CopilotDone{Request: 1, Code: CodeCopilotFailed}).want(PhaseListening))
	add("listening, explaining, request cancelled", l().ask(1).do(CopilotSent{Request: 1, Attempt: 1}, TimerFired{TimerResponse, 1}).want(PhaseListening))
	add("listening, reading aloud", l().do(UserSpeak{Ref: 1, Chars: 5}))
	add("listening, can retry, request cancelled", l().toSpeaking(1).do(UserInterrupt{}, SpeechFlushed{Gen: 0}).want(PhaseListening))
	add("listening, can retry", l().toSpeaking(1).do(UserInterrupt{}, SpeechFlushed{Gen: 0}, CopilotDone{Request: 1, Cancelled: true}).want(PhaseListening))
	// An utterance is queued, and nothing blocks it.
	d := l().toSpeaking(1).do(UserText{Utterance: 2, Words: 1}, CopilotDone{Request: 1})
	d.s, _ = Step(d.s, Envelope{d.seq + 1, d.at, SpeechDrained{0, 1}})
	add("listening, queue", d.want(PhaseListening))
	d = l().toSpeaking(1).do(UserText{Utterance: 2, Words: 1}, CopilotDone{Request: 1}, SpeechStarted{1, 3, 0, 0}, SpeechDrained{0, 1}).want(PhaseListening)
	add("listening, queue, user speaks", d)
}

func processingCorpus(t *testing.T, add func(string, *drive) *drive) {
	l := func() *drive { return newDrive(t).toListening() }
	talking := func(d *drive) *drive { return d.do(SpeechStarted{1, 5, 500, 0}) }
	awaited := func(d *drive) *drive { return talking(d).do(SpeechStopped{Epoch: 1, Utterance: 5, Pos: 900}) }
	queued := func(d *drive) *drive { return d.do(UserText{Utterance: 6, Words: 1}) }
	variants := func(name string, make func() *drive) {
		add(name, make())
		add(name+", user speaks", talking(make()))
		add(name+", words awaited", awaited(make()))
		add(name+", queue", queued(make()))
	}
	variants("analysing", func() *drive { return l().ask(1) })
	variants("analysing, behind a cancelled request", func() *drive {
		return l().ask(1).do(UserInterrupt{}).want(PhaseListening).ask(2)
	})
	add("analysing, words awaited after commit", l().do(SpeechStarted{1, 1, 0, 0}, UserCommit{}).want(PhaseAnalysing))
	add("analysing, words awaited after commit, request cancelled",
		l().ask(1).do(UserInterrupt{}, SpeechStarted{1, 2, 0, 0}, UserCommit{}).want(PhaseAnalysing))
	add("analysing, words awaited after commit, user speaks",
		l().do(SpeechStarted{1, 1, 0, 0}, UserCommit{}, SpeechStarted{1, 2, 50, 0}).want(PhaseAnalysing))
	waiting := func() *drive { return l().ask(1).do(CopilotSent{Request: 1, Attempt: 1}).want(PhaseWaitingForCopilot) }
	variants("waiting", waiting)
	generating := func() *drive { return waiting().do(CopilotDelta{Request: 1, Chars: 5}).want(PhaseGeneratingResponse) }
	variants("generating", generating)
	variants("generating, buffering", func() *drive { return generating().do(CopilotSegment{Request: 1, Start: 0, End: 20}) })
	variants("generating, buffering, whole", func() *drive {
		return generating().do(CopilotSegment{Request: 1, Start: 0, End: 20}, CopilotDone{Request: 1})
	})
	add("generating, held", talking(generating()).do(CopilotSegment{Request: 1, Start: 0, End: 20}, SpeechBuffered{0, 1}))
	add("generating, held, words awaited", awaited(generating()).do(CopilotSegment{Request: 1, Start: 0, End: 20}, SpeechBuffered{0, 1}))
	variants("generating, underrun", func() *drive {
		return generating().do(CopilotSegment{Request: 1, Start: 0, End: 20}, SpeechBuffered{0, 1}, SpeechDrained{0, 1}).want(PhaseGeneratingResponse)
	})
}

func speakingCorpus(t *testing.T, add func(string, *drive) *drive) {
	l := func() *drive { return newDrive(t).toListening() }
	speaking := func() *drive { return l().toSpeaking(1) }
	add("speaking", speaking())
	add("speaking, two segments", speaking().do(CopilotSegment{Request: 1, Start: 20, End: 50}))
	add("speaking, one of two heard", speaking().do(CopilotSegment{Request: 1, Start: 20, End: 50}, SpeechPlayed{0, 1}))
	add("speaking, draining", speaking().do(CopilotDone{Request: 1}))
	add("speaking, paused", speaking().do(UserPlayback{Pause: true}))
	add("speaking, paused, draining", speaking().do(CopilotDone{Request: 1}, UserPlayback{Pause: true}))
	add("terminating, a start waits", l().do(UserStop{}, UserStart{}).want(PhaseTerminating))
	add("speaking, queue", speaking().do(UserText{Utterance: 2, Words: 1}))
	add("speaking, stalled", speaking().do(TimerFired{TimerStall, speaking().s.Timers[TimerStall].Gen}))
	add("speaking a text", l().do(UserSpeak{Ref: 1, Chars: 5}, SpeechBuffered{0, 1}).want(PhaseSpeaking))
	add("speaking an explanation", l().ask(1).do(CopilotDone{Request: 1, Code: CodeCopilotFailed}, SpeechBuffered{0, 1}).want(PhaseSpeaking))
	add("speaking after words were lost", l().do(SpeechStarted{1, 1, 0, 0}, RecognitionLost{1, 1, CodeRecognitionFailed}, SpeechBuffered{0, 1}).want(PhaseSpeaking))

	add("speaking, user speaks since a suspension", speaking().do(Suspend{Reason: SuspendUser}, SpeechStarted{1, 2, 0, 0}, Resume{Reason: SuspendUser}).want(PhaseSpeaking))
	add("speaking, words awaited since a suspension", speaking().
		do(Suspend{Reason: SuspendUser}, SpeechStarted{1, 2, 0, 0}, SpeechStopped{Epoch: 1, Utterance: 2, Pos: 9}, Resume{Reason: SuspendUser}).want(PhaseSpeaking))
	add("speaking again over a new connection", speaking().do(ConnLost{1, CodeConnectionLost, false}, ConnReady{2}).want(PhaseGeneratingResponse))
	add("speaking, all heard but for the end, connection lost", speaking().do(SpeechPlayed{0, 1}, ConnLost{1, CodeConnectionLost, false}).want(PhaseSuspended))

	add("interrupted by voice", speaking().do(SpeechStarted{1, 2, 900, 0}).want(PhaseInterrupted))
	add("interrupted by command, user speaks", speaking().do(SpeechStarted{1, 2, 900, 0}, UserInterrupt{}).want(PhaseInterrupted))
	add("interrupted by command, words awaited", speaking().do(SpeechStarted{1, 2, 900, 0}, UserInterrupt{}, SpeechStopped{Epoch: 1, Utterance: 2, Pos: 950}).want(PhaseInterrupted))
	add("interrupted by command", speaking().do(UserInterrupt{}).want(PhaseInterrupted))
	add("interrupted, queue", speaking().do(UserText{Utterance: 2, Words: 1}, SpeechStarted{1, 3, 900, 0}).want(PhaseInterrupted))
}

// liveEvents returns events of every kind, with ids that are live in s where possible.
func liveEvents(s State) []Event {
	in, ep, req := s.Instance, s.openedEpoch(), s.Current.Request
	if ep == ^uint32(0) {
		ep = s.IDs.Epoch
	}
	if l, ok := copilot.LiveOf(s.Copilot); ok {
		req = l.Request
	}
	gen := s.Speech.Generation()
	flushed := gen
	if i, ok := s.Conv.(Interrupted); ok {
		flushed = i.Line.Gen
	}
	var first, last uint32 = s.IDs.Segment, s.IDs.Segment
	if l, ok := speech.LineOf(s.Speech); ok && l.Played < len(l.Segments) {
		first, last = l.Segments[l.Played].Seq, l.Segments[len(l.Segments)-1].Seq
	}
	end := 0
	if l, _ := speech.LineOf(s.Speech); len(l.Segments) > 0 {
		end = l.Segments[len(l.Segments)-1].End
	}
	fresh := uint64(1000) + s.IDs.Turn
	out := []Event{
		UserStart{Call: 7}, UserStop{Call: 7}, UserInterrupt{7}, UserCommit{7}, UserText{7, fresh, 2}, UserRetry{Call: 7},
		UserSpeak{7, 3, 10}, UserPlayback{7, true}, UserPlayback{7, false}, Configure{*s.Config}, QueueNext{}, Fatal{}, Reset{},
		SessionReady{in}, SessionFailed{in, CodeSessionFailed}, SessionFailed{in, CodeAuthentication}, SessionRenewal{Instance: in}, SessionRenewed{in}, SessionClosed{in},
		AudioPrimed{in}, AudioReady{in}, AudioFailed{in, CodeAudioFailed}, AudioLost{in, BothDevices}, AudioLost{in, Microphone}, AudioLost{in, Speaker},
		AudioRestored{in, BothDevices}, AudioRestored{in, Microphone}, AudioRestored{in, Speaker}, AudioClosed{in},
		ConnReady{ep}, ConnReady{s.IDs.Epoch}, ConnLost{ep, CodeConnectionLost, false}, ConnFailed{s.IDs.Epoch, CodeConnectionFailed}, ConnClosed{Instance: in},
		SpeechStarted{ep, fresh, 1 << 20, 0},
		CopilotSent{Request: req, Attempt: 1}, CopilotSent{Request: req, Attempt: 2}, CopilotDelta{Request: req, Chars: 9}, CopilotSegment{Request: req, Start: end, End: end + 10},
		CopilotDone{Request: req}, CopilotDone{Request: req, Code: CodeCopilotFailed}, CopilotDone{Request: req, Cancelled: true},
		SpeechBuffered{gen, first}, SpeechPlayed{gen, first}, SpeechDrained{gen, first}, SpeechDrained{gen, last},
		SpeechFlushed{flushed, first, 1, 2}, SpeechFailed{gen, first, CodeSpeechFailed}, SpeechCursor{Gen: gen, Seq: first, Played: 1, Of: 2},
	}
	out = append(out, assistantEvents(s, req, fresh)...)
	out = append(out, SessionExpiring{in}, ConnClosed{Instance: in, Epoch: s.IDs.Epoch - 1}, ConnLost{s.IDs.Epoch, CodeConnectionLost, false},
		SpeechPaused{ep, fresh, 0}, SpeechResumed{ep, fresh, 0})
	for _, why := range []SuspendReason{SuspendUser, SuspendRenewal, SuspendDiagnostics, SuspendHeartbeat} {
		out = append(out, Suspend{7, why}, Resume{7, why})
	}
	out = append(out, Resume{})
	known := turn.Pending(s.Turn)
	if sp, ok := s.Turn.(turn.UserSpeaking); ok {
		known = append(known[:len(known):len(known)], sp.Open)
		out = append(out, SpeechStopped{Epoch: ep, Utterance: sp.Open.ID, Pos: 1 << 21}, SpeechPaused{ep, sp.Open.ID, 1 << 21}, SpeechResumed{ep, sp.Open.ID, 1 << 21},
			SpeechStopped{Epoch: ep, Utterance: sp.Open.ID, Pos: sp.Open.Pos + 480}, SpeechPaused{ep, sp.Open.ID, sp.Open.Pos + 480})
	}
	for _, u := range known {
		out = append(out, Partial{Epoch: ep, Utterance: u.ID}, Partial{Epoch: ep, Utterance: u.ID, Words: 1}, RecognitionLost{ep, u.ID, CodeRecognitionFailed}, Final{Epoch: ep, Utterance: u.ID})
		for c := range NumClasses {
			out = append(out, Final{Epoch: ep, Utterance: u.ID, Words: 2, Class: c})
		}
		out = append(out, Final{Epoch: ep, Utterance: u.ID, Class: Send}, Final{Epoch: ep, Utterance: u.ID, Words: 1, Class: Yes, Named: true}, Final{Epoch: ep, Utterance: u.ID, Words: 2, Doubted: true}, Final{Epoch: ep, Utterance: u.ID, Words: 2, Class: No, Doubted: true})
	}
	for t := range NumTimers {
		out = append(out, TimerFired{t, s.Timers[t].Gen})
	}
	return out
}

// staleEvents returns events of every kind with ids, with ids that are not live in any
// state.
func staleEvents(s State) []Event {
	in, ep, req, gen, seq := s.Instance+9, s.IDs.Epoch+9, s.IDs.Request+9, s.Speech.Generation()+9, s.IDs.Segment
	const utterance = 1 << 40
	out := []Event{
		SessionReady{in}, SessionFailed{in, CodeSessionFailed}, SessionRenewal{Instance: in}, SessionRenewed{in}, SessionClosed{in},
		AudioPrimed{in}, AudioReady{in}, AudioFailed{in, CodeAudioFailed}, AudioLost{in, BothDevices}, AudioLost{in, Microphone}, AudioLost{in, Speaker},
		AudioRestored{in, BothDevices}, AudioRestored{in, Microphone}, AudioRestored{in, Speaker}, AudioClosed{in},
		ConnReady{ep}, ConnLost{ep, CodeConnectionLost, false}, ConnFailed{ep, CodeConnectionFailed},
		SpeechStarted{ep, utterance, 0, 0}, SpeechStopped{Epoch: ep, Utterance: utterance, Pos: 0}, Partial{Epoch: ep, Utterance: utterance}, Final{Epoch: ep, Utterance: utterance}, RecognitionLost{Epoch: ep, Utterance: utterance},
		SpeechStopped{Epoch: s.IDs.Epoch, Utterance: utterance}, Partial{Epoch: s.IDs.Epoch, Utterance: utterance}, Final{Epoch: s.IDs.Epoch, Utterance: utterance, Words: 3}, RecognitionLost{s.IDs.Epoch, utterance, ""},
		CopilotSent{Request: req, Attempt: 1}, CopilotDelta{Request: req}, CopilotSegment{Request: req}, CopilotDone{Request: req},
		CopilotToolCall{Request: req, ToolCall: 1}, ToolSearchDone{Request: req}, ToolDone{ToolCall: 1 << 40}, Summarised{Job: s.IDs.Job + 9},
		ModelProgress{Load: s.IDs.Load + 9}, ModelLoaded{s.IDs.Load + 9}, ModelFailed{Load: s.IDs.Load + 9}, UserApprove{ToolCall: 1 << 40},
		SessionExpiring{in}, ConnClosed{Instance: in}, ConnClosed{Instance: in, Epoch: ep}, SpeechPaused{ep, utterance, 0}, SpeechResumed{s.IDs.Epoch, utterance, 0},
		SpeechBuffered{gen, seq}, SpeechPlayed{gen, seq}, SpeechDrained{gen, seq}, SpeechFlushed{Gen: gen}, SpeechFailed{Gen: gen, Seq: seq}, SpeechCursor{Gen: gen},
		Suspend{Reason: SuspendSpeaker}, Suspend{},
	}
	for t := range NumTimers + 1 {
		out = append(out, TimerFired{t, 1 << 30})
	}
	return out
}

// shape identifies a state by what decides the next transition, without ids and times.
func shape(s State) string {
	line, open := speech.LineOf(s.Speech)
	request, busy := copilot.LiveOf(s.Copilot)
	var armed uint
	for t := range NumTimers {
		if s.Timers[t].Armed {
			armed |= 1 << t
		}
	}
	conv := fmt.Sprintf("%T", s.Conv)
	switch c := s.Conv.(type) {
	case Idle, Faulted:
		conv = fmt.Sprintf("%+v", c)
	case Interrupted:
		conv = fmt.Sprint("interrupted", c.Doubt)
	case Analysing:
		conv = fmt.Sprint("analysing", c.Unsent != 0, c.Awaiting)
	}
	return fmt.Sprint(conv, s.Hold, s.Conn, s.Turn, min(len(turn.Pending(s.Turn)), 2), fmt.Sprintf("%v %v %v", s.Speech, hasWords(s), s.VoicePaused), open, line.Asked < len(line.Segments), line.Played < len(line.Segments), line.Ended,
		s.Copilot, s.Approval, busy, request.Cancelled, request.Round > 0, len(request.Calls), len(s.Drafts) > 0, s.History, s.Retry.Stage,
		s.Resources, min(len(s.Queue), 2), s.Current.ID != 0, s.Current.Role, s.Current.Utterance != 0,
		s.Current.Request != 0, s.Current.Failed != "", s.Retry.Utterance != 0, min(s.Faults.InRow, 5), armed)
}

func hasWords(s State) bool { p, _ := s.Speech.(speech.Paused); return p.HasWords }
