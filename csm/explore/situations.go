package explore

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Moment is one step of a conversation.
type Moment struct {
	Before, After *csm.State
	Event         csm.Event
	Effects       []csm.Effect
}

// Situation is a condition that an exploration must have met, because faults were found
// in it or the design mentions it. What was never met is not proved.
type Situation struct {
	Name string
	on   csm.Kind // the event at which it occurs
	is   func(*Moment) bool
}

// Met says whether a step meets the situation.
func (s *Situation) Met(m *Moment) bool {
	return s.on == csm.KindOf(m.Event) && m.Before.Counters == m.After.Counters && s.is(m)
}

// Situations is the list of situations. It only grows.
var Situations = []Situation{
	// The user speaks over the assistant.
	{"a voice over a question about a tool", csm.KindSpeechStarted, both(asking, in(csm.PhaseSpeaking))},
	{"a voice over an explanation", csm.KindSpeechStarted, both(in(csm.PhaseSpeaking), explains)},
	{"a voice over a text that is read aloud", csm.KindSpeechStarted, both(in(csm.PhaseSpeaking), func(m *Moment) bool {
		return m.Before.Current.Utterance == 0 && !explains(m) && m.After.Conv.Phase() == csm.PhaseInterrupted
	})},
	{"a voice over speech that the user paused", csm.KindSpeechStarted, both(in(csm.PhaseSpeaking), speech("paused"))},
	{"a second onset during the flush for the first", csm.KindSpeechStarted, both(in(csm.PhaseInterrupted), not(inDoubt))},
	{"barge-in is reverted", csm.KindSpeechStopped, both(inDoubt, to(csm.PhaseSpeaking))},
	{"barge-in is reverted after the user had the floor", csm.KindSpeechStopped, both(restPaused, to(csm.PhaseSpeaking))},
	{"the line drains during an unconfirmed barge-in", csm.KindSpeechDrained, both(inDoubt, to(csm.PhaseListening))},
	{"the line underruns during an unconfirmed barge-in", csm.KindSpeechDrained, both(inDoubt, to(csm.PhaseGeneratingResponse))},
	{"the answer ends while its rest is paused", csm.KindCopilotDone, restPaused},
	{"the answer fails while its rest is paused", csm.KindCopilotDone, both(restPaused, tells)},
	{"a stop command over a paused answer", csm.KindFinal, both(restPaused, word(csm.Stop))},
	{"typed text over a paused answer", csm.KindUserText, both(restPaused, to(csm.PhaseAnalysing))},
	// The user pauses the voice.
	{"a pause of the voice outlasts an underrun", csm.KindSpeechDrained, both(voicePaused, to(csm.PhaseGeneratingResponse))},
	{"the voice is paused before anything is heard", csm.KindUserPlayback, both(not(in(csm.PhaseSpeaking)), func(m *Moment) bool { return !voicePaused(m) && m.After.VoicePaused })},
	{"the voice is paused while the conversation is held", csm.KindUserPlayback, both(held, func(m *Moment) bool { return m.After.VoicePaused })},
	// Questions about tools.
	{"held during a question", csm.KindSuspend, both(asking, both(not(held), in(csm.PhaseSpeaking)))},
	{"held while the answer to a question is awaited", csm.KindSuspend, both(asking, both(not(held), in(csm.PhaseListening)))},
	{"a call is approved manually while held", csm.KindUserApprove, both(held, asksFor("CallTool"))},
	{"a call is approved while its question is synthesised", csm.KindUserApprove, both(speech("buffering"), asksFor("CallTool"))},
	{"a call is decided while its question is being flushed", csm.KindUserApprove, in(csm.PhaseInterrupted)},
	{"a no while held", csm.KindFinal, both(held, both(asking, word(csm.No)))},
	{"a yes followed by more speech", csm.KindFinal, both(asking, both(word(csm.Yes), both(not(asksFor("CallTool")), voiceAfter)))},
	{"a message instead of a decision", csm.KindFinal, both(asking, both(word(csm.Content), to(csm.PhaseAnalysing)))},
	{"typed text during a question", csm.KindUserText, both(asking, in(csm.PhaseSpeaking))},
	{"a question times out twice", csm.KindTimerFired, both(fired(csm.TimerApproval), both(asking, func(m *Moment) bool { return m.After.Copilot.String() != questioning }))},
	{"a question cannot be spoken", csm.KindSpeechFailed, asking},
	{"a call ends while held", csm.KindToolDone, both(held, calling)},
	{"a call ends after its turn was dropped", csm.KindToolDone, both(calling, func(m *Moment) bool { return m.Before.Current.ID == 0 })},
	{"a conversation ends while a call runs", csm.KindUserStop, calling},
	{"a connection is lost while the user is asked", csm.KindConnLost, asking},
	// The conversation is held, and resumes.
	{"one of two reasons to hold is cleared", csm.KindResume, both(held, func(m *Moment) bool { return m.After.Hold != 0 && m.After.Hold != m.Before.Hold })},
	{"a retry waits while held and is sent", csm.KindResume, both(held, both(in(csm.PhaseAnalysing), both(triedAgain, asksFor("SendCopilot"))))},
	{"held while an interruption is flushed", csm.KindSuspend, both(in(csm.PhaseInterrupted), to(csm.PhaseListening))},
	{"held during an unconfirmed barge-in", csm.KindSuspend, inDoubt},
	{"a stop command while held", csm.KindFinal, both(held, both(word(csm.Stop), to(csm.PhaseListening)))},
	{"words are lost while held", csm.KindRecognitionLost, held},
	{"a device is lost while the user speaks during an answer", csm.KindAudioLost, both(in(csm.PhaseGeneratingResponse), voiceBefore)},
	{"the speaker is lost while the user speaks", csm.KindAudioLost, both(voiceBefore, func(m *Moment) bool {
		return m.After.Hold == csm.SuspendSpeaker && m.After.Turn.String() == m.Before.Turn.String()
	})},
	{"the microphone is lost while the assistant speaks", csm.KindAudioLost, both(in(csm.PhaseSpeaking), func(m *Moment) bool { return m.After.Phase() == csm.PhaseSpeaking })},
	{"the microphone is lost during an unconfirmed barge-in", csm.KindAudioLost, both(inDoubt, func(m *Moment) bool { return m.After.Hold == csm.SuspendMicrophone })},
	{"a message without a speaker", csm.KindFinal, both(asksFor("SendCopilot"), func(m *Moment) bool { return m.After.Hold == csm.SuspendSpeaker })},
	{"an answer ends without a speaker while an utterance is queued", csm.KindCopilotDone, both(asksFor("Post"), func(m *Moment) bool { return m.After.Hold == csm.SuspendSpeaker })},
	{"an answer ends while held", csm.KindCopilotDone, both(held, in(csm.PhaseGeneratingResponse))},
	{"an answer fails while held", csm.KindCopilotDone, both(held, tells)},
	{"a compaction ends while held", csm.KindSummarised, held},
	{"a pause by the user outlasts a fault", csm.KindSessionFailed, func(m *Moment) bool { return m.Before.UserPaused() && m.After.UserPaused() }},
	{"a fault waits for the user to resume", csm.KindResume, in(csm.PhaseFaulted)},
	// Connections.
	{"a renewal is forced while the assistant speaks", csm.KindSessionRenewal, both(not(held), in(csm.PhaseSpeaking))},
	{"a successor is ready while the assistant speaks", csm.KindConnReady, both(in(csm.PhaseSpeaking), not(held))},
	{"a successor is late", csm.KindTimerFired, fired(csm.TimerRenewal)},
	{"a connection is lost while its successor is dialled", csm.KindConnLost, both(held, not(asksFor("OpenConnection")))},
	{"a connection is lost while the rest of an answer is paused", csm.KindConnLost, restPaused},
	{"a connection is lost while both are speaking", csm.KindConnLost, both(inDoubt, voiceBefore)},
	{"an answer is synthesised again over a new connection", csm.KindConnReady, both(asksFor("Flush"), asksFor("Speak"))},
	// Failures and retries.
	{"a retry during the explanation", csm.KindUserRetry, both(explains, in(csm.PhaseSpeaking))},
	{"a retry behind a queue", csm.KindUserRetry, both(asksFor("PublishTurn"), func(m *Moment) bool { return len(m.Before.Queue) > 0 })},
	{"a call is retried", csm.KindUserRetry, func(m *Moment) bool { return !asking(m) && m.After.Copilot.String() == questioning }},
	{"an answer stalls with its beginning unheard", csm.KindTimerFired, both(fired(csm.TimerStall), tells)},
	{"a model fails while an utterance waits", csm.KindModelFailed, both(in(csm.PhaseAnalysing), tells)},
	{"a model is selected during an answer", csm.KindUserSelectModel, in(csm.PhaseGeneratingResponse)},
	{"the breaker opens", csm.KindSessionFailed, func(m *Moment) bool { f, _ := m.After.Conv.(csm.Faulted); return f.Breaker }},
	{"a fault while recovering from one", csm.KindSessionFailed, in(csm.PhaseFaulted)},
	// Turns.
	{"the queue is full", csm.KindFinal, func(m *Moment) bool {
		return slices.Contains(m.Effects, csm.Effect(csm.Notify{Code: csm.CodeQueueFull}))
	}},
	{"drafts become the next turn's", csm.KindSpeechDrained, func(m *Moment) bool { return len(m.Before.Drafts) > len(m.After.Drafts) }},
	{"a cancelled request never ends while the next one waits", csm.KindTimerFired, both(fired(csm.TimerCancel), asksFor("SendCopilot"))},
}

