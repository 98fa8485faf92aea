// Package localrealtime is the embedded realtime server: the server's side of
// the OpenAI Realtime GA protocol over WebRTC (section 3 of the protocol), with
// recognition and synthesis on this machine, so that a conversation needs no
// key and no network.
//
// # Model
//
// A Server answers HTTP (Handler) and holds calls. A call is one peer
// connection with a data channel for events and one Opus track each way. Its
// state has a single writer, the goroutine of call.run, which the others reach
// only by post:
//
//	RTP in ─► reorder, Opus, VAD ──window──►┐                ┌──► events, in order, on the data channel
//	data channel ─────────────client event─►│  call.run      │
//	recogniser ──────partial, final, failed►│  (session,     ├──► recogniser's queue (audio of the utterance)
//	synthesis ─────────begun, generated────►│   turns,       │
//	pacer ─────────────started, stopped────►│   responses)   └──► synthesis queue ─► Opus ─► pacer ─► RTP out
//
// The server has no model: it transcribes what it hears, and speaks verbatim
// the text in the input of a response.create. It never makes an answer of its
// own; a session that asks for one (create_response) is told so by an error
// event for each turn.
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
// After output_audio_buffer.cleared no packet of the cleared response is sent.
// A failing engine fails its transcription or response, not the call. Close
// leaves no goroutine, socket or engine. Nothing that was said, heard or sent
// as a secret reaches a log or an error.
package localrealtime
