package hearing

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// Engine returns a factory of recognizers that share the models of an engine. The factory
// does not wait for the models: a conversation begins while they are loaded, and the first
// utterance waits for them.
func Engine(e *engine.Engine) Factory {
	return func() (Recognizer, error) {
		e.Acquire()
		if err := e.Prepare(); err != nil {
			e.Release()
			return nil, err
		}
		return &computed{engine: e}, nil
	}
}

// computed is a Recognizer whose model runs in a child process.
type computed struct {
	engine  *engine.Engine
	closed  bool
	stream  *engine.Stream // nil outside an utterance
	heard   int            // samples of the utterance
	settled bool
	likely  engine.Utterance

	voice voice
}

// SetWords implements WordTaker. Some models ignore them.
func (r *computed) SetWords(words []string) { r.likely.Words = words }

// SetExpected implements AnswerTaker. Some models ignore them.
func (r *computed) SetExpected(groups [][]string) { r.likely.Expected = groups }

// Start implements Recognizer. It waits for the models. If the child has died, it starts
// another one.
func (r *computed) Start() error {
	if r.closed {
		return ErrClosed
	}
	r.drop()
	s, err := r.engine.Open(nil)
	if err != nil {
		return err
	}
	r.stream, r.heard, r.settled = s, 0, false
	before := r.voice.begin()
	if err := s.Send(engine.Start, r.likely.Payload()); err != nil || len(before) == 0 {
		return err
	}
	return s.Send(engine.Before, engine.Bytes(before))
}

// Join implements Joiner. Models of sherpa-onnx recognise each utterance alone.
func (r *computed) Join(pause int) bool {
	return r.stream == nil && r.joins() && r.voice.join(pause)
}

func (r *computed) joins() bool { return r.engine.Models()[0].Computer() == engine.ONNXRuntime }

// Forget implements Joiner.
func (r *computed) Forget() { r.voice.wipe() }

// Write implements Recognizer. It blocks if the child is seconds behind.
func (r *computed) Write(pcm []int16) error {
	if err := r.check(); err != nil {
		return err
	}
	r.heard += len(pcm)
	if r.joins() {
		r.voice.add(pcm)
	}
	for len(pcm) > 0 {
		n := min(len(pcm), engine.MaxPayload/2)
		if err := r.stream.Send(engine.Audio, engine.Bytes(pcm[:n])); err != nil {
			return err
		}
		pcm = pcm[n:]
	}
	return nil
}

// Partial implements Recognizer. It returns what the child has recognised so far.
func (r *computed) Partial() string {
	if r.check() != nil {
		return ""
	}
	return r.stream.Partial()
}

// Settle implements Settler. A model of sherpa-onnx computes its final text at the end only.
func (r *computed) Settle() (Result, error) {
	if err := r.check(); err != nil {
		return Result{}, err
	}
	if r.engine.Models()[0].Computer() != engine.ONNXRuntime {
		return Result{Text: r.stream.Partial()}, nil
	}
	if err := r.stream.Send(engine.Settle, nil); err != nil {
		return Result{}, err
	}
	reply, err := r.stream.Next(nil, r.limit())
	if err != nil {
		return Result{}, err
	}
	r.settled = true
	return resultOf(reply.Settled), nil
}

// Resume implements Settler.
func (r *computed) Resume() error {
	if err := r.check(); err != nil || !r.settled {
		return err
	}
	r.settled = false
	return r.stream.Send(engine.Resume, nil)
}

// limit is how long an answer may take: the machine may be slower than real time.
func (r *computed) limit() time.Duration {
	return engine.ReplyTimeout + 2*time.Duration(r.heard)*time.Second/SampleRate
}

// Finish implements Recognizer.
func (r *computed) Finish() (Result, error) {
	if err := r.check(); err != nil {
		return Result{}, err
	}
	s := r.stream
	r.stream = nil
	if err := s.Send(engine.Finish, nil); err != nil {
		return Result{}, err
	}
	reply, err := s.Next(nil, r.limit())
	if err != nil {
		return Result{}, err
	}
	if reply.Final.Joined == "" {
		r.voice.alone()
	}
	return resultOf(reply.Final), nil
}

func resultOf(f *engine.Final) Result {
	return Result{Text: f.Text, Probs: f.Probs, Stop: f.Stop, Answer: f.Answer, Joined: f.Joined}
}

// Close implements Recognizer. Closing the last recognizer of an engine frees its models.
func (r *computed) Close() error {
	if !r.closed {
		r.closed = true
		r.drop()
		r.Forget()
		r.engine.Release()
	}
	return nil
}

func (r *computed) check() error {
	switch {
	case r.closed:
		return ErrClosed
	case r.stream == nil:
		return ErrNoUtterance
	}
	return nil
}

func (r *computed) drop() {
	if r.stream != nil {
		r.stream.Cancel()
		r.stream = nil
	}
}
