package localrealtime

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/turns"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
)

// session is the effective configuration of a call, as shown by session.created and
// session.updated. Updates are merged into it by decoding.
type session struct {
	ID               string       `json:"id"`
	Object           string       `json:"object"`
	Type             string       `json:"type"`
	Model            string       `json:"model"`
	OutputModalities []string     `json:"output_modalities"`
	Instructions     string       `json:"instructions"`
	Audio            sessionAudio `json:"audio"`
	Include          []string     `json:"include"`
	ExpiresAt        int64        `json:"expires_at,omitempty"` // Unix time; of a call

	answers bool // the server has a Model

	// These configure a Model. Without one, they are stored and shown but have no
	// effect.
	Tools           json.RawMessage `json:"tools,omitempty"`
	ToolChoice      json.RawMessage `json:"tool_choice,omitempty"`
	MaxOutputTokens json.RawMessage `json:"max_output_tokens,omitempty"`

	// These are stored and shown but have no effect.
	ParallelToolCalls json.RawMessage `json:"parallel_tool_calls,omitempty"`
	Prompt            json.RawMessage `json:"prompt,omitempty"`
	Reasoning         json.RawMessage `json:"reasoning,omitempty"`
	Tracing           json.RawMessage `json:"tracing,omitempty"`
	Truncation        json.RawMessage `json:"truncation,omitempty"`
}

type sessionAudio struct {
	Input  sessionInput  `json:"input"`
	Output sessionOutput `json:"output"`
}

type sessionInput struct {
	Format         audioFormat     `json:"format"`
	Transcription  *transcription  `json:"transcription"`
	NoiseReduction json.RawMessage `json:"noise_reduction"`
	TurnDetection  *turnDetection  `json:"turn_detection"`
}

type sessionOutput struct {
	Format audioFormat `json:"format"`
	Voice  voiceName   `json:"voice"`
	Speed  float64     `json:"speed"`
}

// audioFormat is the format of audio in events. RTP media is always Opus.
type audioFormat struct {
	Type string `json:"type"`
	Rate int    `json:"rate"`
}

// transcription requests transcripts. The local recogniser has one model and language,
// so the requested ones are shown but have no effect.
type transcription struct {
	Model    string          `json:"model,omitempty"`
	Language string          `json:"language,omitempty"`
	Prompt   string          `json:"prompt,omitempty"`
	Delay    json.RawMessage `json:"delay,omitempty"`
	// Instead of prompt and language, for models that take lists.
	Keywords  []string `json:"keywords,omitempty"`
	Languages []string `json:"languages,omitempty"`
}

// listening is the type of a session that recognises only.
const listening = "transcription"

// voiceName is a name, or an object with an id.
type voiceName string

// UnmarshalJSON accepts both forms.
func (v *voiceName) UnmarshalJSON(data []byte) error {
	var object struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(data, (*string)(v)) == nil {
		return nil
	}
	if json.Unmarshal(data, &object) != nil {
		return invalidf("invalid_type", "voice", "voice must be a name or an object with an id")
	}
	*v = voiceName(object.ID)
	return nil
}

// openAIVoices are voice names that stock clients send by default. They map to the
// engine's first voice.
var openAIVoices = []string{"alloy", "ash", "ballad", "coral", "echo", "sage", "shimmer", "verse", "marin", "cedar"}

// turnDetection is server_vad or semantic_vad; the fields of the other type are nil.
type turnDetection struct {
	Type              string   `json:"type"`
	Threshold         *float64 `json:"threshold,omitempty"`
	PrefixPaddingMs   *int64   `json:"prefix_padding_ms,omitempty"`
	SilenceDurationMs *int64   `json:"silence_duration_ms,omitempty"`
	IdleTimeoutMs     *int64   `json:"idle_timeout_ms,omitempty"`
	Eagerness         *string  `json:"eagerness,omitempty"`
	CreateResponse    *bool    `json:"create_response"` // nil only while decoding
	InterruptResponse bool     `json:"interrupt_response"`
}

// defaultTurnDetection returns the defaults of the public API, except for
// create_response, whose default depends on whether there is a Model.
func defaultTurnDetection(kind string) turnDetection {
	t := turnDetection{Type: kind, InterruptResponse: true}
	switch kind {
	case "server_vad":
		threshold, padding, silence := 0.5, int64(300), int64(500)
		t.Threshold, t.PrefixPaddingMs, t.SilenceDurationMs = &threshold, &padding, &silence
	case "semantic_vad":
		auto := "auto"
		t.Eagerness = &auto
	}
	return t
}

