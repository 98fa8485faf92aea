package realtime

import "encoding/json"

// The parts of the protocol that this client uses, according to the public reference
// (https://platform.openai.com/docs/api-reference/realtime). internal/official checks
// them against the types of the service's own client library.

// clientEvent is sent by the client. Each type uses some of the members.
type clientEvent struct {
	Type       string          `json:"type"`
	EventID    string          `json:"event_id,omitempty"`
	Session    *session        `json:"session,omitempty"`
	Response   *responseParams `json:"response,omitempty"`
	ResponseID string          `json:"response_id,omitempty"`
	// Of a commit; extensions of the embedded server.
	ItemID     string `json:"item_id,omitempty"` // of a hold, likewise
	AudioEndMs int64  `json:"audio_end_ms,omitempty"`
	Found      bool   `json:"found,omitempty"`
}

// session is the configuration of a session.
type session struct {
	Type             string       `json:"type"` // realtime, transcription
	Model            string       `json:"model,omitempty"`
	OutputModalities []string     `json:"output_modalities,omitempty"`
	Audio            sessionAudio `json:"audio"`
	Include          []string     `json:"include,omitempty"`
}

type sessionAudio struct {
	Input  *sessionInput `json:"input,omitempty"`
	Output sessionOutput `json:"output,omitzero"`
}

type sessionInput struct {
	Transcription transcription `json:"transcription,omitzero"`
	TurnDetection detection     `json:"turn_detection,omitzero"`
	// NoiseReduction is off if omitted.
	NoiseReduction *noiseReduction `json:"noise_reduction,omitempty"`
}

type noiseReduction struct {
	Type string `json:"type"` // near_field or far_field
}

type sessionOutput struct {
	Voice string  `json:"voice,omitempty"`
	Speed float64 `json:"speed,omitempty"`
}

type transcription struct {
	Model    string `json:"model,omitempty"`
	Language string `json:"language,omitempty"`
	Prompt   string `json:"prompt,omitempty"`
	// Instead of Prompt and Language, for models that take lists.
	Keywords  []string `json:"keywords,omitempty"`
	Languages []string `json:"languages,omitempty"`
}

// detection is null if how is nil, which disables turn detection. The zero value is omitted, which
// leaves it as the service is configured.
type detection struct {
	set bool
	how *turnDetection
}

// MarshalJSON implements json.Marshaler.
func (d detection) MarshalJSON() ([]byte, error) { return json.Marshal(d.how) }

// turnDetection disables the answers that a service would generate by itself.
type turnDetection struct {
	Type              string  `json:"type"`
	CreateResponse    bool    `json:"create_response"`
	InterruptResponse bool    `json:"interrupt_response"`
	Threshold         float64 `json:"threshold,omitempty"`
	PrefixPaddingMs   int64   `json:"prefix_padding_ms,omitempty"`
	SilenceDurationMs int64   `json:"silence_duration_ms,omitempty"`
	Eagerness         string  `json:"eagerness,omitempty"`
}

// responseParams is a response that the client requests.
type responseParams struct {
	Audio            sessionAudio      `json:"audio,omitzero"`
	Conversation     string            `json:"conversation"`
	OutputModalities []string          `json:"output_modalities"`
	Instructions     string            `json:"instructions"`
	Metadata         map[string]string `json:"metadata"`
	Input            []inputItem       `json:"input"`
}

type inputItem struct {
	Type    string        `json:"type"`
	Role    string        `json:"role"`
	Content []contentPart `json:"content"`
}

type contentPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// serverEvent holds the members of service events that the client reads. Each type uses
// some of them.
type serverEvent struct {
	Type         string       `json:"type"`
	ItemID       string       `json:"item_id"`
	ResponseID   string       `json:"response_id"`
	AudioStartMs int64        `json:"audio_start_ms"`
	AudioEndMs   int64        `json:"audio_end_ms"`
	Delta        string       `json:"delta"`
	Transcript   string       `json:"transcript"`
	Logprobs     []TokenProb  `json:"logprobs"`
	Stop         *float64     `json:"stop"`     // of a settled transcript
	Complete     *float64     `json:"complete"` // likewise
	Answer       *Answer      `json:"answer"`
	Joined       *Joined      `json:"joined"`
	Response     response     `json:"response"`
	Usage        *usage       `json:"usage"` // of a transcription
	Error        serviceError `json:"error"`
	Session      struct {
		ExpiresAt int64 `json:"expires_at"` // Unix time
	} `json:"session"`
}

type response struct {
	ID            string            `json:"id"`
	Status        string            `json:"status"`
	StatusDetails json.RawMessage   `json:"status_details"`
	Metadata      map[string]string `json:"metadata"`
	Usage         *usage            `json:"usage"`
}

type serviceError struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Param   string `json:"param"`
	EventID string `json:"event_id"` // of the client event that caused the error
}
