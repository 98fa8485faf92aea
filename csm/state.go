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

// State is everything that the core knows. It is a value: Step returns a new one and
// never writes to memory that an old one can reach, so slices in it are replaced, never
// appended to or modified in place.
type State struct {
	Conv     Conversation
	Hold     SuspendReason `json:",omitempty"` // why the conversation is held; in a fault, whether the user had paused it
	Previous Phase         // the previous phase
	Since    time.Duration // when the current phase was entered
	Cause    Cause         // why the current phase was entered
	CauseSeq uint64        // the sequence number of the event that caused it

	Session session.State
	Conn    connection.State
	Turn    turn.State
	Speech  speech.State
	Copilot copilot.State
	History history.State

	Approval Approval `json:",omitzero"`

	Instance  uint32          // number of the conversation; a recovery from a fault starts a new one
	Resources Resources       // which resources are open or closing
	Config    *Config         // immutable
	Current   Turn            // the current turn; its ID is 0 when there is none
	Queue     []uint64        // utterances queued until the current turn ends: the chat machine's message queue
	Drafts    []uint64        // utterances of a turn with manual commit, heard while the assistant had the floor
	Asked     bool            `json:",omitempty"` // the last answer ended with a question to the user
	Retry     copilot.Failure // the last failure, for the user's "try again"; Utterance is 0 for none
	Model     Model
	Cursor    Cursor // playback position
	// VoicePaused says that the user paused the voice. Only "continue", or the end of the
	// paused speech, clears it.
	VoicePaused bool `json:",omitempty"`
	Timers      [NumTimers]TimerState
	IDs         IDs
	Faults      Faults
	Counters    Counters
}

// Conversation is a closed sum: one struct for each phase except the parent phase
// Processing, with the data of that phase.
//
//sumtype:decl
type Conversation interface {
	Phase() Phase
	conversation()
}

// The cases of Conversation.
type (
	// Idle has no conversation; with Starting, the session and the devices are being
	// opened for one.
	Idle struct{ Starting bool }
	// Preparing waits for capture and recognition.
	Preparing struct{}
	// Listening is the user's turn: the microphone is open, and the assistant says
	// nothing except announced notices.
	Listening struct{}
	// Analysing has an utterance whose request was not sent yet.
	Analysing struct {
		// Unsent is the utterance that waits for the previous request's cancellation, 0
		// if the request was sent or words are awaited.
		Unsent uint64
		// Awaiting says that the user ended the turn manually before the transcript
		// arrived.
		Awaiting bool
		// Stage is the stage that Unsent retries.
		Stage copilot.Stage `json:",omitempty"`
	}
	// WaitingForCopilot waits for the first sign of an answer.
	WaitingForCopilot struct{}
	// GeneratingResponse is receiving an answer, with nothing audible.
	GeneratingResponse struct{}
	// Speaking has audio that is audible or paused by the user.
	Speaking struct{}
	// Interrupted waits until the assistant is silent. Line is the speech that was
	// flushed, Request its answer.
	Interrupted struct {
		Line    speech.Line
		Request uint64
		// Doubt says that the assistant is only paused until it is known whether the user
		// means to interrupt: for Left, unless an event decides earlier.
		Doubt bool          `json:",omitempty"`
		Left  time.Duration `json:",omitempty"`
	}
	// Faulted waits to recover or to end. If the user had paused the conversation, it
	// recovers when the user resumes or starts it, not automatically.
	Faulted struct {
		Code       Code
		Fatal      bool
		Breaker    bool // the circuit breaker is open
		Recovering bool // a new instance is opening
	}
	// Terminating waits until all resources are closed. Then the next conversation begins, if the
	// user started one or typed Texts meanwhile.
	Terminating struct {
		Start    bool     `json:",omitempty"`
		TakeOver bool     `json:",omitempty"`
		Texts    []uint64 `json:",omitempty"`
	}
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

// plain holds the cases without data.
var plain = [NumPhases]Conversation{
	PhaseIdle: Idle{}, PhasePreparing: Preparing{}, PhaseListening: Listening{}, PhaseAnalysing: Analysing{},
	PhaseWaitingForCopilot: WaitingForCopilot{}, PhaseGeneratingResponse: GeneratingResponse{}, PhaseSpeaking: Speaking{},
	PhaseInterrupted: Interrupted{}, PhaseFaulted: Faulted{}, PhaseTerminating: Terminating{},
}

// Role is the owner of a half-turn.
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
	More          []uint64      `json:"more,omitempty"` // utterances merged into it before it was sent
	Request       uint64        `json:"request,omitempty"`
	Attempt       int           `json:"attempt,omitempty"`
	Interruptions int           `json:"interruptions,omitempty"`
	Decided       bool          `json:"decided,omitempty"` // the user decided a tool call, or one that may change something runs unasked
	Failed        Code          `json:"failed,omitempty"`  // failure code, while the failure is being explained
	Config        *Config       `json:"config"`            // its configuration
}

