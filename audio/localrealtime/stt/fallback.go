package stt

import "errors"

// maxKept bounds the audio that is kept of an utterance: 2 minutes, which is more than
// the embedded server lets one last.
const maxKept = 2 * 60 * SampleRate

// WithFallback makes recognizers that lose no utterance when their engine fails in the
// middle of it. They keep the audio of the utterance under way in memory, at most the
// last 2 minutes, and have it recognised once more by a new first engine, and if that
// fails by second. Each utterance begins with the first engine again. The audio is
// wiped when the utterance ends.
//
// report is called with each failure that the fallback covered, and must not block.
func WithFallback(first, second Factory, report func(error)) Factory {
	return func() (Recognizer, error) {
		r := &keeper{factories: [...]Factory{first, first, second}, report: report}
		if err := r.begin(0); err != nil {
			return nil, err
		}
		return r, nil
	}
}

// keeper is a recogniser with the audio of its utterance.
type keeper struct {
	factories [3]Factory // in the order in which an utterance tries them
	report    func(error)

	engine Recognizer // nil when none works
	stage  int        // the index of its factory
	active bool
	closed bool
	kept   []int16
	words  []string
}

// SetWords implements WordTaker: each engine that takes them gets the words.
func (r *keeper) SetWords(words []string) {
	r.words = words
	r.tell(r.engine)
}

func (r *keeper) tell(engine Recognizer) {
	if w, ok := engine.(WordTaker); ok {
		w.SetWords(r.words)
	}
}

// begin makes the first engine that works, from a stage on, and gives it what is kept
// of an utterance.
func (r *keeper) begin(stage int) error {
	var errs []error
	for ; stage < len(r.factories); stage++ {
		engine, err := r.factories[stage]()
		if err == nil {
			r.tell(engine)
		}
		if err == nil && r.active {
			if err = replay(engine, r.kept); err != nil {
				_ = engine.Close() // it has failed
			}
		}
		if err == nil {
			r.engine, r.stage = engine, stage
			for _, failed := range errs {
				r.report(failed)
			}
			return nil
		}
		errs = append(errs, err)
		if stage == 0 {
			stage++ // the second try is for an engine that has worked
		}
	}
	return errors.Join(errs...)
}

func replay(engine Recognizer, kept []int16) error {
	if err := engine.Start(); err != nil {
		return err
	}
	return engine.Write(kept)
}

// recover replaces an engine that has failed in an utterance. Its error is that of all
// engines.
func (r *keeper) recover(failed error) error {
	stage := r.stage + 1
	_ = r.engine.Close() // it has failed
	r.engine = nil
	if err := r.begin(stage); err != nil {
		r.end()
		return errors.Join(failed, err)
	}
	r.report(failed)
	return nil
}

// Start implements Recognizer.
func (r *keeper) Start() error {
	if r.closed {
		return ErrClosed
	}
	r.end()
	if r.engine != nil && r.stage == len(r.factories)-1 {
		// The first engine may work again; where it does not, this one stays.
		if first, err := r.factories[0](); err == nil {
			_ = r.engine.Close() // nothing is lost with it
			r.engine, r.stage = first, 0
			r.tell(first)
		}
	}
	r.active = true
	if r.engine == nil {
		if err := r.begin(0); err != nil {
			r.end()
			return err
		}
		return nil
	}
	if r.stage < len(r.factories)-1 {
		r.stage = 0 // each utterance has both tries
	}
	if err := r.engine.Start(); err != nil {
		return r.recover(err)
	}
	return nil
}

// Write implements Recognizer.
func (r *keeper) Write(pcm []int16) error {
	if err := r.check(); err != nil {
		return err
	}
	r.keep(pcm)
	if err := r.engine.Write(pcm); err != nil {
		return r.recover(err)
	}
	return nil
}

// Partial implements Recognizer.
func (r *keeper) Partial() string {
	if r.check() != nil {
		return ""
	}
	return r.engine.Partial()
}

// Finish implements Recognizer.
func (r *keeper) Finish() (Result, error) {
	if err := r.check(); err != nil {
		return Result{}, err
	}
	for {
		result, err := r.engine.Finish()
		if err == nil {
			r.end()
			return result, nil
		}
		if err := r.recover(err); err != nil {
			return Result{}, err
		}
	}
}

// Close implements Recognizer.
func (r *keeper) Close() error {
	r.end()
	r.closed = true
	if r.engine == nil {
		return nil
	}
	engine := r.engine
	r.engine = nil
	return engine.Close()
}

func (r *keeper) check() error {
	switch {
	case r.closed:
		return ErrClosed
	case !r.active:
		return ErrNoUtterance
	}
	return nil
}

// keep remembers the next piece of the utterance.
func (r *keeper) keep(pcm []int16) {
	if n := len(r.kept) + len(pcm); n > cap(r.kept) {
		// Not by append, which leaves a copy of the audio behind.
		grown := make([]int16, len(r.kept), max(n, min(2*n, maxKept)))
		copy(grown, r.kept)
		clear(r.kept)
		r.kept = grown
	}
	r.kept = append(r.kept, pcm...)
	if over := len(r.kept) - maxKept; over > 0 {
		copy(r.kept, r.kept[over:])
		clear(r.kept[maxKept:])
		r.kept = r.kept[:maxKept]
	}
}

// end is the end of the utterance: its audio is wiped.
func (r *keeper) end() {
	clear(r.kept)
	r.kept, r.active = r.kept[:0], false
}
