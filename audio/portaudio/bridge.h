// What the Go side needs of PortAudio: one callback for every stream, told apart
// by a slot number, and streams of one direction.

#include <portaudio.h>
#include <stdint.h>

void av_quiet(void);

// av_open opens a device of PortAudio's list, or, where server is not NULL, the
// device of that name at the sound server ("" is its default). Go is called once
// for every so many parts, each with a number of frames.
PaError av_open(PaStream **stream, int slot, int device, const char *server, int channels, int capture, double latency, double rate,
                unsigned long frames, int parts);

#define AV_SLOTS 16
