//go:build cgo && noapm

package dsp

const nativeLibrary = "native"

// libraries is that of this build.
var libraries = []library{{"aec3", newAPM, 15, 15}}
