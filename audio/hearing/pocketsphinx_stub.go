//go:build !cgo

package hearing

import "errors"

// PocketSphinx requires cgo, which this build does not have, so its Factory fails.
func PocketSphinx(func() (string, error)) Factory {
	return func() (Recognizer, error) {
		return nil, errors.New("PocketSphinx needs cgo, which this build does not have; build with CGO_ENABLED=1, a C compiler and libpocketsphinx-dev")
	}
}
