// Package localrealtime is the embedded realtime server: the server's side of
// the OpenAI Realtime GA protocol over WebRTC and WebSocket (section 3 of the
// protocol), with recognition and synthesis on this machine, so that a
// conversation needs no key of a service and no network.
//
// # Model
//
// A Server answers HTTP (Handler) and holds calls. A call is one client over one
// transport: a peer connection with a data channel for events and one Opus track each
// way, or a WebSocket where all is events. What it is at is one value of package machine,
// which call.take alone changes and whose actions it carries out (act.go); what the tables
// do not look at, such as words and audio, is beside it. All of it has a single writer, the
// goroutine of call.run, which the others reach only by post:
//
//	RTP in ─► reorder, Opus ─┐
//	appended audio ──────────┴► VAD ─window─►┐                ┌──► events, in order
//	transport ──────────────────client event─►│  call.run      │
//	recogniser ───────partial, final, failed─►│  (session,     ├──► recogniser's queue (audio of the utterance)
//	synthesis ────────segment, audio, done───►│   turns,       │
//	pacer ───────────────started, stopped────►│   responses)   └──► speaker ─► Model ─► synthesis ─► Opus, pacer, RTP out
//	                                                                                             └─► audio events
//
// With a Model the server answers: it hands the Model the conversation when the user's
// words are known, and speaks the answer while it is written. A call of a function ends a
// response; the client carries it out and asks for the next one. With Summarise, the
// beginning of a long conversation is put into few words (memory.go).
//
// Without a Model the server transcribes what it hears, and speaks verbatim the text in
// the input of a response.create. It never makes an answer of its own; a session that asks
// for one (create_response) is told so by an error event for each turn.
//
// A call may be a session of OpenAI's Live API instead: see live.
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
// session.created is the first event of a call. Each added event is followed by
// its done event and each response.created by one response.done, whatever
// fails or is cancelled. Audio positions (audio_start_ms, audio_end_ms) follow
// the RTP timestamps of the caller: lost packets are concealed, gaps filled.
// After output_audio_buffer.cleared no packet of the cleared response is sent. Over
// WebSocket the audio waits for a client that does not read, and a client that sends
// faster than recognition follows is read slower; no word is dropped for either.
// A failing engine fails its transcription or response, not the call. Close
// leaves no goroutine, socket or engine. Nothing that was said, heard or sent
// as a secret reaches a log or an error.
package localrealtime
