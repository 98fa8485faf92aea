// Package portaudio gives the machine's microphones and loudspeakers, through the
// PortAudio library, as sources and sinks of package audio: mono, 48 kHz, frames
// of 10 ms. It needs cgo; without it everything fails with a *audio.DeviceError
// that says so.
//
// # Model
//
// The library calls back on a thread of its own for each half of a frame, and from
// there Go is called for each frame. A capture callback puts the frames that are full into a preallocated ring and
// wakes Run, which delivers them; a playback callback calls render itself, since a
// frame that waited in a ring would be heard later and make a pause take longer.
// Neither takes a lock of ours or allocates. Other rates and channels than those
// of package audio are converted there too.
//
// # The sound server
//
// On Linux there mostly is a sound server, PulseAudio or PipeWire, and ALSA shows
// all of it as the one device "default", to a list that is frozen when PortAudio
// is initialised. So the server is asked for its devices over its own protocol,
// and one of them is opened through a PCM that is defined for that in this
// process's copy of ALSA's configuration, which takes the name as an argument. It
// needs ALSA's plugin for the server and nothing else: no environment variable
// (which other threads may be reading), no file, no list rebuilt. A stream on
// the default device names none, and so the server moves it when its default
// changes, and to the default when the device that was named goes away.
//
// # Loss
//
// When a sound server goes away, the library reports no error; the callbacks just
// stop. A stream on a device of the server keeps a connection to it open that
// carries no sound: its end is the loss of the device, after milliseconds. Where
// the server only hangs, or there is none, Run takes silence of the callbacks for
// the loss, after less than half a second; it is patient for longer with a device
// whose server answers. It then returns deviceLost, and the device is to be closed
// and opened again. A device that was one of the server's is not looked for
// elsewhere while the server is away: its hardware would be taken from the server
// that starts.
//
// No call waits longer than its limit for a server that hangs, see Source.Open.
//
// # Lists
//
// Devices and Watch give the server's part as it is, and PortAudio's part as of
// the moment when the library was initialised. That is done by the first device or
// list, and undone with the last, so that a list made while no device is open is
// fresh.
//
// The library's life and its devices are those of github.com/gordonklaus/portaudio.
// The streams are our own: that binding takes a lock and uses reflection in each
// callback, and the race detector's pointer checks stop it at the second stream.
package portaudio
