// Package audio holds what every part of the media path shares: the frame,
// the device interfaces and the playback engine. It has no cgo; devices,
// codecs and models are in the packages below it, each behind an interface
// of this one.
//
// The media path runs beside the conversation core, never through it. It
// moves 10 ms frames of 16-bit mono at 48 kHz:
//
//	Source -> frames -> realtime client -> ... -> realtime client -> Player -> Sink
//
// The core learns facts about audio (onset at a sample position, buffered,
// heard, drained), never samples.
package audio
