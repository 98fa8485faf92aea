package assets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSettingBeforeCache(t *testing.T) {
	own, cache := t.TempDir(), t.TempDir()
	t.Setenv(Env, own)
	setUserCache(t, cache)
	inCache := filepath.Join(cache, "agentvoice", "assets", sileroName)
	write(t, inCache)
	if got, err := Silero(); err != nil || got != inCache {
		t.Fatalf("only the cache has it: got %q, %v", got, err)
	}
	inOwn := filepath.Join(own, sileroName)
	write(t, inOwn)
	if got, err := Silero(); err != nil || got != inOwn {
		t.Fatalf("both have it: got %q, %v", got, err)
	}
}

func TestBesideTheExecutable(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	setUserCache(t, t.TempDir())
	dir := filepath.Join(filepath.Dir(exe), "assets")
	path := filepath.Join(dir, runtimeName)
	write(t, path)
	t.Cleanup(func() { os.RemoveAll(dir) })
	if got, err := ONNXRuntime(); err != nil || got != path {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestMissingNamesFileAndRemedyButNoFolder(t *testing.T) {
	own := t.TempDir()
	t.Setenv(Env, own)
	setUserCache(t, t.TempDir())
	// A folder of that name is not the file.
	if err := os.Mkdir(filepath.Join(own, sileroName), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, find := range map[string]func() (string, error){sileroName: Silero, runtimeName: ONNXRuntime} {
		_, err := find()
		if err == nil {
			t.Fatalf("%s: found in empty folders", name)
		}
		for _, want := range []string{name, "make deps", Env} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not name %s", err, want)
			}
		}
		if strings.Contains(err.Error(), own) {
			t.Errorf("error %q shows a folder", err)
		}
	}
}

// The script installs what this package looks for.
func TestScriptAgrees(t *testing.T) {
	script, err := os.ReadFile("../../scripts/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{sileroName, runtimeName, Env, "agentvoice/assets"} {
		if !strings.Contains(string(script), want) {
			t.Errorf("scripts/setup.sh does not know %s", want)
		}
	}
}

func setUserCache(t *testing.T, dir string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", dir)
	if got, err := os.UserCacheDir(); err != nil || got != dir {
		t.Skip("the cache folder of this system cannot be moved by a variable")
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}
