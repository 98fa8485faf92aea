package wake

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// DefaultPhrase is what is listened for when Config names nothing.
const DefaultPhrase = "okay copilot"

// DefaultThreshold is what BenchmarkHuman and BenchmarkRates chose. In ten
// recordings of several people, 44 s, 15 phrases that they say 17 times:
//
//	threshold  heard  wrongly
//	1e-10      17     1
//	1e-20      17     4
//	1e-40      17     7
//
// The wrong ones of the first two rows share words with the phrase, as "ten of
// clubs" does with "seven of clubs". The default phrase is heard at 1e-10 and 1e-20
// in all 12 utterances of flite and 14 and 18 of 36 of espeak-ng, and with a fan at
// 20 dB in 7 and 11, 33 and 35. In 35 minutes of English prompts without it it was
// not heard even at 1e-40, and at 1e-20 once in 109 minutes of Spanish, French and
// Italian ones: 0.4 false accepts an hour in all, with 144 minutes heard.
const DefaultThreshold = 1e-20

// SampleRate is what the engine hears, in samples a second.
const SampleRate = 16000

const (
	// queueFrames is how far the engine may be behind: 2 s.
	queueFrames = 200
	// pieceFrames go to the engine at once: 50 ms.
	pieceFrames = 5
)

// ErrClosed is that the Spotter was closed.
var ErrClosed = errors.New("wake phrase spotter is closed; make a new one")

// Config says what to listen for. The zero value is usable.
type Config struct {
	// Phrase is two to eight English words in any case; DefaultPhrase when empty.
	// Each must be in the dictionary of the model, and together they have at
	// least eight sounds, or everyday speech would be taken for it.
	Phrase string
	// Threshold is the likelihood ratio at which the phrase counts as heard, over
	// 0 and at most 1; DefaultThreshold when 0. A lower one hears more, wrongly
	// too. Longer phrases need lower ones.
	Threshold float64
	// ModelDir is the folder that holds en-us/. When empty, it is found as for
	// recognition: the environment variable AGENTVOICE_POCKETSPHINX_MODELS, then
	// the system's folder.
	ModelDir string
	// Heard is called for each time that the phrase was heard, on the Spotter's
	// goroutine. It may call Push and Stats, and not Close.
	Heard func(Heard)
}

// Heard is that the phrase was spoken.
type Heard struct {
	// Pos is the capture position, in samples at audio.SampleRate, up to which
	// the engine had listened: the phrase ended shortly before, and what the user
	// says next is behind it or a little before it.
	Pos int64
}

// Stats is what a Spotter has done, in frames of 10 ms.
type Stats struct {
	Listened uint64 // frames that the engine has heard
	Dropped  uint64 // frames that found the queue full
	Heard    uint64 // times that the phrase was heard
	Err      error  // why the engine stopped, nil while it runs
}

// engine searches for the phrase. It is used by one goroutine at a time.
type engine interface {
	// listen takes the next piece, 16 kHz mono, and says whether the phrase ends
	// in it; the engine restarts then.
	listen(pcm []int16) (bool, error)
	// restart forgets what was heard, for audio that does not continue the last.
	restart() error
	close()
}

// Spotter listens for a phrase. Push is for one goroutine; the other methods may
// be called by anybody.
type Spotter struct {
	heard  func(Heard)
	queue  chan framed
	quit   chan struct{}
	done   chan struct{}
	once   sync.Once
	closed atomic.Bool

	listened, dropped, times atomic.Uint64
	failure                  atomic.Pointer[error]
}

// framed is a frame and where it was captured.
type framed struct {
	pos   int64
	frame audio.Frame
}

// New loads the model, which takes a fraction of a second, and starts the
// Spotter's goroutine. It fails when the phrase cannot be spotted, with the word
// that is to blame, and when the model or the library is missing.
func New(cfg Config) (*Spotter, error) {
	if cfg.Phrase == "" {
		cfg.Phrase = DefaultPhrase
	}
	if cfg.Threshold == 0 {
		cfg.Threshold = DefaultThreshold
	}
	if !(cfg.Threshold > 0 && cfg.Threshold <= 1) {
		return nil, fmt.Errorf("wake phrase threshold %g is out of range; use one over 0 and up to 1, such as %g", cfg.Threshold, DefaultThreshold)
	}
	engine, err := newEngine(cfg)
	if err != nil {
		return nil, err
	}
	return start(engine, cfg.Heard)
}

// start returns the Spotter of an engine, which it owns.
func start(e engine, heard func(Heard)) (*Spotter, error) {
	resampler, err := audio.NewResampler(audio.SampleRate, SampleRate)
	if err != nil {
		e.close()
		return nil, err
	}
	s := &Spotter{
		heard: heard,
		queue: make(chan framed, queueFrames),
		quit:  make(chan struct{}),
		done:  make(chan struct{}),
	}
	go s.run(&listener{engine: e, resampler: resampler})
	return s, nil
}

// Push gives the Spotter a frame that was captured at pos, in samples at
// audio.SampleRate, and says whether there was room for it. It keeps no reference
// to f.
func (s *Spotter) Push(pos int64, f *audio.Frame) bool {
	if s.closed.Load() {
		return false
	}
	select {
	case s.queue <- framed{pos, *f}:
		return true
	default:
		s.dropped.Add(1)
		return false
	}
}

// Stats is what was done so far.
func (s *Spotter) Stats() Stats {
	st := Stats{Listened: s.listened.Load(), Dropped: s.dropped.Load(), Heard: s.times.Load()}
	if err := s.failure.Load(); err != nil {
		st.Err = *err
	}
	return st
}

// Close ends the Spotter's goroutine and frees the engine. Nothing is heard after
// it. It is safe to call twice.
func (s *Spotter) Close() error {
	s.once.Do(func() {
		s.closed.Store(true)
		close(s.quit)
	})
	<-s.done
	return nil
}

// run is the Spotter's goroutine. When the engine fails it continues emptying the
// queue, so that the failure is in Stats and nowhere else.
func (s *Spotter) run(l *listener) {
	defer close(s.done)
	defer l.engine.close()
	for {
		select {
		case <-s.quit:
			return
		case in := <-s.queue:
			if s.failure.Load() != nil {
				continue
			}
			heard, err := l.take(&in)
			s.listened.Add(1)
			switch {
			case err != nil:
				s.failure.Store(&err)
			case heard && !s.closed.Load():
				s.times.Add(1)
				if s.heard != nil {
					s.heard(Heard{Pos: in.pos + audio.FrameSamples})
				}
			}
		}
	}
}

// listener makes pieces of frames, at the engine's rate.
type listener struct {
	engine    engine
	resampler *audio.Resampler
	next      int64 // position that continues what came before
	piece     []int16
	frames    int // in piece
}

func (l *listener) take(in *framed) (heard bool, err error) {
	if in.pos != l.next && l.next != 0 {
		l.resampler.Reset()
		l.piece, l.frames = l.piece[:0], 0
		if err := l.engine.restart(); err != nil {
			return false, err
		}
	}
	l.next = in.pos + audio.FrameSamples
	l.piece = l.resampler.Process(l.piece, in.frame[:])
	if l.frames++; l.frames < pieceFrames {
		return false, nil
	}
	heard, err = l.engine.listen(l.piece)
	l.piece, l.frames = l.piece[:0], 0
	return heard, err
}
