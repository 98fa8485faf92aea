#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The audio processing module of WebRTC, as much of it as is used here: mono,
// 16 bits, frames of 10 ms. None of it is safe for concurrent use.
typedef struct av_apm av_apm;

typedef struct {
	int32_t rate;           // Hz: 16000, 32000 or 48000
	int32_t echo;           // 0 low, 1 moderate, 2 high suppression; -1 off
	int32_t extended;       // the filter spans 128 ms, not 48
	int32_t delay_agnostic; // it looks for the delay itself
	int32_t noise;          // 0 low to 3 very high; -1 off
	int32_t high_pass;
	int32_t gain;           // digital gain control
} av_apm_config;

// Returns NULL when a value is out of range or there is no memory.
av_apm *av_apm_new(const av_apm_config *config);
// Takes a frame of the far end (NULL: none) and replaces a frame of the near end.
// delay, in ms: from the far end's frame to its echo. Returns 0 or an error of the
// library.
int av_apm_process(av_apm *apm, const int16_t *far, int16_t *near, int delay);
// Sets the suppression of echo, as in av_apm_config; what was learnt stays.
int av_apm_suppress(av_apm *apm, int level);
// Forgets what was learnt.
int av_apm_reset(av_apm *apm);
void av_apm_free(av_apm *apm);

#ifdef __cplusplus
}
#endif
