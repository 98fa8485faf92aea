// Package provider is the table of the speech services: how each is reached, and what
// it supports. Code queries the table rather than checking a provider's name, so adding
// a provider means adding a row.
//
// Providers are used over wires. A wire is a protocol: a realtime session, or an HTTP
// request for each utterance or segment. The default is the first usable wire of a row;
// a wire is unusable if it needs a model that neither the row nor the user names.
package provider

import (
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/services"
)

// The providers.
const (
	OpenAI     = "openai"
	Azure      = "azure"
	LocalAI    = "localai"
	Live       = "live"       // OpenAI's Live API
	Local      = "local"      // the embedded server
	Compatible = "compatible" // any server of /v1/audio/speech and /v1/audio/transcriptions
)

// Wire is the protocol over which a provider recognises or speaks.
type Wire string

// The wires.
const (
	Realtime       Wire = "realtime"       // a realtime session, over one of its transports; in a row without one, vLLM's stream per utterance
	Transcriptions Wire = "transcriptions" // POST /v1/audio/transcriptions per utterance
	Speech         Wire = "speech"         // POST /v1/audio/speech per segment
	Engine         Wire = "engine"         // in this process, alongside a session with another provider
)

// Transport carries a realtime session.
type Transport string

// The transports. WebRTC requires a network that permits its media: over UDP, over TCP
// if the service supports it, or over a TURN server. WebSocket works wherever HTTPS
// does.
const (
	WebRTC    Transport = "WebRTC"
	WebSocket Transport = "WebSocket"
)

// Row describes a provider.
type Row struct {
	Name        string   // as in protocol.Providers
	Home        string   // default base URL; "" if the user must configure one
	Prefix      string   // path of the API, below the base URL
	Anonymous   bool     // usable without a key
	PlainHTTP   bool     // plain HTTP to another machine is allowed
	KeyHeader   string   // header of the API key; "" for a bearer token
	Deployments bool     // the user's deployments name the models, so there is no default
	Session     *Session // for wire Realtime; nil if unsupported
	Hearing     []Hearing
	Voice       []Voice
}

// Session describes how to establish a realtime session.
type Session struct {
	Transports []Transport // in order of preference; at least one
	// Model is the default model. A service without one names it by its pipeline or a deployment, or takes any.
	Model     string
	Ephemeral bool // WebRTC exchanges the key at client_secrets
	JSONOffer bool // offer and answer are JSON {sdp, model}
	// Transcribes means that recognition uses a session of type transcription, whose
	// pipeline names the models and knows how to detect turns with them. It still speaks on
	// request. A realtime session would answer the user whatever create_response is. The models
	// load before the session is announced.
	Transcribes bool
	// Unnamed means that speech_started and speech_stopped name no item and have the time of
	// the service's clock, which lags behind the audio: captions or the commit name the item.
	Unnamed bool
	// Listens means that a session of type transcription is to be had too, over a WebSocket with
	// ?intent=transcription. It neither speaks nor detects turns.
	Listens bool
	// Live means that it is a session of the Live API, which recognises, speaks and
	// owns the turns, and delegates what the user said to the client.
	Live bool
	// Gaps means that audio that was not sent counts as silence, so silence need not be
	// sent.
	Gaps bool
	// Noise means that the service can remove noise from the audio.
	Noise bool
	// Commits means that without turn detection the service keeps audio until it is committed, which
	// it answers with the item, or cleared.
	Commits bool
	// Limit is the documented maximum duration, for a service that does not announce it
	// as expires_at. 0 if unknown.
	Limit time.Duration
}

// Hearing describes speech recognition by a provider over a wire.
type Hearing struct {
	Wire       Wire
	Model      string     // default model
	Converses  string     // default model in a session that also speaks or detects turns, if Model cannot
	Partials   Support    // partial results while the user speaks
	Logprobs   bool       // finals include probabilities, which identify uncertain words
	Vocabulary Vocabulary // how names and terms can be passed with the audio
	Streams    bool       // Transcriptions: the text can be streamed
	Languages  bool       // takes a list of languages instead of one
}

// Support says whether a service has a capability.
type Support string

// The kinds of support.
const (
	Unsupported Support = "no"
	Supported   Support = "yes"
	ByPipeline  Support = "if its pipeline streams" // nothing announces it
)

// Vocabulary is the format in which a provider accepts names and terms.
type Vocabulary string

// The formats; "" if unsupported.
const (
	Prompt   Vocabulary = "prompt"    // a text sent with the audio
	Keywords Vocabulary = "keywords"  // a list sent with the audio
	HotWords Vocabulary = "hot words" // a list of words, for Moonshine and transducers with bpe_vocab
)

// Voice describes speech synthesis by a provider over a wire.
type Voice struct {
	Wire     Wire
	Model    string // default; "" if the user must name one or the session defines it
	Voice    string // default; "" for the service's choice
	Verbatim bool   // speaks the text itself, not a model's version of it
	// HeardPositions means that audio can be attributed to segments. Over WebRTC that
	// requires the RTP marker bit on the first packet of each response and on no other
	// (RFC 3551, section 4.1). Some servers set it on every packet, some after every
	// pause; for those, silence marks the end of a segment.
	HeardPositions bool
	Cancel         bool // speech in progress can be stopped at the service
	Truncate       bool // supports conversation.item.truncate
	// Slowest and Fastest are the documented speed range; both are 1 for a service with
	// a single speed.
	Slowest, Fastest float64
}

var overBoth = []Transport{WebRTC, WebSocket}

