package wavio

import (
	"io"
	"math"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Stream is audio that arrives, mono at audio.SampleRate.
type Stream struct{ r *reader }

// NewStream reads the header of a WAV file that arrives. Its size may be unknown. The
// error is a *FormatError, or that of r.
func NewStream(r io.Reader) (*Stream, error) {
	in, is, err := newReader(r)
	if is != "" {
		return nil, &FormatError{File: "the audio", Is: is}
	}
	return &Stream{in}, err
}

// NewRaw reads 16-bit little-endian mono samples at a rate.
func NewRaw(r io.Reader, rate int) (*Stream, error) {
	resampler, err := audio.NewResampler(rate, audio.SampleRate)
	if err != nil {
		return nil, err
	}
	f := format{rate: rate, channels: 1, bytes: 2, size: math.MaxInt64}
	return &Stream{&reader{r: r, format: f, resampler: resampler, left: f.size, raw: make([]byte, rate/50*2), mono: make([]int16, 0, rate/50)}}, nil
}

// Read fills pcm as far as there is audio; io.EOF comes alone, after it. Audio that
// ends early has less audio, unless r fails otherwise than with io.ErrUnexpectedEOF.
func (s *Stream) Read(pcm []int16) (int, error) { return s.r.read(pcm) }
