// Package dsp processes microphone audio: echo cancellation, high-pass filtering,
// optional noise suppression and gain control.
//
// # Model
//
// A Processor sits between the devices. The rendering goroutine passes it each frame
// on its way to the speaker (the far end). The capturing goroutine passes it each
// microphone frame (the near end) and gets two frames back:
//
//	sink goroutine:    player.Render(&f); p.Reference(&f); device plays f
//	source goroutine:  p.Process(&f, &out); tracker.Push(pos, &out.Trigger); client.Send(&out.Uplink)
//
// Trigger is for the voice detector that interrupts the assistant. Its echo is
// suppressed as little as the detector tolerates, because suppression also attenuates
// a user who speaks over the echo (double talk). Uplink is for recognition: the same
// echo cancellation, then noise suppression and gain control, which would delay the
// detector without helping it. Both are 48 kHz with content up to 8 kHz.
//
//	microphone -> 16 kHz -> high-pass, canceller -+-> Trigger
//	                            ^                 +-> noise suppression, gain -> Uplink
//	Reference -> ring -> aligner -> model, which replaces the canceller for Trigger while it adapts
//
// The processing is WebRTC's: the library webrtc-audio-processing, version 0.3, or in
// builds without cgo or with the tag noapm its newer canceller alone, as WebAssembly
// (package aec3). Both are driven alike. The canceller needs the far end slightly before its echo, at a constant
// offset. A ring carries the far end between the two goroutines, and an aligner reads
// it with the delay that the devices report (DelayReporter). Every half second a
// finder estimates where the echo is. It corrects wrong reports and measures the
// clock drift to microseconds; the aligner resamples accordingly. Lost frames and a
// sink that stops and restarts change the distance between writing and reading, which
// the aligner corrects.
//
// Foreign works without adaptation: it correlates the last quarter of a second of the
// near end with the last second of the far end at all delays, and reports whether the
// sound is not an echo. With headphones it detects a voice from the first word, even
// where nothing is cancelled. The same comparison detects an echo whose delay has
// jumped.
//
// While the canceller adapts, in the assistant's first six seconds, it suppresses
// more than later, and attenuates a user who speaks over the first words. The model
// therefore estimates the echo path from one short sound: the tone that signals an
// open microphone (package audio/cue), compared with what the microphone captured of
// it. It predicts the echo of the first words. Meanwhile Trigger is the microphone
// minus that echo, without suppression (Predicted), and Person reports whether it is
// louder than an echo can be. A tone without an echo means headphones; both outputs
// are then the microphone. Without the tone, in loud noise, or if the user speaks
// during the tone, there is no model.
//
// # Invariants
//
//   - Reference takes no lock, makes no system call and does not allocate. Process
//     does not allocate.
//   - Each call of Process returns a frame of each output, delayed by Latency samples,
//     which is constant.
//   - The canceller needs the speaker within the critical distance of the microphone
//     (0.057 sqrt(V/T60) metres in a room of V cubic metres), as in a laptop. Beyond it
//     most of the echo is reverberation, and cancellation fails.
//   - Misalignment after a gap, a stop or drift is corrected within seconds, without a
//     Reset.
//   - A Processor with the zero Config passes frames through unchanged.
package dsp
