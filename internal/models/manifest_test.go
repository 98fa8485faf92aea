package models

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/engine/sherpa"
)

// writeManifest writes a manifest to a file.
func writeManifest(t *testing.T, m *Manifest) string {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "manifest.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDefaultManifest: the engine can load each model, each has a pinned revision and
// a licence, and the engine is the version that setup.sh installs and sherpa
// requires.
func TestDefaultManifest(t *testing.T) {
	m, err := DefaultManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range m.Models {
		required, _, known := engine.Parts(e.Kind)
		for _, part := range required {
			if e.Parts[part] == "" {
				t.Errorf("%s has no part %s", e.Name, part)
			}
		}
		if !known || len(e.Languages) == 0 {
			t.Errorf("%s: kind %q, languages %q", e.Name, e.Kind, e.Languages)
		}
		for _, f := range e.downloads() {
			for _, u := range e.urls(f) {
				// The publisher of Moonshine has no revisions.
				if !pinned.MatchString(u) && !strings.HasPrefix(u, "https://download.moonshine.ai/") {
					t.Errorf("%s: %s has no pinned revision", e.Name, u)
				}
			}
		}
		for _, f := range e.Figures {
			if f.Source == "" {
				t.Errorf("%s: figure %q has no source", e.Name, f.What)
			}
		}
	}
	if m.Engine.Version != sherpa.Version || m.Engine.Licence.Name != "Apache-2.0" {
		t.Errorf("the engine is %+v", m.Engine)
	}
	script, err := os.ReadFile("../../scripts/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Engine.Packages) != 5 {
		t.Errorf("%d packages", len(m.Engine.Packages))
	}
	for _, p := range m.Engine.Packages {
		if len(p.Files) != 2 {
			t.Errorf("%s %s has the files %v", p.System, p.Arch, p.Files)
		}
		if p.Pip != "sherpa-onnx-core=="+sherpa.Version || !strings.Contains(string(script), p.Pip) || !strings.Contains(string(script), p.Platform) {
			t.Errorf("scripts/setup.sh has another package for %s %s than %s for %s", p.System, p.Arch, p.Pip, p.Platform)
		}
		for _, f := range p.Files {
			if line := path.Base(f.Path); !strings.Contains(string(script), line) || !strings.Contains(string(script), f.SHA256) {
				t.Errorf("scripts/setup.sh has another %s for %s %s", f.Path, p.System, p.Arch)
			}
		}
	}
}

// pinned matches addresses whose content does not change: of a commit, or of a release.
var pinned = regexp.MustCompile(`^https://((huggingface\.co|hf-mirror\.com)/[^/]+/[^/]+/resolve|raw\.githubusercontent\.com/[^/]+/[^/]+)/[0-9a-f]{40}/|^https://github\.com/[^/]+/[^/]+/releases/download/`)

// The default models are what set-up installs, and Install downloads the same files.
func TestDefaultModels(t *testing.T) {
	m, err := DefaultManifest()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("../../scripts/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"moonshine-tiny-en", "kokoro-82m-int8"} {
		e, err := m.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range e.Files {
			// The packages contain a shorter vocabulary and a shorter licence.
			other := f.Path == "config.json" || f.Path == "LICENSE.txt" && name == "moonshine-tiny-en"
			if !other && !strings.Contains(string(script), f.SHA256) {
				t.Errorf("set-up has another %s for %s", f.Path, name)
			}
		}
		for _, voice := range e.Voices {
			if !slices.ContainsFunc(e.Files, func(f File) bool { return f.Path == "voices/"+voice+".bin" }) {
				t.Errorf("%s: no file for the voice %s", name, voice)
			}
		}
		if !e.Licence.Permissive() {
			t.Errorf("%s: %s needs to be accepted", name, e.Licence.Name)
		}
	}
}

func TestInvalidManifests(t *testing.T) {
	files := toneFiles(t)
	for name, spoil := range map[string]func(*Manifest){
		"a path outside":   func(m *Manifest) { m.Models[0].Files[0].Path = "../encoder.onnx" },
		"an absolute path": func(m *Manifest) { m.Models[0].Files[0].Path = "/encoder.onnx" },
		"our own file":     func(m *Manifest) { m.Models[0].Files[0].Path = "model.json" },
		"no checksum":      func(m *Manifest) { m.Models[0].Files[0].SHA256 = "" },
		"half a checksum":  func(m *Manifest) { m.Models[0].Files[0].SHA256 = m.Models[0].Files[0].SHA256[:32] },
		"no size":          func(m *Manifest) { m.Models[0].Files[0].Size = 0 },
		"a name outside":   func(m *Manifest) { m.Models[0].Name = "../tone" },
		"a hidden name":    func(m *Manifest) { m.Models[0].Name = ".tone" },
		"the engine's":     func(m *Manifest) { m.Models[0].Name = EngineName },
		"an unknown kind":  func(m *Manifest) { m.Models[0].Kind = "vosk" },
		"an unknown class": func(m *Manifest) { m.Models[0].Machine = "huge" },
		"no licence":       func(m *Manifest) { m.Models[0].Licence = Licence{} },
		"no source":        func(m *Manifest) { m.Models[0].Sources = nil },
		"files and an archive": func(m *Manifest) {
			m.Models[0].Archive = &File{Path: "x.tgz", Size: 1, SHA256: sum(nil), URL: "https://models.invalid/x.tgz"}
		},
		"a strange archive": func(m *Manifest) {
			m.Models[0].Files, m.Models[0].Archive = nil, &File{Path: "x.rar", Size: 1, SHA256: sum(nil), URL: "https://models.invalid/x.rar"}
		},
		"a local source":  func(m *Manifest) { m.Models[0].Sources = []string{"file:///etc"} },
		"a missing part":  func(m *Manifest) { m.Models[0].Files = m.Models[0].Files[1:] },
		"two of one name": func(m *Manifest) { m.Models = append(m.Models, m.Models[0]) },
		"an engine without a source": func(m *Manifest) {
			m.Engine.Packages = []Package{{System: "linux", Arch: "amd64", Size: 1, SHA256: sum(nil)}}
		},
		"an engine in any version": func(m *Manifest) {
			m.Engine.Packages = []Package{{System: "linux", Arch: "amd64", Pip: "sherpa-onnx-core", Size: 1, SHA256: sum(nil)}}
		},
		"an engine without a checksum": func(m *Manifest) {
			m.Engine.Packages = []Package{{System: "linux", Arch: "amd64", URLs: []string{"https://models.invalid/x.tgz"}, Size: 1}}
		},
	} {
		m := &Manifest{Models: []Entry{toneEntry(files, "https://models.invalid")}}
		spoil(m)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseManifest(text); err == nil || !strings.HasSuffix(err.Error(), "correct it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParseManifest([]byte(`{"colour": "red"}`)); err == nil {
		t.Error("a manifest with an unknown field was accepted")
	}
}

func TestRecommendation(t *testing.T) {
	m, err := DefaultManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		language string
		class    Class
		want     []string
	}{
		{"en", Small, []string{"moonshine-tiny-en", "kokoro-82m-int8"}},
		{"en", Fast, []string{"moonshine-tiny-en", "kokoro-82m-int8"}}, // no second recogniser with another library
		{"de-AT", Fast, []string{"parakeet-tdt-0.6b-v3-int8", "nemotron-3.5-asr-streaming-0.6b-int8", "supertonic-3-int8"}},
		{"JA", Fast, []string{"nemotron-3.5-asr-streaming-0.6b-int8", "supertonic-3-int8"}},
		{"ja", Standard, []string{"supertonic-3-int8"}},
		{"tlh", Fast, nil},
	} {
		var got []string
		for _, e := range m.Recommend(c.language, c.class) {
			got = append(got, e.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s on a %s machine: %q, want %q", c.language, c.class, got, c.want)
		}
	}
}

// Each of these languages has a recogniser, also for a machine that is smaller than recommended.
func TestRecogniserOfALanguage(t *testing.T) {
	m, err := DefaultManifest()
	if err != nil {
		t.Fatal(err)
	}
	for language, want := range map[string]string{
		"en": "moonshine-tiny-en", "de-AT": "parakeet-tdt-0.6b-v3-int8", "fr": "parakeet-tdt-0.6b-v3-int8", "es": "parakeet-tdt-0.6b-v3-int8",
		"ja": "nemotron-3.5-asr-streaming-0.6b-int8", "tlh": "",
	} {
		if e, known := m.Recogniser(language); e.Name != want || known != (want != "") {
			t.Errorf("%s: %q, want %q", language, e.Name, want)
		}
	}
}

// Preferred models come first, then those that know the language, then those that the user
// installed, then those of the manifest.
func TestOrder(t *testing.T) {
	m, err := DefaultManifest()
	if err != nil {
		t.Fatal(err)
	}
	list := []engine.Model{
		{Name: "a-voice", Languages: []string{"en"}},
		{Name: "kokoro-82m-int8", Languages: []string{"en"}},
		{Name: "moonshine-tiny-en", Languages: []string{"en"}},
		{Name: "parakeet-tdt-0.6b-v3-int8", Languages: []string{"de", "en"}},
		{Name: "unknown"},
	}
	for _, c := range []struct {
		prefer   []string
		language string
		want     string
	}{
		{nil, "", "parakeet-tdt-0.6b-v3-int8 a-voice unknown moonshine-tiny-en kokoro-82m-int8"},
		{nil, "de", "parakeet-tdt-0.6b-v3-int8 unknown a-voice moonshine-tiny-en kokoro-82m-int8"},
		{[]string{"unknown", "a-voice"}, "en", "unknown a-voice parakeet-tdt-0.6b-v3-int8 moonshine-tiny-en kokoro-82m-int8"},
		{[]string{"missing"}, "en", "parakeet-tdt-0.6b-v3-int8 a-voice unknown moonshine-tiny-en kokoro-82m-int8"},
	} {
		var got []string
		for _, o := range m.Order(list, c.prefer, c.language) {
			got = append(got, o.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q, %q: %q, want %q", c.prefer, c.language, got, c.want)
		}
	}
}

func TestClassOfMachine(t *testing.T) {
	const gb = 1 << 30
	for m, want := range map[Machine]Class{
		{2, 64 * gb}: Small, {8, 4 * gb}: Small, {4, 7*gb + gb/2}: Standard, {16, 12 * gb}: Standard, {8, 15*gb + gb/2}: Fast, {8, 0}: Small,
	} {
		if got := m.Class(); got != want {
			t.Errorf("%+v is %s, want %s", m, got, want)
		}
	}
	if m := ThisMachine(); m.Cores < 1 || m.Memory < 256<<20 {
		t.Errorf("this machine has %+v", m)
	}
}