// UnmarshalJSON merges into t; a different type starts from its own defaults.
func (t *turnDetection) UnmarshalJSON(data []byte) error {
	type plain turnDetection
	head := struct {
		Type string `json:"type"`
	}{t.Type}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	if head.Type == "" {
		head.Type = "server_vad"
	}
	if head.Type != t.Type {
		*t = defaultTurnDetection(head.Type)
	}
	return decode(data, (*plain)(t), "session.audio.input.turn_detection.")
}

// newSession returns the default session with the updates applied in order; empty
// updates are skipped.
func (s *Server) newSession(updates ...json.RawMessage) (session, error) {
	return newSession(s.cfg.Model != nil, updates...)
}

// newSession is Server.newSession; answers reports whether there is a Model.
func newSession(answers bool, updates ...json.RawMessage) (session, error) {
	td := defaultTurnDetection("server_vad")
	td.CreateResponse = &answers
	s := session{
		answers: answers,
		ID:      newID("sess"), Object: "realtime.session", Type: "realtime", Model: modelID,
		OutputModalities: []string{"audio"},
		Audio: sessionAudio{
			Input:  sessionInput{Format: audioFormat{"audio/pcm", 24000}, NoiseReduction: json.RawMessage("null"), TurnDetection: &td},
			Output: sessionOutput{Format: audioFormat{"audio/pcm", 24000}, Speed: 1},
		},
	}
	for _, u := range updates {
		if len(u) == 0 {
			continue
		}
		next, err := s.updated(u)
		if err != nil {
			return session{}, err
		}
		s = next
	}
	return s, nil
}

// updated returns s with the fields of update changed. On failure it returns a
// *protocolError, and s is unchanged.
func (s session) updated(update json.RawMessage) (session, error) {
	// Decoding writes through pointers and slices, so next needs its own copies.
	var next session
	own, err := json.Marshal(s)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(own, &next); err != nil {
		return s, err
	}
	if err := decode(update, &next, "session."); err != nil {
		return s, err
	}
	next.ID, next.Object, next.ExpiresAt, next.answers = s.ID, s.Object, s.ExpiresAt, s.answers
	next.answers = next.answers && next.Type != listening
	if td := next.Audio.Input.TurnDetection; td != nil && (td.CreateResponse == nil || next.Type == listening) {
		td.CreateResponse = &next.answers
	}
	// The server does not filter input noise, and its reply says so.
	next.Audio.Input.NoiseReduction = json.RawMessage("null")
	return next, next.check()
}

// check returns an error for the first value that this server does not support.
func (s session) check() error {
	const out, in = "session.audio.output.", "session.audio.input."
	switch {
	case s.Type != "realtime" && s.Type != listening:
		return invalidf("invalid_value", "session.type", "session.type must be \"realtime\" or \"transcription\"; other sessions are not offered here")
	case !slices.Equal(s.OutputModalities, []string{"audio"}):
		return invalidf("invalid_value", "session.output_modalities", "session.output_modalities must be [\"audio\"]: this server has no text model")
	case !(s.Audio.Output.Speed >= voice.MinRate && s.Audio.Output.Speed <= voice.MaxRate):
		return invalidf("invalid_value", out+"speed", "%sspeed must be %v to %v", out, voice.MinRate, voice.MaxRate)
	case s.Audio.Input.Format.Type != "audio/pcm":
		return invalidf("invalid_value", in+"format.type", "%sformat.type must be \"audio/pcm\"; audio over RTP is Opus in any case", in)
	case s.Audio.Output.Format.Type != "audio/pcm":
		return invalidf("invalid_value", out+"format.type", "%sformat.type must be \"audio/pcm\"; audio over RTP is Opus in any case", out)
	}
	for _, f := range []struct {
		path   string
		format audioFormat
	}{{in, s.Audio.Input.Format}, {out, s.Audio.Output.Format}} {
		if f.format.Rate < minRate || f.format.Rate > maxRate {
			return invalidf("invalid_value", f.path+"format.rate", "%sformat.rate must be %d to %d", f.path, minRate, maxRate)
		}
	}
	if _, err := toolsOf(s.Tools, "session.tools"); err != nil {
		return err
	}
	return s.Audio.Input.TurnDetection.check()
}

// PCM rates in events, in Hz. The public API uses 24000.
const (
	minRate = 8000
	maxRate = 48000
)

