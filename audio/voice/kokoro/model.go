//go:build cgo

package kokoro

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/agentvoice/agentvoice-daemon/audio/engine/onnx"
	"github.com/agentvoice/agentvoice-daemon/audio/voice/pronounce"
)

// The size of a voice file: a style for each number of symbols.
const (
	styles    = 510
	styleSize = 256
)

// Files are the paths of a model's parts.
type Files struct {
	Model          string // the network
	Vocabulary     string // the numbers of the symbols
	Speakers       string // folder with a file for each speaker
	Pronunciations string // folder with the lists of package pronounce
}

// Model is a loaded voice model.
type Model struct {
	files  Files
	voices []string
	vocab  map[rune]int64

	// turn is a semaphore for everything below; a run uses all threads.
	turn         chan struct{}
	session      *onnx.Session
	styles       map[string][]float32 // of the voices used so far
	dictionaries map[pronounce.Variant]*pronounce.Dictionary
	pace         pace
	now          func() time.Time
	tensors      int // not destroyed
	close        sync.Once
}

// Load loads a model with ONNX Runtime at runtimePath; computing uses at most this number of
// threads.
func Load(files Files, runtimePath string, threads int) (*Model, error) {
	m := &Model{files: files, turn: make(chan struct{}, 1), now: time.Now, styles: map[string][]float32{}, dictionaries: map[pronounce.Variant]*pronounce.Dictionary{}}
	m.pace.start(threads)
	var err error
	if m.vocab, err = readVocabulary(files.Vocabulary); err != nil {
		return nil, err
	}
	if m.voices, err = listVoices(files.Speakers); err != nil {
		return nil, err
	}
	for _, name := range m.voices {
		if v := variantOf(name); m.dictionaries[v] == nil {
			if m.dictionaries[v], err = pronounce.Load(files.Pronunciations, v); err != nil {
				return nil, err
			}
		}
	}
	if m.session, err = onnx.Open(files.Model, runtimePath, threads); err != nil {
		return nil, err
	}
	if want := "tokens style speed"; strings.Join(m.session.Inputs, " ") != want || len(m.session.Outputs) != 1 {
		_ = m.session.Close() // the first error is more useful
		return nil, fmt.Errorf("model.onnx is not a Kokoro model: its inputs are %q, not %q; install the model again", strings.Join(m.session.Inputs, " "), want)
	}
	return m, nil
}

// readVocabulary reads the numbers of the symbols.
func readVocabulary(path string) (map[rune]int64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read vocab.json: %w", errors.Unwrap(err))
	}
	var file struct {
		Vocab map[string]int64 `json:"vocab"`
	}
	if err := json.Unmarshal(data, &file); err != nil || len(file.Vocab) == 0 {
		return nil, errors.New("vocab.json is not a vocabulary; install the model again")
	}
	vocab := make(map[rune]int64, len(file.Vocab))
	for symbol, id := range file.Vocab {
		if runes := []rune(symbol); len(runes) == 1 {
			vocab[runes[0]] = id
		}
	}
	return vocab, nil
}

// listVoices returns the names of the English voices, the default first.
func listVoices(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "[ab]?_*.bin"))
	if err != nil || len(files) == 0 {
		return nil, errors.New("the model has no English voice; install it again")
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".bin"))
	}
	slices.Sort(names)
	if i := slices.Index(names, DefaultVoice); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, DefaultVoice)
	}
	return names, nil
}

func variantOf(voice string) pronounce.Variant {
	if strings.HasPrefix(voice, "b") {
		return pronounce.British
	}
	return pronounce.American
}

// Voices returns the names of the English voices, the default first. The first letter is
// the variety, a for American and b for British; the second one is f or m.
func (m *Model) Voices() []string { return slices.Clone(m.voices) }

// Close frees the model when the piece being computed is complete. It is safe to call
// twice.
func (m *Model) Close() (err error) {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	m.close.Do(func() {
		err = m.session.Close()
		m.session = nil
	})
	return err
}

// style returns the vector of a voice for a number of symbols.
func (m *Model) style(voice string, symbols int) ([]float32, error) {
	all := m.styles[voice]
	if all == nil {
		data, err := os.ReadFile(filepath.Join(m.files.Speakers, voice+".bin"))
		if err != nil {
			return nil, fmt.Errorf("cannot read the voice %s.bin: %w", voice, errors.Unwrap(err))
		}
		if len(data) != styles*styleSize*4 {
			return nil, fmt.Errorf("the voice %s.bin has %d bytes, not %d; install the model again", voice, len(data), styles*styleSize*4)
		}
		all = make([]float32, styles*styleSize)
		for i := range all {
			all[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		m.styles[voice] = all
	}
	row := min(symbols, styles-1) * styleSize
	return all[row : row+styleSize], nil
}

// run computes the audio of symbols. It stops early when ctx is done.
func (m *Model) run(ctx context.Context, voice, phonemes string, speed float64) ([]float32, error) {
	ids := []int64{0}
	for _, symbol := range phonemes {
		if id, ok := m.vocab[symbol]; ok && len(ids) <= maxSymbols-1 {
			ids = append(ids, id)
		}
	}
	style, err := m.style(voice, len(ids)-1)
	if err != nil {
		return nil, err
	}
	options, err := ort.NewRunOptions()
	if err != nil {
		return nil, err
	}
	defer func() { _ = options.Destroy() }()
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		_ = options.Terminate()
	})
	defer func() { // before the options are destroyed
		if !stop() {
			<-stopped
		}
	}()
	audio, err := m.compute(append(ids, 0), style, float32(speed), options)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return audio, err
}

func (m *Model) compute(ids []int64, style []float32, speed float32, options *ort.RunOptions) (audio []float32, err error) {
	tokens, err := tensor(m, ort.NewShape(1, int64(len(ids))), ids)
	defer m.destroy(tokens)
	if err != nil {
		return nil, err
	}
	styles, err := tensor(m, ort.NewShape(1, styleSize), slices.Clone(style))
	defer m.destroy(styles)
	if err != nil {
		return nil, err
	}
	speeds, err := tensor(m, ort.NewShape(1), []float32{speed})
	defer m.destroy(speeds)
	if err != nil {
		return nil, err
	}
	outputs := []ort.Value{nil}
	err = m.session.RunWithOptions([]ort.Value{tokens, styles, speeds}, outputs, options)
	if outputs[0] != nil {
		m.tensors++
		defer m.destroy(outputs[0])
	}
	if err != nil {
		return nil, fmt.Errorf("cannot compute speech with model.onnx: %w", err)
	}
	made, ok := outputs[0].(*ort.Tensor[float32])
	if !ok {
		return nil, errors.New("model.onnx does not give audio; install the model again")
	}
	return slices.Clone(made.GetData()), nil // the tensor's memory goes with it
}

func tensor[T ort.TensorData](m *Model, shape ort.Shape, data []T) (ort.Value, error) {
	t, err := ort.NewTensor(shape, data)
	if err != nil {
		return nil, err
	}
	m.tensors++
	return t, nil
}

func (m *Model) destroy(v ort.Value) {
	if v != nil && v.Destroy() == nil {
		m.tensors--
	}
}
