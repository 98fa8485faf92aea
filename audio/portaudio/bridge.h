// What the Go side needs of PortAudio: one callback for every stream, told apart
// by a slot number, and streams of one direction.

#include <portaudio.h>
#include <stdint.h>

void av_quiet(void);
PaError av_open(PaStream **stream, int slot, int device, int channels, int capture, double latency, double rate, unsigned long frames);
