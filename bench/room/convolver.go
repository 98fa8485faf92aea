package room

import (
	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// transform is the FFT length: a frame convolved with one part of the impulse
// response, which has the length of a frame, is one sample shorter than two frames.
const (
	part      = audio.FrameSamples
	transform = 1024
	bins      = transform/2 + 1
)

// block is a frame of audio between the stages of a room, at full scale 1.
type block [part]float32

// convolver filters frames with an impulse response that is split into parts of one
// frame each (uniformly partitioned overlap-add): two FFTs per frame, and one
// multiplication of spectra per part. It adds no delay.
type convolver struct {
	fft   *fourier.FFT
	parts [][]complex128 // spectra of the parts of the response
	past  [][]complex128 // spectra of the last frames, a ring
	at    int            // index of the newest
	sum   []complex128
	work  []float64
	rest  [part]float64 // overlap from the last frame
}

func newConvolver(response []float32) *convolver {
	c := &convolver{fft: fourier.NewFFT(transform), sum: make([]complex128, bins), work: make([]float64, transform)}
	for len(response) > 0 {
		n := min(part, len(response))
		c.parts = append(c.parts, c.spectrum(response[:n], make([]complex128, bins)))
		c.past = append(c.past, make([]complex128, bins))
		response = response[n:]
	}
	return c
}

// spectrum writes the transform of x to dst.
func (c *convolver) spectrum(x []float32, dst []complex128) []complex128 {
	for i, v := range x {
		c.work[i] = float64(v)
	}
	clear(c.work[len(x):])
	return c.fft.Coefficients(dst, c.work)
}

// filter replaces the next frame of the input with the next frame of the output.
func (c *convolver) filter(b *block) {
	c.at = (c.at + len(c.past) - 1) % len(c.past)
	c.spectrum(b[:], c.past[c.at])
	clear(c.sum)
	for i, h := range c.parts {
		multiplyAdd(c.sum, c.past[(c.at+i)%len(c.past)], h)
	}
	c.fft.Sequence(c.work, c.sum)
	for i := range b {
		b[i] = float32(c.work[i]/transform + c.rest[i])
		c.rest[i] = c.work[part+i] / transform
	}
}

// multiplyAdd adds the products of a and b. The product is written out, because the
// built-in one also handles infinities.
func multiplyAdd(sum, a, b []complex128) {
	a, b = a[:len(sum)], b[:len(sum)]
	for i := range sum {
		x, y := a[i], b[i]
		sum[i] += complex(real(x)*real(y)-imag(x)*imag(y), real(x)*imag(y)+imag(x)*real(y))
	}
}