// Rows is the table.
var Rows = []Row{
	{
		Name: Local, Prefix: "/v1",
		Session: &Session{Transports: overBoth, Ephemeral: true, Gaps: true},
		Hearing: []Hearing{{Wire: Realtime, Model: "whisper-1", Partials: Supported, Logprobs: true, Vocabulary: HotWords}},
		Voice: []Voice{
			{Wire: Realtime, Verbatim: true, HeardPositions: true, Truncate: true, Cancel: true, Slowest: 0.5, Fastest: 3},
			{Wire: Engine, Verbatim: true, HeardPositions: true, Cancel: true, Slowest: 0.5, Fastest: 3},
		},
	},
	{
		Name: OpenAI, Home: "https://api.openai.com", Prefix: "/v1",
		Session: &Session{Transports: overBoth, Model: "gpt-realtime-2.1-mini", Ephemeral: true, Listens: true, Noise: true, Commits: true, Limit: 60 * time.Minute},
		Hearing: []Hearing{
			{Wire: Realtime, Model: "gpt-live-transcribe", Converses: "gpt-transcribe", Partials: Supported, Vocabulary: Keywords, Languages: true},
			{Wire: Transcriptions, Model: "gpt-transcribe", Partials: Unsupported, Vocabulary: Keywords, Languages: true, Streams: true},
		},
		Voice: []Voice{
			{Wire: Speech, Voice: "alloy", Verbatim: true, HeardPositions: true, Cancel: true, Slowest: 0.25, Fastest: 4},
			{Wire: Realtime, Truncate: true, Cancel: true, Slowest: 0.25, Fastest: 1.5},
		},
	},
	{
		Name: Live, Home: "https://api.openai.com", Prefix: "/v1",
		Session: &Session{Transports: []Transport{WebRTC}, Model: "gpt-live-1", Live: true, Limit: 2 * time.Hour},
		Hearing: []Hearing{{Wire: Realtime, Model: "gpt-live-1", Partials: Supported, Vocabulary: Prompt}},
		Voice:   []Voice{{Wire: Realtime, Model: "gpt-live-1", Slowest: 1, Fastest: 1}},
	},
	{
		Name: Azure, Prefix: "/openai/v1", KeyHeader: "Api-Key", Deployments: true,
		Session: &Session{Transports: overBoth, Ephemeral: true, Noise: true, Commits: true, Limit: 30 * time.Minute},
		Hearing: []Hearing{
			{Wire: Realtime, Partials: Supported, Logprobs: true, Vocabulary: Prompt},
			{Wire: Transcriptions, Partials: Unsupported, Logprobs: true, Vocabulary: Prompt, Streams: true},
		},
		Voice: []Voice{
			{Wire: Speech, Voice: "alloy", Verbatim: true, HeardPositions: true, Cancel: true, Slowest: 0.25, Fastest: 4},
			{Wire: Realtime, Truncate: true, Cancel: true, Slowest: 0.25, Fastest: 1.5},
		},
	},
	{
		Name: LocalAI, Prefix: "/v1", Anonymous: true, PlainHTTP: true,
		Session: &Session{Transports: overBoth, JSONOffer: true, Transcribes: true, Unnamed: true},
		Hearing: []Hearing{
			{Wire: Realtime, Partials: ByPipeline, Vocabulary: Prompt},
			{Wire: Transcriptions, Model: "whisper-1", Partials: Unsupported, Vocabulary: Prompt},
		},
		Voice: []Voice{
			{Wire: Speech, Voice: "alloy", Verbatim: true, HeardPositions: true, Cancel: true, Slowest: 1, Fastest: 1},
			{Wire: Realtime, Cancel: true, Slowest: 1, Fastest: 1},
		},
	},
	{
		Name: Compatible, Prefix: "/v1", Anonymous: true, PlainHTTP: true,
		Hearing: []Hearing{
			{Wire: Transcriptions, Model: "whisper-1", Partials: Unsupported, Vocabulary: Prompt},
			{Wire: Realtime, Partials: Supported}, // vLLM's, which takes the model that it serves if none is named
		},
		Voice: []Voice{{Wire: Speech, Model: "tts-1", Voice: "alloy", Verbatim: true, HeardPositions: true, Cancel: true, Slowest: 0.25, Fastest: 4}},
	},
}

// Of returns the row of a provider.
func Of(name string) (Row, bool) {
	i := slices.IndexFunc(Rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return Row{}, false
	}
	return Rows[i], true
}

// Hears returns the provider's recognition over a wire.
func (r Row) Hears(over Wire) (Hearing, bool) {
	i := slices.IndexFunc(r.Hearing, func(h Hearing) bool { return h.Wire == over })
	if i < 0 {
		return Hearing{}, false
	}
	return r.Hearing[i], true
}

// Speaks returns the provider's voice over a wire.
func (r Row) Speaks(over Wire) (Voice, bool) {
	i := slices.IndexFunc(r.Voice, func(v Voice) bool { return v.Wire == over })
	if i < 0 {
		return Voice{Slowest: 1, Fastest: 1}, false
	}
	return r.Voice[i], true
}

// Of returns what a hosted model recognises like, of a provider whose names of models are OpenAI's:
// what it takes and reports is a fact of the model. Of others nothing is known but the row.
func (h Hearing) Of(r Row, model string) Hearing {
	h.Model = model
	known, ok := services.Of(model)
	if !ok || r.Home == "" && !r.Deployments {
		return h
	}
	h.Logprobs, h.Languages = known.Accepts(services.Logprobs), known.Accepts(services.Languages)
	switch {
	case known.Accepts(services.Keywords):
		h.Vocabulary = Keywords
	case known.Accepts(services.Prompt):
		h.Vocabulary = Prompt
	default:
		h.Vocabulary = ""
	}
	return h
}
