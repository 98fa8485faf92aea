package roomsim

import (
	"cmp"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// The oracle has the latency of a service: partial words PartialAfter the onset, if
// the utterance lasts that long, and the final transcript FinalAfter the end of the
// utterance.
const (
	PartialAfter = 500 * time.Millisecond
	FinalAfter   = 400 * time.Millisecond
)

// WarmUp is how long the assistant has talked in total before the person speaks
// first, unless the cell overrides it.
const WarmUp = 8 * time.Second

// A case is over once the assistant is speaking again settleAfter its end. After
// stuckAfter it is abandoned.
const (
	settleAfter = 1500 * time.Millisecond
	stuckAfter  = 12 * time.Second
)

// person plays cases into the microphone, one by one, while the assistant is audible.
type person struct {
	cases  []Case
	random *rand.Rand
	gain   float64
	where  func(pos int64) int64 // the tape's position at pos
	// words, if set, recognizes the utterance that began at pos and ends now.
	words func(pos int64) csm.Final

	mu          sync.Mutex
	asks        *Case // until the assistant answers
	ask         int64 // position of its first sample
	next        int   // next case
	warmUp      int64 // samples
	total       int64 // samples in which the assistant was audible
	heard       int64 // the same, since it last talked undisturbed
	wait        int64 // samples of heard before the next case
	active      bool  // a case is playing or not over yet
	begin       int64 // position of its first sample
	told        bool  // the core has its words
	open        uint64
	from        int64 // where that started
	said        []saying
	falseOnsets int
}

// saying is a case that was played, with its positions.
type saying struct {
	c     *Case
	begin int64 // position of the clip's first sample
	told  bool  // its words reached the core
	first int64 // position of the first onset noticed, or never
	over  int64 // position at which it was over
	stuck bool
}

// newPerson returns the person of a cell.
func newPerson(c Cell) *person {
	warmUp := cmp.Or(c.WarmUp, WarmUp)
	p := &person{
		gain: math.Pow(10, -c.Quieter/20), where: func(pos int64) int64 { return pos }, cases: c.Cases,
		random: rand.New(rand.NewPCG(c.Seed, 0x5eed)), warmUp: audio.Samples(warmUp), wait: audio.Samples(min(warmUp, time.Second)),
	}
	if c.Asks != nil {
		p.asks, p.ask = c.Asks, audio.Samples(asksAfter)+int64(p.random.IntN(int(audio.Samples(asksAfter))))
	}
	return p
}

// asksAfter is the minimum time from the opening of the microphone to the person's
// question. The maximum is twice that.
const asksAfter = 500 * time.Millisecond

// asking reports whether the person is asking or waiting for the answer.
func (p *person) asking() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asks != nil
}

// near fills the next 10 ms of the person's speech, which start at position pos.
// speaking reports that the assistant is audible and no suspicion is open.
func (p *person) near(pos int64, speaking bool, f *audio.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(f[:])
	if p.asks != nil {
		if !speaking {
			p.say(p.asks, pos-p.ask, f)
			return
		}
		p.asks = nil
	}
	if !p.active {
		p.heard += audio.FrameSamples
		p.total += audio.FrameSamples
		if !speaking {
			p.heard, p.total = 0, p.total-audio.FrameSamples
		}
		if p.heard < p.wait || p.total < p.warmUp || p.next == len(p.cases) {
			return
		}
		p.active = true
		p.begin = pos + int64(p.random.IntN(audio.FrameSamples))
		p.said = append(p.said, saying{c: &p.cases[p.next], begin: p.begin, first: never})
		p.next++
		p.wait = audio.Samples(1500*time.Millisecond) + int64(p.random.IntN(3*audio.SampleRate/2))
	}
	s := &p.said[len(p.said)-1]
	p.say(s.c, pos-p.begin, f)
	since := pos - (p.begin + s.c.End)
	switch {
	case since > audio.Samples(stuckAfter):
		s.stuck = true
	case since < audio.Samples(settleAfter) || !speaking || p.open != 0:
		return
	}
	s.over = p.where(pos)
	p.active, p.heard = false, 0
}

// say fills a frame from a sample position of the case.
func (p *person) say(c *Case, from int64, f *audio.Frame) {
	for i := range f {
		if k := from + int64(i); k >= 0 && k < int64(len(c.PCM)) {
			f[i] = int16(p.gain * float64(c.PCM[k]))
		}
	}
}

// done reports whether all cases are over.
func (p *person) done() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next == len(p.cases) && !p.active
}

// class returns how an utterance that starts now is recognized, and whether it has
// words. It depends on the case that is playing.
func (p *person) class() (csm.Class, int) {
	if p.asks != nil {
		return csm.Content, 3
	}
	if !p.active {
		return csm.Empty, 0
	}
	switch p.said[len(p.said)-1].c.Kind {
	case BargeIn:
		return csm.Content, 3
	case Backchannel:
		return csm.Backchannel, 1
	case Cough:
	}
	return csm.Empty, 0
}

// hear converts marks to events of the core, and schedules the oracle's words.
func (p *person) hear(w *world, marks []vad.Mark, now int64) {
	for _, m := range marks {
		p.mu.Lock()
		id := p.open
		p.mu.Unlock()
		switch m.Kind {
		case vad.Suspected:
			w.note("hold")
		case vad.Onset:
			w.tones.user(true)
			p.began(w, m, now)
		case vad.Paused:
			w.tones.user(false)
			w.loop.Post(csm.SpeechPaused{Epoch: w.epoch(), Utterance: id, Pos: m.Pos})
		case vad.Resumed:
			w.tones.user(true)
			w.loop.Post(csm.SpeechResumed{Epoch: w.epoch(), Utterance: id, Pos: m.Pos})
		case vad.Ended:
			w.tones.user(false)
			p.ended(w, id, m.Pos)
		}
	}
}

func (p *person) began(w *world, m vad.Mark, now int64) {
	id := w.newUtterance()
	p.mu.Lock()
	p.open, p.from = id, m.Pos
	class, words := p.class()
	if p.active {
		if s := &p.said[len(p.said)-1]; s.first == never {
			s.first = m.Pos
		}
	} else {
		p.falseOnsets++
	}
	p.mu.Unlock()
	w.onset()
	w.loop.Post(csm.SpeechStarted{Epoch: w.epoch(), Utterance: id, Pos: m.Pos, Late: max(0, audio.Duration(now-m.Pos))})
	if words > 0 && p.words == nil {
		w.clock.AfterFunc(max(0, PartialAfter-audio.Duration(now-m.Pos)), func() {
			w.loop.Post(csm.Partial{Epoch: w.epoch(), Utterance: id, Words: words, Class: class})
		})
	}
}

func (p *person) ended(w *world, id uint64, pos int64) {
	w.loop.Post(csm.SpeechStopped{Epoch: w.epoch(), Utterance: id, Pos: pos})
	p.mu.Lock()
	var f csm.Final
	f.Class, f.Words = p.class()
	from := p.from
	p.mu.Unlock()
	if p.words != nil {
		f = p.words(from)
	}
	f.Utterance = id
	w.clock.AfterFunc(FinalAfter, func() {
		f.Epoch = w.epoch()
		w.loop.Post(f)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.open == id {
			p.open = 0
		}
		if p.active && f.Class == csm.Content {
			p.said[len(p.said)-1].told = true
		}
	})
}

// onsetAt returns where the current sound starts, and which one it is.
func (p *person) onsetAt() (pos int64, which int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.active {
		return never, 0
	}
	which = len(p.said) - 1
	return p.begin + p.said[which].c.Onset, which
}
