package localrealtime

import "github.com/agentvoice/agentvoice-daemon/audio"

// Sample rates of the media path.
const (
	rtpRate    = audio.SampleRate // Opus RTP clock in Hz (RFC 7587): one tick per sample
	listenRate = 16000            // input rate of the detector and the recogniser, in Hz
)
