package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// DescriptionFile is the file that marks a folder as a model.
const DescriptionFile = "model.json"

// Use is the purpose of a model.
type Use string

// The uses of models.
const (
	Partials Use = "partials" // a streaming recogniser; also produces finals if it is the only one
	Finals   Use = "finals"   // a recogniser of whole utterances
	Speech   Use = "speech"   // a voice
	TurnEnd  Use = "turn end" // judges from sound whether a turn is complete
)

// Model is a model in a folder, as described by its DescriptionFile.
type Model struct {
	// Name is a display name, such as parakeet-tdt-0.6b-v3-int8.
	Name string `json:"name"`
	// Kind is the architecture, one of Kinds.
	Kind string `json:"kind"`
	// Files maps each part to the model's file or folder, relative to the folder.
	Files map[string]string `json:"files"`
	// Languages are the BCP 47 tags of the languages that the model supports.
	Languages []string `json:"languages"`
	// Voices are the model's speakers in the model's order; empty if it has only one.
	Voices []string `json:"voices,omitempty"`

	dir string
}

// BPEVocab is the part that defines how the tokens of a model of sherpa-onnx spell words.
// It supports hot words only with it.
const BPEVocab = "bpe_vocab"

// ESpeakData is the part of voices that eSpeak NG pronounces, such as those of Piper.
const ESpeakData = "data"

// ErrESpeak says why such a voice cannot be used.
var ErrESpeak = errors.New("eSpeak NG pronounces this voice, and sherpa-onnx does not contain it any more; use the voice that comes with agentvoice, or one with a lexicon")

// Computer is what computes models of a kind.
type Computer string

// The computers of models.
const (
	Sherpa      Computer = "sherpa-onnx"
	ONNXRuntime Computer = "ONNX Runtime"
)

// kind is an architecture: its use and its parts.
type kind struct {
	use      Use
	required []string
	optional []string
	by       Computer // "" is Sherpa
}

// kinds are the architectures that can be loaded.
var kinds = map[string]kind{
	"streaming-transducer": {Partials, []string{"encoder", "decoder", "joiner", "tokens"}, []string{BPEVocab}, ""},
	"streaming-nemo-ctc":   {Partials, []string{"model", "tokens"}, nil, ""},
	"transducer":           {Finals, []string{"encoder", "decoder", "joiner", "tokens"}, []string{BPEVocab}, ""},
	"nemo-transducer":      {Finals, []string{"encoder", "decoder", "joiner", "tokens"}, nil, ""},
	"nemo-ctc":             {Finals, []string{"model", "tokens"}, nil, ""},
	"whisper":              {Finals, []string{"encoder", "decoder", "tokens"}, nil, ""},
	"moonshine":            {Finals, []string{"encoder", "merged_decoder", "tokens"}, nil, ""},
	"vits":                 {Speech, []string{"model", "tokens"}, []string{"lexicon"}, ""},
	"moonshine-onnx":       {Finals, []string{"encoder", "decoder", "tokenizer"}, nil, ONNXRuntime},
	"kokoro-onnx":          {Speech, []string{"model", "vocabulary", "speakers", "pronunciations"}, nil, ONNXRuntime},
	"smart-turn":           {TurnEnd, []string{"model"}, nil, ONNXRuntime},
	"supertonic":           {Speech, []string{"duration_predictor", "text_encoder", "vector_estimator", "vocoder", "tts", "unicode_indexer", "voice_style"}, nil, ""},
}

// Kinds returns the supported architectures in alphabetical order.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Parts returns the required and the optional parts of a model kind.
func Parts(kind string) (required, optional []string, known bool) {
	k, known := kinds[kind]
	return slices.Clone(k.required), slices.Clone(k.optional), known
}

// Use returns the purpose of the model.
func (m Model) Use() Use { return kinds[m.Kind].use }

// Computer returns what computes the model.
func (m Model) Computer() Computer { return cmp.Or(kinds[m.Kind].by, Sherpa) }

