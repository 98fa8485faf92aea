//go:build !linux

package main

// systemSpeechDir is not known here: no package of the system brings the speech.
const systemSpeechDir = ""
