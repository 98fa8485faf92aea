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

// Dialect names a provider. How it differs from the others is its row in
// provider.Rows.
type Dialect string

// The dialects of the protocol, section 3.
const (
	OpenAI  Dialect = provider.OpenAI
	Azure   Dialect = provider.Azure
	LocalAI Dialect = provider.LocalAI
	Local   Dialect = provider.Local // the embedded server
	Live    Dialect = provider.Live  // OpenAI's Live API
)

// Kinds of turn detection.
const (
	ServerVAD   = "server_vad"
	SemanticVAD = "semantic_vad"
	NoDetection = "none" // turns end by CommitInput only
)

// TurnDetection says how the service finds the ends of what the user says.
// Zero values leave a setting to the service. It never lets the service answer.
type TurnDetection struct {
	Type          string        // ServerVAD, SemanticVAD or NoDetection; ServerVAD when empty
	Threshold     float64       // server_vad: 0 to 1
	PrefixPadding time.Duration // server_vad: audio kept before the onset
	Silence       time.Duration // server_vad: silence that ends speech
	Eagerness     string        // semantic_vad: low, medium, high or auto
}

// Kind is what a Credential is.
type Kind string

// Kinds of credentials.
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

// TURN is how to reach relays (RFC 8656). URLs are those of RFC 7065.
type TURN struct {
	URLs     []string
	Username string
	Password Credential
}

// Config is how to reach a service and what to ask of it.
type Config struct {
	Dialect Dialect
	// BaseURL is where the service is: https://api.openai.com for openai, the
	// resource's endpoint for azure, http://127.0.0.1:PORT for local.
	BaseURL            string
	Model              string // for azure the deployment
	Voice              string // the service's choice when empty
	Language           string // ISO 639-1, of what the user says; detected when empty
	TranscriptionModel string // the dialect's default when empty; for azure a deployment, which has none
	// TranscriptionPrompt is words that the user is likely to say, or a text that
	// guides the model; empty for none.
	TranscriptionPrompt string
	TurnDetection       TurnDetection
	// SessionLimit is how long a session may last at a service that neither
	// announces its end nor documents one; 0 is unknown.
	SessionLimit time.Duration
	// Credentials is asked once for each transport that a dial tries. What it gives is
	// used and not kept.
	// localai works without; the others do not.
	Credentials func(ctx context.Context) (Credential, error)
	// ConnectTimeout bounds the whole dial, 10 s when zero: a service may
	// accept a call and never connect.
	ConnectTimeout time.Duration
	HTTPClient     *http.Client // http.DefaultClient when nil
	// Loopback says that the service takes media on the loopback interface, as
	// the embedded server does; no other is used then.
	Loopback bool
	// TURN relays media where no other path works.
	TURN TURN
	// Proxy gives the proxy for a URL, nil where none is needed. TURN servers are
	// reached through it over TCP; requests take that of HTTPClient.
	Proxy func(*url.URL) (*url.URL, error)
	// Networks remembers where no media passes; nil for nothing.
	Networks *Networks
	// WrapPacketConn wraps the socket of the media, to inject faults in tests.
	WrapPacketConn func(net.PacketConn) net.PacketConn
	Log            zerolog.Logger
	// Used, if set, receives what the service reports that was used, on the goroutine
	// of the Handler and before what it is about.
	Used func(Usage)
}

// Segment is one piece of the assistant's words, to be spoken verbatim.
type Segment struct {
	ID   audio.SegmentID
	Turn uint64
	Text string
	// Speed is how fast it is spoken, 1 when zero. It is within the range that
	// Speeds gives for the dialect.
	Speed float64
}

// Handler gets what the service says: one call at a time, in the order of
// arrival, on a goroutine of the client. A method returns at once; it may call
// any method of the Client but Close.
type Handler interface {
	// SpeechStarted and SpeechStopped tell where the service heard the user
	// begin and end: pos is a sample position, at audio.SampleRate, in the
	// audio this client sent.
	SpeechStarted(item string, pos int64)
	SpeechStopped(item string, pos int64)
	// PartialTranscript is the text of the item so far, cumulative.
	PartialTranscript(item, text string)
	// FinalTranscript is all of the item's text. Confidence is how sure the
	// service is of it, 0 to 1; 1 also when it does not say.
	FinalTranscript(item, text string, confidence float64)
	TranscriptFailed(item, code string)
	// InputEmpty says that there was no audio to commit for an utterance that was
	// ended by CommitInput: no transcript of it comes, unless the service ended it
	// by itself before.
	InputEmpty(utterance uint64)
	// SpeechAudio delivers decoded audio of a segment, mono at
	// audio.SampleRate. pcm is valid during the call only.
	SpeechAudio(seg audio.SegmentID, pcm []int16)
	// SpeechEnded says that all audio of the segment was delivered.
	SpeechEnded(seg audio.SegmentID)
	// SpeechFailed says that no more audio of the segment comes, and why.
	SpeechFailed(seg audio.SegmentID, code string)
	// SpeechMismatch says that what was said of the segment is not its text. Its
	// audio is delivered all the same.
	SpeechMismatch(seg audio.SegmentID)
	// Lost says that the call broke; the client is unusable afterwards, except
	// for Stats and Close.
	Lost(code string, err error)
}

const defaultConnectTimeout = 10 * time.Second

// check completes the configuration, or says what is wrong with it.
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
	if row.Session.Transcribes { // its pipeline names the model: another one would replace the pipeline
		c.TranscriptionModel = ""
	} else if c.TranscriptionModel == "" {
		hearing, _ := row.Hears(provider.Realtime)
		c.TranscriptionModel = hearing.Model
	}
	if row.Deployments && c.TranscriptionModel == "" {
		return c, &Error{Code: CodeConnectionFailed,
			Message: "no deployment of a transcription model; set agentvoice.transcription.deployment"}
	}
	if row.Session.Live {
		speaks, _ := row.Speaks(provider.Realtime)
		c.Model = cmp.Or(c.Model, speaks.Model)
	}
	if c.TurnDetection.Type == "" {
		c.TurnDetection.Type = ServerVAD
	}
	switch c.TurnDetection.Type {
	case ServerVAD, SemanticVAD, NoDetection:
	default:
		return c, &Error{Code: CodeConnectionFailed, Message: "unknown turn detection; use server_vad, semantic_vad or none"}
	}
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = defaultConnectTimeout
	}
	if c.HTTPClient == nil {
		c.HTTPClient = http.DefaultClient
	}
	return c, nil
}
