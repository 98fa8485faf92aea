//go:build !linux || !cgo

package portaudio

// Configure does nothing: only ALSA's library needs a configuration.
func Configure(string) {}
