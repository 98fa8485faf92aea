package localrealtime

// transport carries one call: events in both directions, the user's audio, and the
// speech of the responses. It hides WebRTC and WebSocket from the call.
type transport interface {
	// start starts carrying the call; its goroutines are workers of the call.
	start()
	// send queues an event without blocking. It fails if the client is gone or does not
	// read. Only call.run uses it, after greet.
	send(event []byte) error
	// whenSent calls f once, when all events have been sent. Only call.run uses it.
	whenSent(f func())
	// speech returns the writer for the audio of a response. Only the speaker uses it,
	// for one response at a time.
	speech(r *response) speechWriter
	// end marks the end of a response's audio. Each queued response gets one end, in
	// order, even without audio.
	end(r *response)
	// kill stops sending audio of a response.
	kill(r *response)
	// played returns how much of a response was sent at playback pace, in milliseconds;
	// ok is false if the client paces the audio.
	played(r *response) (ms int64, ok bool)
	// away reports that the client is currently unreachable, so its audio is late.
	away() bool
	// close closes the connection. It is called after the call is over.
	close() error
}

// speechWriter receives the audio of one response.
type speechWriter interface {
	// write appends samples at rate Hz. It does not retain pcm, and blocks while the
	// client has enough.
	write(pcm []int16, rate int) error
	// flush ends the audio and returns when its beginning has been sent.
	flush() error
}
