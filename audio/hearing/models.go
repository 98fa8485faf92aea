package hearing

import (
	"fmt"
	"os"
	"path/filepath"
)

// models are the files of the stock English model: acoustic model, language model and
// dictionary. All are third-party.
type models struct{ acoustic, language, dictionary string }

// acousticFiles are the parts of the acoustic model whose absence makes the engine exit
// the process instead of failing.
var acousticFiles = []string{"feat.params", "mdef", "means", "noisedict", "sendump", "transition_matrices", "variances"}

// modelsIn returns the English model in a folder. The error names the missing file and the
// package that provides it, but no user folders.
func modelsIn(dir string) (models, error) {
	m := models{
		acoustic:   filepath.Join(dir, "en-us", "en-us"),
		language:   filepath.Join(dir, "en-us", "en-us.lm.bin"),
		dictionary: filepath.Join(dir, "en-us", "cmudict-en-us.dict"),
	}
	if missing := m.missing(); missing != "" {
		return models{}, fmt.Errorf("PocketSphinx model %s is missing; install the package pocketsphinx-en-us again", missing)
	}
	return m, nil
}

// missing returns the first missing file, relative to the model folder.
func (m models) missing() string {
	files := []string{m.language, m.dictionary}
	for _, name := range acousticFiles {
		files = append(files, filepath.Join(m.acoustic, name))
	}
	root := filepath.Dir(filepath.Dir(m.acoustic))
	for _, path := range files {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			name, _ := filepath.Rel(root, path)
			return filepath.ToSlash(name)
		}
	}
	return ""
}
