package cue

import "time"

// Phase is the state of the conversation, as far as cues need it. It is a separate
// type because package audio does not know the conversation's core.
type Phase uint8

// The phases. Processing covers analyzing, waiting for the assistant and generating.
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

// Facts is what cues depend on, at one point in time.
type Facts struct {
	Phase Phase
	// UserSpeaks: the user is speaking.
	UserSpeaks bool
	// Pending identifies the pending decision of the user (a tool's approval): 0 for
	// none, and a different number for each question.
	Pending uint64
	// Focused: the editor's window has the focus, so that the user sees it.
	Focused bool
}

// Noticeable is how long something lasts before the user notices: the thinking loop
// starts then, and the end of anything shorter has no cue.
const Noticeable = 800 * time.Millisecond

// Policy decides which cue is due. The zero value is an idle conversation. It is a
// value: Next returns the policy to continue with.
//
// The rules:
//
//   - Listening: the conversation starts or resumes (from Preparing, or from a
//     noticeable
//     suspension), or noticeable thinking ended without a spoken answer. After an
//     answer,
//     silence is enough; after an interruption the user is already speaking.
//   - Thinking: 800 ms after Processing started, or after the user's last word in it,
//     until it
//     ends, the user speaks or a decision is pending.
//   - NeedsYou: a new decision is pending, once each; if its question is spoken,
//     after that.
//   - Error: on Faulted; not again until the conversation has worked in between, so
//     that retries
//     are silent.
//   - Done: an answer was spoken completely and the window is not focused.
//   - While the user speaks, only an error starts.
//   - Anything reverted within Noticeable (a cough that interrupts or is analyzed, a
//     short
//     suspension) has no cue.
type Policy struct {
	facts   Facts
	since   time.Duration // start of the phase
	quiet   time.Duration // start of the wait that thinking counts from
	order   Cue           // the last one given
	asked   uint64        // the last Pending that NeedsYou was ordered for
	faulted bool          // Error was ordered, and the conversation has not worked since
}

// Next takes the facts at a time, which must not go back. It returns the policy to
// continue with and the cue to order, if changed; None means that the current or
// waiting cue must end.
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
	default: // not a sign of success or failure
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

// Due returns when Next must be called even if no fact changes. ok is false for never.
func (p Policy) Due() (at time.Duration, ok bool) {
	return p.quiet + Noticeable, p.mayThink() && p.order != Thinking
}

// due returns the cue that must start now. was is the previous policy.
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

// listening returns the cue for entering Listening from a phase.
func listening(from Phase, noticed, focused bool) Cue {
	switch {
	case from == PhaseSpeaking && !focused:
		return Done
	case from == PhasePreparing, (from == PhaseProcessing || from == PhaseSuspended) && noticed:
		return Listening
	}
	return None
}

// ends reports whether the last order is over without a successor.
func (p Policy) ends(was Policy) bool {
	switch p.order {
	case Thinking:
		return !p.mayThink()
	case NeedsYou:
		return p.facts.Pending != p.asked || p.facts.UserSpeaks && !was.facts.UserSpeaks
	case Listening, Done:
		return p.facts.UserSpeaks && !was.facts.UserSpeaks
	default: // an error cue plays to its end
		return false
	}
}

// mayAsk reports whether the user can answer in this phase; a spoken question must
// end first.
func (p Policy) mayAsk() bool {
	return p.facts.Phase == PhaseListening || p.facts.Phase == PhaseProcessing
}

func (p Policy) mayThink() bool {
	return p.facts.Phase == PhaseProcessing && !p.facts.UserSpeaks && p.facts.Pending == 0
}
