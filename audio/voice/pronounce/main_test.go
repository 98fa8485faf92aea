package pronounce

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// modelDir returns the folder of the pronunciations.
func modelDir(t testing.TB) string {
	t.Helper()
	dir, err := assets.Voice()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "pronunciations")
}

var loaded = struct {
	sync.Mutex
	of map[Variant]*Dictionary
}{of: map[Variant]*Dictionary{}}

func dictionary(t testing.TB, v Variant) *Dictionary {
	t.Helper()
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.of[v] == nil {
		d, err := Load(modelDir(t), v)
		if err != nil {
			t.Fatal(err)
		}
		loaded.of[v] = d
	}
	return loaded.of[v]
}

// vocabulary returns the symbols of the voice model.
func vocabulary(t testing.TB) map[rune]bool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(modelDir(t), "..", "vocab.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vocab map[string]int }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	symbols := map[rune]bool{}
	for s := range file.Vocab {
		symbols[[]rune(s)[0]] = true
	}
	return symbols
}

// foreign returns the first symbol that is not in the vocabulary, or 0.
func foreign(vocabulary map[rune]bool, phonemes string) rune {
	for _, c := range phonemes {
		if !vocabulary[c] {
			return c
		}
	}
	return 0
}
