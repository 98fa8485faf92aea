//go:build !cgo || noapm

package dsp

import "github.com/agentvoice/agentvoice-daemon/audio/aec3"

// Canceller names the echo canceller of this build.
const Canceller = "AEC3, without noise suppression and gain control"

// newAPM returns AEC3, which neither suppresses noise nor controls the gain.
func newAPM(c apmConfig) (apm, error) {
	if c.noise >= 0 || c.gain {
		return nil, ErrUnavailable
	}
	a, err := aec3.New(aec3.Config{EchoCancellation: c.echo >= 0, HighPass: c.highPass})
	if err != nil {
		return nil, err
	}
	return a, nil
}
