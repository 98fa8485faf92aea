package voice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// Engine returns a factory of synthesizers that share an engine with one model. If the
// engine has died or does not start, the fallback speaks instead and report gets the error;
// sentences already emitted are not repeated. The fallback also speaks where one of its
// voices is asked for. A fallback of nil is none: then failures are returned, and a late engine
// is waited for. A model that speaks several languages speaks the given one, an ISO 639-1 code.
// The child loads its model in the background.
func Engine(e *engine.Engine, language string, fallback Factory, report func(error)) Factory {
	return func() (Synthesizer, error) {
		e.Acquire()
		if err := e.Prepare(); err != nil {
			report(err) // the fallback speaks instead
		}
		return &synthesizer{engine: e, language: language, rate: 1, fallback: fallback, report: report}, nil
	}
}

type synthesizer struct {
	engine   *engine.Engine
	language string
	rate     float64
	closed   bool
	fallback Factory
	second   Synthesizer // created by fallback; nil until needed
	report   func(error)
	heard    time.Time // when a listener who plays at once has heard what was emitted
	late     bool      // the engine is too slow, so the fallback speaks
}

// patience is how long a listener waits in silence before the engine counts as too slow, for
// example beside other programs that compute.
const patience = 2 * time.Second

// errAlone says that there is no fallback.
var errAlone = errors.New("there is no other voice")

// errLoading says that the model is not loaded yet.
var errLoading = errors.New("the voice is still loading")

// ErrLate is reported when the fallback speaks because the engine is slower than it speaks. The
// engine did not fail.
var ErrLate = errors.New("the voice is slower than it speaks; close other programs, or set agentvoice.voice.engine to fast")

// SetRate implements Synthesizer.
func (s *synthesizer) SetRate(rate float64) { s.rate = min(max(rate, MinRate), MaxRate) }

// Voices implements Synthesizer. It returns the speakers from the model's description, and
// the voices of the fallback.
func (s *synthesizer) Voices() []string {
	names := s.own()
	if second, err := s.other(); err == nil {
		names = append(names, second.Voices()...)
	}
	return names
}

// own returns the model's speakers.
func (s *synthesizer) own() []string {
	m := s.engine.Models()[0]
	if len(m.Voices) > 0 {
		return slices.Clone(m.Voices)
	}
	return []string{m.Name}
}

// other returns the fallback.
func (s *synthesizer) other() (Synthesizer, error) {
	if s.second == nil && s.fallback == nil {
		return nil, errAlone
	}
	if s.second == nil {
		second, err := s.fallback()
		if err != nil {
			return nil, err
		}
		s.second = second
	}
	return s.second, nil
}

// Close implements Synthesizer.
func (s *synthesizer) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.engine.Release()
	if s.second != nil {
		return s.second.Close()
	}
	return nil
}

// Speak implements Synthesizer. The child synthesises the next sentence while one
// is emitted.
func (s *synthesizer) Speak(ctx context.Context, voice, text string, emit func(pcm []int16, rate int) error) error {
	if s.closed {
		return ErrClosed
	}
	if voice != "" && !slices.Contains(s.own(), voice) {
		if second, err := s.other(); err == nil && slices.Contains(second.Voices(), voice) {
			return s.sayOtherwise(ctx, voice, text, emit)
		}
		return fmt.Errorf("%w %q; use one of %s", ErrUnknownVoice, voice, strings.Join(s.Voices(), ", "))
	}
	if s.late {
		return s.sayOtherwise(ctx, "", text, emit)
	}
	u := &speech{synthesizer: s, speaker: voice, sentences: sentences(text), emit: emit}
	u.asked = make([]*engine.Stream, len(u.sentences))
	defer u.cancel()
	for i := range u.sentences {
		if err := u.say(ctx, i); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// speech is one call of Speak.
type speech struct {
	*synthesizer
	speaker   string
	sentences []string
	asked     []*engine.Stream // one per sentence; nil until requested
	emit      func(pcm []int16, rate int) error
	begun     bool // some of the current sentence was emitted
	emitted   int  // samples emitted of it, or of what is left of it
}

// listenerError is an error of emit or of the context, which must not be retried.
type listenerError struct{ error }

// say speaks a sentence: with the child, with a new child from where the first one
// died, or with the fallback. What is left of a sentence is known if the replies have an End.
// Otherwise the new child skips the samples that were emitted, and the fallback begins again.
func (u *speech) say(ctx context.Context, i int) error {
	u.begun, u.emitted = false, 0
	var err, died error
	for n := 0; n < 2 && !u.late; n++ {
		if err = u.ask(ctx, i); err == nil {
			_ = u.ask(ctx, i+1) // a failure shows when that sentence is due
			err = u.drain(ctx, i)
		}
		var theirs listenerError
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errLoading): // the fallback speaks until the model is there
			if died != nil {
				u.report(died)
			}
			return u.sayOtherwise(ctx, "", u.sentences[i], u.emit)
		case errors.As(err, &theirs):
			u.heard = time.Time{} // what was to be heard is dropped
			return theirs.error
		}
		if u.asked[i] != nil {
			u.asked[i].Cancel()
			u.asked[i] = nil
		}
		if died = err; !strings.ContainsFunc(u.sentences[i], sayable) {
			return nil // it failed after the last word
		}
	}
	if err != nil && u.fallback == nil {
		return err
	}
	if err != nil {
		u.report(err)
	}
	return u.sayOtherwise(ctx, "", u.sentences[i], u.emit)
}

