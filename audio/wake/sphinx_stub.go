//go:build !cgo

package wake

import "errors"

// newEngine needs cgo, which this build does not have.
func newEngine(Config) (engine, error) {
	return nil, errors.New("the wake phrase needs cgo, which this build does not have; build with CGO_ENABLED=1, a C compiler and libpocketsphinx-dev")
}
