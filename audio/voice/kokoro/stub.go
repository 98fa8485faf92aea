//go:build !cgo

package kokoro

import (
	"errors"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// LoadWorker fails, because ONNX Runtime is used through cgo.
func LoadWorker([]engine.Model, engine.Options, *engine.Link) (engine.Worker, error) {
	return nil, errors.New("this build computes no models; install the released program")
}
