package realtime

// encoder makes one Opus packet of packetSamples of mono audio.
type encoder interface {
	Encode(pcm []int16, packet []byte) (int, error)
}

// decoder decodes Opus to mono at audio.SampleRate.
type decoder interface {
	// Decode returns the samples per channel.
	Decode(packet []byte, pcm []int16) (int, error)
	// DecodeFEC fills pcm, which has the length of the lost packet, from the
	// packet after it; DecodePLC extrapolates.
	DecodeFEC(next []byte, pcm []int16) error
	DecodePLC(pcm []int16) error
}
