package protocol

import (
	"encoding/json"
	"time"
)

// Prefix is the prefix of every setting.
const Prefix = "agentvoice."

// Configuration is settings by name, as a client sends them: flat
// ("agentvoice.copilot.timeoutMs": 8000) or nested ("agentvoice": {"copilot":
// {"timeoutMs": 8000}}). Fields outside agentvoice are ignored.
type Configuration map[string]json.RawMessage

// Settings holds every setting, typed. It is a value: a copy captures the configuration
// at one time. Fields with a closed list hold a value of Setting.Enum.
type Settings struct {
	Provider   Provider
	Endpoint   string // base URL; "" for the provider's default
	Deployment string // Azure
	Model      string // realtime model; "" for the provider's default
	Locale     string // BCP 47; "" for that of initialize
	Agent      string // assistant: offline, openai, openai:MODEL or acp:CMD; "" for the editor's
	Models     string // local models in the order of preference
	// Speculation takes shorter pauses for the end of a turn.
	Speculation bool

	Chat          ChatSettings
	Session       SessionSettings
	Network       NetworkSettings
	Hearing       HearingSettings
	Transcription TranscriptionSettings
	Vocabulary    string // the user's own words and replacements
	Words         WordsSettings
	Voice         VoiceSettings
	Audio         AudioSettings
	Wake          WakeSettings
	TurnDetection TurnDetectionSettings
	Interruption  InterruptionSettings
	Copilot       CopilotSettings
	Conversation  ConversationSettings
	Suspend       SuspendSettings
	Fault         FaultSettings
	Speech        SpeechSettings
	Cues          CueSettings
	Privacy       PrivacySettings
	Budget        BudgetSettings
}

// The groups of Settings.
type (
	// ChatSettings configures the assistant of a chat endpoint.
	ChatSettings struct {
		Endpoint string // base URL; "" for OpenAI's
		Model    string // "" for the default
	}
	// SessionSettings configures the session with the service.
	SessionSettings struct {
		Max time.Duration // 0 is unknown
	}
	// NetworkSettings configures the network path to remote services.
	NetworkSettings struct {
		Proxy        string // URL; "" for that of the environment
		TURN         string // URLs of relays, separated by spaces or commas
		TURNUsername string
	}
	// HearingSettings configures recognition.
	HearingSettings struct {
		Provider Provider // "" for Settings.Provider
		Endpoint string   // base URL; "" for the provider's default or the session's
		Wire     string
		// NoiseReduction is what the service does with the audio that a session sends to it.
		NoiseReduction string
	}
	// TranscriptionSettings configures transcription.
	TranscriptionSettings struct {
		Model      string // "" for the provider's default
		Deployment string // Azure
		Language   string // BCP 47; "" for automatic detection
		Prompt     string
	}
	// WordsSettings configures the correction of names in transcripts.
	WordsSettings struct {
		Correct   bool // correct names in transcripts
		Workspace bool // use the names in the workspace
		Send      bool // send the names to the service
	}
	// VoiceSettings configures the assistant's voice.
	VoiceSettings struct {
		Provider Provider // "" for Settings.Provider
		Engine   string   // that of ProviderLocal: VoiceAuto, VoiceNatural or VoiceFast
		Endpoint string   // base URL; "" for the provider's default or the session's
		Wire     string
		Model    string  // "" for the provider's default
		Name     string  // "" for the provider's default
		Rate     float64 // 1 is normal
		Silent   bool    // no speech is played
	}
	// AudioSettings selects devices, "default" for the system default, and the processing
	// of the microphone signal.
	AudioSettings struct {
		InputDevice      string
		OutputDevice     string
		EchoCancellation bool
		NoiseSuppression bool
		GainControl      bool
		HighPass         bool
	}
	// WakeSettings configures the wake phrase.
	WakeSettings struct {
		Enabled bool
		Phrase  string
	}
	// TurnDetectionSettings configures when the user's turn ends.
	TurnDetectionSettings struct {
		Mode          string
		SendPhrase    string  // "" for the locale's default
		Threshold     float64 // probability of speech
		Silence       time.Duration
		PrefixPadding time.Duration
		Eagerness     string
	}
	// InterruptionSettings configures what interrupts the assistant.
	InterruptionSettings struct {
		Profile string
		Confirm time.Duration
	}
	// CopilotSettings configures how long to wait for the assistant.
	CopilotSettings struct {
		Timeout    time.Duration // until the first sign of an answer, retries included
		Stall      time.Duration // maximum gap within an answer
		MaxRetries int
		Model      string // "" for the adapter's choice
	}
	// ConversationSettings configures the limits of a conversation.
	ConversationSettings struct {
		StartTimeout time.Duration
	}
	// SuspendSettings configures the maximum duration of a pause.
	SuspendSettings struct {
		Max time.Duration
	}
	// FaultSettings configures recovery.
	FaultSettings struct {
		MaxRetries int
	}
	// SpeechSettings configures how answers are spoken.
	SpeechSettings struct {
		ReadCode  string
		MoreAfter time.Duration // of an answer; 0 is no limit
	}
	// CueSettings configures the audio cues.
	CueSettings struct {
		Enabled bool
		Volume  float64 // share of full scale
	}
	// BudgetSettings limits the cost of conversations, in US dollars; 0 is no limit.
	BudgetSettings struct {
		Day, Month float64
		Prices     string // of models; see ModelPrices
	}
	// PrivacySettings configures what is stored and shared.
	PrivacySettings struct {
		Persist bool
		Journal string
		Watch   string
	}
)

