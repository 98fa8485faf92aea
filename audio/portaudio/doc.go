// Package portaudio provides the machine's microphones and speakers as sources and
// sinks of package audio (mono, 48 kHz, frames of 10 ms), through the PortAudio
// library. It needs cgo; without it everything fails with a *audio.DeviceError that
// says so.
//
// # Model
//
// The library calls back on its own thread for each half of a frame, and the C bridge
// calls Go once per frame. The capture callback puts full frames into a preallocated
// ring and wakes Run, which delivers them. The playback callback calls render
// directly, because a frame that waited in a ring would be heard later and delay a
// pause. While the speaker rests, silence is played without calling Go, which would
// keep its scheduler awake (audio.Rester). Neither callback takes a Go lock or
// allocates. The callbacks also convert the device's rate and channel count.
//
// # The sound server
//
// Most Linux systems run a sound server, PulseAudio or PipeWire. ALSA shows all of it
// as one device, "default", and PortAudio freezes its device list when it is
// initialized. So this package asks the server for its devices over the server's
// protocol, and opens one through a PCM that it adds to this process's copy of ALSA's
// configuration and that takes the device's name as an argument. This needs only
// ALSA's plugin for the server: no environment variable (which other threads may be
// reading), no file, no rebuilt list. A stream on the default device names none, so
// the server moves it when the default changes. If a named device disappears, the
// server moves its stream to the default.
//
// Without a configuration of ALSA, PortAudio would abort the process. So it is not
// initialized then, and every device fails with an error. A program that brings a
// configuration names it with Configure.
//
// # Loss
//
// When a sound server disappears, the library reports no error; the callbacks just
// stop. A stream on a device of the server therefore keeps a connection open that
// carries no audio. Its end means that the device is lost, and is noticed within
// milliseconds. If the server hangs, or there is none, Run treats missing callbacks
// as the loss, after less than half a second; it waits longer for a device whose
// server answers. Run then returns deviceLost, and the caller closes the device and
// opens it again. A device of the server is not looked up elsewhere while the server
// is down: opening its hardware directly would take it from the server that is
// starting.
//
// Calls on a hanging server are bounded; see Source.Open.
//
// # Lists
//
// Devices and Watch return the server's current devices, and PortAudio's as of its
// initialization. The first open device or list initializes the library and the last
// one terminates it, so a list made while no device is open is up to date.
//
// Initialization and devices use github.com/gordonklaus/portaudio. The streams do
// not: its callbacks take a lock and use reflection, and the race detector's pointer
// checks stop it at the second stream.
package portaudio
