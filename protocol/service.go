package protocol

// Device is an audio device.
type Device struct {
	ID         string `json:"id"` // for audio/select and the settings
	Name       string `json:"name"`
	Default    bool   `json:"isDefault"`
	Selected   bool   `json:"isSelected"`
	Channels   int    `json:"channels"`
	SampleRate int    `json:"sampleRate"` // hertz
}

// DevicesResult of audio/devices.
type DevicesResult struct {
	Inputs  List[Device] `json:"inputs"`
	Outputs List[Device] `json:"outputs"`
}

// SelectDeviceParams of audio/select: ids or names; one that is absent stays.
type SelectDeviceParams struct {
	Input  string `json:"input,omitempty"`
	Output string `json:"output,omitempty"`
}

// MuteParams of audio/mute, and the wish of initialize. Without By it is the user's.
type MuteParams struct {
	Muted bool       `json:"muted"`
	By    MuteReason `json:"by,omitempty"` // why it is muted
}

// Report of diagnostics/report. It holds no words, secrets or paths (SEC-001).
type Report struct {
	ServerInfo      ServerInfo          `json:"serverInfo"`
	ProtocolVersion string              `json:"protocolVersion"`
	Platform        string              `json:"platform"` // operating system and architecture: linux/amd64
	UptimeMs        int64               `json:"uptimeMs"`
	Provider        Provider            `json:"provider"` // that hears
	State           State               `json:"state"`
	Session         SessionState        `json:"session"`
	Connection      Connection          `json:"connection"`
	Queued          int                 `json:"queued"`
	Counters        map[string]int64    `json:"counters,omitempty"`
	Latencies       map[string]Latency  `json:"latencies,omitempty"`
	LastErrors      List[ReportedError] `json:"lastErrors"` // newest last
	Interruptions   InterruptionReport  `json:"interruptions"`
}

// InterruptionReport says what became of onsets over the assistant, in this
// process. Before anything becomes of one, the assistant pauses.
type InterruptionReport struct {
	Confirmed int64                   `json:"confirmed"` // answers that were cut off, also by a command
	Retracted int64                   `json:"retracted"` // pauses after which the answer went on
	Stages    List[InterruptionTimes] `json:"stages"`    // those that were measured
}

// InterruptionTimes is how long after the first sample of the user's voice a stage
// was. Of an onset that a service reports, that is not known.
type InterruptionTimes struct {
	Stage    InterruptionStage `json:"stage"`
	Times    Latency           `json:"times"`
	BudgetMs float64           `json:"budgetMs,omitempty"` // that p95 is to keep; none for a stage without promise
	Over     int64             `json:"over,omitempty"`     // how many took longer
}

// InterruptionStage is a stage of an interruption.
type InterruptionStage string

// The stages: the figures that internal/figures defines.
const (
	StageDecided   InterruptionStage = "decided"   // the core decided to interrupt
	StageSilent    InterruptionStage = "silent"    // the output fell silent
	StageListening InterruptionStage = "listening" // the user has the floor
	StageResumed   InterruptionStage = "resumed"   // the answer continued
)

// InterruptionStages lists every stage.
var InterruptionStages = []InterruptionStage{StageDecided, StageSilent, StageListening, StageResumed}

// Latency is a distribution of times in milliseconds.
type Latency struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	Max   float64 `json:"max"`
}

// ReportedError is a failure that was met.
type ReportedError struct {
	Code      ErrorCode `json:"code"`
	Timestamp Timestamp `json:"timestamp"`
}

// JournalContent says how much a journal holds.
type JournalContent string

// The contents.
const (
	JournalRedacted JournalContent = "redacted"
	JournalFull     JournalContent = "full"
)

// JournalContents lists every content.
var JournalContents = []JournalContent{JournalRedacted, JournalFull}

// JournalParams of diagnostics/journal.
type JournalParams struct {
	Content JournalContent `json:"content"`
}

// JournalResult says where the journal was written.
type JournalResult struct {
	Path string `json:"path"`
}

// SessionsResult of session/list, newest first.
type SessionsResult struct {
	Sessions List[SessionSummary] `json:"sessions"`
}

// SessionSummary is a session, past or live.
type SessionSummary struct {
	ID        string       `json:"id"`
	Provider  Provider     `json:"provider"` // that heard
	State     SessionState `json:"state"`
	StartedAt Timestamp    `json:"startedAt"`
	EndedAt   Timestamp    `json:"endedAt,omitzero"`
	Turns     int          `json:"turns"`
	CrashedIn SessionState `json:"crashedIn,omitempty"` // the state in which its daemon ended without ending it
}

// UsageResult of usage/summary: what was used since a time. Cost is absent where
// no price is known.
type UsageResult struct {
	Since        Timestamp `json:"since"`
	Sessions     int       `json:"sessions"`
	Turns        int       `json:"turns"`
	AudioInMs    int64     `json:"audioInMs"`
	AudioOutMs   int64     `json:"audioOutMs"`
	InputTokens  int64     `json:"inputTokens"`
	OutputTokens int64     `json:"outputTokens"`
	Cost         *Cost     `json:"cost,omitempty"`
	// Unpriced is how many requests have no known price and are not in Cost.
	Unpriced int64            `json:"unpriced,omitempty"`
	Models   List[ModelUsage] `json:"models,omitempty"`
}

// ModelUsage is what one model of one provider was used for.
type ModelUsage struct {
	Provider     Provider `json:"provider"`
	Model        string   `json:"model,omitempty"` // absent for an engine of this machine
	Requests     int64    `json:"requests"`
	AudioInMs    int64    `json:"audioInMs"`
	AudioOutMs   int64    `json:"audioOutMs"`
	InputTokens  int64    `json:"inputTokens"`
	OutputTokens int64    `json:"outputTokens"`
	Characters   int64    `json:"characters,omitempty"` // of texts that were read aloud
	Cost         *Cost    `json:"cost,omitempty"`
	Unpriced     int64    `json:"unpriced,omitempty"`
}

// Cost is an amount of money.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"` // ISO 4217
}
