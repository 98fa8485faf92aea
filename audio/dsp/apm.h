#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The parts of WebRTC's audio processing module that are used here: mono, 16 bits,
// frames of 10 ms. Not safe for concurrent use.
typedef struct av_apm av_apm;

typedef struct {
	int32_t rate;           // Hz: 16000, 32000 or 48000
	int32_t echo;           // 0 low, 1 moderate, 2 high suppression; -1 off
	int32_t extended;       // the filter spans 128 ms, not 48
	int32_t delay_agnostic; // the module estimates the delay itself
	int32_t noise;          // 0 low to 3 very high; -1 off
	int32_t high_pass;
	int32_t gain;           // digital gain control
} av_apm_config;

// Returns NULL if a value is out of range or memory allocation fails.
av_apm *av_apm_new(const av_apm_config *config);
// Processes the near-end frame in place, given the far-end frame (may be NULL). delay
// is from the far-end frame to its echo, in ms. Returns 0 or an error code of the
// library.
int av_apm_process(av_apm *apm, const int16_t *far, int16_t *near, int delay);
// Sets the echo suppression level of av_apm_config. Keeps the adaptation.
int av_apm_suppress(av_apm *apm, int level);
// Discards the adaptation.
int av_apm_reset(av_apm *apm);
void av_apm_free(av_apm *apm);

#ifdef __cplusplus
}
#endif
