//go:build cgo

package moonshine

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// Partial results are computed from the whole unfinished piece, so they are paced: they take
// at most partialShare of the time of the audio, and come at most every partialEvery.
const (
	partialShare = 0.15
	partialEvery = 300 * time.Millisecond
)

// silence is added to an utterance, because a pause is decoded before it is long enough for
// the model, which then mishears the last word: of 48 short answers 20 words of 94, with the
// silence 11.
var silence = make([]int16, SampleRate/2)

// LoadWorker is an engine.Loader of kind moonshine-onnx.
func LoadWorker(models []engine.Model, o engine.Options, to *engine.Link) (engine.Worker, error) {
	dir := models[0]
	for part, name := range map[string]string{"encoder": encoderFile, "decoder": decoderFile, "tokenizer": vocabularyFile} {
		if filepath.Base(dir.Path(part)) != name {
			return nil, fmt.Errorf("model %s: its %s is not %s; install it again", dir.Name, part, name)
		}
	}
	m, err := Load(filepath.Dir(dir.Path("encoder")), o.Runtime, max(o.Threads, 1))
	if err != nil {
		return nil, err
	}
	return &worker{model: m, to: to, utterances: map[uint32]*utterance{}, now: time.Now}, nil
}

// worker recognises the utterances of a daemon.
type worker struct {
	model      *Model
	to         *engine.Link
	utterances map[uint32]*utterance
	now        func() time.Time

	words []string // for which names were made
	names *Names
}

// utterance is an unfinished utterance. What is longer than a piece is recognised while the
// rest is spoken.
type utterance struct {
	before   []int16 // may be a part of the same sentence
	names    *Names
	expected [][]string // answers
	done     Transcript // of the pieces before pcm
	pcm      []int16
	settled  *engine.Final // if nothing more is said; nil while the voice goes on
	said     Transcript    // of the first samples of pcm, when it was settled
	spoken   int           // how many those are
	joined   bool          // settled has what was said with before
	next     int           // samples of pcm at which the next partial result is due
	partial  string
}

// Close implements engine.Worker.
func (w *worker) Close() error {
	for stream := range w.utterances {
		w.drop(stream)
	}
	return w.model.Close()
}

// Work implements engine.Worker.
func (w *worker) Work(f engine.Frame) {
	u := w.utterances[f.Stream]
	switch f.Kind {
	case engine.Start:
		likely := engine.UtteranceOf(f.Payload)
		w.utterances[f.Stream] = &utterance{names: w.namesOf(likely.Words), expected: likely.Expected, next: int(partialEvery.Seconds() * SampleRate)}
	case engine.Before:
		if u != nil {
			u.before = engine.Samples(f.Payload)
		}
	case engine.Audio:
		if u == nil {
			return
		}
		if err := w.hear(f.Stream, u, engine.Samples(f.Payload)); err != nil {
			w.fail(f.Stream, err)
		}
	case engine.Finish:
		if u == nil {
			w.to.Send(engine.Reply{Stream: f.Stream, Error: "the utterance was not started"})
			return
		}
		w.finish(f.Stream, u)
	case engine.Settle:
		if u == nil {
			w.to.Send(engine.Reply{Stream: f.Stream, Error: "the utterance was not started"})
			return
		}
		if final, err := w.final(u); err != nil {
			w.fail(f.Stream, err)
		} else {
			w.to.Send(engine.Reply{Stream: f.Stream, Settled: final})
			if err := w.join(u); err != nil { // while the pause lasts
				w.fail(f.Stream, err)
			}
		}
	case engine.Resume:
		if u != nil {
			u.resume()
		}
	case engine.Cancel:
		w.drop(f.Stream)
	}
}

// finish ends an utterance.
func (w *worker) finish(stream uint32, u *utterance) {
	_, err := w.final(u)
	if err == nil {
		err = w.join(u)
	}
	if err != nil {
		w.fail(stream, err)
		return
	}
	w.drop(stream)
	w.to.Send(engine.Reply{Stream: stream, Final: u.settled})
}

// final returns what is recognised of an utterance, and settles it.
func (w *worker) final(u *utterance) (*engine.Final, error) {
	if u.settled == nil {
		spoken := len(u.pcm)
		u.pcm = audio.AppendWiped(u.pcm, silence)
		f, err := w.recognize(u, spoken)
		u.pcm = u.pcm[:spoken]
		if err != nil {
			return nil, err
		}
		u.settled, u.spoken, u.joined = f, spoken, false
	}
	return u.settled, nil
}