// ask requests a sentence from the child, unless already requested. It waits for the model
// while the listener has patience.
func (u *speech) ask(ctx context.Context, i int) error {
	if i >= len(u.asked) || u.asked[i] != nil {
		return nil
	}
	payload, err := json.Marshal(engine.Sentence{
		Text: u.sentences[i], Speaker: u.speaker, Speed: u.rate, Language: u.language, Follows: i > 0, AheadMS: max(time.Until(u.heard), 0).Milliseconds(),
	})
	if err != nil {
		return err
	}
	inTime, stop := u.inTime(ctx)
	defer stop()
	switch u.asked[i], err = u.engine.Open(inTime.Done()); {
	case errors.Is(err, engine.ErrCancelled) && ctx.Err() != nil:
		return listenerError{ctx.Err()}
	case errors.Is(err, engine.ErrCancelled):
		return errLoading
	case err != nil:
		return err
	}
	return u.asked[i].Send(engine.Text, payload)
}

// drain emits the rest of a sentence, at most 100 ms at a time, and keeps what is not spoken yet.
func (u *speech) drain(ctx context.Context, i int) error {
	skip, text := u.emitted, u.sentences[i]
	for {
		r, err := u.next(ctx, u.asked[i])
		switch {
		case err != nil:
			return err
		case r.Done:
			return nil
		}
		pcm := engine.Samples(r.Audio)
		known := min(skip, len(pcm))
		skip -= known
		for pcm = pcm[known:]; len(pcm) > 0; {
			if err := ctx.Err(); err != nil {
				return listenerError{err}
			}
			n := min(len(pcm), r.Rate/10)
			if err := u.emit(pcm[:n], r.Rate); err != nil {
				return listenerError{err}
			}
			u.heard = later(u.heard, time.Now()).Add(time.Duration(n) * time.Second / time.Duration(r.Rate))
			u.begun, u.emitted = true, u.emitted+n
			pcm = pcm[n:]
		}
		if 0 < r.End && r.End <= len(text) {
			u.sentences[i], u.emitted = text[r.End:], 0
		}
	}
}

// next waits for a reply. If the listener would wait in silence for too long, the engine is
// late: a sentence that was not begun is left to the fallback, like those after it.
func (u *speech) next(ctx context.Context, from *engine.Stream) (engine.Reply, error) {
	if u.late {
		return u.await(ctx, ctx, from)
	}
	inTime, stop := u.inTime(ctx)
	defer stop()
	r, err := u.await(ctx, inTime, from)
	if !errors.Is(err, ErrLate) {
		return r, err
	}
	u.late = true
	if !u.begun {
		return r, err
	}
	u.report(err)
	return u.await(ctx, ctx, from)
}

// inTime returns a context that is done when a listener who hears nothing more loses patience,
// if another voice could speak.
func (u *speech) inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if u.fallback == nil {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, later(u.heard, time.Now()).Add(patience))
}

// await waits for a reply until the context waiting is done.
func (u *speech) await(ctx, waiting context.Context, from *engine.Stream) (engine.Reply, error) {
	r, err := from.Next(waiting.Done(), engine.ReplyTimeout)
	switch {
	case !errors.Is(err, engine.ErrCancelled):
		return r, err
	case ctx.Err() != nil:
		return r, listenerError{ctx.Err()}
	default:
		return r, ErrLate
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// cancel drops sentences that were requested but not spoken.
func (u *speech) cancel() {
	for _, s := range u.asked {
		if s != nil {
			s.Cancel()
		}
	}
}

// sayOtherwise speaks with a voice of the fallback, "" for its default.
func (s *synthesizer) sayOtherwise(ctx context.Context, voice, text string, emit func(pcm []int16, rate int) error) error {
	second, err := s.other()
	if err != nil {
		return err
	}
	second.SetRate(s.rate)
	return second.Speak(ctx, voice, text, emit)
}

// sentences cuts text after sentence ends, keeping the punctuation. Parts without anything
// to speak are dropped.
func sentences(text string) []string {
	var list []string
	add := func(s string) {
		if s = strings.TrimSpace(s); strings.ContainsFunc(s, sayable) {
			list = append(list, s)
		}
	}
	begin := 0
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		switch r {
		case '.', '!', '?', '…', ':', ';':
			// A mark within a word, as in 1.5 or main.go, does not end a sentence.
			if end < len(text) && text[end] != ' ' && text[end] != '\n' {
				continue
			}
		case '\n', '。', '！', '？':
		default:
			continue
		}
		add(text[begin:end])
		begin = end
	}
	add(text[begin:])
	return list
}

// sayable reports whether r makes a sentence worth speaking.
func sayable(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
