// Package realtime is the client of a realtime speech service: microphone
// audio goes up, transcripts of it and spoken text come down. It speaks the
// OpenAI Realtime GA protocol and is the same for every provider; what differs
// between them is one table (provider.Rows).
//
// # Model
//
// A Client is one call. What carries it is a transport: WebRTC with one data
// channel for events and one Opus track each way, or, where no media passes the
// network, a WebSocket with audio in events. The client is the same over both.
// It is made by Dial, reports everything to a Handler, and ends by Close or by
// Lost; a new call is a new Client. It never reconnects by itself.
//
// The service is used as ears and as a voice. It is told not to answer by
// itself, and what it is to say comes in segments through Speak: each becomes
// one out-of-band response whose text is to be read verbatim. Responses that
// nobody asked for are cancelled, counted and never heard.
//
// Of OpenAI's Live API the same client takes the events as those of the Realtime protocol
// that say the same; see live.
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
//   - One goroutine (the loop) owns the state of the call and makes every call
//     of the Handler. No method blocks it; WriteFrame has its own goroutine.
//   - Each segment that was neither cancelled nor lost with the connection ends
//     in exactly one SpeechEnded or SpeechFailed, whatever the service does:
//     every wait for it has a deadline.
//   - After CancelSpeech(gen) no new call of the Handler names a segment of
//     that generation or an older one.
//   - Lost comes at most once and is the last call. None comes after Close
//     returned.
//   - No secret, transcript or text is in an error or a log.
package realtime
