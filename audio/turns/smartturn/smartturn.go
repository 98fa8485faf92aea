//go:build cgo

package smartturn

import (
	"errors"
	"fmt"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/engine/onnx"
)

// Load is an engine.Loader of kind smart-turn.
func Load(models []engine.Model, o engine.Options, to *engine.Link) (engine.Worker, error) {
	m := models[0]
	session, err := onnx.Open(m.Path("model"), o.Runtime, max(o.Threads, 1))
	if err != nil {
		return nil, err
	}
	j := &judge{session: session, to: to}
	if _, err := j.complete(nil); err != nil { // a model with a different input or output fails here
		return nil, errors.Join(fmt.Errorf("ONNX Runtime refuses the model %s: %w", m.Name, err), session.Close())
	}
	return j, nil
}

// judge is a loaded model.
type judge struct {
	session *onnx.Session
	to      *engine.Link
}

// Close implements engine.Worker.
func (j *judge) Close() error { return j.session.Close() }

// Work implements engine.Worker.
func (j *judge) Work(f engine.Frame) {
	if f.Kind != engine.Turn {
		return
	}
	defer j.to.Forget(f.Stream)
	if j.to.Context(f.Stream).Err() != nil {
		return
	}
	r := engine.Reply{Stream: f.Stream}
	switch p, err := j.complete(engine.Samples(f.Payload)); {
	case err != nil:
		r.Error = "the end-of-turn model has failed"
	case !(p >= 0 && p <= 1):
		r.Error = "the end-of-turn model answers no probability"
	default:
		r.Complete = &p
	}
	j.to.Send(r)
}

// complete returns the probability that a turn is complete that sounds like pcm.
func (j *judge) complete(pcm []int16) (p float64, err error) {
	if len(j.session.Inputs) != 1 || len(j.session.Outputs) != 1 {
		return 0, errors.New("it has other inputs and outputs than one each")
	}
	in, err := ort.NewTensor(ort.NewShape(1, melBins, melFrames), logMel(pcm))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Destroy()) }()
	out := []ort.Value{nil}
	if err := j.session.Run([]ort.Value{in}, out); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out[0].Destroy()) }()
	t, ok := out[0].(*ort.Tensor[float32])
	if !ok || len(t.GetData()) != 1 {
		return 0, errors.New("its output is not one 32-bit number")
	}
	return float64(t.GetData()[0]), nil
}
