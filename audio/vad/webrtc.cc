//go:build cgo && !noapm

#include "webrtc.h"

#include <webrtc/modules/audio_processing/include/audio_processing.h>
#include <webrtc/modules/interface/module_common_types.h>

#include <cstring>
#include <memory>
#include <new>

using namespace webrtc;

static const int rate = 16000;

struct av_voice {
	std::unique_ptr<AudioProcessing> processing;
	AudioFrame frame;
};

av_voice *av_voice_new(int likelihood) {
	std::unique_ptr<av_voice> v(new (std::nothrow) av_voice);
	if (!v) return nullptr;
	v->processing.reset(AudioProcessing::Create());
	if (!v->processing) return nullptr;
	const StreamConfig mono(rate, 1, false);
	VoiceDetection *detection = v->processing->voice_detection();
	int err = v->processing->Initialize(ProcessingConfig{{mono, mono, mono, mono}});
	err |= detection->set_likelihood(static_cast<VoiceDetection::Likelihood>(likelihood));
	err |= detection->Enable(true);
	if (err != 0) return nullptr;
	v->frame.sample_rate_hz_ = rate;
	v->frame.samples_per_channel_ = rate / 100;
	v->frame.num_channels_ = 1;
	return v.release();
}

int av_voice_process(av_voice *v, const int16_t *frame) {
	memcpy(v->frame.data_, frame, v->frame.samples_per_channel_ * sizeof(int16_t));
	v->frame.vad_activity_ = AudioFrame::kVadUnknown;
	if (int err = v->processing->ProcessStream(&v->frame)) return err;
	return v->processing->voice_detection()->stream_has_voice() ? 1 : 0;
}

int av_voice_reset(av_voice *v) { return v->processing->Initialize(); }

void av_voice_free(av_voice *v) { delete v; }
