package sherpa

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DescriptionFile is the file that makes a folder a model.
const DescriptionFile = "model.json"

// Use is what a model is for.
type Use string

// The uses of models.
const (
	Partials Use = "partials" // a streaming recogniser; the final too, where it is alone
	Finals   Use = "finals"   // a recogniser of whole utterances
	Speech   Use = "speech"   // a voice
	TurnEnd  Use = "turn end" // judges by sound whether a turn is complete
)

// Model is a model in a folder, as its DescriptionFile says.
type Model struct {
	// Name is for people, such as parakeet-tdt-0.6b-v3-int8.
	Name string `json:"name"`
	// Kind is the architecture, one of Kinds.
	Kind string `json:"kind"`
	// Files are the model's files and folders by their part, relative to the folder.
	Files map[string]string `json:"files"`
	// Languages are those that the model understands or speaks, as BCP 47 tags.
	Languages []string `json:"languages"`
	// Voices are the speakers of a voice in the order of the model; empty where it
	// has one.
	Voices []string `json:"voices,omitempty"`

	dir string
}

// bpeVocab is the part that tells how the tokens spell words. With it a model takes hot
// words.
const bpeVocab = "bpe_vocab"

// takesWords reports whether the model prefers the words of SetWords.
func (m Model) takesWords() bool { return m.Files[bpeVocab] != "" }

// kind is an architecture: its use, and the parts that it consists of.
type kind struct {
	use      Use
	required []string
	optional []string
}

// kinds are the architectures that this package can load: those of sherpa-onnx, and
// Smart Turn v3 by ONNX Runtime.
var kinds = map[string]kind{
	"streaming-transducer": {Partials, []string{"encoder", "decoder", "joiner", "tokens"}, []string{bpeVocab}},
	"streaming-nemo-ctc":   {Partials, []string{"model", "tokens"}, nil},
	"transducer":           {Finals, []string{"encoder", "decoder", "joiner", "tokens"}, []string{bpeVocab}},
	"nemo-transducer":      {Finals, []string{"encoder", "decoder", "joiner", "tokens"}, nil},
	"nemo-ctc":             {Finals, []string{"model", "tokens"}, nil},
	"whisper":              {Finals, []string{"encoder", "decoder", "tokens"}, nil},
	"moonshine":            {Finals, []string{"encoder", "merged_decoder", "tokens"}, nil},
	"vits":                 {Speech, []string{"model", "tokens"}, []string{"data", "lexicon"}},
	"kokoro":               {Speech, []string{"model", "voices", "tokens", "data"}, []string{"lexicon"}},
	"smart-turn":           {TurnEnd, []string{"model"}, nil},
	"supertonic":           {Speech, []string{"duration_predictor", "text_encoder", "vector_estimator", "vocoder", "tts", "unicode_indexer", "voice_style"}, nil},
}

// Kinds names the architectures that can be loaded, in alphabetical order.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Parts are what a model of a kind must have, and what it may have.
func Parts(kind string) (required, optional []string, known bool) {
	k, known := kinds[kind]
	return slices.Clone(k.required), slices.Clone(k.optional), known
}

// Use is what the model is for.
func (m Model) Use() Use { return kinds[m.Kind].use }

// path is where a part of the model is; "" for a part that it does not have.
func (m Model) path(part string) string {
	name := m.Files[part]
	if name == "" {
		return ""
	}
	return filepath.Join(m.dir, filepath.FromSlash(name))
}

// ReadModel reads the description of the model in a folder, and looks for its files.
// Its errors name the file that is wrong, and not the folder.
func ReadModel(dir string) (Model, error) {
	m := Model{dir: dir}
	wrong := func(format string, args ...any) (Model, error) {
		return Model{}, fmt.Errorf("model %s: %w; install it again", filepath.Base(dir), fmt.Errorf(format, args...))
	}
	text, err := os.ReadFile(filepath.Join(dir, DescriptionFile))
	if err != nil {
		return wrong("cannot read %s: %w", DescriptionFile, errors.Unwrap(err))
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return wrong("%s is not valid: %w", DescriptionFile, err)
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
		if _, err := os.Stat(m.path(part)); err != nil {
			return wrong("%s is missing", name)
		}
	}
	return m, nil
}

// Set is what is installed in a folder of models.
type Set struct {
	// Hearing has at most one model for Partials and one for Finals.
	Hearing []Model
	// Voice has at most one model.
	Voice []Model
	// TurnEnd has at most one model.
	TurnEnd []Model
	// Damaged says which models cannot be used.
	Damaged error
}

// Installed reads the models in the subfolders of dir. Of several for the same use
// the first one by the name of its folder counts. A folder that is not there, or a
// subfolder without a DescriptionFile or with a dot before its name, has no model.
func Installed(dir string) (Set, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Set{}, nil
	}
	if err != nil {
		return Set{}, fmt.Errorf("cannot read the folder of models: %w; check its permissions", errors.Unwrap(err))
	}
	var set Set
	found := map[Use]bool{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue // an installation that is under way
		}
		sub := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(sub, DescriptionFile)); err != nil {
			continue
		}
		m, err := ReadModel(sub)
		if err != nil {
			set.Damaged = errors.Join(set.Damaged, err)
			continue
		}
		use := m.Use()
		switch {
		case found[use]:
		case use == Speech:
			set.Voice = append(set.Voice, m)
		case use == TurnEnd:
			set.TurnEnd = append(set.TurnEnd, m)
		default:
			set.Hearing = append(set.Hearing, m)
		}
		found[use] = true
	}
	return set, nil
}
