package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// On a bare machine the targets first install what they need. Variables such as the
// models' folder must be evaluated after that.
func TestFirstBuildFindsTheModelsThatItInstalled(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("Makefile", string(makefile))
	// pkg-config reports no models before setup.sh has run.
	write("bin/pkg-config", "#!/bin/sh\ncat installed\n")
	write("scripts/setup.sh", "#!/bin/sh\necho /usr/share/models >installed\n")
	write("bin/go", "#!/bin/sh\necho \"$@\" >>asked\n")
	cmd := exec.CommandContext(t.Context(), "make", "build")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"), "MAKEFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make build: %v\n%s", err, out)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"audio/localrealtime/stt.buildModelDir", "audio/wake.buildModelDir"} {
		if !strings.Contains(string(asked), variable+"=/usr/share/models") {
			t.Errorf("%s is not the models' folder:\n%s", variable, asked)
		}
	}
}
