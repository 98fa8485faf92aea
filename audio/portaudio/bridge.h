// The C side of the binding: one callback for all streams, identified by a slot
// number, and streams of one direction.

#include <portaudio.h>
#include <stdint.h>

void av_quiet(void);

// av_configured reports whether PortAudio can be initialized. On Linux ALSA's library needs
// its configuration for that.
int av_configured(void);

// av_open opens a device of PortAudio's list, or, if server is not NULL, the device
// of that name at the sound server ("" is its default). Go is called once per the
// given number of parts, each with the given number of frames.
PaError av_open(PaStream **stream, int slot, int device, const char *server, int channels, int capture, double latency, double rate,
                unsigned long frames, int parts);

// av_rest makes a playback stream play silence without calling Go, or ends that.
void av_rest(int slot, int on);

// av_busy reports whether a callback of the stream is calling Go or about to.
int av_busy(int slot);

// av_rested returns how many frames a resting stream has played since the last call.
long av_rested(int slot);

// av_frames returns how many frames the stream has started, with and without Go.
long av_frames(int slot);

#define AV_SLOTS 16
