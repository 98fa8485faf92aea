// Package sound asks a model in a child process whether the sound of a turn is complete, as evidence
// for package turns.
//
//	listen := sound.Engine(e, report)
//	l := listen()
//	defer l.Close()
//	p, err := l.Complete(done, pcm) // for each pause
//
// Invariants: audio never reaches an error or a log; a failure is reported once until it has passed.
package sound

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

// Listener judges from the sound of an utterance, up to a pause, whether the turn is
// complete. Implementations are slow, and safe for concurrent use.
type Listener interface {
	// Complete returns the probability that the turn is complete; pcm is 16 kHz. It
	// gives up when done is closed.
	Complete(done <-chan struct{}, pcm []int16) (float64, error)
	Close() error
}

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
