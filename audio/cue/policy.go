package cue

import "time"

// Phase is where the conversation stands, as far as cues care. It is a type of
// its own: audio knows nothing of the conversation's core.
type Phase uint8

// The phases. Processing stands for analysing, waiting for the assistant and
// generating alike.
const (
	PhaseIdle Phase = iota
	PhasePreparing
	PhaseListening
	PhaseProcessing
	PhaseSpeaking
	PhaseInterrupted
	PhaseSuspended
	PhaseFaulted
	PhaseTerminating
)

// Facts are what cues depend on, at one time.
type Facts struct {
	Phase Phase
	// UserSpeaks: the user is heard.
	UserSpeaks bool
	// Pending is what waits for the user's decision (a tool's approval): 0 for
	// nothing, and another number for each question.
	Pending uint64
	// Focused: the editor's window has the focus, so that the user sees it.
	Focused bool
}

// Noticeable is how long something lasts before the user wonders: the thinking
// loop begins then, and the end of what was shorter is not told.
const Noticeable = 800 * time.Millisecond

// Policy decides which cue is due. The zero value is a conversation that is idle.
// It is a value: Next returns the one to go on with.
//
// What is told, and what is not:
//
//   - Listening: the conversation begins or is back (from Preparing, or from a
//     suspension that was noticeable), or thinking was noticeable and ended without
//     a word. After an answer the silence says it; after an interruption the user
//     knows, for he speaks.
//   - Thinking: 800 ms after Processing began, or after the user's last word in it,
//     until it ends, the user speaks or something waits for him.
//   - NeedsYou: something new waits for the user, once each; after the spoken
//     question when one is being spoken.
//   - Error: on Faulted; not again until the conversation worked in between, so
//     that retries are silent.
//   - Done: an answer was spoken to its end and the window is not focused.
//   - While the user speaks nothing begins, but for an error.
//   - What is taken back sooner than Noticeable (a cough that interrupts or is
//     analysed, a short suspension) has no cue.
type Policy struct {
	facts   Facts
	since   time.Duration // the phase began
	quiet   time.Duration // thinking counts from here
	order   Cue           // the last one given
	asked   uint64        // the last Pending that NeedsYou was ordered for
	faulted bool          // Error was ordered, and nothing worked since
}

// Next takes the facts at a time, which never goes back, and returns the policy to
// go on with and what to order: changed says whether there is something, and None
// that what sounds or waits has to end.
func (p Policy) Next(at time.Duration, f Facts) (next Policy, order Cue, changed bool) {
	next = p
	if f.Phase != p.facts.Phase {
		next.since, next.quiet = at, at
	}
	if f.UserSpeaks || p.facts.UserSpeaks || f.Pending != 0 || p.facts.Pending != 0 {
		next.quiet = at
	}
	switch f.Phase {
	case PhaseIdle, PhaseListening, PhaseProcessing, PhaseSpeaking:
		next.faulted = false
	default: // says nothing about whether it works
	}
	next.facts = f
	order = next.due(at, p)
	switch {
	case order != None:
	case next.ends(p):
		changed = true
	default:
		return next, None, false
	}
	if order == Error {
		next.faulted = true
	}
	if order == NeedsYou {
		next.asked = f.Pending
	}
	next.order = order
	return next, order, changed || order != None
}

// Due is when Next has to be called though no fact changed, if ever.
func (p Policy) Due() (at time.Duration, ok bool) {
	return p.quiet + Noticeable, p.mayThink() && p.order != Thinking
}

// due is the cue that is to begin now; was is the policy before.
func (p Policy) due(at time.Duration, was Policy) Cue {
	f, from := p.facts, was.facts.Phase
	entered := f.Phase != from
	noticed := at-was.since >= Noticeable
	switch {
	case f.Phase == PhaseFaulted && entered && !p.faulted:
		return Error
	case f.UserSpeaks:
		return None
	case f.Pending != 0 && f.Pending != p.asked && p.mayAsk():
		return NeedsYou
	case f.Phase == PhaseListening && entered && f.Pending == 0:
		return listening(from, noticed, f.Focused)
	case p.mayThink() && p.order != Thinking && at-p.quiet >= Noticeable:
		return Thinking
	}
	return None
}

// listening is the cue for entering Listening from a phase.
func listening(from Phase, noticed, focused bool) Cue {
	switch {
	case from == PhaseSpeaking && !focused:
		return Done
	case from == PhasePreparing, (from == PhaseProcessing || from == PhaseSuspended) && noticed:
		return Listening
	}
	return None
}

// ends says whether what was ordered is over, though nothing takes its place.
func (p Policy) ends(was Policy) bool {
	switch p.order {
	case Thinking:
		return !p.mayThink()
	case NeedsYou:
		return p.facts.Pending != p.asked || p.facts.UserSpeaks && !was.facts.UserSpeaks
	case Listening, Done:
		return p.facts.UserSpeaks && !was.facts.UserSpeaks
	default: // an error is told to its end
		return false
	}
}

// mayAsk: the phases in which the user can answer; a question that is spoken ends
// first.
func (p Policy) mayAsk() bool {
	return p.facts.Phase == PhaseListening || p.facts.Phase == PhaseProcessing
}

func (p Policy) mayThink() bool {
	return p.facts.Phase == PhaseProcessing && !p.facts.UserSpeaks && p.facts.Pending == 0
}
