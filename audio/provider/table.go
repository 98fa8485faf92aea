// Package provider is the table of the services that can hear and speak: how each is
// reached, and what it can do. Code asks the table, not a provider's name, so that
// adding a provider is adding a row.
//
// A provider is heard and speaks over wires. A wire is a protocol: a realtime session, or
// an HTTP request for each utterance or segment. The default is the first wire of a row
// that can be used: one that needs a model which neither the row nor the user names
// cannot.
package provider

import (
	"slices"
	"time"
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

// Wire is how a provider hears or speaks.
type Wire string

// The wires.
const (
	Realtime       Wire = "realtime"       // a realtime session, over one of its transports
	Transcriptions Wire = "transcriptions" // POST /v1/audio/transcriptions for each utterance
	Speech         Wire = "speech"         // POST /v1/audio/speech for each segment
	Engine         Wire = "engine"         // in this process, beside a session with another provider
)

// Transport is what carries a realtime session.
type Transport string

// The transports. WebRTC needs a network that lets its media through: over UDP, over TCP
// where the service offers that, or over a TURN server. WebSocket takes what HTTPS takes.
const (
	WebRTC    Transport = "WebRTC"
	WebSocket Transport = "WebSocket"
)

// Row is a provider.
type Row struct {
	Name        string   // as protocol.Providers has it
	Home        string   // base URL; "" where the user has to give one
	Prefix      string   // of the API, below the base URL
	Anonymous   bool     // it can be used without a key
	PlainHTTP   bool     // http to another machine is allowed
	KeyHeader   string   // that an API key is sent in; "" is a bearer token
	Deployments bool     // models are named by the user's deployments, so none is a default
	Session     *Session // of the wire Realtime; nil without it
	Hearing     []Hearing
	Voice       []Voice
}

// Session is how a realtime session is made.
type Session struct {
	Transports []Transport // in the order in which they are tried; one at least
	Ephemeral  bool        // for WebRTC, the key is exchanged at client_secrets
	JSONOffer  bool        // the offer goes as JSON {sdp, model}, and comes back so
	// Transcribes: the service is heard in a session of type transcription, whose
	// pipeline names the models. It speaks there when it is asked to; a realtime
	// session would answer what the user says, whatever create_response is.
	Transcribes bool
	// Live: it is a session of the Live API, which hears, speaks and owns the turns, and
	// hands what the user said to the client.
	Live bool
	// Gaps: audio that was not sent counts as silence, so silence need not be sent.
	Gaps bool
	// Limit is the documented maximum duration, for a service that does not announce
	// it as expires_at. 0 is unknown.
	Limit time.Duration
}

// Hearing is what a provider can do with the user's voice over a wire.
type Hearing struct {
	Wire       Wire
	Model      string     // the default
	Partials   bool       // words come while the user speaks
	Logprobs   bool       // finals come with probabilities, so that unsure words are known
	Vocabulary Vocabulary // how names and terms can be given with the audio
	Streams    bool       // Transcriptions: the text can be streamed
}

// Vocabulary is the form in which a provider takes names and terms.
type Vocabulary string

// The forms; "" is for a provider that takes none.
const (
	Prompt   Vocabulary = "prompt"    // a text that goes with the audio
	HotWords Vocabulary = "hot words" // a list of words; an installed transducer with bpe_vocab takes it
)

// Voice is what a provider can do with a text over a wire.
type Voice struct {
	Wire     Wire
	Model    string // the default; "" where the user has to name one, or the session has it
	Voice    string // the default; "" is the service's choice
	Verbatim bool   // it says the text, and not what a model makes of it
	// HeardPositions: it is known which audio belongs to which segment. Over WebRTC
	// that needs the RTP marker bit on the first packet of each response and on no
	// other (RFC 3551, section 4.1). Some servers set it on every packet, some after
	// every pause; there the end of a segment is found by silence.
	HeardPositions bool
	Cancel         bool // what it is saying can be stopped at the service
	Truncate       bool // it takes conversation.item.truncate
	// Slowest and Fastest bound the documented speed; both are 1 for a service that
	// has one speed.
	Slowest, Fastest float64
}

var overBoth = []Transport{WebRTC, WebSocket}

// Rows is the table.
var Rows = []Row{
	{
		Name: Local, Prefix: "/v1",
		Session: &Session{Transports: overBoth, Ephemeral: true, Gaps: true},
		Hearing: []Hearing{{Wire: Realtime, Model: "whisper-1", Partials: true, Logprobs: true, Vocabulary: HotWords}},
		Voice: []Voice{
			{Wire: Realtime, Verbatim: true, HeardPositions: true, Truncate: true, Cancel: true, Slowest: 0.5, Fastest: 3},
			{Wire: Engine, Verbatim: true, HeardPositions: true, Cancel: true, Slowest: 0.5, Fastest: 3},
		},
	},
	{
		Name: OpenAI, Home: "https://api.openai.com", Prefix: "/v1",
		Session: &Session{Transports: overBoth, Ephemeral: true, Limit: 60 * time.Minute},
		Hearing: []Hearing{
			{Wire: Realtime, Model: "gpt-4o-mini-transcribe", Partials: true, Logprobs: true, Vocabulary: Prompt},
			{Wire: Transcriptions, Model: "gpt-4o-mini-transcribe", Logprobs: true, Vocabulary: Prompt, Streams: true},
		},
		Voice: []Voice{
			{Wire: Speech, Model: "gpt-4o-mini-tts", Voice: "alloy", Verbatim: true, HeardPositions: true, Cancel: true, Slowest: 0.25, Fastest: 4},
			{Wire: Realtime, Truncate: true, Cancel: true, Slowest: 0.25, Fastest: 1.5},
		},
	},
	{
		Name: Live, Home: "https://api.openai.com", Prefix: "/v1",
		Session: &Session{Transports: []Transport{WebRTC}, Live: true, Limit: 2 * time.Hour},
		Hearing: []Hearing{{Wire: Realtime, Model: "gpt-live-1", Partials: true, Vocabulary: Prompt}},
		Voice:   []Voice{{Wire: Realtime, Model: "gpt-live-1", Slowest: 1, Fastest: 1}},
	},
	{
		Name: Azure, Prefix: "/openai/v1", KeyHeader: "Api-Key", Deployments: true,
		Session: &Session{Transports: overBoth, Ephemeral: true, Limit: 30 * time.Minute},
		Hearing: []Hearing{
			{Wire: Realtime, Partials: true, Logprobs: true, Vocabulary: Prompt},
			{Wire: Transcriptions, Logprobs: true, Vocabulary: Prompt, Streams: true},
		},
		Voice: []Voice{
			{Wire: Speech, Voice: "alloy", Verbatim: true, HeardPositions: true, Cancel: true, Slowest: 0.25, Fastest: 4},
			{Wire: Realtime, Truncate: true, Cancel: true, Slowest: 0.25, Fastest: 1.5},
		},
	},
	{
		Name: LocalAI, Prefix: "/v1", Anonymous: true, PlainHTTP: true,
		Session: &Session{Transports: overBoth, JSONOffer: true, Transcribes: true},
		Hearing: []Hearing{
			{Wire: Realtime, Vocabulary: Prompt},
			{Wire: Transcriptions, Model: "whisper-1", Vocabulary: Prompt},
		},
		Voice: []Voice{
			{Wire: Speech, Voice: "alloy", Verbatim: true, HeardPositions: true, Cancel: true, Slowest: 1, Fastest: 1},
			{Wire: Realtime, Cancel: true, Slowest: 1, Fastest: 1},
		},
	},
	{
		Name: Compatible, Prefix: "/v1", Anonymous: true, PlainHTTP: true,
		Hearing: []Hearing{{Wire: Transcriptions, Model: "whisper-1", Vocabulary: Prompt}},
		Voice:   []Voice{{Wire: Speech, Model: "tts-1", Voice: "alloy", Verbatim: true, HeardPositions: true, Cancel: true, Slowest: 0.25, Fastest: 4}},
	},
}

// Of is the row of a provider.
func Of(name string) (Row, bool) {
	i := slices.IndexFunc(Rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return Row{}, false
	}
	return Rows[i], true
}

// Hears is how the provider hears over a wire.
func (r Row) Hears(over Wire) (Hearing, bool) {
	i := slices.IndexFunc(r.Hearing, func(h Hearing) bool { return h.Wire == over })
	if i < 0 {
		return Hearing{}, false
	}
	return r.Hearing[i], true
}

// Speaks is how the provider speaks over a wire.
func (r Row) Speaks(over Wire) (Voice, bool) {
	i := slices.IndexFunc(r.Voice, func(v Voice) bool { return v.Wire == over })
	if i < 0 {
		return Voice{Slowest: 1, Fastest: 1}, false
	}
	return r.Voice[i], true
}
