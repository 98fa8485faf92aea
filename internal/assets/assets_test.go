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
	inCache := filepath.Join(cache, "agentvoice", "assets", table[silero].path)
	write(t, inCache)
	if got, err := Silero(); err != nil || got != inCache {
		t.Fatalf("only the cache has it: got %q, %v", got, err)
	}
	inOwn := filepath.Join(own, table[silero].path)
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

// The order of the places, from the last to the first. The system's own folders hold nothing of
// ours in a test.
func TestPlacesInOrder(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(filepath.Dir(exe), "assets")
	t.Cleanup(func() { os.RemoveAll(beside) })
	own, cache, data := t.TempDir(), t.TempDir(), t.TempDir()
	setUserCache(t, cache)
	setUserData(t, data)
	t.Setenv(Env, own)
	for _, row := range []int{silero, onnxRuntime, sherpa, recogniser, pocketSphinx} {
		for _, c := range []struct {
			from Origin
			dir  string
		}{{Cache, filepath.Join(cache, "agentvoice", "assets")}, {Data, filepath.Join(data, "agentvoice", "assets")}, {Beside, beside}, {Env, own}} {
			path := filepath.Join(c.dir, table[row].path)
			if holds := table[row].holds; len(holds) == 0 {
				write(t, path)
			} else {
				for _, name := range holds {
					write(t, filepath.Join(path, name))
				}
			}
			if p := look(row); p.Path != path || p.From != c.from {
				t.Errorf("%s in the %s: found %q in the %s", table[row].what, c.from, p.Path, p.From)
			}
		}
	}
	t.Setenv(SphinxEnv, filepath.Join(beside, "pocketsphinx"))
	if p := look(pocketSphinx); p.From != SphinxEnv || p.Path != filepath.Join(beside, "pocketsphinx") {
		t.Errorf("%s: found %+v", SphinxEnv, p)
	}
}

// PocketSphinx's model is found where the build found it, unless a nearer one is whole.
func TestModelOfTheBuild(t *testing.T) {
	defer func(old string) { buildSphinx = old }(buildSphinx)
	buildSphinx = t.TempDir()
	setUserCache(t, t.TempDir())
	t.Setenv(SphinxEnv, t.TempDir())
	for _, name := range table[pocketSphinx].holds {
		write(t, filepath.Join(buildSphinx, name))
		write(t, filepath.Join(os.Getenv(SphinxEnv), name))
	}
	if dir, err := PocketSphinx(); err != nil || dir != os.Getenv(SphinxEnv) {
		t.Errorf("got %q, %v", dir, err)
	}
	if err := os.Remove(filepath.Join(os.Getenv(SphinxEnv), table[pocketSphinx].holds[0])); err != nil {
		t.Fatal(err)
	}
	if dir, err := PocketSphinx(); err != nil || dir != buildSphinx {
		t.Errorf("got %q, %v", dir, err)
	}
}

// Every row says what its absence means and how to end it, and is a place unless this system
// needs none.
func TestEveryRowHasAFix(t *testing.T) {
	places := 0
	for _, r := range table {
		if r.what == "" || r.without == "" || r.fix == "" {
			t.Errorf("%+v is incomplete", r)
		}
		if r.path != "" {
			places++
		}
	}
	if all := Places(); len(all) != places {
		t.Errorf("%d places, want %d", len(all), places)
	}
}

func TestMissingNamesFileAndRemedyButNoFolder(t *testing.T) {
	own := t.TempDir()
	t.Setenv(Env, own)
	setUserCache(t, t.TempDir())
	// A folder of that name is not the file.
	if err := os.Mkdir(filepath.Join(own, table[silero].path), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, find := range map[string]func() (string, error){table[silero].path: Silero, runtimeName: ONNXRuntime} {
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
	for _, want := range []string{table[silero].path, runtimeName, Env, "agentvoice/assets"} {
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

func setUserData(t *testing.T, dir string) {
	t.Helper()
	t.Setenv("XDG_DATA_HOME", dir)
	if got, err := dataDir(); err != nil || got != dir {
		t.Skip("the data folder of this system cannot be moved by a variable")
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
