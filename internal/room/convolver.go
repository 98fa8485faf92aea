package room

import "github.com/agentvoice/agentvoice-daemon/audio"

// transform is the length of the transforms: a frame and a part of the impulse
// response as long as a frame, convolved, are one sample shorter than two frames.
const (
	part      = audio.FrameSamples
	transform = 1024
	bins      = transform/2 + 1
)

// block is a frame of audio between the stages of a room, at full scale 1.
type block [part]float32

// convolver filters frames with an impulse response that is cut into parts of a
// frame each (uniformly partitioned overlap-add): per frame two transforms, and a
// multiplication of spectra for each part. It adds no delay.
type convolver struct {
	fft   *fft
	parts [][]complex64 // spectra of the parts of the response
	past  [][]complex64 // spectra of the last frames, a ring
	at    int           // where the newest of them is
	work  []complex64
	rest  block // what the last frame left for this one
}

func newConvolver(response []float32) *convolver {
	c := &convolver{fft: newFFT(transform), work: make([]complex64, transform)}
	for len(response) > 0 {
		n := min(part, len(response))
		c.parts = append(c.parts, c.spectrum(response[:n], make([]complex64, bins)))
		c.past = append(c.past, make([]complex64, bins))
		response = response[n:]
	}
	return c
}

// spectrum writes the transform of x, up to the Nyquist frequency, to dst.
func (c *convolver) spectrum(x []float32, dst []complex64) []complex64 {
	for i, v := range x {
		c.work[i] = complex(v, 0)
	}
	clear(c.work[len(x):])
	c.fft.forward(c.work)
	copy(dst, c.work)
	return dst
}

// filter replaces the next frame of the input with the next frame of the output.
func (c *convolver) filter(b *block) {
	c.at = (c.at + len(c.past) - 1) % len(c.past)
	c.spectrum(b[:], c.past[c.at])
	clear(c.work)
	sum := c.work[:bins]
	for i, h := range c.parts {
		multiplyAdd(sum, c.past[(c.at+i)%len(c.past)], h)
	}
	for k := 1; k < transform/2; k++ { // the spectrum of something real
		c.work[transform-k] = complex(real(sum[k]), -imag(sum[k]))
	}
	c.fft.inverse(c.work)
	for i := range b {
		b[i] = real(c.work[i]) + c.rest[i]
		c.rest[i] = real(c.work[part+i])
	}
}

// multiplyAdd adds the products of a and b. The product is written out: the
// language's own also minds infinities.
func multiplyAdd(sum, a, b []complex64) {
	a, b = a[:len(sum)], b[:len(sum)]
	for i := range sum {
		x, y := a[i], b[i]
		sum[i] += complex(real(x)*real(y)-imag(x)*imag(y), real(x)*imag(y)+imag(x)*real(y))
	}
}