// Dir returns the folder of the model.
func (m Model) Dir() string { return m.dir }

// Path returns the path of a part, or "" if the model does not have it.
func (m Model) Path(part string) string {
	name := m.Files[part]
	if name == "" {
		return ""
	}
	return filepath.Join(m.dir, filepath.FromSlash(name))
}

// maxDescription limits a DescriptionFile, in bytes.
const maxDescription = 256 << 10

// ReadModel reads the description of the model in a folder and checks that its files
// exist. Its errors name the invalid file but not the folder.
func ReadModel(dir string) (Model, error) {
	m := Model{dir: dir}
	wrong := func(format string, args ...any) (Model, error) {
		return Model{}, fmt.Errorf("model %s: %w; install it again", filepath.Base(dir), fmt.Errorf(format, args...))
	}
	text, err := workspace.ReadFile(filepath.Join(dir, DescriptionFile), maxDescription)
	if err != nil {
		return wrong("cannot read %s: %w", DescriptionFile, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return wrong("%s is not valid: %w", DescriptionFile, err)
	}
	if m.Files[ESpeakData] != "" {
		return Model{}, fmt.Errorf("model %s: %w", filepath.Base(dir), ErrESpeak)
	}
	k, known := kinds[m.Kind]
	if !known {
		return wrong("unknown kind %q, want one of %s", m.Kind, strings.Join(Kinds(), ", "))
	}
	if m.Name == "" {
		return wrong("%s gives no name", DescriptionFile)
	}
	for _, part := range k.required {
		if m.Files[part] == "" {
			return wrong("%s names no file for %s", DescriptionFile, part)
		}
	}
	for part, name := range m.Files {
		if !slices.Contains(k.required, part) && !slices.Contains(k.optional, part) {
			return wrong("a model of kind %s has no part %s", m.Kind, part)
		}
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return wrong("the file for %s is outside of the folder", part)
		}
		if _, err := os.Stat(m.Path(part)); err != nil {
			return wrong("%s is missing", name)
		}
	}
	return m, nil
}

// Knows reports whether the model supports a language, given as a BCP 47 tag. Every model is
// taken to know an unknown language, "", and a model without a list to know every language.
func (m Model) Knows(language string) bool {
	base := func(tag string) string {
		b, _, _ := strings.Cut(strings.ToLower(tag), "-")
		return b
	}
	return language == "" || len(m.Languages) == 0 || slices.ContainsFunc(m.Languages, func(l string) bool { return base(l) == base(language) })
}

// Installed reads the models in the subfolders of dir, in the order of their folders' names.
// damaged lists those that cannot be used. A missing dir, subfolders without a
// DescriptionFile, and subfolders whose name begins with a dot are ignored.
func Installed(dir string) (list []Model, damaged, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the folder of models: %w; check its permissions", errors.Unwrap(err))
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue // installation in progress
		}
		sub := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(sub, DescriptionFile)); err != nil {
			continue
		}
		m, err := ReadModel(sub)
		if err != nil {
			damaged = errors.Join(damaged, err)
			continue
		}
		list = append(list, m)
	}
	return list, damaged, nil
}

// Set is the set of models to use.
type Set struct {
	// Hearing has at most one model for Partials and one for Finals, which the same Computer
	// computes.
	Hearing []Model
	// Voice has at most one model.
	Voice []Model
	// TurnEnd has at most one model.
	TurnEnd []Model
}

// Choose returns the first model for each use, from a list in the order of preference.
func Choose(list []Model) Set {
	var set Set
	found := map[Use]bool{}
	for _, m := range list {
		use := m.Use()
		switch {
		case found[use]:
		case use == Speech:
			set.Voice = append(set.Voice, m)
		case use == TurnEnd:
			set.TurnEnd = append(set.TurnEnd, m)
		case len(set.Hearing) > 0 && set.Hearing[0].Computer() != m.Computer():
			continue
		default:
			set.Hearing = append(set.Hearing, m)
		}
		found[use] = true
	}
	return set
}
