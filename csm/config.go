package csm

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// Config is the core's configuration. It arrives as an event; a turn keeps the one it
// started with. All times are on the core's clock.
type Config struct {
	StartTimeout   time.Duration `json:"start"`     // session and devices, from start (a limit; AC-001 targets 500 ms)
	PrepareTimeout time.Duration `json:"prepare"`   // capture and recognition
	UtteranceMax   time.Duration `json:"utterance"` // one utterance
	FinalTimeout   time.Duration `json:"final"`     // final transcript after the end of an utterance or the last partial
	CopilotTimeout time.Duration `json:"copilot"`   // first sign of an answer, retries included (PER-004)
	StallTimeout   time.Duration `json:"stall"`     // pause within an answer
	CancelTimeout  time.Duration `json:"cancel"`    // confirmation of a cancellation
	SpeechTimeout  time.Duration `json:"speech"`    // progress of speech: first audio, or a segment heard
	InterruptClear time.Duration `json:"interrupt"` // confirmation of a flush (PER-002: 400 ms from onset)
	SuspendMax     time.Duration `json:"suspend"`   // a suspension
	FaultBackoff   time.Duration `json:"backoff"`   // delay of the first recovery, doubled each time
	BreakerWindow  time.Duration `json:"window"`    // window in which BreakerFaults open the breaker (PAT-004)
	BreakerCool    time.Duration `json:"cool"`      // how long it stays open
	Terminate      time.Duration `json:"terminate"` // closing of all resources
	BreakerFaults  int           `json:"faults"`
	FaultRetries   int           `json:"retries"` // recoveries in a row before a fault is fatal
	QueueMax       int           `json:"queue"`   // maximum number of queued utterances

	Interruption    Interruption   `json:"interruption,omitempty"` // what interrupts the assistant
	Confirm         time.Duration  `json:"confirm"`                // duration of speech that confirms an interruption (PER-002), in Confirmed
	Turns           turn.Mode      `json:"turns,omitempty"`        // what ends the user's turn (GUD-001)
	Eagerness       turn.Eagerness `json:"eagerness,omitempty"`    // how soon a pause ends it, in Semantic
	Silence         time.Duration  `json:"silence"`                // the pause that ends it, in Server
	Tools           bool           `json:"tools,omitempty"`        // the assistant may call tools
	RoundsMax       int            `json:"rounds"`                 // maximum rounds of a request
	SearchTimeout   time.Duration  `json:"search"`                 // a search for tools
	ApprovalTimeout time.Duration  `json:"approval"`               // answer to a question about a tool, which is then repeated once
	RevokeTime      time.Duration  `json:"revoke,omitempty"`       // silence after a yes before a call with effects runs
	ToolTimeout     time.Duration  `json:"tool"`                   // a tool call
	ModelTimeout    time.Duration  `json:"model"`                  // loading a model, between progress reports
	SummaryTimeout  time.Duration  `json:"summary"`                // a summary of the history
	RenewalTimeout  time.Duration  `json:"renewal"`                // the successor of an expiring connection
	HistoryMax      int            `json:"history"`                // number of items from which the oldest are summarised
	HistoryKeep     int            `json:"keep"`                   // number of items to keep
}

// Interruption is how easily the user's voice interrupts the assistant. Manual
// interruption always works.
type Interruption uint8

// The modes. In Confirmed an onset pauses the assistant, who resumes if the speech was
// shorter than Confirm or turns out to have no words or only a backchannel.
const (
	Confirmed Interruption = iota + 1 // sustained speech, or words; also used for questions about tools, except in Never
	ByWords                           // only words do
	Never                             // no speech does
)

// DefaultConfig returns the configuration at default settings.
func DefaultConfig() Config {
	return Config{
		StartTimeout: 10 * time.Second, PrepareTimeout: 15 * time.Second,
		UtteranceMax: 30 * time.Minute, FinalTimeout: 6 * time.Second,
		CopilotTimeout: 8 * time.Second, StallTimeout: 15 * time.Second, CancelTimeout: 2 * time.Second,
		SpeechTimeout: 30 * time.Second, InterruptClear: 150 * time.Millisecond, SuspendMax: 60 * time.Second,
		FaultBackoff: 500 * time.Millisecond, BreakerWindow: time.Minute, BreakerCool: 30 * time.Second,
		Terminate: 1500 * time.Millisecond, BreakerFaults: 3, FaultRetries: 4, QueueMax: 8,
		Interruption: Confirmed, Confirm: 250 * time.Millisecond, Silence: 500 * time.Millisecond, RoundsMax: 10, SearchTimeout: 5 * time.Second, ApprovalTimeout: 30 * time.Second, RevokeTime: 700 * time.Millisecond,
		ToolTimeout: time.Minute, ModelTimeout: 2 * time.Minute, SummaryTimeout: 30 * time.Second, RenewalTimeout: 20 * time.Second,
		HistoryMax: 40, HistoryKeep: 12,
	}
}
