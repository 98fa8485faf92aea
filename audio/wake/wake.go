package wake

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// DefaultPhrase is used if Config.Phrase is empty.
const DefaultPhrase = "okay copilot"

// DefaultThreshold comes from BenchmarkHuman and BenchmarkRates. For 15 phrases that
// several people say 17 times in ten recordings (44 s):
//
//	threshold  detected  false
//	1e-10      17        1
//	1e-20      17        4
//	1e-40      17        7
//
// The false triggers at 1e-10 and 1e-20 share words with the phrase, as "ten of clubs" does
// with "seven of clubs". In noise, 1e-20 detects more utterances of the default phrase than
// 1e-10. It triggers falsely 0.4 times per hour of speech without the phrase.
const DefaultThreshold = 1e-20

// CandidateThreshold is a Config.Candidates for a caller that can confirm a detection
// (docs/design/measurements.md, Wake phrase).
const CandidateThreshold = 1e-50

// SampleRate is the engine's sample rate, in Hz.
const SampleRate = 16000

const (
	// queueFrames is the queue's capacity: 2 s.
	queueFrames = 200
	// pieceFrames is how many frames the engine gets at once: 50 ms.
	pieceFrames = 5
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("wake phrase spotter is closed; create a new one")

// Config configures a Spotter. Only ModelDir is required.
type Config struct {
	// Phrase is two to eight English words in any case; DefaultPhrase if empty. Each
	// must be in the model's dictionary, and together they need at least eight phones
	// to avoid triggers on everyday speech.
	Phrase string
	// Threshold is the likelihood ratio at which the phrase is detected, above 0 and
	// at most 1; DefaultThreshold if 0. A lower one has fewer misses and more false
	// triggers. Longer phrases need lower ones.
	Threshold float64
	// Candidates, if above 0 and below Threshold, is the lower likelihood ratio from which a
	// sound is reported too, as one that is not sure.
	Candidates float64
	// ModelDir is the folder that contains en-us/.
	ModelDir string
	// Heard is called for each detected phrase, on the Spotter's goroutine. It may call
	// Push and Stats, but not Close.
	Heard func(Heard)
}

// Heard is a detection of the phrase.
type Heard struct {
	// Sure means that the likelihood ratio is at least Config.Threshold.
	Sure bool
	// From is where the phrase began, to about 50 ms.
	From int64
	// Pos is the capture position, in samples at audio.SampleRate, up to which the
	// engine had processed.
	Pos int64
	// To is where the phrase ended, to about 50 ms: the user's next words start there.
	To int64
}

// reportedAfter is how long after the best match of a phrase the engine reports it, because it
// waits for a better one (docs/design/measurements.md, Wake phrase).
const reportedAfter = 150 * audio.SampleRate / 1000

// Stats counts what a Spotter has done.
type Stats struct {
	Listened uint64 // frames processed by the engine, 10 ms each
	Dropped  uint64 // frames dropped because the queue was full
	Heard    uint64 // detections, with those that are not sure
	Err      error  // why the engine stopped, nil while it runs
}

// engine searches for the phrase. It is not safe for concurrent use.
type engine interface {
	// listen processes the next piece (16 kHz mono), and returns the phrase that ends in it,
	// if any; the engine then restarts.
	listen(pcm []int16) (match, error)
	// restart discards the history, for audio that does not continue the last piece.
	restart() error
	close()
}

// match is where the engine detected the phrase. The zero value is none.
type match struct {
	found  bool
	sure   bool
	length int64   // of the phrase, in samples at audio.SampleRate
	ago    int64   // how long it was held back, in the same samples
	likely float64 // the natural logarithm of its likelihood ratio
}

// Spotter detects a phrase. Push must be called from one goroutine; the other methods
// are safe for concurrent use.
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

// framed is a frame and its capture position.
type framed struct {
	pos   int64
	frame audio.Frame
}

// New loads the model, which takes a fraction of a second, and starts the Spotter's
// goroutine. It fails if the phrase is unusable, naming the offending word, or if the
// model or the library is missing.
func New(cfg Config) (*Spotter, error) {
	if cfg.Phrase == "" {
		cfg.Phrase = DefaultPhrase
	}
	if cfg.Threshold == 0 {
		cfg.Threshold = DefaultThreshold
	}
	if !(cfg.Threshold > 0 && cfg.Threshold <= 1) {
		return nil, fmt.Errorf("wake phrase threshold %g is out of range; use 0 < threshold <= 1, such as %g", cfg.Threshold, DefaultThreshold)
	}
	if cfg.Candidates == 0 {
		cfg.Candidates = cfg.Threshold
	}
	if !(cfg.Candidates > 0 && cfg.Candidates <= cfg.Threshold) {
		return nil, fmt.Errorf("wake phrase threshold %g for candidates is out of range; use one above 0 and at most %g", cfg.Candidates, cfg.Threshold)
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

// Push queues a frame captured at pos, in samples at audio.SampleRate, and reports
// whether the queue had room. It does not retain f.
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

// Stats returns the current counters.
func (s *Spotter) Stats() Stats {
	st := Stats{Listened: s.listened.Load(), Dropped: s.dropped.Load(), Heard: s.times.Load()}
	if err := s.failure.Load(); err != nil {
		st.Err = *err
	}
	return st
}

// Close ends the Spotter's goroutine and frees the engine. Heard is not called after
// Close returns. Close is safe to call twice.
func (s *Spotter) Close() error {
	s.once.Do(func() {
		s.closed.Store(true)
		close(s.quit)
	})
	<-s.done
	return nil
}

// run is the Spotter's goroutine. If the engine fails it keeps draining the queue, so
// that only Stats shows the failure.
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
			m, err := l.take(&in)
			s.listened.Add(1)
			switch {
			case err != nil:
				s.failure.Store(&err)
			case m.found && !s.closed.Load():
				s.times.Add(1)
				if s.heard != nil {
					pos := in.pos + audio.FrameSamples
					to := pos - reportedAfter - m.ago
					s.heard(Heard{Sure: m.sure, Pos: pos, From: to - m.length, To: to})
				}
			}
		}
	}
}

// listener collects frames into pieces at the engine's rate.
type listener struct {
	engine    engine
	resampler *audio.Resampler
	next      int64 // position of the next contiguous frame
	piece     []int16
	frames    int // frames in piece
}

func (l *listener) take(in *framed) (match, error) {
	if in.pos != l.next && l.next != 0 {
		l.resampler.Reset()
		l.piece, l.frames = l.piece[:0], 0
		if err := l.engine.restart(); err != nil {
			return match{}, err
		}
	}
	l.next = in.pos + audio.FrameSamples
	l.piece = l.resampler.Process(l.piece, in.frame[:])
	if l.frames++; l.frames < pieceFrames {
		return match{}, nil
	}
	m, err := l.engine.listen(l.piece)
	l.piece, l.frames = l.piece[:0], 0
	return m, err
}
