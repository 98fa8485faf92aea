//go:build cgo && !noapm

#include "apm.h"

#include <webrtc/modules/audio_processing/include/audio_processing.h>
#include <webrtc/modules/interface/module_common_types.h>

#include <cstring>
#include <memory>
#include <new>

using namespace webrtc;

struct av_apm {
	std::unique_ptr<AudioProcessing> processing;
	AudioFrame near, far;
};

namespace {

bool configure(AudioProcessing *p, const av_apm_config &c) {
	const StreamConfig mono(c.rate, 1, false);
	int err = p->Initialize(ProcessingConfig{{mono, mono, mono, mono}});
	err |= p->high_pass_filter()->Enable(c.high_pass != 0);
	if (c.echo >= 0) {
		EchoCancellation *echo = p->echo_cancellation();
		err |= echo->set_suppression_level(static_cast<EchoCancellation::SuppressionLevel>(c.echo));
		err |= echo->enable_drift_compensation(false);
		err |= echo->Enable(true);
	}
	if (c.noise >= 0) {
		err |= p->noise_suppression()->set_level(static_cast<NoiseSuppression::Level>(c.noise));
		err |= p->noise_suppression()->Enable(true);
	}
	if (c.gain) {
		err |= p->gain_control()->set_mode(GainControl::kAdaptiveDigital);
		err |= p->gain_control()->Enable(true);
	}
	return err == 0;
}

void prepare(AudioFrame *f, int rate) {
	f->sample_rate_hz_ = rate;
	f->samples_per_channel_ = static_cast<size_t>(rate / 100);
	f->num_channels_ = 1;
}

} // namespace

av_apm *av_apm_new(const av_apm_config *config) {
	Config options;
	options.Set<ExtendedFilter>(new ExtendedFilter(config->extended != 0));
	options.Set<DelayAgnostic>(new DelayAgnostic(config->delay_agnostic != 0));
	std::unique_ptr<av_apm> a(new (std::nothrow) av_apm);
	if (!a) return nullptr;
	a->processing.reset(AudioProcessing::Create(options));
	if (!a->processing || !configure(a->processing.get(), *config)) return nullptr;
	prepare(&a->near, config->rate);
	prepare(&a->far, config->rate);
	return a.release();
}

int av_apm_process(av_apm *a, const int16_t *far, int16_t *near, int delay) {
	const size_t bytes = a->near.samples_per_channel_ * sizeof(int16_t);
	if (far) {
		memcpy(a->far.data_, far, bytes);
		if (int err = a->processing->AnalyzeReverseStream(&a->far)) return err;
	}
	memcpy(a->near.data_, near, bytes);
	a->near.vad_activity_ = AudioFrame::kVadUnknown;
	a->processing->set_stream_delay_ms(delay); // out of range is a warning
	int err = a->processing->ProcessStream(&a->near);
	if (err != 0 && err != AudioProcessing::kBadStreamParameterWarning) return err;
	memcpy(near, a->near.data_, bytes);
	return 0;
}

int av_apm_suppress(av_apm *a, int level) {
	return a->processing->echo_cancellation()->set_suppression_level(static_cast<EchoCancellation::SuppressionLevel>(level));
}

int av_apm_reset(av_apm *a) { return a->processing->Initialize(); }

void av_apm_free(av_apm *a) { delete a; }
