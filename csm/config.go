package csm

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// Config is what the core is configured with. It arrives as an event; a turn
// keeps the one it began with. All times are on the core's clock.
type Config struct {
	StartTimeout   time.Duration `json:"start"`     // session and devices, from start (AC-001 wants 500 ms; this is when to give up)
	PrepareTimeout time.Duration `json:"prepare"`   // capture and recognition
	UtteranceMax   time.Duration `json:"utterance"` // one utterance
	FinalTimeout   time.Duration `json:"final"`     // words after the end of an utterance, or after the last partial
	CopilotTimeout time.Duration `json:"copilot"`   // first sign of life, retries included (PER-004)
	StallTimeout   time.Duration `json:"stall"`     // pause within an answer
	CancelTimeout  time.Duration `json:"cancel"`    // confirmation of a cancellation
	SpeechTimeout  time.Duration `json:"speech"`    // advance of speech: first audio, or a segment heard
	InterruptClear time.Duration `json:"interrupt"` // confirmation of a flush (PER-002 leaves 400 ms from onset)
	SuspendMax     time.Duration `json:"suspend"`   // a suspension
	FaultBackoff   time.Duration `json:"backoff"`   // pause before the first recovery, doubled each time
	BreakerWindow  time.Duration `json:"window"`    // in which BreakerFaults open the breaker (PAT-004)
	BreakerCool    time.Duration `json:"cool"`      // how long it stays open
	Terminate      time.Duration `json:"terminate"` // closing of all resources
	BreakerFaults  int           `json:"faults"`
	FaultRetries   int           `json:"retries"` // recoveries in a row before a fault is fatal
	QueueMax       int           `json:"queue"`   // utterances that may wait

	Interruption    Interruption   `json:"interruption,omitempty"` // what stops the assistant
	Confirm         time.Duration  `json:"confirm"`                // speech over the assistant that counts (PER-002), in Confirmed
	Turns           turn.Mode      `json:"turns,omitempty"`        // who ends the user's turn (GUD-001)
	Eagerness       turn.Eagerness `json:"eagerness,omitempty"`    // how soon a pause does, in Semantic
	Silence         time.Duration  `json:"silence"`                // the pause that does, in Server
	Tools           bool           `json:"tools,omitempty"`        // the assistant may call tools
	RoundsMax       int            `json:"rounds"`                 // of a request
	SearchTimeout   time.Duration  `json:"search"`                 // a search for tools
	ApprovalTimeout time.Duration  `json:"approval"`               // an answer to a question about a tool, asked once more after it
	ToolTimeout     time.Duration  `json:"tool"`                   // a call of a tool
	ModelTimeout    time.Duration  `json:"model"`                  // a model, between two signs of progress
	SummaryTimeout  time.Duration  `json:"summary"`                // a summary of the history
	RenewalTimeout  time.Duration  `json:"renewal"`                // a successor of a connection that expires
	HistoryMax      int            `json:"history"`                // items before the oldest are summarised
	HistoryKeep     int            `json:"keep"`                   // items that are not
}

// Interruption is how easily the user's voice stops the assistant. The user's
// hand always does.
type Interruption uint8

// The ways. In Confirmed an onset pauses the assistant, who continues when nothing
// was meant by it: when the speech was shorter than Confirm, or turns out to be
// no words, or a backchannel.
const (
	AtOnce    Interruption = iota // an onset ends the answer
	Confirmed                     // speech that lasts, or words; so it is for a question about a tool, but in Never
	ByWords                       // words
	Never                         // nothing
)

// DefaultConfig is the configuration without any setting.
func DefaultConfig() Config {
	return Config{
		StartTimeout: 10 * time.Second, PrepareTimeout: 15 * time.Second,
		UtteranceMax: 60 * time.Second, FinalTimeout: 6 * time.Second,
		CopilotTimeout: 8 * time.Second, StallTimeout: 15 * time.Second, CancelTimeout: 2 * time.Second,
		SpeechTimeout: 30 * time.Second, InterruptClear: 150 * time.Millisecond, SuspendMax: 60 * time.Second,
		FaultBackoff: 500 * time.Millisecond, BreakerWindow: time.Minute, BreakerCool: 30 * time.Second,
		Terminate: 1500 * time.Millisecond, BreakerFaults: 3, FaultRetries: 4, QueueMax: 8,
		Confirm: 250 * time.Millisecond, Silence: 500 * time.Millisecond, RoundsMax: 10, SearchTimeout: 5 * time.Second, ApprovalTimeout: 30 * time.Second,
		ToolTimeout: time.Minute, ModelTimeout: 2 * time.Minute, SummaryTimeout: 30 * time.Second, RenewalTimeout: 20 * time.Second,
		HistoryMax: 40, HistoryKeep: 12,
	}
}