// Provider is a realtime service.
type Provider string

// The providers.
const (
	ProviderLocal   Provider = "local"
	ProviderOpenAI  Provider = "openai"
	ProviderLive    Provider = "live" // OpenAI's Live API
	ProviderAzure   Provider = "azure"
	ProviderLocalAI Provider = "localai"
	// ProviderCompatible is any server of OpenAI's audio endpoints.
	ProviderCompatible Provider = "compatible"
)

// Providers lists every provider.
var Providers = []Provider{ProviderLocal, ProviderOpenAI, ProviderLive, ProviderAzure, ProviderLocalAI, ProviderCompatible}

// The values of turnDetection.mode.
const (
	TurnAutomatic  = "automatic"
	TurnPatient    = "patient"
	TurnServer     = "server"
	TurnPhrase     = "phrase"
	TurnPushToTalk = "pushToTalk"
)

// The values of hearing.noiseReduction.
const (
	NoiseReductionOff  = "off"
	NoiseReductionNear = "near"
	NoiseReductionFar  = "far"
)

// The values of hearing.wire and voice.wire.
const (
	WireAuto           = "auto"
	WireRealtime       = "realtime"
	WireSpeech         = "speech"         // voice only
	WireTranscriptions = "transcriptions" // recognition only
)

// The values of voice.engine.
const (
	VoiceAuto    = "auto"
	VoiceNatural = "natural"
	VoiceFast    = "fast"
)

// The values of turnDetection.eagerness.
const (
	EagernessAuto   = "auto"
	EagernessLow    = "low"
	EagernessMedium = "medium"
	EagernessHigh   = "high"
)

// The values of interruption.profile.
const (
	ProfileDefault   = "default"
	ProfileAssertive = "assertive"
	ProfileCautious  = "cautious"
	ProfileOff       = "off"
)

// The values of privacy.journal.
const (
	PrivacyJournalOff      = "off"
	PrivacyJournalRedacted = "redacted"
	PrivacyJournalFull     = "full"
)

// The values of privacy.watch.
const (
	PrivacyWatchOff    = "off"
	PrivacyWatchStates = "states"
	PrivacyWatchWords  = "words"
)

// The values of speech.readCode.
const (
	ReadCodeName = "name"
	ReadCodeSkip = "skip"
	ReadCodeFull = "full"
)

// Kind is the type of a setting on the wire.
type Kind string

// The kinds. Milliseconds are whole numbers.
const (
	KindString       Kind = "string"
	KindBoolean      Kind = "boolean"
	KindInteger      Kind = "integer"
	KindNumber       Kind = "number"
	KindMilliseconds Kind = "milliseconds"
)

// Scope says where a setting may be set. A setting that decides who receives the user's
// audio, what is stored, or what the user is understood to say can only be set by the user,
// never by a workspace.
type Scope string

