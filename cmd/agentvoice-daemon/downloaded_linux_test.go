package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// nobody is a user without a home and without rights.
const nobody = 65534

// download is the program as a package holds it, in a folder that nobody can write, whose name has
// spaces and letters of other scripts.
type download struct {
	t   *testing.T
	dir string
}

func downloaded(t *testing.T) download {
	t.Helper()
	root := t.TempDir()
	if err := os.Chmod(filepath.Dir(root), 0o755); err != nil { // other users may enter
		t.Fatal(err)
	}
	d := download{t, filepath.Join(root, "Ünïcode 声 and space")}
	self, err := os.Executable()
	model, noModel := assets.Silero()
	runtime, noRuntime := assets.ONNXRuntime()
	sphinx, noSphinx := assets.PocketSphinx()
	recogniser, noRecogniser := assets.Recogniser()
	if err := errors.Join(err, noModel, noRuntime, noSphinx, noRecogniser); err != nil {
		t.Fatal(err)
	}
	d.place(self, "agentvoice-daemon")
	d.place(model, "assets", filepath.Base(model))
	d.place(runtime, "assets", filepath.Base(runtime))
	for _, name := range []string{"en-us.lm.bin", "cmudict-en-us.dict"} {
		d.place(filepath.Join(sphinx, "en-us", name), "assets", "pocketsphinx", "en-us", name)
	}
	acoustic, err := filepath.Glob(filepath.Join(sphinx, "en-us", "en-us", "*"))
	if err != nil || len(acoustic) == 0 {
		t.Fatalf("no acoustic model: %v", err)
	}
	for _, path := range acoustic {
		d.place(path, "assets", "pocketsphinx", "en-us", "en-us", filepath.Base(path))
	}
	heard, err := filepath.Glob(filepath.Join(recogniser, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range heard {
		d.place(path, "assets", filepath.Base(recogniser), filepath.Base(path))
	}
	d.write("pcm.default { type null }\n", "assets", "alsa", "alsa.conf")
	d.write("a licence", "licenses", "go.txt")
	d.protect(0o555)
	t.Cleanup(func() { d.protect(0o755) })
	return d
}

// place puts a file into the package, as a link if the system allows it.
func (d download) place(from string, to ...string) {
	d.t.Helper()
	path := d.path(to...)
	if os.Link(from, path) == nil {
		return
	}
	in, err := os.Open(from)
	if err != nil {
		d.t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		d.t.Fatal(err)
	}
}

func (d download) write(text string, to ...string) {
	d.t.Helper()
	if err := os.WriteFile(d.path(to...), []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// path is a path in the package, whose folder exists.
func (d download) path(to ...string) string {
	d.t.Helper()
	path := filepath.Join(append([]string{d.dir}, to...)...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// protect sets the rights of all folders.
func (d download) protect(mode os.FileMode) {
	err := filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = os.Chmod(path, mode)
		}
		return err
	})
	if err != nil {
		d.t.Error(err)
	}
}

// run runs the program as a user, with env and nothing else in its environment.
func (d download) run(user int, env []string, args ...string) (stdout, stderr string, status int) {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), filepath.Join(d.dir, "agentvoice-daemon"), args...)
	cmd.Env, cmd.Dir = slices.Concat([]string{}, env), "/"
	if user != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
	}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		d.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// findings runs doctor --json.
func (d download) findings(user int, env []string, args ...string) map[string]finding {
	d.t.Helper()
	stdout, stderr, _ := d.run(user, env, append([]string{"doctor", "--json"}, args...)...)
	var list []finding
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		d.t.Fatalf("doctor: %v\n%s%s", err, stdout, stderr)
	}
	all := map[string]finding{}
	for _, f := range list {
		all[f.Check] = f
	}
	return all
}

// users are those that can run the program here: this one, and for root also nobody.
func users(t *testing.T) []int {
	if os.Getuid() != 0 {
		t.Log("not tested as another user, because this one is not root")
		return []int{os.Getuid()}
	}
	return []int{0, nobody}
}

func last(users []int) int { return users[len(users)-1] }

