//go:build cgo

package portaudio

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Where ALSA has no usable configuration PortAudio would abort the process.
func TestNoConfigurationIsAnError(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"empty": "", "broken": "pcm.default {", "bare": "pcm.one { type null }"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"missing", "empty", "broken", "bare"} {
		t.Setenv("ALSA_CONFIG_PATH", filepath.Join(dir, name))
		_, err := Devices()
		var device *audio.DeviceError
		if !errors.As(err, &device) || device.Code != "deviceUnavailable" || device.Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ALSA's library takes ALSA_CONFIG_PATH as a list separated by spaces and colons.
func TestConfigurationInAnyFolder(t *testing.T) {
	for _, name := range []string{"plain", "with space", "with:colon", "Ünïcode 声"} {
		path := filepath.Join(t.TempDir(), name, "alsa.conf")
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("pcm.default { type null }"), 0o600)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("ALSA_CONFIG_PATH", "/none")
		Configure(path)
		if _, err := Devices(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if os.Getenv("ALSA_CONFIG_PATH") != "/none" {
			t.Errorf("%s: child processes inherit it", name)
		}
	}
	t.Setenv("ALSA_CONFIG_PATH", "/none")
	Configure("/no such/file")
	if _, err := Devices(); !errors.Is(err, errNoConfiguration) {
		t.Errorf("a file that is missing: %v", err)
	}
}
