// Package room simulates a room in which an assistant talks out of a
// loudspeaker and a person talks into a microphone that hears both. It is pure:
// all chance comes from seeds, and there is no clock but the number of frames.
//
// # Model
//
// All audio is 48 kHz mono in frames of 10 ms. One Room is one loudspeaker and
// one microphone:
//
//	render -> loudspeaker (clipping) -> clock drift -> delay -> impulse response -> echo gain \
//	near-end speech ---------------------------------------- (impulse response, optional) --- + -> microphone (clipping) -> frame
//	fan noise or babble -------------------------------------------------------------------- /
//
// The impulse responses are those of a shoebox by the image-source method (Allen
// and Berkley, 1979), with the images shaken a little (De Sena and others, 2015),
// since in a perfect box they fall into patterns that no real room has.
//
// The caller's loop, for each frame of the microphone's clock:
//
//	r.Capture(sink.Render, &near, &mic)
//
// Capture calls render as often as the loudspeaker's clock asks for a frame: once
// without drift; with drift sometimes twice or not at all.
//
// # Invariants
//
//   - The same Config and the same frames give the same microphone, bit by bit.
//   - A frame that is rendered for the first time in a call of Capture is heard
//     from Delay after that frame's first sample, plus the loudspeaker's distance.
//   - Levels are in dBFS of audio.Level's RMS; an SNR is against the active level
//     of the speech (ActiveLevel), so pauses do not count.
//   - Capture allocates nothing.
package room
