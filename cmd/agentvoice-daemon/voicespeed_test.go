package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// ownAssets makes a folder of assets with the given ones of this machine, and a cache folder without a
// measurement.
func ownAssets(t *testing.T, keep ...string) (dir string) {
	t.Helper()
	silero, err := assets.Silero()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, pattern := range append(keep, "*onnxruntime*1.32.0*") {
		list, err := filepath.Glob(filepath.Join(filepath.Dir(silero), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range list {
			if err := os.Symlink(path, filepath.Join(dir, filepath.Base(path))); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Setenv(assets.Env, dir)
	t.Setenv(assets.ModelsEnv, t.TempDir())
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	if got, err := os.UserCacheDir(); err != nil || got != cache {
		t.Skip("the cache folder of this system cannot be moved by a variable")
	}
	return dir
}

// A default model whose file is missing is replaced, and the user, the log and doctor get the reason and
// the remedy. One that was never fetched is a matter for doctor.
func TestDamagedDefaultModels(t *testing.T) {
	dir := ownAssets(t)
	for name, kind := range map[string]string{"moonshine-tiny-en": "moonshine-onnx", "kokoro-82m-int8": "kokoro-onnx"} {
		description := `{"name": "` + name + `", "kind": "` + kind + `", "files": {"encoder": "e", "decoder": "d", "tokenizer": "t", "model": "m", "vocabulary": "v", "speakers": "s", "pronunciations": "p"}}`
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o700), os.WriteFile(filepath.Join(dir, name, "model.json"), []byte(description), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	l := findSpeech(nil, "en")
	told := map[string]error{}
	report := speechReports{hearing: func(err error) { told["moonshine-tiny-en"] = err }, voice: func(err error) { told["kokoro-82m-int8"] = err }}
	r, err := l.recognizers("en", report)()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // the test is over
	s, err := l.synthesizers(live.SpeechChoice{Engine: protocol.VoiceAuto, Language: "en"}, report)()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	seen := l.examine(true, live.SpeechChoice{Engine: protocol.VoiceAuto, Language: "en"}, "")[0]
	for _, name := range []string{"moonshine-tiny-en", "kokoro-82m-int8"} {
		remedy := "install it again with `agentvoice-daemon models install " + name + "`"
		if told[name] == nil || !strings.Contains(told[name].Error(), remedy) {
			t.Errorf("%s: the user was told %v", name, told[name])
		}
		if seen.OK || !strings.Contains(seen.Detail, remedy) || !strings.Contains(l.err.Error(), remedy) {
			t.Errorf("%s: doctor says %q, the log %v", name, seen.Detail, l.err)
		}
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if l = findSpeech(nil, "en"); l.err != nil || l.hearingLost != nil || l.voiceLost != nil {
		t.Errorf("without models: %v", l.err)
	}
	if seen := l.examine(true, live.SpeechChoice{Language: "en"}, "")[0]; seen.OK || !strings.Contains(seen.Detail, "models install moonshine-tiny-en") {
		t.Errorf("without models, doctor says %q", seen.Detail)
	}
}

// Flite speaks where the voice was too slow lately, and on Macs with an Intel processor.
func TestSlowMachines(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		system, arch string
		speed        speed
		want         bool
	}{
		{"linux", "amd64", speed{}, false},
		{"linux", "amd64", speed{firstWords, now}, false},
		{"linux", "amd64", speed{firstWords + 1, now}, true},
		{"linux", "amd64", speed{firstWords + 1, now.Add(-2 * believed)}, false},
		{"darwin", "arm64", speed{}, false},
		{"darwin", "amd64", speed{}, true},
		{"darwin", "amd64", speed{1, now}, true},
	} {
		if got := c.speed.slow(c.system, c.arch); got != c.want {
			t.Errorf("%s on %s with %v: %v", c.system, c.arch, c.speed.took, got)
		}
	}
}

// On a slow machine, Flite speaks and the user is told why, unless the settings select a voice.
func TestSlowMachineIsTold(t *testing.T) {
	ownAssets(t, "kokoro-82m-int8")
	l := findSpeech(nil, "en")
	if !measures(l.voice) {
		t.Fatal("Kokoro is not installed")
	}
	keepSpeed(l.voice, 2*time.Second)
	for choice, want := range map[string]time.Duration{protocol.VoiceAuto: 2 * time.Second, protocol.VoiceFast: 0} {
		var told time.Duration
		s, err := l.synthesizers(live.SpeechChoice{Engine: choice}, speechReports{slow: func(took time.Duration) { told = took }})()
		if err != nil {
			t.Fatal(err)
		}
		if told != want || !voice.IsFlite(s.Voices()[0]) {
			t.Errorf("%s: %v was told, %v speak", choice, told, s.Voices())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if f := l.examineVoice(true, live.SpeechChoice{Engine: protocol.VoiceFast}, "af_heart"); f.OK || !strings.HasPrefix(f.Detail, "Flite") || !strings.Contains(f.Fix, "models voices") {
		t.Errorf("doctor says %+v", f)
	}
	if f := l.examineVoice(true, live.SpeechChoice{Engine: protocol.VoiceFast}, "rms"); !f.OK {
		t.Errorf("doctor says %+v", f)
	}
}

// The voices of a slow machine are listed, with the one that speaks there as the default.
func TestVoicesOfASlowMachine(t *testing.T) {
	ownAssets(t, "kokoro-82m-int8")
	l := findSpeech(nil, "en")
	keepSpeed(l.voice, 2*time.Second)
	for choice, want := range map[string]string{protocol.VoiceAuto: voice.DefaultVoice, protocol.VoiceFast: voice.DefaultVoice} {
		cmd := newModelsVoices()
		var out, failed bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&failed)
		cmd.SetArgs([]string{"--json", "--voice-engine", choice})
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		var list []listedVoice
		if err := json.Unmarshal(out.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(v listedVoice) bool { return v.Default })
		if i < 0 || list[i].Name != want {
			t.Errorf("%s: %+v", choice, list)
		}
		if told := strings.Contains(failed.String(), "so Flite speaks"); told != (choice == protocol.VoiceAuto) {
			t.Errorf("%s: the user was told %q", choice, failed.String())
		}
	}
}

// The speed is written once it is measured, but not where nothing may be written.
func TestSpeedIsMeasured(t *testing.T) {
	ownAssets(t, "kokoro-82m-int8")
	l := findSpeech(nil, "en")
	path, err := assets.VoiceSpeed()
	if err != nil {
		t.Fatal(err)
	}
	remember, known := speedMemory(l.voice, false)
	remember(time.Second)
	if known().took != time.Second {
		t.Errorf("%v is remembered", known().took)
	}
	if _, err := measure(l.voice, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was written: %v", err)
	}
	for range 2 { // the second time, it is known
		cmd := newModelsMeasure()
		cmd.SetArgs(nil)
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
	}
	if keptSpeed(findSpeech(nil, "en").voice).took == 0 {
		t.Error("it is not kept")
	}
	if runtime.GOOS == "windows" {
		return
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is not private: %v, %v", info, err)
	}
}
