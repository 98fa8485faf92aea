package realtime

// The parts of the Live API that this client uses, according to the public reference
// (https://platform.openai.com/docs/api-reference/live). internal/official checks them
// against the types of the service's own client library.

// liveSession is the configuration of a Live session.
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

// liveCall requests a session over WebRTC, and is also the form of the reply.
type liveCall struct {
	Session   any           `json:"session"`
	Transport liveTransport `json:"transport"`
}

type liveTransport struct {
	Type string `json:"type"` // webrtc
	SDP  string `json:"sdp"`
}

// liveAppend is sent by the client: context to be spoken (session.commentary.append) or
// not (session.thinking.append).
type liveAppend struct {
	Type         string  `json:"type"`
	EventID      string  `json:"event_id"`
	DelegationID *string `json:"delegation_id"` // null if not an answer to a delegation
	Content      string  `json:"content"`
}

// liveEvent holds the members of service events that the client reads. Each type uses
// some of them.
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
		Seconds float64 `json:"seconds"` // session duration so far
	} `json:"usage"`
	Error struct {
		Type          string `json:"type"`
		Code          string `json:"code"`
		Param         string `json:"param"`
		ClientEventID string `json:"client_event_id"`
	} `json:"error"`
}
