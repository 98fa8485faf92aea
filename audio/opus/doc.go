// Package opus encodes and decodes the speech of the realtime connection: mono at
// 48 kHz, in packets of 20 ms (RFC 6716, RFC 7587). It is a thin layer over
// libopus and needs cgo; without it the constructors fail with ErrUnavailable.
//
// Encoders and decoders are not safe for concurrent use and do not allocate per
// packet. Replace a lost packet with DecodeFEC if the packet after it has arrived,
// and with DecodePLC otherwise; pass the length of the missing audio.
package opus

import (
	"errors"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const (
	// PacketSamples is the length of an encoded packet: 20 ms.
	PacketSamples = 2 * audio.FrameSamples
	// MaxPacketSamples is the maximum length of a packet: 120 ms.
	MaxPacketSamples = 12 * audio.FrameSamples
	// MaxPacketBytes is the maximum size of an encoded packet (RFC 6716, 3.2.1).
	MaxPacketBytes = 1275
)

// ErrUnavailable is returned in a build without libopus.
var ErrUnavailable = errors.New("this build has no opus; build with cgo and libopus (Debian: libopus-dev)")

// Config configures an Encoder. Discontinuous transmission is off: the receiver
// infers silence from the audio, not from missing packets.
type Config struct {
	Bitrate    int  // bit/s, 6000 to 510000; 32000 when zero
	Complexity int  // 1 to 10; 5 when zero, half the cost of 10
	FEC        bool // adds a low-rate copy of each packet to the next one
	LossPerc   int  // expected packet loss for FEC, in percent; 10 when zero
}

func (c Config) withDefaults() Config {
	if c.Bitrate == 0 {
		c.Bitrate = 32000
	}
	if c.Complexity == 0 {
		c.Complexity = 5
	}
	if c.LossPerc == 0 {
		c.LossPerc = 10
	}
	return c
}
