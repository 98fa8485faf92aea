//go:build cgo

package opus

import (
	"fmt"

	"github.com/hraban/opus"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Encoder encodes speech.
type Encoder struct {
	enc    *opus.Encoder
	pcm    [PacketSamples]int16
	packet [MaxPacketBytes]byte
}

// NewEncoder returns an error if a value of cfg is out of range.
func NewEncoder(cfg Config) (*Encoder, error) {
	cfg = cfg.withDefaults()
	enc, err := opus.NewEncoder(audio.SampleRate, 1, opus.AppVoIP)
	if err != nil {
		return nil, fmt.Errorf("opus encoder: %w", err)
	}
	for _, set := range []struct {
		name  string
		value any
		err   error
	}{
		{"bitrate", cfg.Bitrate, enc.SetBitrate(cfg.Bitrate)},
		{"complexity", cfg.Complexity, enc.SetComplexity(cfg.Complexity)},
		{"FEC", cfg.FEC, enc.SetInBandFEC(cfg.FEC)},
		{"loss percentage", cfg.LossPerc, enc.SetPacketLossPerc(cfg.LossPerc)},
		{"DTX", false, enc.SetDTX(false)},
	} {
		if set.err != nil {
			return nil, fmt.Errorf("opus encoder: invalid %s %v: %w", set.name, set.value, set.err)
		}
	}
	return &Encoder{enc: enc}, nil
}

// Encode encodes two frames into one packet. The packet is valid until the next call.
func (e *Encoder) Encode(first, second *audio.Frame) ([]byte, error) {
	copy(e.pcm[:], first[:])
	copy(e.pcm[audio.FrameSamples:], second[:])
	n, err := e.enc.Encode(e.pcm[:], e.packet[:])
	if err != nil {
		return nil, fmt.Errorf("opus encode: %w", err)
	}
	return e.packet[:n], nil
}

// Reset discards the history, for a new stream.
func (e *Encoder) Reset() error { return e.enc.Reset() }

// Decoder decodes packets to mono at 48 kHz, whatever was encoded.
type Decoder struct {
	dec *opus.Decoder
}

// NewDecoder returns a decoder for one stream.
func NewDecoder() (*Decoder, error) {
	dec, err := opus.NewDecoder(audio.SampleRate, 1)
	if err != nil {
		return nil, fmt.Errorf("opus decoder: %w", err)
	}
	return &Decoder{dec: dec}, nil
}

// Decode decodes packet into pcm, which should have room for MaxPacketSamples, and
// returns the number of samples. It fails on an empty or corrupt packet, and on one
// that does not fit in pcm; the stream can continue afterwards.
func (d *Decoder) Decode(packet []byte, pcm []int16) (int, error) {
	// The library uses the capacity as the available space.
	n, err := d.dec.Decode(packet, pcm[:len(pcm):len(pcm)])
	if err != nil {
		return 0, fmt.Errorf("opus decode of %d bytes: %w", len(packet), err)
	}
	return n, nil
}

// DecodePLC fills pcm with concealment for lost packets. Its length is the missing
// audio, a multiple of 2.5 ms.
func (d *Decoder) DecodePLC(pcm []int16) error {
	if err := d.dec.DecodePLC(pcm[:len(pcm):len(pcm)]); err != nil {
		return fmt.Errorf("opus concealment of %d samples: %w", len(pcm), err)
	}
	return nil
}

// DecodeFEC fills pcm with the lost packet before packet, from the copy in packet, or
// with concealment if there is no copy. Decode packet itself afterwards.
func (d *Decoder) DecodeFEC(packet []byte, pcm []int16) error {
	if err := d.dec.DecodeFEC(packet, pcm[:len(pcm):len(pcm)]); err != nil {
		return fmt.Errorf("opus recovery of %d samples: %w", len(pcm), err)
	}
	return nil
}
