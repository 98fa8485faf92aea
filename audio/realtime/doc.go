// Package realtime is the client of a realtime speech service: it sends microphone
// audio and receives transcripts and synthesised speech. It uses the OpenAI Realtime GA
// protocol with every provider; the differences between providers are in one table
// (provider.Rows).
//
// # Model
//
// A Client is one call. A transport carries it: WebRTC with one data channel for events
// and one Opus track in each direction, or, if the network blocks media, a WebSocket
// with audio in events. The client is the same over both. Dial creates it, it reports
// everything to a Handler, and it ends with Close or Lost. A new call is a new Client;
// a Client never reconnects by itself.
//
// The service is used for recognition and as a voice. It is configured not to answer by
// itself. Text to speak comes in segments through Speak: each becomes one out-of-band
// response whose text is to be read verbatim. Unsolicited responses are cancelled,
// counted and never played.
//
// For OpenAI's Live API, the client translates events to the equivalent Realtime
// events; see live.
//
// # Caller's loop
//
//	c, err := realtime.Dial(ctx, cfg, handler)
//	defer c.Close()
//	for each 10 ms of microphone audio: c.WriteFrame(&frame)
//	for each piece of the answer:       c.Speak(segment)
//	when the user interrupts:           c.CancelSpeech(gen)
//
// # Invariants
//
//   - One goroutine (the loop) owns the state of the call and makes every call of the
//     Handler. No method blocks it; WriteFrame has its own goroutine.
//   - Each segment that was neither cancelled nor lost with the connection ends in
//     exactly one SpeechEnded or SpeechFailed, whatever the service does, because every
//     wait has a deadline.
//   - After CancelSpeech(gen) no new call of the Handler names a segment of that
//     generation or an older one.
//   - Lost is called at most once, and is the last call. There are no calls after Close
//     has returned.
//   - Errors and logs contain no secret, transcript or text.
package realtime
