package csm

import "time"

// Config is what the core is configured with. It arrives as an event; a turn
// keeps the one it began with. All times are on the core's clock.
type Config struct {
	StartTimeout   time.Duration `json:"start"`     // session and devices, from start (AC-001 wants 500 ms; this is when to give up)
	PrepareTimeout time.Duration `json:"prepare"`   // capture and recognition
	UtteranceMax   time.Duration `json:"utterance"` // one utterance
	FinalTimeout   time.Duration `json:"final"`     // words after the end of an utterance
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
}

// DefaultConfig is the configuration without any setting.
func DefaultConfig() Config {
	return Config{
		StartTimeout: 10 * time.Second, PrepareTimeout: 15 * time.Second,
		UtteranceMax: 60 * time.Second, FinalTimeout: 6 * time.Second,
		CopilotTimeout: 8 * time.Second, StallTimeout: 15 * time.Second, CancelTimeout: 2 * time.Second,
		SpeechTimeout: 30 * time.Second, InterruptClear: 150 * time.Millisecond, SuspendMax: 60 * time.Second,
		FaultBackoff: 500 * time.Millisecond, BreakerWindow: time.Minute, BreakerCool: 30 * time.Second,
		Terminate: 1500 * time.Millisecond, BreakerFaults: 3, FaultRetries: 4, QueueMax: 8,
	}
}
