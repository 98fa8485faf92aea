package protocol

// InitializeParams opens the wire. All fields but protocolVersion are optional.
type InitializeParams struct {
	ProcessID       int                `json:"processId,omitempty"` // the daemon exits when this process exits
	ClientInfo      ClientInfo         `json:"clientInfo,omitzero"`
	Locale          string             `json:"locale,omitempty"` // BCP 47, for labels and messages; English if unsupported
	ProtocolVersion string             `json:"protocolVersion"`
	Configuration   Configuration      `json:"configuration,omitempty"`
	Capabilities    ClientCapabilities `json:"capabilities,omitzero"`
	// Microphone is the initial state of the microphone, before any capture. After a
	// restart, a client repeats the previous daemon's mute state here.
	Microphone MuteParams `json:"microphone,omitzero"`
	// Workspace is what is open in the client. A coding agent works only in a folder of it
	// that is trusted.
	Workspace *Workspace `json:"workspace,omitempty"`
	// Watch is for watchers, which follow a daemon over its socket.
	Watch WatchParams `json:"watch,omitzero"`
}

// Workspace is what is open in a client: its folders on the daemon's machine, and the path of
// the active one; without it, the first one is active.
type Workspace struct {
	Folders List[WorkspaceFolder] `json:"folders"`
	Active  string                `json:"active,omitempty"`
}

// WorkspaceFolder is an open folder. Trusted says that the user trusts what is in it.
type WorkspaceFolder struct {
	Path    string `json:"path"`
	Name    string `json:"name,omitempty"`
	Trusted bool   `json:"trusted,omitempty"`
}

// WatchParams selects what a watcher follows. Ignored over standard input.
type WatchParams struct {
	Token  string `json:"token"`            // from the daemon's file
	Words  bool   `json:"words,omitempty"`  // include transcripts and tool inputs
	Levels bool   `json:"levels,omitempty"` // include agentvoice.level
}

// ClientInfo names a client.
type ClientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// ClientCapabilities says which requests a client answers.
type ClientCapabilities struct {
	Copilot   bool `json:"copilot,omitempty"`   // answers copilot/send
	Secrets   bool `json:"secrets,omitempty"`   // answers credentials/get
	Tools     bool `json:"tools,omitempty"`     // answers copilot/invokeTool
	Commands  bool `json:"commands,omitempty"`  // answers window/command
	Heartbeat bool `json:"heartbeat,omitempty"` // sends client/heartbeat every 5 s while its window is open
	// TranscriptAppend accepts agentvoice.transcript with after, which carries only new
	// text.
	TranscriptAppend bool `json:"transcriptAppend,omitempty"`
}

// InitializeResult answers initialize.
type InitializeResult struct {
	ServerInfo      ServerInfo         `json:"serverInfo"`
	ProtocolVersion string             `json:"protocolVersion"`
	Capabilities    ServerCapabilities `json:"capabilities"`
	Snapshot        Snapshot           `json:"snapshot"`
}

// ServerInfo names the daemon.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ServerCapabilities says what this daemon supports as built and started.
type ServerCapabilities struct {
	Providers      []Provider `json:"providers,omitempty"`      // supported providers
	Locales        []Locale   `json:"locales,omitempty"`        // supported languages
	Audio          bool       `json:"audio,omitempty"`          // devices can be listed and selected
	PushToTalk     bool       `json:"pushToTalk,omitempty"`     // conversation/pushToTalk
	Tools          bool       `json:"tools,omitempty"`          // tool calls and their approval
	Models         bool       `json:"models,omitempty"`         // copilot/models and copilot/selectModel
	JournalContent bool       `json:"journalContent,omitempty"` // diagnostics/journal supports full
	Headless       bool       `json:"headless,omitempty"`       // headless/advance
}

// CancelParams identifies a request to cancel. The request is answered with
// requestCancelled, unless it is already done.
type CancelParams struct {
	ID RequestID `json:"id"`
}
