package sherpa

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/endturn"
)

// loadTurn loads the end-of-turn model of the child.
func (c *server) loadTurn(runtime string, m Model, threads int) (func(frame), error) {
	model, err := os.ReadFile(m.path("model"))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s; install the model again", m.Files["model"])
	}
	o, err := loadRuntime(runtime)
	if err != nil {
		return nil, err
	}
	n, err := o.loadNetwork(model, "input_features", []int64{1, melBins, melFrames}, threads)
	if err == nil {
		_, err = n.run(logMel(nil)) // a model with a different input or output fails here
	}
	if err != nil {
		return nil, fmt.Errorf("ONNX Runtime refuses the model %s: %w", m.Name, err)
	}
	return func(f frame) {
		switch f.kind {
		case frameTurn:
			if c.isCancelled(f.stream) {
				return
			}
			p, err := n.run(logMel(pcmSamples(f.payload)))
			switch {
			case err != nil:
				c.send(reply{Stream: f.stream, Error: "the end-of-turn model has failed"})
			case !(p >= 0 && p <= 1):
				c.send(reply{Stream: f.stream, Error: "the end-of-turn model answers no probability"})
			default:
				c.send(reply{Stream: f.stream, Complete: &p})
			}
		case frameCancel:
			c.forget(f.stream)
		}
	}, nil
}

// turnTimeout is how long a judgement may take before the child is killed. The pause is
// long over by then.
const turnTimeout = 5 * time.Second

// TurnEnds returns a factory of listeners that use a model of kind smart-turn. They
// share the engine. report gets the first of consecutive failures.
func TurnEnds(e *Engine, report func(error)) func() endturn.Listener {
	var told struct {
		sync.Mutex
		failed bool
	}
	tell := func(err error) {
		told.Lock()
		news := err != nil && !told.failed
		told.failed = err != nil
		told.Unlock()
		if news {
			report(err)
		}
	}
	return func() endturn.Listener {
		e.acquire()
		if _, err := e.start(); err != nil {
			tell(err)
		}
		return &turnEnd{engine: e, tell: tell}
	}
}

type turnEnd struct {
	engine *Engine
	tell   func(error)
}

// Close implements endturn.Listener.
func (t *turnEnd) Close() error {
	t.engine.release()
	return nil
}

// Complete implements endturn.Listener.
func (t *turnEnd) Complete(done <-chan struct{}, pcm []int16) (float64, error) {
	p, err := t.complete(done, pcm)
	if err != errCancelled {
		t.tell(err)
	}
	return p, err
}

func (t *turnEnd) complete(done <-chan struct{}, pcm []int16) (float64, error) {
	child, err := t.engine.running()
	if err != nil {
		return 0, err
	}
	s := child.open()
	defer s.cancel()
	if err := s.send(frameTurn, pcmBytes(pcm[max(0, len(pcm)-turnSamples):])); err != nil {
		t.engine.failed(child)
		return 0, err
	}
	r, err := s.next(done, turnTimeout)
	if err == nil && r.Complete == nil {
		err = fmt.Errorf("the speech engine gave another answer than asked for; install %s again", t.engine.Name())
	}
	if err != nil {
		if child.isDead() {
			t.engine.failed(child)
		}
		return 0, err
	}
	return *r.Complete, nil
}
