package localrealtime

import "encoding/json"

// The events of the Live API, according to the public reference
// (https://platform.openai.com/docs/api-reference/live). internal/official checks them
// against the types of the public client library.

// liveClientEvent is any client event of the Live API; each kind uses some of the
// fields.
type liveClientEvent struct {
	Type         string          `json:"type"`
	EventID      string          `json:"event_id"`
	Session      json.RawMessage `json:"session"`
	DelegationID *string         `json:"delegation_id"`
	Content      string          `json:"content"`
}

// liveConfig is a client's configuration of a Live session. Fields that are not listed
// here are accepted and ignored.
type liveConfig struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Delegation   *liveDelegation `json:"delegation"`
	Audio        struct {
		Format *audioFormat `json:"format"`
		Output struct {
			Voice voiceName `json:"voice"`
		} `json:"output"`
	} `json:"audio"`
}

type liveDelegation struct {
	Type                   string `json:"type"` // client
	AcknowledgementDelayMs *int64 `json:"acknowledgement_delay_ms,omitempty"`
}

// liveHead is the common head of all server events.
type liveHead struct {
	Type          string `json:"type"`
	EventID       string `json:"event_id"`
	ClientEventID string `json:"client_event_id,omitempty"` // id of the client event that it answers
}

// liveSessionEvent is session.started, session.updated and session.closed.
type liveSessionEvent struct {
	liveHead
	Session liveSession `json:"session"`
	Reason  string      `json:"reason,omitempty"` // of session.closed
	Usage   *liveUsage  `json:"usage,omitempty"`  // of session.closed
}

// liveSession is a Live session as shown by the server.
type liveSession struct {
	ID           string         `json:"id"`
	ExpiresAt    int64          `json:"expires_at"` // Unix time
	Model        string         `json:"model"`
	Status       string         `json:"status"` // active
	Instructions string         `json:"instructions"`
	Delegation   liveDelegation `json:"delegation"`
	Audio        liveAudio      `json:"audio"`
	Store        bool           `json:"store"`
}

type liveAudio struct {
	Format *audioFormat `json:"format,omitempty"` // over WebSocket
	Output struct {
		Voice string `json:"voice,omitempty"`
	} `json:"output"`
}

type liveUsage struct {
	Seconds float64 `json:"seconds"` // duration of the session so far
}

// liveUsageEvent is session.usage.updated.
type liveUsageEvent struct {
	liveHead
	Usage liveUsage `json:"usage"`
}

// liveSpanEvent refers to a time span of the session: session.input_transcript.delta,
// session.output_transcript.delta, and the confirmation of appended content, which has
// no delta.
type liveSpanEvent struct {
	liveHead
	Delta   *string `json:"delta,omitempty"`
	StartMs int64   `json:"start_ms"`
	EndMs   int64   `json:"end_ms"`
}

// liveDelegationEvent is session.delegation.created.
type liveDelegationEvent struct {
	liveHead
	OffsetMs   int64 `json:"offset_ms"`
	Delegation struct {
		ID     string `json:"id"`
		Type   string `json:"type"`   // delegation
		Target string `json:"target"` // client
	} `json:"delegation"`
}

// liveAudioEvent is session.output_audio.delta, over WebSocket.
type liveAudioEvent struct {
	Type  string `json:"type"`
	Delta string `json:"delta"` // base64
}

// liveErrorEvent is error.
type liveErrorEvent struct {
	liveHead
	Error liveError `json:"error"`
}

type liveError struct {
	Type          string `json:"type"`
	Code          string `json:"code"`
	Message       string `json:"message"`
	Param         string `json:"param,omitempty"`
	ClientEventID string `json:"client_event_id,omitempty"`
}
