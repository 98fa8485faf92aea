// Package roomsim holds conversations in rooms: an assistant who talks without end
// through a loudspeaker, and a person who interrupts, coughs and agrees, at known
// samples. It measures what becomes of it.
//
// # Model
//
// What is measured is the program's own: audio.Player, front.Front and the core
// (csm.Step in dispatch.Loop), put together as for a conversation.
// What stands around them is simulated:
//
//	assistant's speech -> Player -> Rendered -> output buffer -> loudspeaker -> tape
//	                                                                  | echo, delay, clipping, drift
//	person's clip -> room ------------------------------------------ + noise -> microphone
//	microphone -> input buffer -> Captured -> marks -> core -> pause, resume, flush -> Player
//
// Recognition is an oracle: it knows which clip is being played, and tells the core
// its class as late as a service would (PartialAfter, FinalAfter). So nothing here
// says how well words are understood, only what the voice detector and the core
// make of them.
//
// Run holds a conversation on a virtual clock, in steps of 10 ms, as fast as the
// machine can. Live holds the same with real devices in real time.
//
// # What is measured
//
// Silence is read from the tape of the loudspeaker: the first 10 ms below
// SilenceLevel from which on nothing louder comes for Hold. The pauses in the
// assistant's speech are shorter than that, so that none is taken for an answer to
// the person. All delays are counted from the labelled first sample of the voice.
//
// # Invariants
//
//   - A Cell gives the same Result each time, on any machine with the same libraries.
//   - The person speaks only while the assistant is heard.
package roomsim
