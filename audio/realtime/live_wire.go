package realtime

// The parts of the Live API that this client uses, by the public reference
// (https://platform.openai.com/docs/api-reference/live). internal/official checks them
// against the types of the service's own client library.

// liveSession is what the client asks a Live session to be.
type liveSession struct {
	Model        string         `json:"model"`
	Instructions string         `json:"instructions"`
	Delegation   liveDelegation `json:"delegation"`
	Audio        *liveAudio     `json:"audio,omitempty"`
}

type liveDelegation struct {
	Type                   string `json:"type"` // client
	AcknowledgementDelayMs int64  `json:"acknowledgement_delay_ms"`
}

type liveAudio struct {
	Output struct {
		Voice string `json:"voice"`
	} `json:"output"`
}

// liveCall makes a session over WebRTC, and is the form of its answer.
type liveCall struct {
	Session   any           `json:"session"`
	Transport liveTransport `json:"transport"`
}

type liveTransport struct {
	Type string `json:"type"` // webrtc
	SDP  string `json:"sdp"`
}

// liveAppend is what the client sends: context that is to be spoken
// (session.commentary.append) or not (session.thinking.append).
type liveAppend struct {
	Type         string  `json:"type"`
	EventID      string  `json:"event_id"`
	DelegationID *string `json:"delegation_id"` // null for none
	Content      string  `json:"content"`
}

// liveEvent is what a service sends, as far as the client reads it. Each type has some of
// the members.
type liveEvent struct {
	Type          string `json:"type"`
	ClientEventID string `json:"client_event_id"`
	Delta         string `json:"delta"`
	StartMs       int64  `json:"start_ms"`
	EndMs         int64  `json:"end_ms"`
	OffsetMs      int64  `json:"offset_ms"`
	Reason        string `json:"reason"`
	Delegation    struct {
		ID     string `json:"id"`
		Target string `json:"target"`
	} `json:"delegation"`
	Session struct {
		ExpiresAt int64 `json:"expires_at"` // Unix time
	} `json:"session"`
	Usage struct {
		Seconds float64 `json:"seconds"` // of the session so far
	} `json:"usage"`
	Error struct {
		Type          string `json:"type"`
		Code          string `json:"code"`
		Param         string `json:"param"`
		ClientEventID string `json:"client_event_id"`
	} `json:"error"`
}
