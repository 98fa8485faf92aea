//go:build !linux

package hearing

// systemModelDir is empty because no system package provides the models here.
const systemModelDir = ""
