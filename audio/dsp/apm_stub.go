//go:build !cgo

package dsp

// apm is WebRTC's audio processing, which this build lacks.
type apm struct{}

func newAPM(apmConfig) (*apm, error)    { return nil, ErrUnavailable }
func (*apm) process(_, _ []int16) error { return ErrUnavailable }
func (*apm) suppress(int) error         { return ErrUnavailable }
func (*apm) reset() error               { return ErrUnavailable }
func (*apm) close()                     {}
