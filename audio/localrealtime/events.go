package localrealtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
)

// The events of the protocol, according to the public reference
// (https://platform.openai.com/docs/api-reference/realtime). internal/official checks
// them against the types of the public client library.

// Size limits of one client event, in bytes. The limit for events with audio is that of
// the public API.
const (
	maxEventBytes       = 256 << 10
	maxSocketEventBytes = 15 << 20
)

// clientEvent is any client event; each kind uses some of the fields.
type clientEvent struct {
	Type    string `json:"type"`
	EventID string `json:"event_id"`

	Session        json.RawMessage `json:"session"`
	Response       json.RawMessage `json:"response"`
	Item           json.RawMessage `json:"item"`
	ItemID         string          `json:"item_id"`
	PreviousItemID string          `json:"previous_item_id"`
	ResponseID     string          `json:"response_id"`
	AudioEndMs     int64           `json:"audio_end_ms"`
	Found          bool            `json:"found"`
	Audio          []byte          `json:"audio"` // base64
}

// responseCreate is the response field of response.create.
type responseCreate struct {
	Conversation     string            `json:"conversation"`
	OutputModalities []string          `json:"output_modalities"`
	Input            []conversationIn  `json:"input"`
	Metadata         map[string]string `json:"metadata"`
	Instructions     string            `json:"instructions"`
	Audio            struct {
		Output struct {
			Format *audioFormat `json:"format"`
			Voice  voiceName    `json:"voice"`
		} `json:"output"`
	} `json:"audio"`

	// These override the session's values for a Model. Without a Model they have no
	// effect.
	Tools           json.RawMessage `json:"tools"`
	ToolChoice      json.RawMessage `json:"tool_choice"`
	MaxOutputTokens json.RawMessage `json:"max_output_tokens"`
}

