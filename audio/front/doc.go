// Package front is what stands between the devices of a conversation and whoever
// uses the user's voice: it takes the echo of the loudspeaker out of what the
// microphone captures, and finds the user's voice in it.
//
// # Model
//
// A Front puts together one dsp.Processor, which processes each captured frame
// beside what was rendered, a dsp.DelayReporter, which tells it what the devices
// report of their delay, and one vad.Tracker, which marks where somebody speaks. The
// tracker is told what the processor knows: whether the assistant is to be heard,
// where its echo is, and how much of it was taken out.
//
// The player is held as a reflex: from a suspicion until it is a voice or nothing,
// since a voice is heard sooner in silence, and from an onset on until the core has
// decided what becomes of the assistant.
//
// # The caller's loop
//
//	f, err := front.New(dsp.Default(), player.Hold)
//	f.Attach(source, sink)
//	f.Track(tracker)                  // where somebody's voice is to be found
//	sink:   player.Render(frame); f.Rendered(frame)
//	source: marks, err := f.Captured(pos, frame); send(pos-f.Latency(), f.Uplink())
//
// # Invariants
//
//   - Whoever holds conversations, in earnest or to measure them, takes this path.
//   - Rendered takes no lock and allocates nothing; Captured allocates nothing.
package front
