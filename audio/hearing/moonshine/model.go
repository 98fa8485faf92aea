//go:build cgo

package moonshine

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/agentvoice/agentvoice-daemon/audio/engine/onnx"
)

// The files of a model.
const (
	encoderFile    = "encoder_model.ort"
	decoderFile    = "decoder_model_merged.ort"
	vocabularyFile = "tokenizer.bin"
)

// shortestSound is the length, in samples, to which shorter audio is padded: the encoder
// fails below 895 samples.
const shortestSound = SampleRate / 10

// beamWidth is the number of hypotheses that Transcribe follows.
const beamWidth = 4

// ErrClosed is returned by a Model that was closed.
var ErrClosed = errors.New("moonshine: the model is closed")

// Model is a loaded Moonshine tiny. It is not safe for concurrent use.
type Model struct {
	vocabulary *vocabulary
	encoder    *onnx.Session
	decoder    *decoder
}

// Load loads the model in the folder dir with the ONNX Runtime at runtimePath. A computation
// uses at most this number of threads. Errors name files without their folders.
func Load(dir, runtimePath string, threads int) (*Model, error) {
	v, err := readVocabulary(filepath.Join(dir, vocabularyFile))
	if err != nil {
		return nil, fmt.Errorf("cannot load Moonshine: %w", err)
	}
	m := &Model{vocabulary: v}
	if m.encoder, err = onnx.Open(filepath.Join(dir, encoderFile), runtimePath, threads); err != nil {
		return nil, fmt.Errorf("cannot load Moonshine: %w", err)
	}
	if err = m.loadDecoder(filepath.Join(dir, decoderFile), runtimePath, threads); err != nil {
		return nil, fmt.Errorf("cannot load Moonshine: %w", errors.Join(err, m.encoder.Close()))
	}
	return m, nil
}

func (m *Model) loadDecoder(path, runtimePath string, threads int) error {
	if !slices.Equal(m.encoder.Inputs, []string{"input_values", "attention_mask"}) || len(m.encoder.Outputs) != 1 {
		return fmt.Errorf("%s has other tensors than Moonshine tiny; install it again", encoderFile)
	}
	session, err := onnx.Open(path, runtimePath, threads)
	if err != nil {
		return err
	}
	if m.decoder, err = newDecoder(session); err != nil {
		return errors.Join(err, session.Close())
	}
	return nil
}

// Close frees the model. It is safe to call twice.
func (m *Model) Close() error {
	if m.encoder == nil {
		return nil
	}
	err := errors.Join(m.encoder.Close(), m.decoder.close())
	m.encoder, m.decoder = nil, nil
	return err
}

// Names returns a trie of names for Transcribe. The names are in spoken form: "split
// fields", not splitFields. A name that begins with a lower-case letter may begin a
// sentence too; one that begins with a capital is expected only as written.
func (m *Model) Names(list []string) *Names { return m.vocabulary.names(list) }

// Sound is encoded audio. It holds only memory of Go, so it needs no Close.
type Sound struct {
	seconds float64
	frames  int64       // of the encoder
	encoded [][]float32 // the decoder's keys and values of the encoder's frames
	first   batch       // after the token that begins a transcript
	logits  []float32   // of the first token
}

// Encode encodes up to 15 s of mono audio at SampleRate; Recognize takes more. It does not
// retain pcm.
func (m *Model) Encode(pcm []int16) (*Sound, error) {
	if m.encoder == nil {
		return nil, ErrClosed
	}
	samples := make([]float32, max(len(pcm), shortestSound))
	defer clear(samples)
	for i, s := range pcm {
		samples[i] = float32(s) / 32768
	}
	var t tensors
	defer t.destroy()
	shape := ort.NewShape(1, int64(len(samples)))
	inputs := []ort.Value{of(&t, shape, samples), of(&t, shape, ones(shape[1]))}
	if t.err != nil {
		return nil, fmt.Errorf("moonshine: cannot encode: %w", t.err)
	}
	outputs := make([]ort.Value, 1)
	if err := m.encoder.Run(inputs, outputs); err != nil {
		return nil, fmt.Errorf("moonshine: cannot encode: %w", err)
	}
	t.add(outputs[0])
	sound, err := m.decoder.begin(outputs[0].(*ort.Tensor[float32]))
	if err != nil {
		return nil, err
	}
	sound.seconds = float64(len(pcm)) / SampleRate
	return sound, nil
}

// Transcribe returns what was said, preferring names, which can be nil. It writes something
// for every sound; see Transcript.Mean.
func (m *Model) Transcribe(s *Sound, names *Names) (Transcript, error) {
	return m.transcribe(s, names, beamWidth)
}

// Draft returns what was said without names and alternatives. It takes three quarters of the
// time of Transcribe, and has more errors.
func (m *Model) Draft(s *Sound) (Transcript, error) { return m.transcribe(s, nil, 1) }

func (m *Model) transcribe(s *Sound, names *Names, width int) (Transcript, error) {
	if m.encoder == nil {
		return Transcript{}, ErrClosed
	}
	d, err := m.decoder.resume(s)
	if err != nil {
		return Transcript{}, err
	}
	defer d.close()
	h, err := search(m.vocabulary, d, s.logits, names, width, maxTokens(s.seconds))
	if err != nil {
		return Transcript{}, err
	}
	return m.vocabulary.transcript(h), nil
}

// Score returns, for each phrase, the natural logarithm of the probability that it is the
// transcript, with exactly this case and punctuation. The model is quantized for what it
// computes at once, so the other phrases change a result by up to about 0.1.
func (m *Model) Score(s *Sound, phrases []string) ([]float64, error) {
	if m.encoder == nil {
		return nil, ErrClosed
	}
	d, err := m.decoder.resume(s)
	if err != nil {
		return nil, err
	}
	defer d.close()
	return score(m.vocabulary, d, s.logits, phrases)
}
