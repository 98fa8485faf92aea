//go:build !cgo

package wake

import "errors"

// newEngine needs cgo, which this build lacks.
func newEngine(Config) (engine, error) {
	return nil, errors.New("this build has no wake phrase; build with CGO_ENABLED=1, a C compiler and libpocketsphinx-dev")
}
