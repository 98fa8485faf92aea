// Package wavio makes devices of WAV files: a Source that plays a recording into
// the media path at real time or faster, a Sink that records what is played, Null
// that plays to nobody, and a Recorder of both sides of a conversation.
//
// It reads RIFF WAVE files with 8, 16, 24 or 32 bit PCM or 32 bit float samples,
// 8 to 192 kHz and 1 to 8 channels, also as WAVE_FORMAT_EXTENSIBLE, and converts
// them to the one format of package audio. What is something else is refused with
// a *FormatError, which says what it is. It writes 16-bit PCM, in files that are
// valid at any time, so that a process that dies leaves a recording.
//
// Errors name a file by its last element, never by its path.
package wavio
