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

// DevicesResult is the result of audio/devices.
type DevicesResult struct {
	Inputs  List[Device] `json:"inputs"`
	Outputs List[Device] `json:"outputs"`
}

// SelectDeviceParams are the params of audio/select: ids or names. An absent device is
// not changed.
type SelectDeviceParams struct {
	Input  string `json:"input,omitempty"`
	Output string `json:"output,omitempty"`
}

// MuteParams are the params of audio/mute, and the initial state in initialize. The
// default for By is the user.
type MuteParams struct {
	Muted bool       `json:"muted"`
	By    MuteReason `json:"by,omitempty"` // why it is muted
}

// Report is the result of diagnostics/report. It contains no transcripts, secrets or
// paths (SEC-001).
type Report struct {
	ServerInfo      ServerInfo          `json:"serverInfo"`
	ProtocolVersion string              `json:"protocolVersion"`
	Platform        string              `json:"platform"` // operating system and architecture: linux/amd64
	UptimeMs        int64               `json:"uptimeMs"`
	Provider        Provider            `json:"provider"` // the recognition service
	State           State               `json:"state"`
	Session         SessionState        `json:"session"`
	Connection      Connection          `json:"connection"`
	Queued          int                 `json:"queued"`
	Counters        map[string]int64    `json:"counters,omitempty"`
	Latencies       map[string]Latency  `json:"latencies,omitempty"`
	LastErrors      List[ReportedError] `json:"lastErrors"` // newest last
	Interruptions   InterruptionReport  `json:"interruptions"`
}

// InterruptionReport counts how interruptions by voice ended in this process. Each starts
// with a pause of the assistant.
type InterruptionReport struct {
	Confirmed int64                   `json:"confirmed"` // answers that were cut off, including by commands
	Retracted int64                   `json:"retracted"` // pauses after which the answer resumed
	Stages    List[InterruptionTimes] `json:"stages"`    // the measured stages
}

// InterruptionTimes is the time from the first sample of the user's voice to a stage. It
// is unknown if the service detected the onset.
type InterruptionTimes struct {
	Stage    InterruptionStage `json:"stage"`
	Times    Latency           `json:"times"`
	BudgetMs float64           `json:"budgetMs,omitempty"` // target for p95; absent if the stage has none
	Over     int64             `json:"over,omitempty"`     // number over budget
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

// ReportedError is a failure that occurred.
type ReportedError struct {
	Code      ErrorCode `json:"code"`
	Timestamp Timestamp `json:"timestamp"`
}

// JournalContent says what a journal contains.
type JournalContent string

// The contents.
const (
	JournalRedacted JournalContent = "redacted"
	JournalFull     JournalContent = "full"
)

// JournalContents lists every content.
var JournalContents = []JournalContent{JournalRedacted, JournalFull}

// JournalParams are the params of diagnostics/journal.
type JournalParams struct {
	Content JournalContent `json:"content"`
}

// JournalResult is the path of the written journal.
type JournalResult struct {
	Path string `json:"path"`
}

// SessionsResult is the result of session/list, newest first.
type SessionsResult struct {
	Sessions List[SessionSummary] `json:"sessions"`
}

// SessionSummary is a session, past or live.
type SessionSummary struct {
	ID        string       `json:"id"`
	Provider  Provider     `json:"provider"` // the recognition service
	State     SessionState `json:"state"`
	StartedAt Timestamp    `json:"startedAt"`
	EndedAt   Timestamp    `json:"endedAt,omitzero"`
	Turns     int          `json:"turns"`
	CrashedIn SessionState `json:"crashedIn,omitempty"` // the state of the session when its daemon crashed
}

// UsageResult is the result of usage/summary: usage since a time. Cost is absent if no
// price is known.
type UsageResult struct {
	Since        Timestamp `json:"since"`
	Sessions     int       `json:"sessions"`
	Turns        int       `json:"turns"`
	AudioInMs    int64     `json:"audioInMs"`
	AudioOutMs   int64     `json:"audioOutMs"`
	InputTokens  int64     `json:"inputTokens"`
	OutputTokens int64     `json:"outputTokens"`
	Cost         *Cost     `json:"cost,omitempty"`
	// Unpriced is the number of requests without a known price, which are not in Cost.
	Unpriced int64            `json:"unpriced,omitempty"`
	Models   List[ModelUsage] `json:"models,omitempty"`
}

// ModelUsage is the usage of one model of one provider.
type ModelUsage struct {
	Provider     Provider `json:"provider"`
	Model        string   `json:"model,omitempty"` // absent for local engines
	Requests     int64    `json:"requests"`
	AudioInMs    int64    `json:"audioInMs"`
	AudioOutMs   int64    `json:"audioOutMs"`
	InputTokens  int64    `json:"inputTokens"`
	OutputTokens int64    `json:"outputTokens"`
	Characters   int64    `json:"characters,omitempty"` // of synthesised text
	Cost         *Cost    `json:"cost,omitempty"`
	Unpriced     int64    `json:"unpriced,omitempty"`
}

// Cost is an amount of money.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"` // ISO 4217
}
