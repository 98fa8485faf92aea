//go:build !cgo

package realtime

import "errors"

var errNoOpus = errors.New("this build has no Opus; build with cgo and libopus")

func newEncoder() (encoder, error) { return nil, errNoOpus }

func newDecoder() (decoder, error) { return nil, errNoOpus }
