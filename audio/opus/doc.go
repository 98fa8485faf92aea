// Package opus encodes and decodes the speech of the realtime connection: mono at
// 48 kHz, in packets of 20 ms (RFC 6716, RFC 7587). It is a thin layer over
// libopus and needs cgo; without it the constructors fail with ErrUnavailable.
//
// An Encoder or Decoder is used by one goroutine and allocates nothing per
// packet. A lost packet is replaced with DecodeFEC when the packet after it is
// at hand, and with DecodePLC otherwise; both are told how much is missing.
package opus

import (
	"errors"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const (
	// PacketSamples is the audio in a packet that Encode makes: 20 ms.
	PacketSamples = 2 * audio.FrameSamples
	// MaxPacketSamples is the audio in the longest packet there is: 120 ms.
	MaxPacketSamples = 12 * audio.FrameSamples
	// MaxPacketBytes is the longest packet that Encode makes (RFC 6716, 3.2.1).
	MaxPacketBytes = 1275
)

// ErrUnavailable says that the program was built without libopus.
var ErrUnavailable = errors.New("opus is not in this build; build with cgo and libopus (Debian: libopus-dev)")

// Config is what an Encoder can be told. Discontinuous transmission is off: the
// other side infers silence from the audio, not from packets that do not come.
type Config struct {
	Bitrate    int  // bits a second, 6000 to 510000; 32000 when zero
	Complexity int  // 1 to 10; 5 when zero, half the cost of 10
	FEC        bool // puts a coarse copy of each packet into the next one
	LossPerc   int  // the loss that FEC is made for, in percent; 10 when zero
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
