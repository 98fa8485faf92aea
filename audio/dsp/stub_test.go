//go:build !cgo

package dsp

import (
	"errors"
	"testing"
)

func TestWithoutCgo(t *testing.T) {
	for _, cfg := range []Config{Default(), {HighPass: true}, {NoiseSuppression: true}, {GainControl: true}} {
		if p, err := New(cfg); !errors.Is(err, ErrUnavailable) || p != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
