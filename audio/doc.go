// Package audio defines the types that the whole media path shares: the frame,
// the device interfaces and the playback engine. It does not use cgo. Devices,
// codecs and models live in subpackages and implement the interfaces of this one.
// The media path runs beside the conversation core, never through it. It
// moves 10 ms frames of 16-bit mono at 48 kHz:
//
//	Source -> frames -> realtime client -> ... -> realtime client -> Player -> Sink
//
// The core receives facts about audio (onset at a sample position, buffered,
// heard, drained), never samples.
package audio