// The program finds the files of its package in any folder, for any user and with an empty
// environment.
func TestAsDownloaded(t *testing.T) {
	d := downloaded(t)
	none := "ALSA_CONFIG_DIR=" + t.TempDir() // a system without a configuration of ALSA
	for _, user := range users(t) {
		all := d.findings(user, []string{none}, "--paths")
		for name, at := range map[string]string{
			"voice detector model": "assets/silero_vad_v6.onnx", "ONNX Runtime library": "assets/libonnxruntime.so.1.32.0", "recogniser": "assets/moonshine-tiny-en",
			"PocketSphinx model": "assets/pocketsphinx", "ALSA configuration": "assets/alsa/alsa.conf", "licences": "licenses",
		} {
			if f, want := all[name], filepath.Join(d.dir, at)+", beside the program"; !f.OK || f.Detail != want {
				t.Errorf("user %d: %s: %+v, want %q", user, name, f, want)
			}
		}
		if stdout, stderr, status := d.run(user, []string{none}, "devices"); status != 0 || !strings.Contains(stdout, "default") {
			t.Errorf("user %d: devices: status %d\n%s%s", user, status, stdout, stderr)
		}
		if stdout, stderr, status := d.run(user, nil, "version"); status != 0 || stderr != "" {
			t.Errorf("user %d: version: status %d\n%s%s", user, status, stdout, stderr)
		}
	}
}

// The engines of the package work for a user who can write nothing, not even in a home folder.
func TestEnginesForAnotherUser(t *testing.T) {
	d := downloaded(t)
	home := t.TempDir()
	user := last(users(t))
	for _, closed := range []os.FileMode{0o555, 0} {
		if err := os.Chmod(home, closed); err != nil {
			t.Fatal(err)
		}
		all := d.findings(user, []string{"HOME=" + home}, "--audio-in", "null", "--audio-out", "null")
		for _, name := range []string{"codec", "echo cancellation", "voice detection", "recognition", "synthesis", "wake phrase"} {
			if f := all[name]; !f.OK {
				t.Errorf("home %v: %s: %s", closed, name, f.Detail)
			}
		}
		if f := all["recognition"]; !strings.Contains(f.Detail, "moonshine-tiny-en") {
			t.Errorf("home %v: recognition: %s", closed, f.Detail)
		}
	}
	_, stderr, status := d.run(user, []string{"HOME=" + home}, "models", "list")
	if status != exitFailed || !strings.Contains(stderr, "cannot read the folder of models: permission denied; ") {
		t.Errorf("models list: status %d, %s", status, stderr)
	}
}

// Without HOME the home folder is that of the user's account.
func TestHomeOfTheAccount(t *testing.T) {
	account, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", "")
	prepare()
	if home := os.Getenv("HOME"); home != account.HomeDir {
		t.Errorf("HOME is %q, want %q", home, account.HomeDir)
	}
	t.Setenv("HOME", "/elsewhere")
	prepare()
	if home := os.Getenv("HOME"); home != "/elsewhere" {
		t.Errorf("HOME is %q", home)
	}
}

// Without a sound system, what needs one says so in one sentence.
func TestNoSoundSystem(t *testing.T) {
	d := downloaded(t)
	for _, args := range [][]string{{"devices"}, {"talk"}} {
		_, stderr, status := d.run(os.Getuid(), []string{"ALSA_CONFIG_PATH=/none", "XDG_RUNTIME_DIR=" + t.TempDir()}, args...)
		if status != exitFailed || !strings.Contains(stderr, "no sound system") || strings.Count(stderr, "\n") != 1 || strings.Count(stderr, "audio device") != 1 {
			t.Errorf("%q: status %d\n%s", args, status, stderr)
		}
	}
}

// A file that this user may not read is not missing.
func TestUnreadableFile(t *testing.T) {
	d := downloaded(t)
	path := filepath.Join(d.dir, "assets", "alsa", "alsa.conf")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	user := last(users(t))
	f := d.findings(user, []string{"ALSA_CONFIG_DIR=" + t.TempDir()}, "--paths")["ALSA configuration"]
	if f.OK || !strings.HasPrefix(f.Detail, path+" is not readable by this user: microphones") || !strings.HasPrefix(f.Fix, "change its permissions, or ") {
		t.Errorf("%+v", f)
	}
}
