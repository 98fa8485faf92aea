package realtime

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
)

// Dialect names a provider. Its row in provider.Rows describes how it differs from the
// others.
type Dialect string

// The dialects of the protocol, section 3.
const (
	OpenAI  Dialect = provider.OpenAI
	Azure   Dialect = provider.Azure
	LocalAI Dialect = provider.LocalAI
	Local   Dialect = provider.Local // the embedded server
	Live    Dialect = provider.Live  // OpenAI's Live API
)

// Turn detection types.
const (
	ServerVAD   = "server_vad"
	SemanticVAD = "semantic_vad"
	NoDetection = "none" // only CommitInput ends turns
	// ServiceDetection is how the service is configured, which knows its models
	// (provider.Session.Transcribes).
	ServiceDetection = "service"
)

// Noise reduction by the service: of a headset's microphone, or of one that is far from the user.
const (
	NearField = "near_field"
	FarField  = "far_field"
)

// TurnDetection configures how the service detects the ends of the user's turns. Zero
// values use the service's defaults. The service never answers by itself.
type TurnDetection struct {
	Type          string        // one of the types above; default ServerVAD
	Threshold     float64       // server_vad: 0 to 1
	PrefixPadding time.Duration // server_vad: audio kept before the onset
	Silence       time.Duration // server_vad: silence that ends speech
	Eagerness     string        // semantic_vad: low, medium, high or auto
}

// Kind is the kind of a Credential.
type Kind string

// Credential kinds.
const (
	APIKey     Kind = "apiKey"
	EntraToken Kind = "entraToken" // a Microsoft Entra ID bearer token (azure)
)

// Credential is a secret of the user. It prints as a placeholder however it is
// formatted, logged or marshalled.
type Credential struct {
	Value string
	Kind  Kind
}

const redacted = "[redacted]"

func (Credential) String() string { return redacted }

// GoString keeps the secret out of %#v.
func (Credential) GoString() string { return redacted }

// MarshalJSON keeps the secret out of structured logs.
func (Credential) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }

// TURN configures relays (RFC 8656). URLs follow RFC 7065.
type TURN struct {
	URLs     []string
	Username string
	Password Credential
}

// Config configures the service and the session.
type Config struct {
	Dialect Dialect
	// BaseURL is the address of the service: https://api.openai.com for openai, the
	// resource's endpoint for azure, http://127.0.0.1:PORT for local.
	BaseURL string
	Model   string // the deployment for azure
	Voice   string // if empty, the service chooses
	// Speaker, if set, returns the voice of the next segment; "" is that of the session. Only
	// the embedded server changes its voice during a session.
	Speaker            func() string
	Language           string // of the user, ISO 639-1; if empty, detected
	TranscriptionModel string // if empty, the dialect's default; azure has no default and needs a deployment
	// TranscriptionPrompt is a list of words that the user is likely to say, or a text
	// that guides the model. It is optional.
	TranscriptionPrompt string
	// Keywords and Languages are for models that take lists instead of a prompt and a language.
	Keywords, Languages []string
	// NoiseReduction is NearField or FarField for noise that the service removes (provider.Session.Noise);
	// "" for none.
	NoiseReduction string
	// NoLogprobs means that the model reports no probabilities, so they are not asked for.
	NoLogprobs bool
	// Listens asks for a session of type transcription, which recognises only: it is not asked to
	// speak, and its TurnDetection is NoDetection. The service has to have such sessions
	// (provider.Session.Listens).
	Listens       bool
	TurnDetection TurnDetection
	// Extensions requests what only the embedded server reports: SettledTranscript of the Handler,
	// Transcript.Answer and Transcript.Joined.
	Extensions bool
	// SessionLimit is the maximum session duration, for a service that neither
	// announces nor documents it; 0 if unknown.
	SessionLimit time.Duration
	// Credentials is called once for each transport that Dial tries. Its result is not
	// retained. It is optional only for localai.
	Credentials func(ctx context.Context) (Credential, error)
	// ConnectTimeout limits the whole Dial; 10 s if zero. It is needed because a
	// service may accept a call and never connect.
	ConnectTimeout time.Duration
	HTTPClient     *http.Client // http.DefaultClient when nil
	// Loopback means that the service receives media on the loopback interface, as the
	// embedded server does. Other interfaces are then not used.
	Loopback bool
	// TURN relays media if no other path works.
	TURN TURN
	// Proxy returns the proxy for a URL, or nil for a direct connection. It is used for
	// TURN over TCP; HTTP requests use the proxy of HTTPClient.
	Proxy func(*url.URL) (*url.URL, error)
	// Networks remembers networks that block media; it may be nil.
	Networks *Networks
	// WrapPacketConn wraps the media socket, to inject faults in tests.
	WrapPacketConn func(net.PacketConn) net.PacketConn
	// mediaLimit replaces the constant, for tests on a slow machine.
	mediaLimit time.Duration
	Log        zerolog.Logger
	// Used, if set, receives the usage that the service reports. It is called on the
	// Handler's goroutine, before the event that the usage belongs to.
	Used func(Usage)
	// Meter, if set, is called when the service has created a session, even if it never
	// runs. The meter is closed with the call; nil is none. It gets the service's count
	// of the time instead of Used.
	Meter func() Meter
}

// Segment is a piece of the assistant's text, to be spoken verbatim.
type Segment struct {
	ID   audio.SegmentID
	Turn uint64
	Text string
	// Speed is the speaking speed, 1 if zero. It must be within the range that Speeds
	// returns for the dialect.
	Speed float64
	// Next puts the segment ahead of those that were not requested yet.
	Next bool
}

