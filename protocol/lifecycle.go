package protocol

// InitializeParams opens the wire. Everything but protocolVersion may be left
// out.
type InitializeParams struct {
	ProcessID       int                `json:"processId,omitempty"` // the daemon ends when this process is gone
	ClientInfo      ClientInfo         `json:"clientInfo,omitzero"`
	Locale          string             `json:"locale,omitempty"` // BCP 47, for labels and messages; unknown ones are English
	ProtocolVersion string             `json:"protocolVersion"`
	Configuration   Configuration      `json:"configuration,omitempty"`
	Capabilities    ClientCapabilities `json:"capabilities,omitzero"`
	// Microphone is how the microphone begins, before anything can capture it: a
	// client repeats here the mute of the daemon before this one.
	Microphone MuteParams `json:"microphone,omitzero"`
	// Watch is of a watcher, which follows a daemon over its socket.
	Watch WatchParams `json:"watch,omitzero"`
}

// WatchParams says what a watcher follows. Over standard input it is ignored.
type WatchParams struct {
	Token  string `json:"token"`            // of the daemon's file
	Words  bool   `json:"words,omitempty"`  // also what is said, and what tools are called with
	Levels bool   `json:"levels,omitempty"` // also agentvoice.level
}

// ClientInfo names a client.
type ClientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// ClientCapabilities says what a client can be asked for.
type ClientCapabilities struct {
	Copilot   bool `json:"copilot,omitempty"`   // answers copilot/send
	Secrets   bool `json:"secrets,omitempty"`   // answers credentials/get
	Tools     bool `json:"tools,omitempty"`     // answers copilot/invokeTool
	Commands  bool `json:"commands,omitempty"`  // answers window/command
	Heartbeat bool `json:"heartbeat,omitempty"` // sends client/heartbeat every 5 s while its window lives
	// TranscriptAppend takes agentvoice.transcript with after: only the new text.
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

// ServerCapabilities says what this daemon can do as it was built and started.
type ServerCapabilities struct {
	Providers      []Provider `json:"providers,omitempty"`      // that can be set
	Locales        []Locale   `json:"locales,omitempty"`        // with words of their own
	Audio          bool       `json:"audio,omitempty"`          // devices can be listed and selected
	PushToTalk     bool       `json:"pushToTalk,omitempty"`     // conversation/pushToTalk
	Tools          bool       `json:"tools,omitempty"`          // tool calls and their approval
	Models         bool       `json:"models,omitempty"`         // copilot/models and copilot/selectModel
	JournalContent bool       `json:"journalContent,omitempty"` // diagnostics/journal may be full
	Headless       bool       `json:"headless,omitempty"`       // headless/advance
}

// CancelParams names the request that is no longer wanted. It is answered with
// requestCancelled, unless it was done already.
type CancelParams struct {
	ID RequestID `json:"id"`
}
