package hearing

import (
	"errors"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// WithFallback returns a factory of recognizers that do not lose an utterance when
// their engine fails in the middle. They keep the audio of the current utterance in
// memory, at most the last LongestUtterance. After a failure, a new engine from first
// recognises it again, and if that fails, one from second. Each utterance starts with
// first. The audio is wiped when the utterance ends.
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

// keeper is a recogniser that keeps the audio of its utterance.
type keeper struct {
	factories [3]Factory // in the order in which an utterance tries them
	report    func(error)

	engine Recognizer // nil if none works
	stage  int        // the index of its factory
	active bool
	closed bool
	kept   []int16
	likely engine.Utterance
}

// SetWords implements WordTaker. It passes the words to each engine that supports them.
func (r *keeper) SetWords(words []string) {
	r.likely.Words = words
	r.tell(r.engine)
}

// SetExpected implements AnswerTaker, like SetWords.
func (r *keeper) SetExpected(groups [][]string) {
	r.likely.Expected = groups
	r.tell(r.engine)
}

// Join implements Joiner. An engine that replaces another one recognises the utterance alone.
func (r *keeper) Join(pause int) bool {
	j, ok := r.engine.(Joiner)
	return ok && !r.active && j.Join(pause)
}

// Forget implements Joiner.
func (r *keeper) Forget() {
	if j, ok := r.engine.(Joiner); ok {
		j.Forget()
	}
}

func (r *keeper) tell(to Recognizer) {
	if w, ok := to.(WordTaker); ok {
		w.SetWords(r.likely.Words)
	}
	if a, ok := to.(AnswerTaker); ok {
		a.SetExpected(r.likely.Expected)
	}
}

// begin creates the first working engine, from a stage on, and feeds it the kept audio
// of the utterance.
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
			stage++ // the second try is for an engine that had worked
		}
	}
	return errors.Join(errs...)
}

// replayed is how much audio is written at once: little enough that a slow machine accepts the
// next part in time.
const replayed = 60 * SampleRate

func replay(engine Recognizer, kept []int16) error {
	if err := engine.Start(); err != nil {
		return err
	}
	for part := range slices.Chunk(kept, replayed) {
		if err := engine.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// recover replaces an engine that failed during an utterance. If all fail, its error
// combines their errors.
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
		// The first engine may work again; if not, keep the current one.
		if first, err := r.factories[0](); err == nil {
			_ = r.engine.Close() // it has no utterance to lose
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
		r.stage = 0 // each utterance gets both tries
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

// Settle implements Settler. It returns the partial result of an engine that is no Settler.
func (r *keeper) Settle() (Result, error) {
	if err := r.check(); err != nil {
		return Result{}, err
	}
	s, ok := r.engine.(Settler)
	if !ok {
		return Result{Text: r.engine.Partial()}, nil
	}
	result, err := s.Settle()
	if err != nil {
		if err := r.recover(err); err != nil {
			return Result{}, err
		}
		return Result{Text: r.engine.Partial()}, nil
	}
	return result, nil
}

// Resume implements Settler.
func (r *keeper) Resume() error {
	if err := r.check(); err != nil {
		return err
	}
	if s, ok := r.engine.(Settler); ok {
		if err := s.Resume(); err != nil {
			return r.recover(err)
		}
	}
	return nil
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

// keep appends audio to the utterance.
func (r *keeper) keep(pcm []int16) {
	r.kept = audio.AppendWiped(r.kept, pcm)
	if over := len(r.kept) - LongestUtterance; over > 0 {
		copy(r.kept, r.kept[over:])
		clear(r.kept[LongestUtterance:])
		r.kept = r.kept[:LongestUtterance]
	}
}

// end ends the utterance and wipes its audio.
func (r *keeper) end() {
	clear(r.kept)
	r.kept, r.active = r.kept[:0], false
}