// conversationIn is an item as sent by a client: a message, a function call, a function
// output, or a reference to an item.
type conversationIn struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Role    string `json:"role"`
	Content []struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Transcript string `json:"transcript"`
	} `json:"content"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Output    string `json:"output"`
}

// Item types.
const (
	itemMessage        = "message"
	itemFunctionCall   = "function_call"
	itemFunctionOutput = "function_call_output"
)

// item is an entry of the conversation as shown by the server.
type item struct {
	ID     string
	Type   string
	Status string
	// summary is the job of the summary that includes the item or will include it; 0 if
	// not summarised.
	summary uint32

	// message
	Role      string
	Content   []part
	written   string // assistant only: what the Model wrote and the user heard; if empty, Content applies
	marks     []mark // assistant only: end positions of its pieces in the audio
	truncated bool   // assistant only: Content was cut to what the user heard

	// function call and function output
	CallID          string
	Name, Arguments string
	Output          string
}

// mark is the position in the audio where a piece of an answer ends.
type mark struct {
	text  string
	endMs int64
}

// MarshalJSON writes the fields that belong to the item's type.
func (it item) MarshalJSON() ([]byte, error) {
	type head struct {
		ID     string `json:"id"`
		Object string `json:"object"`
		Type   string `json:"type"`
		Status string `json:"status"`
	}
	h := head{it.ID, "realtime.item", it.Type, it.Status}
	switch it.Type {
	case itemFunctionCall:
		return json.Marshal(struct {
			head
			CallID    string `json:"call_id"`
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		}{h, it.CallID, it.Name, it.Arguments})
	case itemFunctionOutput:
		return json.Marshal(struct {
			head
			CallID string `json:"call_id"`
			Output string `json:"output"`
		}{h, it.CallID, it.Output})
	}
	return json.Marshal(struct {
		head
		Role    string `json:"role"`
		Content []part `json:"content"`
	}{h, it.Role, it.Content})
}

// part is one content part of an item. input_text and output_text use Text; input_audio
// (null until known), output_audio and audio use Transcript.
type part struct {
	Type       string
	Text       string
	Transcript *string
}

// MarshalJSON writes the fields that belong to the part's type.
func (p part) MarshalJSON() ([]byte, error) {
	if p.Type == "input_text" || p.Type == "output_text" {
		return json.Marshal(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{p.Type, p.Text})
	}
	return json.Marshal(struct {
		Type       string  `json:"type"`
		Transcript *string `json:"transcript"`
	}{p.Type, p.Transcript})
}

// text returns the written text or transcript of the part.
func (p part) text() string {
	if p.Transcript != nil {
		return *p.Transcript
	}
	return p.Text
}

// audioBufferEvent is input_audio_buffer.speech_started, .speech_stopped and
// .timeout_triggered. The type determines which positions are set.
type audioBufferEvent struct {
	Type         string `json:"type"`
	EventID      string `json:"event_id"`
	ItemID       string `json:"item_id"`
	AudioStartMs *int64 `json:"audio_start_ms,omitempty"`
	AudioEndMs   *int64 `json:"audio_end_ms,omitempty"`
}

type inputClearedEvent struct {
	Type    string `json:"type"` // input_audio_buffer.cleared
	EventID string `json:"event_id"`
}

// outputBufferEvent is output_audio_buffer.started, .stopped and .cleared. cleared has
// no response if nothing was playing.
type outputBufferEvent struct {
	Type       string `json:"type"`
	EventID    string `json:"event_id"`
	ResponseID string `json:"response_id"`
}

type transcriptDeltaEvent struct {
	Type         string `json:"type"` // conversation.item.input_audio_transcription.delta
	EventID      string `json:"event_id"`
	ItemID       string `json:"item_id"`
	ContentIndex int    `json:"content_index"`
	Delta        string `json:"delta"`
}

type itemDeletedEvent struct {
	Type    string `json:"type"` // conversation.item.deleted
	EventID string `json:"event_id"`
	ItemID  string `json:"item_id"`
}

type itemTruncatedEvent struct {
	Type         string `json:"type"` // conversation.item.truncated
	EventID      string `json:"event_id"`
	ItemID       string `json:"item_id"`
	ContentIndex int    `json:"content_index"`
	AudioEndMs   int64  `json:"audio_end_ms"`
}

// outputAudioEvent is response.output_audio.delta (over WebSocket, base64) and .done,
// and response.output_audio_transcript.delta and .done.
type outputAudioEvent struct {
	Type         string  `json:"type"`
	EventID      string  `json:"event_id"`
	ResponseID   string  `json:"response_id"`
	ItemID       string  `json:"item_id"`
	OutputIndex  int     `json:"output_index"`
	ContentIndex int     `json:"content_index"`
	Delta        *string `json:"delta,omitempty"`
	Transcript   *string `json:"transcript,omitempty"`
}

type sessionEvent struct {
	Type    string  `json:"type"` // session.created, session.updated
	EventID string  `json:"event_id"`
	Session session `json:"session"`
}

type itemEvent struct {
	Type           string  `json:"type"` // conversation.item.added, .done
	EventID        string  `json:"event_id"`
	PreviousItemID *string `json:"previous_item_id"`
	Item           item    `json:"item"`
}

type retrievedEvent struct {
	Type    string `json:"type"` // conversation.item.retrieved
	EventID string `json:"event_id"`
	Item    item   `json:"item"`
}

type committedEvent struct {
	Type           string  `json:"type"` // input_audio_buffer.committed
	EventID        string  `json:"event_id"`
	PreviousItemID *string `json:"previous_item_id"`
	ItemID         string  `json:"item_id"`
}

type transcribedEvent struct {
	Type         string `json:"type"` // conversation.item.input_audio_transcription.completed
	EventID      string `json:"event_id"`
	ItemID       string `json:"item_id"`
	ContentIndex int    `json:"content_index"`
	Transcript   string `json:"transcript"`
	// Logprobs has one entry for the whole transcript if the engine reports a
	// confidence.
	Logprobs []logprob `json:"logprobs,omitempty"`
	// Answer is an extension; see includeAnswer.
	Answer *hearing.Answer `json:"answer,omitempty"`
	// Joined is an extension; see includeJoined.
	Joined *joined `json:"joined,omitempty"`
	Usage  struct {
		Type    string  `json:"type"` // duration
		Seconds float64 `json:"seconds"`
	} `json:"usage"`
}

// settledEvent is an extension; see includeSettled.
type settledEvent struct {
	Type       string `json:"type"` // conversation.item.input_audio_transcription.settled
	EventID    string `json:"event_id"`
	ItemID     string `json:"item_id"`
	Transcript string `json:"transcript"` // may be empty
	AudioEndMs int64  `json:"audio_end_ms"`
	// Stop is the probability of a full stop there; absent if unknown.
	Stop *float64 `json:"stop,omitempty"`
	// Complete is the probability that the turn sounds complete; absent if unknown.
	Complete *float64 `json:"complete,omitempty"`
	// Answer is an extension; see includeAnswer.
	Answer *hearing.Answer `json:"answer,omitempty"`
}

type logprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"` // natural
}

