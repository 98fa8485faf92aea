//go:build !cgo

package voice

import "errors"

// Flite requires cgo, which this build does not have, so its Factory fails.
func Flite() Factory {
	return func() (Synthesizer, error) {
		return nil, errors.New("Flite needs cgo, which this build does not have; build with CGO_ENABLED=1, a C compiler and flite1-dev")
	}
}
