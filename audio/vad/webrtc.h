#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The voice detection of WebRTC's audio processing module: mono, 16 bits, 16 kHz, frames of
// 10 ms. Not safe for concurrent use.
typedef struct av_voice av_voice;

// likelihood is from 0, which reports fewest frames as voice, to 3. Returns NULL if it is
// out of range or memory allocation fails.
av_voice *av_voice_new(int likelihood);
// Returns 1 if the frame of 160 samples contains a voice, 0 if not, or an error code of
// the library, which is negative.
int av_voice_process(av_voice *voice, const int16_t *frame);
// Discards the adaptation. Returns 0 or an error code of the library.
int av_voice_reset(av_voice *voice);
void av_voice_free(av_voice *voice);

#ifdef __cplusplus
}
#endif
