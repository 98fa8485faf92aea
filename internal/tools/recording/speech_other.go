//go:build !linux

package main

// systemSpeechDir is empty: no system package has the speech.
const systemSpeechDir = ""
