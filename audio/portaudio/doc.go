// Package portaudio gives the machine's microphones and loudspeakers, through the
// PortAudio library, as sources and sinks of package audio: mono, 48 kHz, frames
// of 10 ms. It needs cgo; without it everything fails with a *audio.DeviceError
// that says so.
//
// # Model
//
// The library calls back on a thread of its own for each frame. A capture
// callback puts the frame into a preallocated ring and wakes Run, which delivers
// it; a playback callback calls render itself, since a frame that waited in a
// ring would be heard later and make a pause take longer. Neither takes a lock or
// allocates.
//
// When a sound server goes away, the library reports no error; the callbacks just
// stop. So Run takes silence of the callbacks for the loss of the device: it then
// returns deviceLost, and the device is to be closed and opened again.
//
// The list of devices is that of the moment when the library was initialised. It
// is initialised by the first device or list and terminated with the last, so
// that a list made while no device is open is fresh.
//
// The library's life and its devices are those of github.com/gordonklaus/portaudio.
// The streams are our own: that binding takes a lock and uses reflection in each
// callback, and the race detector's pointer checks stop it at the second stream.
package portaudio
