//go:build !linux

package stt

// systemModelDir is not known here: no package of the system brings the models.
const systemModelDir = ""
