package live

import (
	"errors"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// spareDetectors is how many detectors are kept for the next conversation, which needs
// that many. Loading the first one takes a tenth of a second (see vad.NewSilero) while
// the user waits for Listening.
const spareDetectors = 4

// detectors pools detectors between conversations for a limited time, and loads them in
// the background when a conversation begins. Its methods are safe for concurrent use.
type detectors struct {
	load  func() (vad.Detector, error)
	spare time.Duration // how long idle detectors are kept
	freed func()        // called after idle detectors were closed

	mu      sync.Mutex
	idle    []vad.Detector
	out     int // detectors in use
	loading int // in the background
	changed sync.Cond
	expiry  *time.Timer // runs while no detector is in use
	closed  bool
}

func newDetectors(load func() (vad.Detector, error), spare time.Duration, freed func()) *detectors {
	p := &detectors{load: load, spare: spare, freed: freed}
	p.changed.L = &p.mu
	p.expiry = time.AfterFunc(time.Hour, p.expire)
	p.expiry.Stop()
	return p
}

// preload loads detectors in the background if the pool is empty. If that fails, take
// fails too and returns the reason.
func (p *detectors) preload() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.out+len(p.idle)+p.loading > 0 {
		return
	}
	p.loading = spareDetectors
	go func() {
		for p.another() {
		}
	}()
}

// expire closes the detectors, unless one is in use again.
func (p *detectors) expire() {
	p.mu.Lock()
	var idle []vad.Detector
	if p.out == 0 && p.loading == 0 {
		idle, p.idle = p.idle, nil
	}
	p.mu.Unlock()
	if len(idle) == 0 {
		return
	}
	for _, d := range idle {
		_ = d.Close() // it worked so far
	}
	p.freed()
}

// another loads a detector in the background, and reports whether more are needed.
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
	if p.loading == 0 && p.out == 0 && !p.closed {
		p.expiry.Reset(p.spare) // the conversation may have failed to start
	}
	return p.loading > 0
}

// take returns a detector with fresh state. It waits for one that is being loaded, or
// else loads one. Closing it returns it to the pool.
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
		p.lend()
		p.mu.Unlock()
		return &lent{Detector: d, from: p}, nil
	}
	p.mu.Unlock()
	d, err := p.load()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lend()
	return &lent{Detector: d, from: p}, nil
}

// lend counts a detector as in use. The caller holds mu.
func (p *detectors) lend() {
	p.out++
	p.expiry.Stop()
}

// returned counts a detector as returned. The caller holds mu.
func (p *detectors) returned() {
	if p.out--; p.out == 0 && !p.closed {
		p.expiry.Reset(p.spare)
	}
}

// keep puts a detector into the pool, or closes it if the pool is full. The caller
// holds mu.
func (p *detectors) keep(d vad.Detector) {
	if p.closed || len(p.idle) >= spareDetectors {
		_ = d.Close() // it worked so far
		return
	}
	p.idle = append(p.idle, d)
}

// errClosed is returned by take after shut.
var errClosed = errors.New("the daemon is closing")

// shut closes the pooled detectors, and those returned later. It does not wait for a
// detector that is being loaded; that one is closed when it is ready.
func (p *detectors) shut() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.expiry.Stop()
	p.changed.Broadcast()
	for _, d := range p.idle {
		err = errors.Join(err, d.Close())
	}
	p.idle = nil
	return err
}

// lent is a detector that returns to the pool when it is closed. One that failed or was
// replaced does not, and the next conversation loads another.
type lent struct {
	vad.Detector
	from   *detectors // nil once closed
	failed bool
}

// Process implements vad.Detector.
func (l *lent) Process(window []int16) (float32, error) {
	p, err := l.Detector.Process(window)
	l.failed = l.failed || err != nil
	return p, err
}

// Remember implements vad.Rememberer.
func (l *lent) Remember(to *vad.Memory) { vad.Remember(l.Detector, to) }

// Recall implements vad.Rememberer.
func (l *lent) Recall(from *vad.Memory) { vad.Recall(l.Detector, from) }

// Close implements vad.Detector.
func (l *lent) Close() error {
	p := l.from
	l.from = nil
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.returned()
	if l.failed || vad.Replaced(l.Detector) {
		return l.Detector.Close()
	}
	l.Reset()
	p.keep(l.Detector)
	return nil
}
