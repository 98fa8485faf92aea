//go:build !linux

package stt

// systemModelDir is empty because no system package provides the models here.
const systemModelDir = ""
