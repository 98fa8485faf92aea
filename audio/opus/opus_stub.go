//go:build !cgo

package opus

import "github.com/agentvoice/agentvoice-daemon/audio"

// Encoder makes packets of speech.
type Encoder struct{}

// NewEncoder fails with ErrUnavailable.
func NewEncoder(Config) (*Encoder, error) { return nil, ErrUnavailable }

// Encode fails with ErrUnavailable.
func (*Encoder) Encode(_, _ *audio.Frame) ([]byte, error) { return nil, ErrUnavailable }

// Reset fails with ErrUnavailable.
func (*Encoder) Reset() error { return ErrUnavailable }

// Decoder turns packets back into audio.
type Decoder struct{}

// NewDecoder fails with ErrUnavailable.
func NewDecoder() (*Decoder, error) { return nil, ErrUnavailable }

// Decode fails with ErrUnavailable.
func (*Decoder) Decode([]byte, []int16) (int, error) { return 0, ErrUnavailable }

// DecodePLC fails with ErrUnavailable.
func (*Decoder) DecodePLC([]int16) error { return ErrUnavailable }

// DecodeFEC fails with ErrUnavailable.
func (*Decoder) DecodeFEC([]byte, []int16) error { return ErrUnavailable }
