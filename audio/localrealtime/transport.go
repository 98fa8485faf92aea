package localrealtime

// transport carries one call: events both ways, what the user says, and the speech of
// the responses. A call knows nothing else of WebRTC or WebSocket.
type transport interface {
	// start begins to carry the call; its goroutines are workers of the call.
	start()
	// send puts an event on its way without waiting. It fails when the client is gone or
	// does not read. Only call.run uses it, after greet.
	send(event []byte) error
	// whenSent calls f once, when the client was sent all events. Only call.run uses it.
	whenSent(f func())
	// speech takes the audio of a response. Only the speaker uses it, for one response
	// after the other.
	speech(r *response) speechWriter
	// end says that no more audio of a response follows. Each response that was
	// queued gets one end, in order, whether it had audio or not.
	end(r *response)
	// kill lets no further audio of a response out.
	kill(r *response)
	// played is how much of a response was sent at the pace of playback, in
	// milliseconds; ok is false where the client paces the audio.
	played(r *response) (ms int64, ok bool)
	// away says that nothing comes from the client for now: what it says is late.
	away() bool
	// close takes the connection apart. It is called after the call is over.
	close() error
}

// speechWriter takes the audio of one response.
type speechWriter interface {
	// write takes the next samples at a rate in Hz. It keeps nothing of pcm, and waits
	// while the client has enough.
	write(pcm []int16, rate int) error
	// flush ends the audio, and returns when the first of it is on its way.
	flush() error
}