// check enforces the ranges of the public API.
func (t *turnDetection) check() error {
	const path = "session.audio.input.turn_detection."
	if t == nil {
		return nil
	}
	switch t.Type {
	case "server_vad":
		if t.Eagerness != nil {
			return invalidf("unknown_parameter", path+"eagerness", "eagerness belongs to semantic_vad")
		}
	case "semantic_vad":
		if t.Threshold != nil || t.PrefixPaddingMs != nil || t.SilenceDurationMs != nil || t.IdleTimeoutMs != nil {
			return invalidf("unknown_parameter", path+"type", "semantic_vad takes eagerness, create_response and interrupt_response only")
		}
		if _, ok := turns.Eager(*cmp.Or(t.Eagerness, new(string))); !ok {
			return invalidf("invalid_value", path+"eagerness", "eagerness must be low, medium, high or auto")
		}
		return nil
	default:
		return invalidf("invalid_value", path+"type", "turn_detection.type must be server_vad or semantic_vad, or turn_detection null")
	}
	if t.Threshold == nil || *t.Threshold < 0 || *t.Threshold > 1 {
		return invalidf("invalid_value", path+"threshold", "threshold must be 0 to 1")
	}
	for _, f := range []struct {
		name      string
		value     *int64
		min, max  int64
		mayBeNull bool
	}{
		{"prefix_padding_ms", t.PrefixPaddingMs, 0, 5000, false},
		{"silence_duration_ms", t.SilenceDurationMs, 20, 10000, false},
		{"idle_timeout_ms", t.IdleTimeoutMs, 5000, 30000, true},
	} {
		if f.value == nil && f.mayBeNull {
			continue
		}
		if f.value == nil || *f.value < f.min || *f.value > f.max {
			return invalidf("invalid_value", path+f.name, "%s must be %d to %d", f.name, f.min, f.max)
		}
	}
	return nil
}

// delays returns the pauses that end a turn.
func (t *turnDetection) delays() turns.Delays {
	if t.Type == "semantic_vad" {
		d, _ := turns.Eager(*t.Eagerness) // checked
		return d
	}
	return turns.Silence(t.endpointer().Silence)
}

// minSpeech is two windows of 32 ms, so that a click does not count as an onset.
const minSpeech = 2 * vad.WindowTime

// endpointer returns the endpointer configuration for t.
func (t *turnDetection) endpointer() vad.EndpointerConfig {
	ms := func(n *int64) time.Duration { return time.Duration(*n) * time.Millisecond }
	if t.Type == "semantic_vad" {
		return vad.EndpointerConfig{PrefixPadding: 300 * time.Millisecond, Silence: t.delays().Unclear, MinSpeech: minSpeech}
	}
	return vad.EndpointerConfig{
		// Zero would select the endpointer's default.
		Threshold:     max(float32(*t.Threshold), 0.01),
		PrefixPadding: ms(t.PrefixPaddingMs), Silence: ms(t.SilenceDurationMs), MinSpeech: minSpeech,
	}
}

// creates reports whether each turn gets an answer automatically.
func (t *turnDetection) creates() bool {
	return t != nil && t.CreateResponse != nil && *t.CreateResponse
}

// idleTimeout returns 0 if unset.
func (t *turnDetection) idleTimeout() time.Duration {
	if t == nil || t.IdleTimeoutMs == nil {
		return 0
	}
	return time.Duration(*t.IdleTimeoutMs) * time.Millisecond
}

// decode merges data into v. Unknown fields are accepted, so that clients of a later
// protocol version can connect. Its errors are *protocolError, with the path of the
// field below prefix.
func decode(data []byte, v any, prefix string) error {
	if err := json.Unmarshal(data, v); err != nil {
		return decodeError(err, prefix)
	}
	return nil
}

// decodeError describes what is wrong with JSON without repeating its values.
func decodeError(err error, prefix string) *protocolError {
	var (
		known   *protocolError
		mistype *json.UnmarshalTypeError
		base64  base64.CorruptInputError
	)
	switch {
	case errors.As(err, &base64):
		return invalidf("invalid_value", prefix+"audio", "%saudio is not valid base64", prefix)
	case errors.As(err, &known):
		return known
	case errors.As(err, &mistype):
		param := strings.TrimSuffix(prefix+mistype.Field, ".")
		return invalidf("invalid_type", param, "%s must not be a JSON %s", orBody(param), strings.Fields(mistype.Value)[0])
	}
	return invalidf("invalid_json", strings.TrimSuffix(prefix, "."), "%s is not valid JSON", orBody(strings.TrimSuffix(prefix, ".")))
}

func orBody(param string) string {
	if param == "" {
		return "the body"
	}
	return param
}

// equal compares the values, not the pointers.
func (t *turnDetection) equal(o *turnDetection) bool { return reflect.DeepEqual(t, o) }
