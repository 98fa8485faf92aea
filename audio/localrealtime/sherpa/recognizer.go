package sherpa

import (
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/stt"
)

// Recognizers returns a factory of recognizers that share an engine. The factory waits
// until the models are loaded.
func Recognizers(e *Engine) stt.Factory {
	return func() (stt.Recognizer, error) {
		e.acquire()
		if _, err := e.running(); err != nil {
			e.release()
			return nil, err
		}
		return &recognizer{engine: e}, nil
	}
}

type recognizer struct {
	engine *Engine
	closed bool
	stream *stream // nil outside an utterance
	heard  int     // samples of the utterance
	words  []string
}

// SetWords implements stt.WordTaker. A model without bpe_vocab ignores them.
func (r *recognizer) SetWords(words []string) { r.words = words }

// Start implements stt.Recognizer. If the child has died, it starts another one and
// waits for its models.
func (r *recognizer) Start() error {
	if r.closed {
		return stt.ErrClosed
	}
	r.drop()
	c, err := r.engine.running()
	if err != nil {
		return err
	}
	r.stream, r.heard = c.open(), 0
	return r.stream.send(frameStart, []byte(strings.Join(r.words, "\n")))
}

// Write implements stt.Recognizer. It blocks if the child is seconds behind.
func (r *recognizer) Write(pcm []int16) error {
	if err := r.check(); err != nil {
		return err
	}
	r.heard += len(pcm)
	for len(pcm) > 0 {
		n := min(len(pcm), maxFrame/2)
		if err := r.stream.send(frameAudio, pcmBytes(pcm[:n])); err != nil {
			return err
		}
		pcm = pcm[n:]
	}
	return nil
}

// Partial implements stt.Recognizer. It returns what the child has recognised so far.
func (r *recognizer) Partial() string {
	if r.check() != nil {
		return ""
	}
	r.stream.mu.Lock()
	defer r.stream.mu.Unlock()
	return r.stream.partial
}

// Finish implements stt.Recognizer.
func (r *recognizer) Finish() (stt.Result, error) {
	if err := r.check(); err != nil {
		return stt.Result{}, err
	}
	s := r.stream
	r.stream = nil
	if err := s.send(frameFinish, nil); err != nil {
		return stt.Result{}, err
	}
	// The machine may be slower than real time.
	limit := replyTimeout + 2*time.Duration(r.heard)*time.Second/sampleRate
	reply, err := s.next(nil, limit)
	if err != nil {
		return stt.Result{}, err
	}
	return stt.Result{Text: reply.Final.Text, Confidence: reply.Final.Confidence}, nil
}

// Close implements stt.Recognizer. Closing the last recognizer of an engine stops the
// child.
func (r *recognizer) Close() error {
	if !r.closed {
		r.closed = true
		r.drop()
		r.engine.release()
	}
	return nil
}

func (r *recognizer) check() error {
	switch {
	case r.closed:
		return stt.ErrClosed
	case r.stream == nil:
		return stt.ErrNoUtterance
	}
	return nil
}

func (r *recognizer) drop() {
	if r.stream != nil {
		r.stream.cancel()
		r.stream = nil
	}
}
