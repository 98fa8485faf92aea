package hearing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeModels creates a folder with empty files named like the model's files.
func fakeModels(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append([]string{"../en-us.lm.bin", "../cmudict-en-us.dict"}, acousticFiles...) {
		path := filepath.Join(dir, "en-us", "en-us", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMissingModelNamesFileAndPackageButNoFolder(t *testing.T) {
	for _, gone := range []string{"en-us", "en-us/en-us", "en-us/en-us/mdef", "en-us/en-us.lm.bin", "en-us/cmudict-en-us.dict"} {
		dir := fakeModels(t)
		if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
			t.Fatal(err)
		}
		_, err := modelsIn(dir)
		if err == nil {
			t.Errorf("%s is gone, and no error", gone)
			continue
		}
		if msg := err.Error(); !strings.Contains(msg, gone) || !strings.Contains(msg, "pocketsphinx-en-us") || strings.Contains(msg, dir) {
			t.Errorf("%s is gone: %q", gone, msg)
		}
	}
}
