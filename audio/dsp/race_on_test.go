//go:build cgo && race

package dsp

// underRace says that the race detector watches. A room then takes some 20 times as
// long, and what the detector does not look for is shown with fewer cases.
const underRace = true
