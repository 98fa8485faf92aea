// Package room simulates a room with a speaker that plays the assistant, a person,
// and a microphone that picks up both. It is pure: randomness comes from seeds, and
// the only clock is the number of frames.
//
// # Model
//
// All audio is 48 kHz mono in frames of 10 ms. One Room has one speaker and one
// microphone:
//
//	render -> speaker (clipping) -> clock drift -> delay -> impulse response -> echo gain \
//	near-end speech ---------------------------------------- (impulse response, optional) --- + -> microphone (clipping) -> frame
//	fan noise or babble -------------------------------------------------------------------- /
//
// The impulse responses are those of a shoebox room by the image-source method (Allen
// and Berkley, 1979), with slightly randomized image positions (De Sena and others,
// 2015), because a perfect box causes artifacts that no real room has.
//
// The caller's loop, for each frame of the microphone's clock:
//
//	r.Capture(sink.Render, &near, &mic)
//
// Capture calls render as often as the speaker's clock needs a frame: once without
// drift; with drift sometimes twice or not at all.
//
// # Invariants
//
//   - The same Config and the same frames give the same microphone signal, bit for bit.
//   - A frame that is first rendered in a call of Capture is heard Delay after that
//     frame's first
//     sample, plus the time from the speaker through the air.
//   - Levels are RMS levels in dBFS (audio.Level); an SNR is relative to the active
//     level of the
//     speech (ActiveLevel), so pauses do not count.
//   - Capture does not allocate.
package room
