package live

import (
	"errors"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// spareDetectors is how many detectors are kept for the next conversation: as many
// as one needs. The first to load takes a tenth of a second (see vad.NewSilero), and
// the user waits for Listening.
const spareDetectors = 4

// detectors keeps detectors between conversations, and loads the first ones in the
// background. Its methods are safe for concurrent use.
type detectors struct {
	load func() (vad.Detector, error)
	warm sync.Once

	mu      sync.Mutex
	idle    []vad.Detector
	loading int // in the background
	changed sync.Cond
	closed  bool
}

func newDetectors(load func() (vad.Detector, error)) *detectors {
	p := &detectors{load: load}
	p.changed.L = &p.mu
	return p
}

// preload loads detectors in the background, once. Where that fails, take fails
// too, and says why.
func (p *detectors) preload() {
	p.warm.Do(func() {
		p.mu.Lock()
		p.loading = spareDetectors
		p.mu.Unlock()
		go func() {
			for p.another() {
			}
		}()
	})
}

// another loads a detector in the background, and says whether more are wanted.
func (p *detectors) another() bool {
	d, err := p.load()
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.changed.Broadcast()
	if err == nil {
		p.keep(d)
	}
	if p.loading--; err != nil || p.closed {
		p.loading = 0
	}
	return p.loading > 0
}

// take returns a detector that remembers nothing. It waits for one that is being
// loaded, and loads one where none is. Closing it gives it back.
func (p *detectors) take() (vad.Detector, error) {
	p.mu.Lock()
	for len(p.idle) == 0 && p.loading > 0 && !p.closed {
		p.changed.Wait()
	}
	if p.closed {
		p.mu.Unlock()
		return nil, errClosed
	}
	if n := len(p.idle); n > 0 {
		d := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return &lent{Detector: d, from: p}, nil
	}
	p.mu.Unlock()
	d, err := p.load()
	if err != nil {
		return nil, err
	}
	return &lent{Detector: d, from: p}, nil
}

// keep puts a detector on the shelf, or closes it where that is full. It holds mu.
func (p *detectors) keep(d vad.Detector) {
	if p.closed || len(p.idle) >= spareDetectors {
		_ = d.Close() // it was whole until now
		return
	}
	p.idle = append(p.idle, d)
}

// errClosed says that no detector is lent any more.
var errClosed = errors.New("the daemon is closing")

// shut closes what is kept, and what comes back from now on. It does not wait for a
// detector that is being loaded, which is closed when it is there.
func (p *detectors) shut() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.changed.Broadcast()
	for _, d := range p.idle {
		err = errors.Join(err, d.Close())
	}
	p.idle = nil
	return err
}

// lent is a detector that goes back when it is closed.
// One that failed does not: the next conversation has another.
type lent struct {
	vad.Detector
	from   *detectors // nil when it is closed
	failed bool
}

// Process implements vad.Detector.
func (l *lent) Process(window []int16) (float32, error) {
	p, err := l.Detector.Process(window)
	l.failed = l.failed || err != nil
	return p, err
}

// Close implements vad.Detector.
func (l *lent) Close() error {
	p := l.from
	l.from = nil
	switch {
	case p == nil:
		return nil
	case l.failed:
		return l.Detector.Close()
	}
	l.Reset()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(l.Detector)
	return nil
}
