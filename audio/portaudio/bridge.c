//go:build cgo

#ifndef _WIN32
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
#endif
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"
#include "_cgo_export.h"

// A slot collects the parts of one stream's frame: devices have the lowest latency
// with parts smaller than a frame, but each call into Go wakes its runtime for longer
// than the call takes.
static struct slot {
	int16_t *pcm; // of all parts
	unsigned long samples; // of one part, all channels
	int parts, part;
	PaStreamCallbackFlags flags;

	// Playback: a call into Go keeps its runtime awake until the next one, so silence
	// is played without it.
	atomic_int resting;
	atomic_int busy; // see av_busy
	atomic_long rested; // frames that av_rested has not returned
	atomic_long frames; // see av_frames
} slots[AV_SLOTS];

void av_rest(int slot, int on) { atomic_store(&slots[slot].resting, on); }

int av_busy(int slot) { return atomic_load(&slots[slot].busy); }

long av_rested(int slot) { return atomic_load(&slots[slot].resting) ? atomic_exchange(&slots[slot].rested, 0) : 0; }

long av_frames(int slot) { return atomic_load(&slots[slot].frames); }

static int callback(const void *in, void *out, unsigned long frames, const PaStreamCallbackTimeInfo *t, PaStreamCallbackFlags flags,
                    void *number) {
	struct slot *s = &slots[(intptr_t)number];
	int16_t *here = s->pcm + s->part * s->samples;
	double delay = in ? t->currentTime - t->inputBufferAdcTime : t->outputBufferDacTime - t->currentTime;
	int first = s->part == 0, last = s->part == s->parts - 1, result = paContinue;
	s->flags |= flags;
	s->part = last ? 0 : s->part + 1;
	if (first) atomic_fetch_add(&s->frames, 1);
	if (in) memcpy(here, in, s->samples * sizeof *here);
	if (in ? last : first) {
		atomic_store(&s->busy, 1); // before reading resting; av_rest's caller does it in the opposite order
		if (out && atomic_load(&s->resting)) {
			memset(s->pcm, 0, s->parts * s->samples * sizeof *s->pcm);
			atomic_fetch_add(&s->rested, 1);
		} else {
			flags = s->flags;
			s->flags = 0;
			result = avCallback((int)(intptr_t)number, in ? s->pcm : NULL, out ? s->pcm : NULL, s->parts * frames, delay, flags,
			                    atomic_exchange(&s->rested, 0));
		}
		atomic_store(&s->busy, 0);
	}
	if (out) memcpy(out, here, s->samples * sizeof *here);
	return result;
}

#ifdef __linux__
#include <alsa/asoundlib.h>
#include <pa_linux_alsa.h>

// av_configured: PortAudio aborts the process unless the configuration has one of the PCMs
// that it sets aside while it counts devices, "default" and "dmix".
int av_configured(void) {
	snd_config_t *pcm;
	return snd_config_update() >= 0 && (!snd_config_search(snd_config, "pcm.default", &pcm) || !snd_config_search(snd_config, "pcm.dmix", &pcm));
}

// define_pcm adds a PCM to ALSA's configuration, for this process only, that leads to a
// device of the sound server by name. The system's configuration may not have one, and
// PortAudio's list, frozen at initialization, may not have the device.
static int define_pcm(void) {
	static const char text[] = "pcm.agentvoice { @args [ DEVICE ] @args.DEVICE { type string default \"\" } type pulse device $DEVICE }\n";
	snd_config_t *there;
	snd_input_t *in;
	int err = snd_config_update();
	if (err < 0) return err;
	if (snd_config_search(snd_config, "pcm.agentvoice", &there) == 0) return 0;
	if ((err = snd_input_buffer_open(&in, text, sizeof text - 1)) < 0) return err;
	err = snd_config_load(snd_config, in);
	snd_input_close(in);
	return err;
}

static PaError open_server(PaStream **stream, PaStreamParameters *p, const char *server, int capture, double rate, unsigned long frames,
                           void *slot) {
	char name[512];
	PaAlsaStreamInfo info;
	if (strchr(server, '\'') || snprintf(name, sizeof name, *server ? "agentvoice:DEVICE='%s'" : "agentvoice", server) >= (int)sizeof name)
		return paInvalidDevice;
	if (define_pcm() < 0) return paDeviceUnavailable;
	PaAlsa_InitializeStreamInfo(&info);
	info.deviceString = name;
	p->device = paUseHostApiSpecificDeviceSpecification;
	p->hostApiSpecificStreamInfo = &info;
	return Pa_OpenStream(stream, capture ? p : NULL, capture ? NULL : p, rate, frames, paClipOff, callback, slot);
}
#else
int av_configured(void) { return 1; }

static PaError open_server(PaStream **stream, PaStreamParameters *p, const char *server, int capture, double rate, unsigned long frames,
                           void *slot) {
	return paInvalidDevice;
}
#endif

PaError av_open(PaStream **stream, int slot, int device, const char *server, int channels, int capture, double latency, double rate,
                unsigned long frames, int parts) {
	PaStreamParameters p = {.device = device, .channelCount = channels, .sampleFormat = paInt16, .suggestedLatency = latency};
	struct slot *s = &slots[slot];
	free(s->pcm); // of the previous stream in this slot
	*s = (struct slot){.samples = frames * channels, .parts = parts};
	if (!(s->pcm = calloc(s->samples * parts, sizeof *s->pcm))) return paInsufficientMemory;
	if (server) return open_server(stream, &p, server, capture, rate, frames, (void *)(intptr_t)slot);
	return Pa_OpenStream(stream, capture ? &p : NULL, capture ? NULL : &p, rate, frames, paClipOff, callback, (void *)(intptr_t)slot);
}

static void quiet_alsa(const char *file, int line, const char *function, int err, const char *format, ...) {}
static void quiet(const char *message) {}

#ifdef __GLIBC__
// filtered writes what C code prints on stderr, without PortAudio's messages about
// failed calls, which it has no option to disable: callers get them as errors.
static ssize_t filtered(void *cookie, const char *text, size_t n) {
	static const char note[] = "Expression '";
	if (n >= sizeof note - 1 && !memcmp(text, note, sizeof note - 1)) return n;
	return write(2, text, n);
}

static void quiet_portaudio(void) {
	static int done;
	FILE *f;
	if (done++) return;
	if (!(f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = filtered}))) return;
	setvbuf(f, NULL, _IOLBF, BUFSIZ);
	stderr = f; // Go's own output does not go through it
}
#else
static void quiet_portaudio(void) {}
#endif

// av_quiet suppresses what the underlying libraries print on stderr while they probe.
// They are looked up at run time, because PortAudio may be built without them.
void av_quiet(void) {
	quiet_portaudio();
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
