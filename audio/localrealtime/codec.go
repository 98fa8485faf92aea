package localrealtime

import "github.com/agentvoice/agentvoice-daemon/audio"

// Rates of the media path.
const (
	rtpRate    = audio.SampleRate // of RTP timestamps of Opus (RFC 7587), Hz: one tick a sample
	listenRate = 16000            // of the detector and the recogniser, Hz
)