const questioning = "waitingForToolApproval"

type condition = func(*Moment) bool

func both(a, b condition) condition { return func(m *Moment) bool { return a(m) && b(m) } }
func not(c condition) condition     { return func(m *Moment) bool { return !c(m) } }

// Conditions on the state before the step.
func in(p csm.Phase) condition { return func(m *Moment) bool { return m.Before.Conv.Phase() == p } }
func speech(name string) condition {
	return func(m *Moment) bool { return m.Before.Speech.String() == name }
}
func held(m *Moment) bool        { return m.Before.Phase() == csm.PhaseSuspended }
func asking(m *Moment) bool      { return m.Before.Copilot.String() == questioning }
func calling(m *Moment) bool     { return m.Before.Copilot.String() == "callingTool" }
func explains(m *Moment) bool    { return m.Before.Current.Failed != "" }
func voicePaused(m *Moment) bool { return m.Before.VoicePaused }
func voiceBefore(m *Moment) bool { return m.Before.Turn.String() == "userSpeaking" }
func inDoubt(m *Moment) bool     { i, _ := m.Before.Conv.(csm.Interrupted); return i.Doubt }
func triedAgain(m *Moment) bool  { a, _ := m.Before.Conv.(csm.Analysing); return a.Stage != 0 }

// restPaused says that the user has the floor over a paused answer.
func restPaused(m *Moment) bool {
	speech := m.Before.Speech.String()
	return m.Before.Conv.Phase() == csm.PhaseListening && (speech == "ready" || speech == "paused") && m.Before.Current.Role == csm.Assistant
}

// Conditions on the event, the state after it, and the effects.
func word(c csm.Class) condition {
	return func(m *Moment) bool { return m.Event.(csm.Final).Class == c }
}

func fired(t csm.Timer) condition {
	return func(m *Moment) bool { return m.Event.(csm.TimerFired).Timer == t }
}

func to(p csm.Phase) condition { return func(m *Moment) bool { return m.After.Conv.Phase() == p } }

func voiceAfter(m *Moment) bool { return m.After.Turn.String() == "userSpeaking" }

func asksFor(name string) condition {
	return func(m *Moment) bool {
		return slices.ContainsFunc(m.Effects, func(f csm.Effect) bool { return csm.NameOf(f) == name })
	}
}

func tells(m *Moment) bool { return asksFor("Notify")(m) }