type transcriptionFailedEvent struct {
	Type         string         `json:"type"` // conversation.item.input_audio_transcription.failed
	EventID      string         `json:"event_id"`
	ItemID       string         `json:"item_id"`
	ContentIndex int            `json:"content_index"`
	Error        *protocolError `json:"error"`
}

type responseEvent struct {
	Type     string         `json:"type"` // response.created, response.done
	EventID  string         `json:"event_id"`
	Response responseObject `json:"response"`
}

type responseObject struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"` // realtime.response
	Status           string            `json:"status"`
	StatusDetails    *statusDetails    `json:"status_details"`
	Output           []item            `json:"output"`
	ConversationID   *string           `json:"conversation_id"`
	OutputModalities []string          `json:"output_modalities"`
	MaxOutputTokens  string            `json:"max_output_tokens"` // inf
	Metadata         map[string]string `json:"metadata"`
	Audio            responseAudio     `json:"audio"`
	Usage            *usage            `json:"usage"`
}

type responseAudio struct {
	Output struct {
		Format audioFormat `json:"format"`
		Voice  string      `json:"voice"`
	} `json:"output"`
}

type statusDetails struct {
	Type   string         `json:"type"`             // cancelled, failed
	Reason string         `json:"reason,omitempty"` // turn_detected, client_cancelled
	Error  *protocolError `json:"error,omitempty"`
}

// usage is the usage that the Model reports; zero without a report or a Model.
type usage struct {
	TotalTokens  int64 `json:"total_tokens"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
}

type outputItemEvent struct {
	Type        string `json:"type"` // response.output_item.added, .done
	EventID     string `json:"event_id"`
	ResponseID  string `json:"response_id"`
	OutputIndex int    `json:"output_index"`
	Item        item   `json:"item"`
}

type contentPartEvent struct {
	Type         string `json:"type"` // response.content_part.added, .done
	EventID      string `json:"event_id"`
	ResponseID   string `json:"response_id"`
	ItemID       string `json:"item_id"`
	OutputIndex  int    `json:"output_index"`
	ContentIndex int    `json:"content_index"`
	Part         part   `json:"part"`
}

// functionArgumentsEvent is response.function_call_arguments.delta and .done.
type functionArgumentsEvent struct {
	Type        string `json:"type"`
	EventID     string `json:"event_id"`
	ResponseID  string `json:"response_id"`
	ItemID      string `json:"item_id"`
	OutputIndex int    `json:"output_index"`
	CallID      string `json:"call_id"`
	Delta       string `json:"delta,omitempty"`
	Name        string `json:"name,omitempty"`
	Arguments   string `json:"arguments,omitempty"`
}

type errorEvent struct {
	Type    string         `json:"type"` // error
	EventID string         `json:"event_id"`
	Error   *protocolError `json:"error"`
}

// protocolError is an error in the form of the public API, for HTTP and for events. It
// contains names but never values that the client sent.
type protocolError struct {
	Type    string  `json:"type"` // invalid_request_error, server_error, rate_limit_error
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Param   *string `json:"param"`
	// EventID identifies the client event that caused the error.
	EventID *string `json:"event_id,omitempty"`
}

func (e *protocolError) Error() string { return e.Message }

// invalidf returns a client error. An empty param is omitted.
func invalidf(code, param, format string, args ...any) *protocolError {
	e := &protocolError{Type: "invalid_request_error", Code: code, Message: fmt.Sprintf(format, args...)}
	if param != "" {
		e.Param = &param
	}
	return e
}

// sessionExpired is the error that the public API sends before it closes a session that
// reached its maximum duration.
func sessionExpired(limit time.Duration) *protocolError {
	return invalidf(codeSessionExpired, "", "Your session hit the maximum duration of %v.", limit)
}

// serverError wraps a failure of the server or of an engine.
func serverError(err error) *protocolError {
	if known := (*protocolError)(nil); errors.As(err, &known) {
		return known
	}
	return &protocolError{Type: "server_error", Code: "server_error", Message: err.Error()}
}
