package turns

import (
	"fmt"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// turnSamples is how much sound counts: 8 s at 16 kHz, the input of Smart Turn v3.
const turnSamples = 8 * 16000

// turnTimeout is how long a judgement may take before the child is killed. The pause is
// long over by then.
const turnTimeout = 5 * time.Second

// Engine returns a factory of listeners that share an engine with a model of kind
// smart-turn. report gets the first of consecutive failures.
func Engine(e *engine.Engine, report func(error)) func() Listener {
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
	return func() Listener {
		e.Acquire()
		if err := e.Prepare(); err != nil {
			tell(err)
		}
		return &turnEnd{engine: e, tell: tell}
	}
}

type turnEnd struct {
	engine *engine.Engine
	tell   func(error)
}

// Close implements Listener.
func (t *turnEnd) Close() error {
	t.engine.Release()
	return nil
}

// Complete implements Listener.
func (t *turnEnd) Complete(done <-chan struct{}, pcm []int16) (float64, error) {
	p, err := t.complete(done, pcm)
	if err != engine.ErrCancelled {
		t.tell(err)
	}
	return p, err
}

func (t *turnEnd) complete(done <-chan struct{}, pcm []int16) (float64, error) {
	s, err := t.engine.Open(done)
	if err != nil {
		return 0, err
	}
	defer s.Cancel()
	if err := s.Send(engine.Turn, engine.Bytes(pcm[max(0, len(pcm)-turnSamples):])); err != nil {
		return 0, err
	}
	r, err := s.Next(done, turnTimeout)
	if err == nil && r.Complete == nil {
		err = fmt.Errorf("the speech engine gave another answer than asked for; install %s again", t.engine.Name())
	}
	if err != nil {
		return 0, err
	}
	return *r.Complete, nil
}