// Handler receives the service's events: one call at a time, in order of arrival, on a
// goroutine of the client. Methods must return immediately; they may call any method of
// the Client except Close.
type Handler interface {
	// SpeechStarted and SpeechStopped report where the service detected the start and
	// end of the user's speech: pos is a sample position, at audio.SampleRate, in the
	// audio sent by this client.
	SpeechStarted(item string, pos int64)
	SpeechStopped(item string, pos int64)
	// PartialTranscript reports the text of the item so far, cumulatively.
	PartialTranscript(item, text string)
	// FinalTranscript reports the complete transcript of the item.
	FinalTranscript(item string, t Transcript)
	TranscriptFailed(item, code string)
	// InputCommitted reports the item of an utterance ended by CommitInput, if the service does
	// not end utterances by itself (NoDetection).
	InputCommitted(utterance uint64, item string)
	// InputEmpty reports that the service did not take the commit of an utterance ended by
	// CommitInput: there was no audio. No transcript follows, unless the service had already ended the
	// utterance by itself.
	InputEmpty(utterance uint64)
	// SpeechAudio delivers decoded audio of a segment, mono at audio.SampleRate. pcm is
	// valid only during the call.
	SpeechAudio(seg audio.SegmentID, pcm []int16)
	// SpeechEnded reports that all audio of the segment was delivered.
	SpeechEnded(seg audio.SegmentID)
	// SpeechFailed reports why no more audio of the segment follows.
	SpeechFailed(seg audio.SegmentID, code string)
	// SpeechMismatch reports that the spoken words differ from the segment's text, as soon as the service
	// has announced them; the first right bytes of the text were said as they are written. The audio goes
	// on unless it is cancelled. It is called at most once for a segment.
	SpeechMismatch(seg audio.SegmentID, right int)
	// Lost reports that the call broke. The client is unusable afterwards, except for
	// Stats and Close.
	Lost(code string, err error)
}

// Transcript is what was said.
type Transcript struct {
	Text string
	// Probs is the probability of each word of Text, as separated by spaces; nil if the
	// service reports none.
	Probs []float64
	// Answer is set if the sound was compared with expected answers.
	Answer *Answer
	// Joined is set if the sound was also recognised together with those before.
	Joined *Joined
}

// Joined is the text of consecutive items that were recognised as one sound.
type Joined struct {
	Transcript string   `json:"transcript"`
	Items      []string `json:"items"` // before the one that ends it
}

// Answer says how well a short sound fits the expected answers. Its numbers are natural
// logarithms of ratios of probabilities.
type Answer struct {
	Phrase string  `json:"phrase"` // the most likely one of the most likely group
	Lead   float64 `json:"lead"`   // of that group before the next one
	Behind float64 `json:"behind"` // of the phrase behind the text that is likely without them
}

// SettledHandler is a Handler that takes what was said of an item whenever the voice has paused. The
// final text may differ if the voice continues.
type SettledHandler interface {
	SettledTranscript(item string, s Settled)
}

// SpeakerHandler is a Handler that takes that the service does not accept who spoke an item. Its
// transcript came before; nothing should be done with it.
type SpeakerHandler interface {
	SpeakerRefused(item string)
}

// Settled is what was said up to a pause. It comes again if the sound is judged later than the words.
type Settled struct {
	Transcript       // without probabilities; the text may be empty
	End        int64 // position up to which it was recognised
	// Stop is the recogniser's probability of a full stop there, and Complete the end-of-turn
	// model's that the turn sounds complete; nil if unknown.
	Stop, Complete *float64
}

const defaultConnectTimeout = 10 * time.Second

// check validates the configuration and fills in defaults.
func (c Config) check() (Config, error) {
	row, ok := provider.Of(string(c.Dialect))
	if !ok || row.Session == nil {
		return c, &Error{Code: CodeConnectionFailed, Message: "unknown dialect; use openai, live, azure, localai or local"}
	}
	base, problem := row.Base(c.BaseURL)
	if problem != "" {
		return c, &Error{Code: CodeConnectionFailed, Message: problem}
	}
	c.BaseURL = base
	if c.Credentials == nil && !row.Anonymous {
		return c, &Error{Code: CodeCredentialsMissing, Message: "no source of credentials; set a key for this provider"}
	}
	if row.Session.Transcribes { // its pipeline names the model; setting one would replace the pipeline
		c.TranscriptionModel = ""
	} else if c.TranscriptionModel == "" {
		hearing, _ := row.Hears(provider.Realtime)
		if c.TranscriptionModel = hearing.Model; !c.Listens {
			c.TranscriptionModel = cmp.Or(hearing.Converses, hearing.Model)
		}
	}
	if row.Deployments && c.TranscriptionModel == "" {
		return c, &Error{Code: CodeConnectionFailed,
			Message: "no deployment of a transcription model; set agentvoice.transcription.deployment"}
	}
	c.Model = cmp.Or(c.Model, row.Session.Model) // a service's own default may end any day
	if c.TurnDetection.Type == "" {
		c.TurnDetection.Type = ServerVAD
	}
	switch c.TurnDetection.Type {
	case ServerVAD, SemanticVAD, NoDetection, ServiceDetection:
	default:
		return c, &Error{Code: CodeConnectionFailed, Message: "unknown turn detection; use server_vad, semantic_vad, none or service"}
	}
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = defaultConnectTimeout
	}
	if c.HTTPClient == nil {
		c.HTTPClient = http.DefaultClient
	}
	return c, nil
}
