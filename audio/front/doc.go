// Package front is the audio front end of a conversation: it removes the speaker's echo
// from the microphone signal and detects the user's voice in it.
//
// # Model
//
// A Front combines one dsp.Processor, which processes each captured frame together
// with what was rendered, a dsp.DelayReporter, which passes on the devices' reported
// delay, and one vad.Tracker, which marks speech. The Front passes the processor's
// knowledge to the tracker: whether the assistant is audible, whether its echo was
// found, and how much of it was removed.
//
// The Front holds the player without waiting for the core: from a suspicion until it
// becomes an onset or is dismissed, because detection is faster in silence, and from an
// onset until the core has decided whether to interrupt the assistant.
//
// # The caller's loop
//
//	f, err := front.New(dsp.Default(), player.Hold)
//	f.Attach(source, sink)
//	f.Track(tracker)                  // only if voice detection is local
//	sink:   player.Render(frame); f.Rendered(frame)
//	source: marks, err := f.Captured(pos, frame); send(pos-f.Latency(), f.Uplink())
//
// # Invariants
//
//   - Production, tests and benches all use this path.
//   - Rendered takes no lock. Neither Rendered nor Captured allocates.
package front
