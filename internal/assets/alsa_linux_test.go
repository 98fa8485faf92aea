package assets

import (
	"path/filepath"
	"testing"
)

// ALSA's library is given our configuration only if it cannot find its own.
func TestConfigurationOfALSA(t *testing.T) {
	none, system, own := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "with space")
	setUserCache(t, t.TempDir())
	write(t, filepath.Join(system, "alsa.conf"))
	ours := filepath.Join(own, "alsa", "alsa.conf")
	for _, c := range []struct{ user, system, assets, want string }{
		{"", system, "", ""},
		{"", none, "", ""},
		{"", system, own, ""},
		{"", none, own, ours},
		{filepath.Join(none, "missing"), none, own, ""},
		{filepath.Join(system, "alsa.conf"), none, own, ""},
	} {
		if c.assets != "" {
			write(t, ours)
		}
		t.Setenv("ALSA_CONFIG_PATH", c.user)
		t.Setenv("ALSA_CONFIG_DIR", c.system)
		t.Setenv(Env, c.assets)
		if got := ALSA(); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
	t.Setenv("ALSA_CONFIG_PATH", none+"/missing:"+system+"/alsa.conf")
	if p := look(alsa); p.From != alsaEnv || p.Path != system+"/alsa.conf" {
		t.Errorf("a list of files: found %+v", p)
	}
}
