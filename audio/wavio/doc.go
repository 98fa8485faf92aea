// Package wavio implements devices on WAV files: a Source that plays a recording into
// the media path at real time or faster, a Sink that records played audio, Null,
// which discards it, and a Recorder for both sides of a conversation.
//
// It reads RIFF WAVE files with 8, 16, 24 or 32 bit PCM or 32 bit float samples, 8 to
// 192 kHz and 1 to 8 channels, including WAVE_FORMAT_EXTENSIBLE, and converts them to
// the format of package audio. Anything else gives a *FormatError that identifies it.
// It writes 16-bit PCM, in files that are valid at any time, so that a process that
// dies leaves a recording.
//
// Errors name a file by its base name, never by its path.
package wavio
