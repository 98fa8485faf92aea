//go:build !cgo

package opus

import "github.com/agentvoice/agentvoice-daemon/audio"

// Encoder encodes speech.
type Encoder struct{}

// NewEncoder returns ErrUnavailable.
func NewEncoder(Config) (*Encoder, error) { return nil, ErrUnavailable }

// Encode returns ErrUnavailable.
func (*Encoder) Encode(_, _ *audio.Frame) ([]byte, error) { return nil, ErrUnavailable }

// Reset returns ErrUnavailable.
func (*Encoder) Reset() error { return ErrUnavailable }

// Decoder decodes packets.
type Decoder struct{}

// NewDecoder returns ErrUnavailable.
func NewDecoder() (*Decoder, error) { return nil, ErrUnavailable }

// Decode returns ErrUnavailable.
func (*Decoder) Decode([]byte, []int16) (int, error) { return 0, ErrUnavailable }

// DecodePLC returns ErrUnavailable.
func (*Decoder) DecodePLC([]int16) error { return ErrUnavailable }

// DecodeFEC returns ErrUnavailable.
func (*Decoder) DecodeFEC([]byte, []int16) error { return ErrUnavailable }
