package wavio

import (
	"io"
	"math"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Stream decodes audio as it arrives, to mono at audio.SampleRate.
type Stream struct{ r *reader }

// NewStream reads the header of a streamed WAV file, whose size may be unknown. It
// returns a *FormatError, or the error of r.
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

// Read fills pcm with the available audio; io.EOF comes separately, after it. A
// truncated stream is not an error, unless r fails with something other than
// io.ErrUnexpectedEOF.
func (s *Stream) Read(pcm []int16) (int, error) { return s.r.read(pcm) }
