package localrealtime

import (
	"sync/atomic"
	"time"
)

// rest frees the engines of a suspended conversation, whose calls stay open.
type rest struct {
	timer   *time.Timer // nil unless the conversation is suspended; guarded by the server's mu
	resting atomic.Bool // the calls must not keep engines; written under the server's mu
}

// Suspend says whether the conversation of all calls is suspended, so that no client
// sends or requests speech. The recogniser, the voice and the end-of-turn model leave
// memory KeepEngines later, as after the last call. When the conversation resumes, they
// load in the background, and audio that arrives meanwhile waits for them. Suspend does
// not block.
func (s *Server) Suspend(suspended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed || suspended == (s.rest.timer != nil):
	case suspended:
		var timer *time.Timer
		timer = time.AfterFunc(s.cfg.KeepEngines, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.rest.timer == timer && !s.closed {
				s.setResting(true)
			}
		})
		s.rest.timer = timer
	default:
		s.rest.timer.Stop()
		s.rest.timer = nil
		s.setResting(false)
	}
}

// setResting frees the engines of all calls or loads them again. The caller holds mu.
func (s *Server) setResting(resting bool) {
	if !s.rest.resting.CompareAndSwap(!resting, resting) {
		return
	}
	s.recognizers.rest(resting)
	for _, c := range s.calls {
		signal(c.restChanged)
	}
}

// signal sends to a channel with a capacity of 1, unless a value is waiting.
func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// adaptToRest gives the call's engines up, or gets them again. It runs on the goroutine
// of run.
func (c *call) adaptToRest() {
	signal(c.speaker.restChanged)
	c.restRecognizer()
	c.restListener()
}

// restRecognizer gives the recogniser up if the calls rest, unless an utterance is open.
func (c *call) restRecognizer() {
	if u := c.turns.open; c.srv.rest.resting.Load() && (u == nil || u.words == nil) {
		c.recognition.rest()
	}
}

// restListener closes the end-of-turn model if the calls rest, unless it is judging, and
// else loads it.
func (c *call) restListener() {
	resting := c.srv.rest.resting.Load()
	switch {
	case c.srv.cfg.Listener == nil || c.listening:
	case !resting && c.listener == nil:
		c.listener = c.srv.cfg.Listener()
	case resting && c.listener != nil:
		unused := c.listener
		c.listener = nil
		c.workers.Go(func() { // may wait for the end of its process
			if err := unused.Close(); err != nil {
				c.log.Warn().Err(err).Msg("closing the end-of-turn model")
			}
		})
	}
}

// adaptToRest closes the voice if the calls rest, and else loads it.
func (s *speaker) adaptToRest() {
	switch resting := s.call.srv.rest.resting.Load(); {
	case !resting:
		s.load()
	case s.synth != nil:
		s.close()
		s.call.srv.cfg.EnginesFreed()
	}
}

// load creates the synthesiser unless there is one. If that fails, the client gets the
// error when it requests speech.
func (s *speaker) load() {
	if s.synth != nil {
		return
	}
	synth, err := s.call.srv.cfg.Synthesizer()
	if err != nil {
		s.call.log.Warn().Err(err).Msg("speech synthesiser cannot start")
		synth = brokenSynthesizer{err}
	}
	s.synth = synth
}

// close closes the synthesiser, if there is one.
func (s *speaker) close() {
	if s.synth == nil {
		return
	}
	if err := s.synth.Close(); err != nil {
		s.call.log.Warn().Err(err).Msg("closing the synthesiser")
	}
	s.synth = nil
}
