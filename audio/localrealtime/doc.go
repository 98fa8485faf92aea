// Package localrealtime is the embedded realtime server: the server side of the OpenAI
// Realtime GA protocol over WebRTC and WebSocket (section 3 of the protocol).
// Recognition and synthesis run locally, so a conversation needs neither an API key nor
// a network.
//
// # Model
//
// A Server answers HTTP (Handler) and holds calls. A call is one client over one
// transport: either a peer connection with a data channel for events and one Opus track
// in each direction, or a WebSocket that carries everything as events. Its state is one
// value of package machine. Only call.take changes that state and runs the resulting
// actions (act.go). Data that the tables do not look at, such as words and audio, is
// kept beside it. All of it has a single writer, the goroutine of call.run; other
// goroutines reach it only through post:
//
//	RTP in ─► reorder, Opus ─┐
//	appended audio ──────────┴► VAD ─window─►┐                ┌──► events, in order
//	transport ──────────────────client event─►│  call.run      │
//	recogniser ───────partial, final, failed─►│  (session,     ├──► recogniser's queue (audio of the utterance)
//	synthesis ────────segment, audio, done───►│   turns,       │
//	pacer ───────────────started, stopped────►│   responses)   └──► speaker ─► Model ─► synthesis ─► Opus, pacer, RTP out
//	                                                                                             └─► audio events
//
// With a Model, the server answers: it sends the Model the conversation once the user's
// words are known, and speaks the answer as it streams. A function call ends a
// response; the client runs the function and requests the next response. With
// Summarise, the beginning of a long conversation is replaced by a summary (memory.go).
//
// Without a Model, the server transcribes the user and speaks the text in the input of
// a response.create verbatim. It never answers on its own; if a session requests that
// (create_response), the server sends an error event for each turn.
//
// A call can also be a session of OpenAI's Live API: see live.
//
// Engines leave memory KeepEngines after the last call ended, or after Suspend, while the
// calls stay open.
//
// # The caller's loop
//
//	s, err := localrealtime.New(localrealtime.Config{APIKey: key, Recognizer: ..., Synthesizer: ..., Detector: ...})
//	ln, err := s.Listen("127.0.0.1:0")
//	go s.Serve(ctx, ln)
//	... any client of the protocol at http://ln.Addr() ...
//	s.Close()
//
// # Invariants
//
// session.created is the first event of a call. Each added event is followed by its
// done event and each response.created by exactly one response.done, even after a
// failure or cancellation. Audio positions (audio_start_ms, audio_end_ms) follow the
// caller's RTP timestamps: lost packets are concealed and gaps are filled. After
// output_audio_buffer.cleared, no packet of the cleared response is sent.
//
// Over WebSocket, output audio waits for a client that reads slowly, and input is read
// more slowly from a client that sends faster than recognition can process; neither
// loses words. A failing engine fails its transcription or response, not the call.
// Close leaves no goroutine, socket or engine behind. Spoken and recognised text and
// secrets never reach a log or an error.
package localrealtime