// The scopes, as VS Code names them.
const (
	ScopeApplication Scope = "application" // user settings only
	ScopeWindow      Scope = "window"      // user or workspace settings
)

// Setting is a row of SettingsTable.
type Setting struct {
	Name     string
	Default  any      // string, bool or float64; milliseconds are float64
	Enum     []string // closed list of strings
	Min, Max float64  // of numbers
	Scope    Scope
	Local    bool   // machine-specific: not synchronised to other machines
	Restart  bool   // applies to the next conversation, else to the next turn
	Meaning  string // English
	field    func(*Settings) any
}

// Kind is the type of s on the wire.
func (s Setting) Kind() Kind {
	switch s.field(new(Settings)).(type) {
	case *bool:
		return KindBoolean
	case *int:
		return KindInteger
	case *float64:
		return KindNumber
	case *time.Duration:
		return KindMilliseconds
	default:
		return KindString
	}
}

// SettingsTable lists every setting. Validation, the editor's settings page and the
// reference are generated from it.
var SettingsTable = []Setting{
	{Name: "agentvoice.provider", Default: "local", Enum: enum(Providers).Values, Scope: ScopeApplication, Restart: true,
		Meaning: "The service for recognition and voice. `local` runs on this machine and needs no key and no network; `compatible` is any server with OpenAI's `/v1/audio` endpoints, such as speaches, vLLM or a whisper server; `live` is OpenAI's Live API, which says the answers in words of its own.",
		field:   func(s *Settings) any { return &s.Provider }},
	{Name: "agentvoice.endpoint", Default: "", Scope: ScopeApplication, Restart: true,
		Meaning: "Base URL of the service. Required for `azure`, `localai` and `compatible`; empty for the provider's default. Must be `https` for `openai`, `live` and `azure`, except on this machine.",
		field:   func(s *Settings) any { return &s.Endpoint }},
	{Name: "agentvoice.deployment", Default: "", Scope: ScopeApplication, Restart: true,
		Meaning: "Name of the deployment. Required for `azure`, unused by others.",
		field:   func(s *Settings) any { return &s.Deployment }},
	{Name: "agentvoice.model", Default: "", Scope: ScopeApplication, Restart: true,
		Meaning: "Realtime model; empty for the provider's default.",
		field:   func(s *Settings) any { return &s.Model }},
	{Name: "agentvoice.locale", Default: "", Scope: ScopeWindow,
		Meaning: "Language of labels, messages and spoken explanations, as a BCP 47 tag such as `de` or `ja-JP`; empty for the editor's.",
		field:   func(s *Settings) any { return &s.Locale }},

	{Name: "agentvoice.agent", Default: "", Scope: ScopeApplication,
		Meaning: "Who answers from your next message on: empty for the editor's assistant, `acp:` and the command of a coding agent that speaks the Agent Client Protocol, such as `acp:codex-acp` or `acp:gemini`, `openai` for the chat endpoint of `agentvoice.chat.endpoint`, or `offline`. An agent runs on this machine, in the folder of the active file or else the first one, if it is trusted, and you are asked aloud whenever it requests permission for a tool.",
		field:   func(s *Settings) any { return &s.Agent }},
	{Name: "agentvoice.chat.endpoint", Default: "", Scope: ScopeApplication,
		Meaning: "Base URL of an OpenAI-compatible chat endpoint, such as `http://127.0.0.1:11434/v1`; empty for OpenAI. Its key is kept in the editor's secret storage and sent to this address only, over `https` or on this machine. Used with `agentvoice.agent` set to `openai`.",
		field:   func(s *Settings) any { return &s.Chat.Endpoint }},
	{Name: "agentvoice.chat.model", Default: "", Scope: ScopeApplication,
		Meaning: "Model that answers at `agentvoice.chat.endpoint`; empty for that of `--agent-model`.",
		field:   func(s *Settings) any { return &s.Chat.Model }},
	{Name: "agentvoice.speculation", Default: false, Scope: ScopeApplication, Restart: true,
		Meaning: "Takes a shorter pause for the end of your turn, so that the answer begins sooner. If you go on before it is heard, the request is cancelled and sent again with all that you said, which costs tokens. Applies only to an assistant that answers without tools, such as `openai`; never to an agent or to the editor's assistant.",
		field:   func(s *Settings) any { return &s.Speculation }},

	{Name: "agentvoice.session.maxMs", Default: 0.0, Min: 0, Max: 86400000, Scope: ScopeApplication, Restart: true,
		Meaning: "Maximum length of a session, for services that neither announce nor document one, such as behind a gateway. The next session opens before the limit; 0 for no known limit.",
		field:   func(s *Settings) any { return &s.Session.Max }},

	{Name: "agentvoice.network.proxy", Default: "", Scope: ScopeApplication, Restart: true,
		Meaning: "URL of the proxy for requests to voice services, such as `http://proxy.example:8080` or `socks5://proxy.example:1080`; empty for `HTTPS_PROXY` of the environment. `NO_PROXY` applies to both.",
		field:   func(s *Settings) any { return &s.Network.Proxy }},
	{Name: "agentvoice.network.turnServers", Default: "", Scope: ScopeApplication, Restart: true,
		Meaning: "TURN servers that relay audio where the network lets neither UDP nor TCP through to the service, separated by spaces, such as `turn:turn.example:3478?transport=tcp`. Those with `turn:` and `transport=tcp` are reached through the proxy, if there is one. The password is `AGENTVOICE_TURN_PASSWORD` of the environment.",
		field:   func(s *Settings) any { return &s.Network.TURN }},
	{Name: "agentvoice.network.turnUsername", Default: "", Scope: ScopeApplication, Restart: true,
		Meaning: "User name at the TURN servers.",
		field:   func(s *Settings) any { return &s.Network.TURNUsername }},

	{Name: "agentvoice.hearing.provider", Default: "", Enum: append([]string{""}, enum(Providers).Values...), Scope: ScopeApplication, Restart: true,
		Meaning: "The service for recognition, if it differs from the voice; empty for `agentvoice.provider`. `local` recognises on this machine.",
		field:   func(s *Settings) any { return &s.Hearing.Provider }},
	{Name: "agentvoice.hearing.endpoint", Default: "", Scope: ScopeApplication, Restart: true,
		Meaning: "Base URL of the recognition service; empty for the provider's default, or for `agentvoice.endpoint` if the provider is the same.",
		field:   func(s *Settings) any { return &s.Hearing.Endpoint }},
	{Name: "agentvoice.hearing.wire", Default: WireAuto, Enum: []string{WireAuto, WireRealtime, WireTranscriptions}, Scope: ScopeApplication, Restart: true,
		Meaning: "How the service recognises: `realtime` in a session, or with `compatible` in vLLM's stream per utterance (`/v1/realtime`), with words while you speak; `transcriptions` by one request per utterance (`/v1/audio/transcriptions`), with words when you have finished. `auto` prefers a session.",
		field:   func(s *Settings) any { return &s.Hearing.Wire }},
	{Name: "agentvoice.hearing.noiseReduction", Default: NoiseReductionOff, Enum: []string{NoiseReductionOff, NoiseReductionNear, NoiseReductionFar}, Scope: ScopeApplication, Restart: true,
		Meaning: "Noise that the service removes from what you say before it recognises, in a session with `openai` or `azure`: `near` for a headset, `far` for the microphone of a laptop or a room. `agentvoice.audio.noiseSuppression` removes it on this machine.",
		field:   func(s *Settings) any { return &s.Hearing.NoiseReduction }},

	{Name: "agentvoice.transcription.model", Default: "", Scope: ScopeApplication, Restart: true,
		Meaning: "Model that transcribes what you say; empty for the provider's default. A session of `localai` uses its pipeline's model, `azure` uses `agentvoice.transcription.deployment`.",
		field:   func(s *Settings) any { return &s.Transcription.Model }},
	{Name: "agentvoice.transcription.deployment", Default: "", Scope: ScopeApplication, Restart: true,
		Meaning: "Name of the deployment of a transcription model, such as `gpt-4o-mini-transcribe`. Required for `azure`, unused by others.",
		field:   func(s *Settings) any { return &s.Transcription.Deployment }},
	{Name: "agentvoice.transcription.language", Default: "", Scope: ScopeWindow, Restart: true,
		Meaning: "Your language as a BCP 47 tag such as `en` or `de-DE`, which improves accuracy; empty for automatic detection. `local` understands English, or the languages of the models that you installed.",
		field:   func(s *Settings) any { return &s.Transcription.Language }},
	{Name: "agentvoice.transcription.prompt", Default: "", Scope: ScopeApplication, Restart: true,
		Meaning: "Names and technical terms that you are likely to say, such as `gopls, kubectl`, for services that accept a prompt with the audio.",
		field:   func(s *Settings) any { return &s.Transcription.Prompt }},

	{Name: "agentvoice.models", Default: "", Scope: ScopeApplication, Local: true, Restart: true,
		Meaning: "Which of the installed models `local` prefers, by their names in `agentvoice-daemon models list`, separated by commas. Without it, models that know your language come first, then those that you installed.",
		field:   func(s *Settings) any { return &s.Models }},
	{Name: "agentvoice.vocabulary", Default: "", Scope: ScopeApplication,
		Meaning: "Your own words, separated by commas, such as `pgvector, kubectl`; `cube cuttle = kubectl` writes `kubectl` whenever `cube cuttle` is heard. They take precedence over `voice-words.md` in the workspace and in your home folder.",
		field:   func(s *Settings) any { return &s.Vocabulary }},
	{Name: "agentvoice.words.correct", Default: true, Scope: ScopeWindow,
		Meaning: "Corrects the spelling of known names in transcripts: `parse config v two` becomes `parseConfigV2` if that is a known name. English numbers become digits after words such as `port`: `port eighty eighty` is `port 8080`. The transcript also shows what was heard.",
		field:   func(s *Settings) any { return &s.Words.Correct }},
	{Name: "agentvoice.words.workspace", Default: true, Scope: ScopeWindow,
		Meaning: "Uses names of the workspace for corrections: symbols, files, branches, dependencies and the open file, at most 2,000. They are kept in memory only, and stay on this machine unless `agentvoice.words.send` is on. `agentvoice-daemon words` lists them.",
		field:   func(s *Settings) any { return &s.Words.Workspace }},
	{Name: "agentvoice.words.send", Default: false, Scope: ScopeApplication, Restart: true,
		Meaning: "Sends known names to the transcription service (`openai`, `azure`, `localai`) with the audio, which improves their recognition: your own words first, then those of the workspace, about 600 characters. When off, they stay on this machine.",
		field:   func(s *Settings) any { return &s.Words.Send }},

	{Name: "agentvoice.voice.provider", Default: "", Enum: append([]string{""}, enum(Providers).Values...), Scope: ScopeApplication, Restart: true,
		Meaning: "The service for the voice, if it differs from recognition; empty for `agentvoice.provider`, but beside the recognition of `openai` and `azure` in English for `local`, which speaks on this machine, unless `agentvoice.voice.wire`, `model` or `endpoint` is set.",
		field:   func(s *Settings) any { return &s.Voice.Provider }},
	{Name: "agentvoice.voice.engine", Default: VoiceAuto, Enum: []string{VoiceAuto, VoiceNatural, VoiceFast}, Scope: ScopeApplication, Local: true, Restart: true,
		Meaning: "How `local` speaks: `natural` with Kokoro, or the voice that you installed; `fast` with Flite, which sounds like a machine and needs no time to compute. `auto` is natural where this machine has the first words within 0.9 s; `agentvoice-daemon doctor` measures it.",
		field:   func(s *Settings) any { return &s.Voice.Engine }},
	{Name: "agentvoice.voice.endpoint", Default: "", Scope: ScopeApplication, Restart: true,
		Meaning: "Base URL of the voice service; empty for the provider's default, or for `agentvoice.endpoint` if the provider is the same.",
		field:   func(s *Settings) any { return &s.Voice.Endpoint }},
	{Name: "agentvoice.voice.wire", Default: WireAuto, Enum: []string{WireAuto, WireSpeech, WireRealtime}, Scope: ScopeApplication, Restart: true,
		Meaning: "How the service speaks: `speech` reads each sentence word for word (`/v1/audio/speech`), `realtime` speaks in the session, whose model may say it in other words: it is then stopped, and this machine's voice says the rest. `auto` prefers `speech` if the model is known.",
		field:   func(s *Settings) any { return &s.Voice.Wire }},
	{Name: "agentvoice.voice.model", Default: "", Scope: ScopeApplication, Restart: true,
		Meaning: "Model for `speech`; for `azure` the name of a deployment. Empty for the provider's default; `openai`, `azure` and `localai` have none. `agentvoice-daemon doctor` says until when OpenAI has such models.",
		field:   func(s *Settings) any { return &s.Voice.Model }},
	{Name: "agentvoice.voice.name", Default: "", Scope: ScopeWindow, Restart: true,
		Meaning: "Voice of the assistant; empty for the provider's default.",
		field:   func(s *Settings) any { return &s.Voice.Name }},
	{Name: "agentvoice.voice.rate", Default: 1.0, Min: 0.5, Max: 3, Scope: ScopeWindow,
		Meaning: "Speed of the voice, from the next sentence on; 1 is normal. In a session, `openai` and `azure` are limited to 1.5; `live` and `localai` have one speed.",
		field:   func(s *Settings) any { return &s.Voice.Rate }},
	{Name: "agentvoice.voice.silent", Default: false, Scope: ScopeWindow,
		Meaning: "Plays no speech: answers, questions and notices are text, shown at the pace of speech. The panel hands each sentence to a screen reader. Tones still sound.",
		field:   func(s *Settings) any { return &s.Voice.Silent }},
	{Name: "agentvoice.audio.inputDevice", Default: "default", Scope: ScopeApplication, Local: true,
		Meaning: "Microphone: `default`, or a device's name or id.",
		field:   func(s *Settings) any { return &s.Audio.InputDevice }},
	{Name: "agentvoice.audio.outputDevice", Default: "default", Scope: ScopeApplication, Local: true,
		Meaning: "Speaker: `default`, or a device's name or id.",
		field:   func(s *Settings) any { return &s.Audio.OutputDevice }},
	{Name: "agentvoice.audio.echoCancellation", Default: true, Scope: ScopeApplication, Local: true, Restart: true,
		Meaning: "Removes the assistant's voice from the microphone signal. Turn it off only with headphones, or if the system does it already; otherwise the assistant interrupts itself.",
		field:   func(s *Settings) any { return &s.Audio.EchoCancellation }},
	{Name: "agentvoice.audio.highPass", Default: true, Scope: ScopeApplication, Local: true, Restart: true,
		Meaning: "Removes rumble, such as from a desk, from the microphone signal.",
		field:   func(s *Settings) any { return &s.Audio.HighPass }},
	{Name: "agentvoice.audio.noiseSuppression", Default: false, Scope: ScopeApplication, Local: true, Restart: true,
		Meaning: "Suppresses steady noise before recognition. Helps beside a loud fan; in quiet rooms it costs accuracy.",
		field:   func(s *Settings) any { return &s.Audio.NoiseSuppression }},
	{Name: "agentvoice.audio.gainControl", Default: false, Scope: ScopeApplication, Local: true, Restart: true,
		Meaning: "Levels the volume of your voice before recognition, for a quiet microphone.",
		field:   func(s *Settings) any { return &s.Audio.GainControl }},

	{Name: "agentvoice.wake.enabled", Default: false, Scope: ScopeApplication,
		Meaning: "Listens for `agentvoice.wake.phrase` while there is no conversation, and starts one when it hears the phrase. What you say in the same breath is your first message. The microphone is open meanwhile; before the phrase, its audio never leaves this machine, and the last 3 seconds are kept in memory.",
		field:   func(s *Settings) any { return &s.Wake.Enabled }},
	{Name: "agentvoice.wake.phrase", Default: "okay copilot", Scope: ScopeApplication,
		Meaning: "Two to eight English words that start a conversation, with at least eight sounds in total. Longer phrases cause fewer false starts.",
		field:   func(s *Settings) any { return &s.Wake.Phrase }},

	{Name: "agentvoice.turnDetection.mode", Default: TurnAutomatic,
		Enum:  []string{TurnAutomatic, TurnPatient, TurnServer, TurnPhrase, TurnPushToTalk},
		Scope: ScopeWindow, Restart: true,
		Meaning: "When your turn ends: `automatic` after a delay that depends on your words, `patient` with longer delays, `server` after a fixed silence, `phrase` when you say the send phrase, `pushToTalk` when you release the key.",
		field:   func(s *Settings) any { return &s.TurnDetection.Mode }},
	{Name: "agentvoice.turnDetection.sendPhrase", Default: "", Scope: ScopeApplication,
		Meaning: "Words that end and send your turn in the mode `phrase`; empty for `send it`, `abschicken` or `送信`, depending on the language.",
		field:   func(s *Settings) any { return &s.TurnDetection.SendPhrase }},
	{Name: "agentvoice.turnDetection.threshold", Default: 0.5, Min: 0, Max: 1, Scope: ScopeWindow,
		Meaning: "Threshold of the voice detector. Higher values need a louder voice and are less sensitive to noise.",
		field:   func(s *Settings) any { return &s.TurnDetection.Threshold }},
	{Name: "agentvoice.turnDetection.silenceMs", Default: 500.0, Min: 100, Max: 5000, Scope: ScopeWindow,
		Meaning: "Silence that ends an utterance.",
		field:   func(s *Settings) any { return &s.TurnDetection.Silence }},
	{Name: "agentvoice.turnDetection.prefixPaddingMs", Default: 300.0, Min: 0, Max: 2000, Scope: ScopeWindow,
		Meaning: "Audio before the start of speech that is included in recognition.",
		field:   func(s *Settings) any { return &s.TurnDetection.PrefixPadding }},
	{Name: "agentvoice.turnDetection.eagerness", Default: EagernessAuto,
		Enum:    []string{EagernessAuto, EagernessLow, EagernessMedium, EagernessHigh},
		Scope:   ScopeWindow,
		Meaning: "How soon `automatic` ends your turn.",
		field:   func(s *Settings) any { return &s.TurnDetection.Eagerness }},

	{Name: "agentvoice.interruption.profile", Default: ProfileDefault,
		Enum:    []string{ProfileDefault, ProfileAssertive, ProfileCautious, ProfileOff},
		Scope:   ScopeWindow,
		Meaning: "How easily your voice interrupts the assistant: `assertive` at once, `cautious` only with clear words, `off` never.",
		field:   func(s *Settings) any { return &s.Interruption.Profile }},
	{Name: "agentvoice.interruption.confirmMs", Default: 250.0, Min: 0, Max: 400, Scope: ScopeWindow,
		Meaning: "Shorter sounds, such as a cough, only pause the assistant.",
		field:   func(s *Settings) any { return &s.Interruption.Confirm }},

	{Name: "agentvoice.copilot.timeoutMs", Default: 8000.0, Min: 500, Max: 120000, Scope: ScopeWindow,
		Meaning: "How long to wait for the first sign of an answer, retries included.",
		field:   func(s *Settings) any { return &s.Copilot.Timeout }},
	{Name: "agentvoice.copilot.stallMs", Default: 15000.0, Min: 500, Max: 120000, Scope: ScopeWindow,
		Meaning: "How long an answer may stall before you are told. After four times as long without more of it, it is given up.",
		field:   func(s *Settings) any { return &s.Copilot.Stall }},
	{Name: "agentvoice.copilot.maxRetries", Default: 2.0, Min: 0, Max: 5, Scope: ScopeWindow,
		Meaning: "How often a failed request is retried within the timeout.",
		field:   func(s *Settings) any { return &s.Copilot.MaxRetries }},
	{Name: "agentvoice.copilot.model", Default: "", Scope: ScopeWindow,
		Meaning: "Id of the assistant's model; empty for the editor's choice.",
		field:   func(s *Settings) any { return &s.Copilot.Model }},

	{Name: "agentvoice.conversation.startTimeoutMs", Default: 10000.0, Min: 500, Max: 120000, Scope: ScopeWindow,
		Meaning: "How long a conversation may take to start.",
		field:   func(s *Settings) any { return &s.Conversation.StartTimeout }},
	{Name: "agentvoice.suspend.maxMs", Default: 60000.0, Min: 1000, Max: 3600000, Scope: ScopeWindow,
		Meaning: "How long a conversation may wait for a device, a connection or the service before it ends. A pause by the user has no limit.",
		field:   func(s *Settings) any { return &s.Suspend.Max }},
	{Name: "agentvoice.fault.maxRetries", Default: 4.0, Min: 0, Max: 10, Scope: ScopeWindow,
		Meaning: "How often a conversation recovers automatically before it ends.",
		field:   func(s *Settings) any { return &s.Fault.MaxRetries }},

	{Name: "agentvoice.speech.readCode", Default: ReadCodeName,
		Enum: []string{ReadCodeName, ReadCodeSkip, ReadCodeFull}, Scope: ScopeWindow,
		Meaning: "Code in answers: `name` names and shows it, `skip` only shows it, `full` reads it aloud.",
		field:   func(s *Settings) any { return &s.Speech.ReadCode }},
	{Name: "agentvoice.speech.moreAfterMs", Default: 20000.0, Min: 0, Max: 600000, Scope: ScopeWindow,
		Meaning: "After this long, an answer pauses at the end of a sentence and you hear that there is more: `continue` speaks the rest. It does not pause if the rest is short, the microphone is muted or the voice is silent. 0 speaks answers to their end.",
		field:   func(s *Settings) any { return &s.Speech.MoreAfter }},
	{Name: "agentvoice.cues.enabled", Default: true, Scope: ScopeWindow,
		Meaning: "Short tones for listening, thinking, needs attention, done and error.",
		field:   func(s *Settings) any { return &s.Cues.Enabled }},
	{Name: "agentvoice.cues.volume", Default: 0.5, Min: 0, Max: 1, Scope: ScopeWindow,
		Meaning: "Volume of the tones.",
		field:   func(s *Settings) any { return &s.Cues.Volume }},

	{Name: "agentvoice.privacy.persist", Default: true, Scope: ScopeApplication,
		Meaning: "Whether anything about a conversation may be stored on disk. When off, journals on disk are disabled, and sessions and usage are kept in memory.",
		field:   func(s *Settings) any { return &s.Privacy.Persist }},
	{Name: "agentvoice.privacy.journal", Default: PrivacyJournalRedacted,
		Enum:    []string{PrivacyJournalOff, PrivacyJournalRedacted, PrivacyJournalFull},
		Scope:   ScopeApplication,
		Meaning: "What journals for bug reports contain: `redacted` has no words, `full` has what was said. A change to `redacted` also removes words that were recorded before.",
		field:   func(s *Settings) any { return &s.Privacy.Journal }},
	{Name: "agentvoice.privacy.watch", Default: PrivacyWatchStates,
		Enum:    []string{PrivacyWatchOff, PrivacyWatchStates, PrivacyWatchWords},
		Scope:   ScopeApplication,
		Meaning: "What your other programs on this machine can follow, such as `agentvoice-daemon watch`: `states` without words, `words` also what is said and what tools are called with, `off` nothing.",
		field:   func(s *Settings) any { return &s.Privacy.Watch }},

	{Name: "agentvoice.budget.day", Default: 0.0, Min: 0, Max: 10000, Scope: ScopeApplication,
		Meaning: "Daily limit for the cost of conversations in all windows, in US dollars by list prices; 0 for no limit. You are warned at 80 %, and a paid conversation ends when the budget is spent.",
		field:   func(s *Settings) any { return &s.Budget.Day }},
	{Name: "agentvoice.budget.month", Default: 0.0, Min: 0, Max: 100000, Scope: ScopeApplication,
		Meaning: "The same for a calendar month.",
		field:   func(s *Settings) any { return &s.Budget.Month }},
	{Name: "agentvoice.budget.prices", Default: "", Scope: ScopeApplication,
		Meaning: "Prices in US dollars of models that `doctor` knows no price for, or that cost you another one, separated by `;`, such as `gpt-9 textIn=4 textOut=16; our-voice characters=15`. Units: `textIn`, `textCached`, `textOut`, `audioIn`, `audioCached` and `audioOut` for a million tokens, `characters` for a million, `minute` of audio, `sessionMinute` for a minute in which a session is open, with the `startSeconds` charged for its creation. `minute=0` is free. With a budget, a conversation does not start with a hosted model whose price is not known, or not in the unit that it is paid by.",
		field:   func(s *Settings) any { return &s.Budget.Prices }},
}
