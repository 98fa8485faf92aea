//go:build !cgo

package smartturn

import (
	"errors"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// Load fails, because ONNX Runtime is used through cgo.
func Load([]engine.Model, engine.Options, *engine.Link) (engine.Worker, error) {
	return nil, errors.New("this build computes no models; install the released program")
}
