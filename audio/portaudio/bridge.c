//go:build cgo

#ifndef _WIN32
#define _GNU_SOURCE
#include <dlfcn.h>
#endif

#include "bridge.h"
#include "_cgo_export.h"

static int callback(const void *in, void *out, unsigned long frames, const PaStreamCallbackTimeInfo *time,
                    PaStreamCallbackFlags flags, void *slot) {
	avCallback((int)(intptr_t)slot, (void *)in, out, frames);
	return paContinue;
}

PaError av_open(PaStream **stream, int slot, int device, int channels, int capture, double latency, double rate, unsigned long frames) {
	PaStreamParameters p = {.device = device, .channelCount = channels, .sampleFormat = paInt16, .suggestedLatency = latency};
	return Pa_OpenStream(stream, capture ? &p : NULL, capture ? NULL : &p, rate, frames, paClipOff, callback, (void *)(intptr_t)slot);
}

static void quiet_alsa(const char *file, int line, const char *function, int err, const char *format, ...) {}
static void quiet(const char *message) {}

// av_quiet stops what the libraries below print on stderr while they probe. They
// are looked up at run time, since PortAudio may be built without them.
void av_quiet(void) {
#ifndef _WIN32
	int (*alsa)(void (*)(const char *, int, const char *, int, const char *, ...)) = dlsym(RTLD_DEFAULT, "snd_lib_error_set_handler");
	if (alsa) alsa(quiet_alsa);
	const char *setters[] = {"jack_set_error_function", "jack_set_info_function"};
	for (int i = 0; i < 2; i++) {
		void (*set)(void (*)(const char *)) = dlsym(RTLD_DEFAULT, setters[i]);
		if (set) set(quiet);
	}
#endif
}
