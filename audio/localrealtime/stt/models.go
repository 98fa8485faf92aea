package stt

import (
	"fmt"
	"os"
	"path/filepath"
)

// modelDirEnv names the environment variable for a model folder of one's own.
const modelDirEnv = "AGENTVOICE_POCKETSPHINX_MODELS"

// buildModelDir is what `pkg-config --variable=modeldir pocketsphinx` says on
// the machine that builds; the Makefile sets it with -ldflags -X.
var buildModelDir string

// models are the files of the stock English model: acoustic model, language
// model and dictionary. Nothing in them is ours.
type models struct{ acoustic, language, dictionary string }

// acousticFiles are the parts of the acoustic model without which the engine
// stops the process instead of failing.
var acousticFiles = []string{"feat.params", "mdef", "means", "noisedict", "sendump", "transition_matrices", "variances"}

// findModels takes the first folder that holds the English model, and the only
// one when cfg names it. The error names what is missing and the package that
// brings it, and no folder of the user.
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

// missing is the first file that is not there, relative to the model folder.
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