// TimerState is one deadline. Gen increments each time it is armed. Left is the remaining
// time of a suspended timer, 0 for all of it.
type TimerState struct {
	Gen   uint32        `json:"gen"`
	Armed bool          `json:"armed,omitempty"`
	At    time.Duration `json:"at,omitempty"`
	Left  time.Duration `json:"left,omitempty"`
}

// IDs are the last allocated ids. They increase for the life of the process, so that no
// id is reused.
type IDs struct {
	Turn    uint64 `json:"turn"`
	Request uint64 `json:"request"`
	Segment uint32 `json:"segment"`
	Epoch   uint32 `json:"epoch"`
	Load    uint32 `json:"load"`
	Job     uint32 `json:"job"`
}

// Model is the model that answers: the selected and the loaded one. 0 is the adapter's
// default, which needs no loading.
type Model struct {
	Wanted uint64 `json:"wanted,omitempty"`
	Loaded uint64 `json:"loaded,omitempty"`
}

// Cursor is the playback position of the live generation, in samples. It is outside of
// the speech region's cases because it changes as often as audio arrives.
type Cursor struct {
	Gen      uint32 `json:"gen,omitempty"`
	Seq      uint32 `json:"seq,omitempty"`
	Played   int64  `json:"played,omitempty"`
	Of       int64  `json:"of,omitempty"`
	Buffered int64  `json:"buffered,omitempty"`
}

// Resources says which resources are open or closing.
type Resources struct {
	Audio, Conn, Session Resource
	OldConn              uint32 `json:",omitempty"` // the epoch of a replaced connection that is closing, 0 for none
	Capturing            bool   // the microphone delivers audio
}

// Resource is the state of a resource that is opened and closed once per instance.
type Resource uint8

// The states of a resource.
const (
	Absent Resource = iota
	Opening
	Opened
	Closing
)

// Faults is the memory of the circuit breaker (PAT-004).
type Faults struct {
	Recent [3]time.Duration `json:"recent"` // times of the last faults, newest first, 0 for none
	InRow  int              `json:"inRow"`  // consecutive faults without a quiet breaker window between them
}

// Counters count events that change nothing else.
type Counters struct {
	Stale   uint64 `json:"stale"`   // answers to something that has ended
	Ignored uint64 `json:"ignored"` // events without a meaning in the current phase
	// Rejected counts session statuses that the guard map did not allow.
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

// Phase is the published phase: Suspended while the conversation is held, whatever its
// own phase is, and while a lost device is all that it waits for (REQ-008).
func (s State) Phase() Phase {
	p := s.Conv.Phase()
	waits := s.held() || p == PhaseSpeaking && s.voiceless() || (p == PhaseListening || p == PhasePreparing) && s.deaf()
	if waits {
		return PhaseSuspended
	}
	return p
}

// UserPaused says that the user paused the conversation and has not resumed it.
func (s State) UserPaused() bool { return s.Hold&SuspendUser != 0 }

// MarshalJSON adds the name of each region's case to its data. Journals hash this form.
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
