package hearing

import (
	"fmt"
	"os"
	"path/filepath"
)

// modelDirEnv names the environment variable that overrides the model folder.
const modelDirEnv = "AGENTVOICE_POCKETSPHINX_MODELS"

// buildModelDir is the output of `pkg-config --variable=modeldir pocketsphinx` on the
// build machine; the Makefile sets it with -ldflags -X.
var buildModelDir string

// models are the files of the stock English model: acoustic model, language model and
// dictionary. All are third-party.
type models struct{ acoustic, language, dictionary string }

// acousticFiles are the parts of the acoustic model whose absence makes the engine exit
// the process instead of failing.
var acousticFiles = []string{"feat.params", "mdef", "means", "noisedict", "sendump", "transition_matrices", "variances"}

// findModels returns the first folder that contains the English model; if cfg names a
// folder, only that one is tried. The error names the missing files and the package
// that provides them, but no user folders.
func findModels(cfg PocketSphinxConfig) (models, error) {
	candidates := []string{os.Getenv(modelDirEnv), buildModelDir, systemModelDir}
	if cfg.ModelDir != "" {
		candidates = []string{cfg.ModelDir}
	}
	missing := "en-us"
	for _, dir := range candidates {
		if dir == "" {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, "en-us")); err != nil || !info.IsDir() {
			continue
		}
		m := models{
			acoustic:   filepath.Join(dir, "en-us", "en-us"),
			language:   filepath.Join(dir, "en-us", "en-us.lm.bin"),
			dictionary: filepath.Join(dir, "en-us", "cmudict-en-us.dict"),
		}
		if missing = m.missing(); missing == "" {
			return m, nil
		}
	}
	return models{}, fmt.Errorf("PocketSphinx model %s is missing: install the package pocketsphinx-en-us (`make deps`), or name the folder that holds en-us in %s",
		missing, modelDirEnv)
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
