package csm

import (
	"encoding/json"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// State is everything that the core knows. It is a value: Step returns a new one
// and never writes to what an old one can reach, so slices in it are replaced,
// not appended to or written in place.
type State struct {
	Conv     Conversation
	Hold     SuspendReason `json:",omitempty"` // why the conversation is held still; of a fault, whether the user had paused it
	Previous Phase         // the phase before the present one
	Since    time.Duration // when the present phase was entered
	Cause    Cause         // why
	CauseSeq uint64        // the sequence number of the event that did it

	Session session.State
	Conn    connection.State
	Turn    turn.State
	Speech  speech.State
	Copilot copilot.State
	History history.State

	Approval Approval `json:",omitzero"`

	Instance  uint32          // the conversation; a recovery from a fault is a new one
	Resources Resources       // what is open or being closed
	Config    *Config         // never written to
	Current   Turn            // the current turn; its ID is 0 when there is none
	Queue     []uint64        // utterances that wait for the current turn to end: the chat machine's message queue
	Drafts    []uint64        // utterances of a turn that the user is to end by hand, heard while the assistant had the floor
	Retry     copilot.Failure // what failed last, for the user's "try again"; its Utterance is 0 for nothing
	Model     Model
	Cursor    Cursor // how far playback is
	// VoicePaused says that the user paused the voice: the user's reason not to
	// play, which only "continue" or the end of what was paused takes away.
	VoicePaused bool `json:",omitempty"`
	Timers      [NumTimers]TimerState
	IDs         IDs
	Faults      Faults
	Counters    Counters
}

// Conversation is a closed sum: one struct for each phase but Processing, which
// is only a parent, with the data that makes sense in that phase alone.
//
//sumtype:decl
type Conversation interface {
	Phase() Phase
	conversation()
}

// The cases of Conversation.
type (
	// Idle has no conversation; Starting while the session and the devices are
	// being opened for one.
	Idle struct{ Starting bool }
	// Preparing waits for capture and recognition.
	Preparing struct{}
	// Listening is the user's: the microphone is open, and nothing is said but
	// what the user was told is coming.
	Listening struct{}
	// Analysing has an utterance whose request is not handed over yet.
	Analysing struct {
		// Unsent is the utterance that waits for the cancelled request before it,
		// 0 when there is none: the request is on its way, or words are awaited.
		Unsent uint64
		// Awaiting says that the user ended the turn by hand and the words are
		// not here yet.
		Awaiting bool
		// Stage is what Unsent tries again.
		Stage copilot.Stage `json:",omitempty"`
	}
	// WaitingForCopilot waits for the assistant's first sign of life.
	WaitingForCopilot struct{}
	// GeneratingResponse has an answer coming and nothing audible.
	GeneratingResponse struct{}
	// Speaking has audio that is audible, or paused by the user.
	Speaking struct{}
	// Interrupted waits until nothing of the assistant is heard any more. Line is
	// what was flushed, Request the answer it was of.
	Interrupted struct {
		Line    speech.Line
		Request uint64
		// Doubt says that the assistant only pauses, until it is known whether the
		// user means it: for Left, unless something says so before.
		Doubt bool          `json:",omitempty"`
		Left  time.Duration `json:",omitempty"`
	}
	// Faulted waits to recover, or to end. Where the user had paused the
	// conversation, it recovers when the user resumes or starts it, not by itself.
	Faulted struct {
		Code       Code
		Fatal      bool
		Breaker    bool // the breaker is open
		Recovering bool // a new instance is being opened
	}
	// Terminating waits until everything is closed.
	Terminating struct{}
)

func (Idle) conversation()               {}
func (Preparing) conversation()          {}
func (Listening) conversation()          {}
func (Analysing) conversation()          {}
func (WaitingForCopilot) conversation()  {}
func (GeneratingResponse) conversation() {}
func (Speaking) conversation()           {}
func (Interrupted) conversation()        {}
func (Faulted) conversation()            {}
func (Terminating) conversation()        {}

func (Idle) Phase() Phase               { return PhaseIdle }
func (Preparing) Phase() Phase          { return PhasePreparing }
func (Listening) Phase() Phase          { return PhaseListening }
func (Analysing) Phase() Phase          { return PhaseAnalysing }
func (WaitingForCopilot) Phase() Phase  { return PhaseWaitingForCopilot }
func (GeneratingResponse) Phase() Phase { return PhaseGeneratingResponse }
func (Speaking) Phase() Phase           { return PhaseSpeaking }
func (Interrupted) Phase() Phase        { return PhaseInterrupted }
func (Faulted) Phase() Phase            { return PhaseFaulted }
func (Terminating) Phase() Phase        { return PhaseTerminating }

// plain are the cases of the phases without data.
var plain = [NumPhases]Conversation{
	PhaseIdle: Idle{}, PhasePreparing: Preparing{}, PhaseListening: Listening{}, PhaseAnalysing: Analysing{},
	PhaseWaitingForCopilot: WaitingForCopilot{}, PhaseGeneratingResponse: GeneratingResponse{}, PhaseSpeaking: Speaking{},
	PhaseInterrupted: Interrupted{}, PhaseFaulted: Faulted{}, PhaseTerminating: Terminating{},
}

// Role is whose half of a turn it is.
type Role uint8

// The roles.
const (
	User Role = iota
	Assistant
)

func (r Role) String() string {
	if r == Assistant {
		return "assistant"
	}
	return "user"
}

// Turn is one exchange: the turn context of the specification.
type Turn struct {
	ID            uint64        `json:"id"`
	Role          Role          `json:"role"`
	Opened        time.Duration `json:"opened"`
	Utterance     uint64        `json:"utterance,omitempty"`
	More          []uint64      `json:"more,omitempty"` // utterances merged with it before it was sent
	Request       uint64        `json:"request,omitempty"`
	Attempt       int           `json:"attempt,omitempty"`
	Interruptions int           `json:"interruptions,omitempty"`
	Failed        Code          `json:"failed,omitempty"` // it failed, and the user is being told
	Config        *Config       `json:"config"`           // it began with
}

// TimerState is one deadline. Gen rises each time it is armed. Left is what is left
// of one that stands still, 0 for the whole of it.
type TimerState struct {
	Gen   uint32        `json:"gen"`
	Armed bool          `json:"armed,omitempty"`
	At    time.Duration `json:"at,omitempty"`
	Left  time.Duration `json:"left,omitempty"`
}

// IDs are the last ids that were given out. They rise for as long as the
// process lives, so that no id is ever used twice.
type IDs struct {
	Turn    uint64 `json:"turn"`
	Request uint64 `json:"request"`
	Segment uint32 `json:"segment"`
	Epoch   uint32 `json:"epoch"`
	Load    uint32 `json:"load"`
	Job     uint32 `json:"job"`
}

// Model is which model answers: the one that the user wants, and the one that is
// loaded. 0 is the adapter's own, which needs no loading.
type Model struct {
	Wanted uint64 `json:"wanted,omitempty"`
	Loaded uint64 `json:"loaded,omitempty"`
}

// Cursor is how far playback of the live generation is, in samples. It changes
// as often as audio comes, so it lives outside of the speech region's cases.
type Cursor struct {
	Gen      uint32 `json:"gen,omitempty"`
	Seq      uint32 `json:"seq,omitempty"`
	Played   int64  `json:"played,omitempty"`
	Of       int64  `json:"of,omitempty"`
	Buffered int64  `json:"buffered,omitempty"`
}

// Resources says what is open and what is being closed.
type Resources struct {
	Audio, Conn, Session Resource
	OldConn              uint32 `json:",omitempty"` // the epoch of a connection that was replaced and is being closed, 0 for none
	Capturing            bool   // the microphone delivers
	Lost                 bool   // a device is gone
}

// Resource is one thing that is opened and closed once in an instance.
type Resource uint8

// The states of a resource.
const (
	Absent Resource = iota
	Opening
	Opened
	Closing
)

// Faults is what the breaker remembers (PAT-004).
type Faults struct {
	Recent [3]time.Duration `json:"recent"` // when the last faults were, newest first, 0 for none
	InRow  int              `json:"inRow"`  // without a quiet breaker window between them
}

// Counters count what changes nothing else.
type Counters struct {
	Stale   uint64 `json:"stale"`   // answers to something that is over
	Ignored uint64 `json:"ignored"` // events without a meaning in the phase they met
	// Rejected counts statuses that the session's guard map did not allow.
	Rejected uint64 `json:"rejected,omitempty"`
}

// Initial is the state before the first event.
func Initial() State {
	c := DefaultConfig()
	return State{
		Conv: Idle{}, Conn: connection.Disconnected{}, Turn: turn.Idle{},
		Speech: speech.Closed{}, Copilot: copilot.Idle{}, History: history.Normal{}, Config: &c,
	}
}

// Phase is the phase that the conversation is shown in: Suspended while it is held
// still, whatever it is at.
func (s State) Phase() Phase {
	if s.held() {
		return PhaseSuspended
	}
	return s.Conv.Phase()
}

// held says whether the conversation is held still (REQ-008).
func (s *State) held() bool { return s.Hold != 0 && s.Conv.Phase().Active() }

// UserPaused says that the user paused the conversation and did not resume it.
func (s State) UserPaused() bool { return s.Hold&SuspendUser != 0 }

// MarshalJSON writes the state with the name of each region's case beside its
// data. It is the form that journals hash.
func (s State) MarshalJSON() ([]byte, error) {
	type region struct {
		State string `json:"state"`
		Data  any    `json:"data,omitempty"`
	}
	type plainState State // without this method
	return json.Marshal(struct {
		plainState
		Conv, Conn, Turn, Speech, Copilot, History region
	}{
		plainState(s), region{s.Conv.Phase().String(), s.Conv},
		region{s.Conn.String(), s.Conn}, region{s.Turn.String(), s.Turn},
		region{s.Speech.String(), s.Speech}, region{s.Copilot.String(), s.Copilot}, region{s.History.String(), s.History},
	})
}
