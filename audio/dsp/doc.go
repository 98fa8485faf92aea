// Package dsp cleans what a microphone hears: it takes out the assistant's own
// voice, rumble and, when told to, noise, and sets the level.
//
// # Model
//
// A Processor stands between the devices. The rendering goroutine hands it each
// frame on its way to the loudspeaker, the far end; the capturing goroutine hands
// it each frame of the microphone, the near end, and gets two back:
//
//	sink goroutine:    player.Render(&f); p.Reference(&f); device plays f
//	source goroutine:  p.Process(&f, &out); tracker.Push(pos, &out.Trigger); client.Send(&out.Uplink)
//
// Trigger is for the voice detector that stops the assistant: its echo is
// suppressed as little as the detector tolerates, since what suppresses echo also
// suppresses the user who speaks over it. Uplink is for recognition: it has the
// same echo cancellation, then noise suppression and gain control, which would
// delay the detector and bring it nothing. Both are 48 kHz with the content of 16.
//
//	microphone -> 16 kHz -> high-pass, canceller -+-> Trigger
//	                            ^                 +-> noise suppression, gain -> Uplink
//	Reference -> ring -> aligner -> model, which replaces the canceller for Trigger at first
//
// The processing is that of WebRTC (package webrtc-audio-processing, version 0.3),
// which needs cgo. The canceller wants the far end a little before its echo, and
// standing still beside it. A ring takes the far end from one goroutine to the
// other; an aligner reads it, held back by the delay that the devices report
// (DelayReporter). A finder looks where the echo is, each half second. It corrects what
// the devices report wrong, and tells to microseconds how the clocks drift, by which
// the reading is stretched. Frames that were lost and a sink that stops and continues
// show in the distance between writing and reading, and are made good there.
//
// Foreign needs no time to learn: it correlates the last quarter of a second of the
// microphone with the last second of the far end, at all delays, and reports whether the
// sound is not an echo. With headphones it recognises a voice from the first word on, also
// where nothing is cancelled. The same comparison finds an echo whose delay jumped.
//
// While the canceller learns the room, in the assistant's first six seconds, it
// suppresses more than later, and with it a user who speaks over the first words. So a
// model of the echo path is estimated from a short sound alone: the tone that says that
// the microphone is open (package audio/cue), compared with what the microphone heard of
// it. It predicts the echo of the first words. Meanwhile Trigger is the microphone without
// that echo, unsuppressed (Predicted), and Person reports whether it is louder than an echo
// can be. A tone without an echo means headphones: then both outputs are the microphone's.
// Without the tone, in loud noise, or while the user speaks into it, there is no model.
//
// # Invariants
//
//   - Reference takes no lock, makes no system call and allocates nothing. Process
//     allocates nothing.
//   - Each call of Process gives a frame of each output. They are Latency samples
//     late, always the same.
//   - The canceller needs the loudspeaker within the critical distance of the
//     microphone (0.057 sqrt(V/T60) metres in a room of V cubic metres), as in a
//     laptop. Beyond it most of the echo is the room's, and it fails.
//   - What was misaligned by a gap, a stop or a drift is aligned again within
//     seconds, without a Reset.
//   - A Processor that does nothing (the zero Config) passes frames on unchanged,
//     and needs no cgo.
package dsp
