//go:build cgo && !noapm

package dsp

import "github.com/agentvoice/agentvoice-daemon/audio/aec3"

// nativeLibrary is the library that also suppresses noise and controls the gain.
const nativeLibrary = "native"

// libraries are those of all builds. With a reduction of 30 dB the assistant's echo of
// -26 dBFS is at -56, where the detector no longer reports a voice (BenchmarkLibraries).
// AEC3 leaves a louder echo that is less like a voice: the detector reports as few.
var libraries = []library{{nativeLibrary, newAPM, 20, 30}, {"aec3", newAEC3, 15, 15}}

// newAEC3 is newAPM of the builds without the native library.
func newAEC3(c apmConfig) (apm, error) {
	return aec3.New(aec3.Config{EchoCancellation: c.echo >= 0, HighPass: c.highPass})
}
