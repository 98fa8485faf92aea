//go:build linux

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// releaseOf makes a folder with an archive of each version, whose program is a script, and their sums.
func releaseOf(t *testing.T, programs map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	sums := ""
	for version, program := range programs {
		name := "agentvoice-" + version + "-linux-" + arch
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name, "agentvoice-daemon"), []byte("#!/bin/sh\n"+program+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("tar", "-czf", filepath.Join(folder, name+".tar.gz"), "-C", folder, name).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		archive, err := os.ReadFile(filepath.Join(folder, name+".tar.gz"))
		if err != nil {
			t.Fatal(err)
		}
		sums += fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(archive), name)
	}
	if err := os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestTheInstaller: install.sh installs, updates, goes back and removes, in a home with blanks and letters of other
// languages, and never leaves a machine with less than it had.
func TestTheInstaller(t *testing.T) {
	home := filepath.Join(t.TempDir(), "Zoë's home")
	kept := filepath.Join(home, ".local", "share", "agentvoice", "record.db")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte("a record"), 0o600); err != nil {
		t.Fatal(err)
	}
	install := func(args ...string) (string, error) {
		cmd := exec.Command("sh", append([]string{"../../scripts/packaging/install.sh"}, args...)...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	link := filepath.Join(home, ".local", "bin", "agentvoice")
	runs := func(want string) {
		t.Helper()
		out, err := exec.Command(link, "version").CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("it runs %q (%v), want %q", got, err, want)
		}
		if apps, _ := filepath.Glob(filepath.Join(home, ".local", "share", "agentvoice-app", "*")); len(apps) != 1 {
			t.Errorf("installed are %q", apps)
		}
	}
	one, both := releaseOf(t, map[string]string{"1.0.0": "echo one"}), releaseOf(t, map[string]string{"1.0.0": "echo one", "2.0.0-dev+ab12": "echo two"})

	if out, err := install("--from", one); err != nil || !strings.Contains(out, "Add "+filepath.Dir(link)+" to your PATH") {
		t.Fatalf("%v: %s", err, out)
	}
	runs("one")
	if out, err := install("--from", both, "--version", "2.0.0-dev+ab12"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	runs("two")

	for name, c := range refusals(t, both) {
		if out, err := install(c.args...); err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%s: %v, %q, want %q", name, err, out, c.says)
		}
		runs("two")
	}

	if out, err := install("--from", both, "--version", "v1.0.0"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	runs("one")

	theirs := filepath.Join(home, ".local", "bin", "agentvoice-daemon")
	if err := os.Remove(theirs); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(theirs, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := install("--from", one); err == nil || !strings.Contains(out, "is something else") {
		t.Errorf("%v: %s", err, out)
	}
	runs("one")
	if out, err := install("--uninstall"); err != nil || !strings.Contains(out, "are kept") {
		t.Errorf("%v: %s", err, out)
	}
	for path, stays := range map[string]bool{link: false, theirs: true, kept: true, filepath.Join(home, ".local", "share", "agentvoice-app"): false} {
		if _, err := os.Lstat(path); (err == nil) != stays {
			t.Errorf("%s is there: %v, want %v", path, err == nil, stays)
		}
	}
}

// installRefusal is what the installer refuses, and what it says.
type installRefusal struct {
	args []string
	says string
}

func refusals(t *testing.T, both string) map[string]installRefusal {
	t.Helper()
	damaged := releaseOf(t, map[string]string{"3.0.0": "echo three"})
	if archives, _ := filepath.Glob(filepath.Join(damaged, "*.tar.gz")); len(archives) != 1 || os.WriteFile(archives[0], []byte("short"), 0o644) != nil {
		t.Fatal(archives)
	}
	return map[string]installRefusal{
		"a damaged archive":             {[]string{"--from", damaged}, "is damaged"},
		"a program that does not start": {[]string{"--from", releaseOf(t, map[string]string{"3.0.0": "exit 1"})}, "does not start on this machine; nothing was changed"},
		"a version that there is not":   {[]string{"--from", both, "--version", "9.9.9"}, "there is no archive of version 9.9.9"},
		"a folder without sums":         {[]string{"--from", t.TempDir()}, "has no SHA256SUMS"},
		"an argument that there is not": {[]string{"--force"}, "use --version, --from or --uninstall"},
		"an argument without its value": {[]string{"--from"}, "--from needs a value"},
	}
}
