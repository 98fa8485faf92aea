// Package roomsim simulates conversations in rooms: an assistant who talks
// continuously through a speaker, and a person who interrupts, coughs and gives
// backchannels at known samples. It measures the reactions.
//
// # Model
//
// The measured parts are production code: audio.Player, front.Front and the core
// (csm.Step in dispatch.Loop), assembled as for a conversation. Everything around
// them is simulated:
//
//	assistant's speech -> Player -> Rendered -> output buffer -> loudspeaker -> tape
//	                                                                  | echo, delay, clipping, drift
//	person's clip -> room ------------------------------------------ + noise -> microphone
//	microphone -> input buffer -> Captured -> marks -> core -> pause, resume, flush -> Player
//
// Recognition is an oracle: it knows which clip is playing, and reports its class to
// the core with the delay of a service (PartialAfter, FinalAfter). The results
// therefore say nothing about recognition accuracy, only about the voice detector and
// the core.
//
// Run simulates a conversation on a virtual clock, in steps of 10 ms, as fast as the
// machine can. Live runs one with real devices in real time.
//
// # What is measured
//
// Silence is measured on the speaker's tape: the first 10 ms below SilenceLevel after
// which nothing louder follows for Hold. Pauses in the assistant's speech are shorter
// than that, so none counts as a reaction. All delays are relative to the labelled
// first sample of the voice.
//
// # Invariants
//
//   - A Cell gives the same Result in every run, on any machine with the same libraries.
//   - The person speaks only while the assistant is audible.
package roomsim
