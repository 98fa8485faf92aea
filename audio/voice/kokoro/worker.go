//go:build cgo

package kokoro

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// LoadWorker is an engine.Loader of kind kokoro-onnx.
func LoadWorker(models []engine.Model, o engine.Options, to *engine.Link) (engine.Worker, error) {
	d := models[0]
	m, err := Load(Files{
		Model: d.Path("model"), Vocabulary: d.Path("vocabulary"),
		Speakers: d.Path("speakers"), Pronunciations: d.Path("pronunciations"),
	}, o.Runtime, max(o.Threads, 1))
	if err != nil {
		return nil, err
	}
	return &worker{model: m, to: to}, nil
}

// Measure implements engine.Measured. The first run of a model is slower than others, so the
// second one counts.
func (w *worker) Measure() (took time.Duration) {
	for range 2 {
		begun := time.Now()
		stop := errors.New("enough")
		_ = w.model.Speak(context.Background(), "", "One, two, three.", 1, 0, func(Piece) error {
			took = time.Since(begun)
			return stop
		})
	}
	return took
}

// worker speaks the sentences of a daemon.
type worker struct {
	model *Model
	to    *engine.Link
	// heard is when a listener who plays at once has heard what was computed so far.
	heard time.Time
}

// Close implements engine.Worker.
func (w *worker) Close() error { return w.model.Close() }

// Work implements engine.Worker.
func (w *worker) Work(f engine.Frame) {
	if f.Kind != engine.Text {
		return
	}
	defer w.to.Forget(f.Stream)
	var s engine.Sentence
	if json.Unmarshal(f.Payload, &s) != nil {
		w.to.Send(engine.Reply{Stream: f.Stream, Error: "the sentence is not valid JSON"})
		return
	}
	ctx := w.to.Context(f.Stream)
	now := w.model.now()
	if !s.Follows {
		w.heard = now.Add(time.Duration(s.AheadMS) * time.Millisecond)
	}
	err := w.model.Speak(ctx, s.Speaker, s.Text, s.Speed, max(w.heard.Sub(now), 0), func(p Piece) error {
		if now := w.model.now(); w.heard.Before(now) {
			w.heard = now
		}
		w.heard = w.heard.Add(time.Duration(len(p.PCM)) * time.Second / SampleRate)
		w.to.Send(engine.Reply{Stream: f.Stream, Audio: engine.Bytes(p.PCM), Rate: SampleRate, End: p.End})
		return nil
	})
	switch {
	case ctx.Err() != nil: // cancelled, so no reply is expected
	case err != nil:
		w.to.Send(engine.Reply{Stream: f.Stream, Error: err.Error()})
	default:
		w.to.Send(engine.Reply{Stream: f.Stream, Done: true})
	}
}
