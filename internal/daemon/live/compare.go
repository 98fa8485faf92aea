package live

import (
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/heap"
)

const (
	// longestCompared is the longest voice that is compared with the expected answers.
	longestCompared = 1500 * time.Millisecond
	// comparedBefore and comparedAfter are the audio around the voice that is compared with it,
	// as in the measurements of docs/design/answers.md. The model takes 2 s in total.
	comparedBefore = 300 * time.Millisecond
	comparedAfter  = 160 * time.Millisecond
	// longestHeld is how long the final words of a short sound wait for its comparison. That
	// begins comparedAfter the voice, and services take longer to be sure that the voice has
	// ended, so the words seldom wait.
	longestHeld = 300 * time.Millisecond
)

// comparer compares short sounds with the expected answers, for a recogniser that cannot, and
// what the spotter is not sure of with the wake phrase. The model is loaded when it is first
// needed, and freed when it was not for a while. One sound is compared at a time, in the
// background; a newer one replaces the one that waits. Its methods are safe for concurrent use and
// do not block. A nil comparer compares nothing.
type comparer struct {
	w    *World
	keep time.Duration // how long an unused model stays loaded

	mu      sync.Mutex
	works   bool   // a goroutine loads or compares
	waiting *sound // the newest; nil if none waits
	expiry  *time.Timer
	closed  bool

	model struct { // guarded by mu, and belongs to the goroutine while that works
		chosen  bool
		choice  SpeechChoice
		local   bool
		factory hearing.Factory    // nil if no installed model compares
		loaded  hearing.Recognizer // nil if not loaded
	}
}

// sound is a short voice to compare.
type sound struct {
	pcm      []int16 // at audio.SampleRate
	expected [][]string
	always   bool                 // also if the local engines are the recogniser, which compare
	done     func(*daemon.Answer) // gets nil if it was not compared
}

// end wipes the sound and reports its answer. A nil sound is ignored.
func (s *sound) end(answer *daemon.Answer) {
	if s != nil {
		clear(s.pcm)
		s.done(answer)
	}
}

func newComparer(w *World, keep time.Duration) *comparer {
	c := &comparer{w: w, keep: keep}
	c.expiry = time.AfterFunc(time.Hour, c.expire)
	c.expiry.Stop()
	return c
}

// available reports whether an installed model compares sounds outside of conversations.
func (c *comparer) available() bool {
	return c != nil && c.w.cfg.Comparer(c.w.service.choice(c.w.port.Settings()), false) != nil
}

// prepare loads the model, because answers are expected soon.
func (c *comparer) prepare() { c.start(nil) }

// compare compares a sound. It takes over the sound's audio.
func (c *comparer) compare(s *sound) { c.start(s) }

func (c *comparer) start(s *sound) {
	if c == nil {
		s.end(nil)
		return
	}
	c.mu.Lock()
	dropped := s
	if !c.closed {
		dropped = nil
		if s != nil {
			dropped, c.waiting = c.waiting, s
		}
		if !c.works {
			c.works = true
			go c.work()
		}
	}
	c.mu.Unlock()
	dropped.end(nil)
}

// work compares sounds until none waits.
func (c *comparer) work() {
	for {
		c.mu.Lock()
		s := c.waiting
		c.waiting = nil
		c.mu.Unlock()
		answer, err := c.ask(s)
		if err != nil {
			c.w.cfg.Log.Warn().Err(err).Msg("a short sound cannot be compared; continuing without")
			free(c.take())
		}
		s.end(answer)
		c.mu.Lock()
		if c.waiting == nil {
			c.works = false
			var unused hearing.Recognizer
			if c.closed {
				unused = c.take()
			} else {
				c.expiry.Reset(c.keep)
			}
			c.mu.Unlock()
			free(unused)
			return
		}
		c.mu.Unlock()
	}
}

// ask loads the model, if necessary, and compares a sound, if there is one.
func (c *comparer) ask(s *sound) (*daemon.Answer, error) {
	set := c.w.port.Settings()
	local := hearsLocally(set) && (s == nil || !s.always)
	if err := c.load(c.w.service.choice(set), local); err != nil || c.model.loaded == nil || s == nil {
		return nil, err
	}
	resampler, err := audio.NewResampler(audio.SampleRate, hearing.SampleRate)
	if err != nil {
		return nil, err
	}
	pcm := make([]int16, 0, len(s.pcm)*hearing.SampleRate/audio.SampleRate+1)
	pcm = resampler.Flush(resampler.Process(pcm, s.pcm))
	defer clear(pcm)
	r := c.model.loaded
	if a, ok := r.(hearing.AnswerTaker); ok {
		a.SetExpected(s.expected)
	}
	if err := r.Start(); err != nil {
		return nil, err
	}
	if err := r.Write(pcm); err != nil {
		return nil, err
	}
	result, err := r.Finish()
	if j, ok := r.(hearing.Joiner); ok {
		j.Forget()
	}
	return (*daemon.Answer)(result.Answer), err
}

// load begins to load the model for a choice, unless it is loaded. Local means that the local
// engines are the recogniser.
func (c *comparer) load(choice SpeechChoice, local bool) (err error) {
	m := &c.model
	if !m.chosen || m.choice != choice || m.local != local {
		free(c.take())
		m.chosen, m.choice, m.local = true, choice, local
		m.factory = c.w.cfg.Comparer(choice, local)
	}
	if m.loaded == nil && m.factory != nil {
		m.loaded, err = m.factory()
	}
	return err
}

// take removes the loaded model from use and returns it, or nil. The caller holds mu or works.
func (c *comparer) take() hearing.Recognizer {
	r := c.model.loaded
	c.model.loaded = nil
	return r
}

// free closes a model; nil is ignored.
func free(r hearing.Recognizer) {
	if r != nil {
		_ = r.Close() // nothing is lost
		heap.Return()
	}
}

// expire frees a model that was not used for a while.
func (c *comparer) expire() {
	c.mu.Lock()
	if c.works { // which sets it again
		c.mu.Unlock()
		return
	}
	unused := c.take()
	c.mu.Unlock()
	free(unused)
}

// shut frees the model. It does not wait for one that works, which is freed afterwards.
func (c *comparer) shut() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.closed = true
	c.expiry.Stop()
	dropped := c.waiting
	c.waiting = nil
	var unused hearing.Recognizer
	if !c.works {
		unused = c.take()
	}
	c.mu.Unlock()
	dropped.end(nil)
	free(unused)
}