// join adds what is recognised of a settled utterance together with the audio before it.
func (w *worker) join(u *utterance) error {
	if u.joined || len(u.before) == 0 || u.settled.Text == "" || len(u.done.Words) > 0 || len(u.before)+len(u.pcm)+len(silence) > longestPiece {
		return nil
	}
	whole := slices.Concat(u.before, u.pcm, silence)
	defer clear(whole)
	t, err := w.model.Recognize(whole, u.names)
	if err != nil {
		return err
	}
	final := *u.settled // which was sent
	u.settled, u.joined = &final, true
	if !t.Cut {
		final.Joined = t.Text
	}
	return nil
}

// recognize recognises an utterance of which that many samples were spoken.
func (w *worker) recognize(u *utterance, spoken int) (*engine.Final, error) {
	t, err := w.model.Recognize(u.pcm, u.names)
	if err != nil {
		return nil, err
	}
	u.said = t
	t = u.done.join(t)
	f := &engine.Final{Text: t.Text}
	for _, w := range t.Words {
		f.Probs = append(f.Probs, w.Prob)
	}
	if len(t.Words) > 0 {
		f.Stop = &t.Stop
	}
	if len(u.expected) > 1 && len(u.done.Words) == 0 && shortestSound <= spoken && spoken <= longestAnswer {
		sound, err := w.model.Encode(u.pcm)
		if err != nil {
			return nil, err
		}
		if f.Answer, err = w.model.Compare(sound, u.expected); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// fail ends an utterance. The error holds no words.
func (w *worker) fail(stream uint32, err error) {
	w.drop(stream)
	w.to.Send(engine.Reply{Stream: stream, Error: err.Error()})
}

// hear adds audio to an utterance, and reports the words so far if they are due.
func (w *worker) hear(stream uint32, u *utterance, pcm []int16) error {
	u.pcm = audio.AppendWiped(u.pcm, pcm)
	for len(u.pcm) > longestPiece+cutWindow {
		length := pieceLength(u.pcm)
		t, err := w.model.Recognize(u.pcm[:length], u.names)
		if err != nil {
			return err
		}
		u.done = u.done.join(t)
		u.shorten(length)
		u.spoken = 0 // what was settled is in done now
	}
	if len(u.pcm) < u.next || u.settled != nil {
		return nil
	}
	began := w.now()
	t, err := w.draft(u.pcm)
	if err != nil {
		return err
	}
	pause := max(time.Duration(float64(w.now().Sub(began))/partialShare), partialEvery)
	u.next = len(u.pcm) + int(pause.Seconds()*SampleRate)
	// The model ends every draft with a full stop, also in the middle of a sentence.
	if text := strings.TrimSuffix(u.done.join(t).Text, "."); text != u.partial {
		u.partial = text
		w.to.Send(engine.Reply{Stream: stream, Partial: &text})
	}
	return nil
}

// draft returns the words of an unfinished piece.
func (w *worker) draft(pcm []int16) (Transcript, error) {
	return recognize(pcm, func(piece []int16) (Transcript, error) {
		sound, err := w.model.Encode(piece)
		if err != nil {
			return Transcript{}, err
		}
		return w.model.Draft(sound)
	})
}

// namesOf returns the trie of the terms of the trade and of an utterance's words. It makes
// another one only for other words.
func (w *worker) namesOf(words []string) *Names {
	if w.names == nil || !slices.Equal(words, w.words) {
		w.words, w.names = words, w.model.Names(slices.Concat(Terms(), words))
	}
	return w.names
}

// drop discards an utterance and wipes its audio.
func (w *worker) drop(stream uint32) {
	if u := w.utterances[stream]; u != nil {
		clear(u.pcm[:cap(u.pcm)])
		clear(u.before)
		delete(w.utterances, stream)
	}
}

// resume says that the voice goes on after a pause. What was recognised then stays if it is long
// enough for a piece: a pause is the best place for a cut, and the work of each pause of a long
// dictation stays the same.
func (u *utterance) resume() {
	if u.settled != nil && u.spoken >= shortestPiece {
		u.done = u.done.join(u.said)
		u.shorten(u.spoken)
		u.next = max(u.next, int(partialEvery.Seconds()*SampleRate))
	}
	u.settled = nil
}

// shorten drops the beginning of the audio.
func (u *utterance) shorten(by int) {
	rest := copy(u.pcm, u.pcm[by:])
	clear(u.pcm[rest:])
	u.pcm, u.next = u.pcm[:rest], max(u.next-by, 0)
}
