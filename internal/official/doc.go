// Package official checks what this project sends and reads of the realtime and the
// chat protocol against the types of OpenAI's own Go library. It is a module of its
// own: that library takes some 90 s of processor time to compile, which a build of
// the daemon does not need.
//
// The events come from the golden files of audio/realtime and audio/localrealtime,
// which the tests of those packages hold to what is really sent.
package official
