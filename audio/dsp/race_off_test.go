//go:build cgo && !race

package dsp

const underRace = false
