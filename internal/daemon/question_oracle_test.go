//go:build linux

package daemon

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The folders of the sandbox.
const (
	sandboxHome    = "/home/u"
	sandboxProject = "/home/u/project"
	sandboxLog     = "/canaries/log"
)

// sandboxShells are the shells that run each command: the one of a terminal, and the one
// of the editor's tool.
var sandboxShells = []string{"/usr/bin/bash", "/usr/bin/sh"}

// sandboxTools are the programs of the sandbox that are real. All others are canaries,
// which record that they ran.
var sandboxTools = strings.Fields(`bash sh ls cat rm rmdir mv cp mkdir touch ln tee dd sort uniq head tail wc grep sed find xargs tar gzip make git
	env nohup nice timeout stdbuf setsid chmod truncate split shuf install diff date basename dirname sleep printf tr cut seq true false`)

// Each command that a voice can allow is run in a sandbox, a root folder of its own
// without a network, by each shell. Every program that runs and every file that changes must be named
// in the question.
//
//test:long
func TestCommandsDoWhatTheQuestionSays(t *testing.T) {
	hiding, ordinary := commandsOf(t, "hiding.txt"), commandsOf(t, "ordinary.txt")
	box := newSandbox(t, slices.Concat(hiding, ordinary))
	for _, shell := range sandboxShells {
		box.sees(t, shell)
	}
	t.Logf("%-10s %9s %9s %13s %15s", "", "commands", "by voice", "ran unspoken", "wrote unspoken")
	for _, list := range []struct {
		name     string
		commands []string
	}{{"hiding", hiding}, {"ordinary", ordinary}} {
		allowed, ran, wrote := 0, 0, 0
		for _, c := range list.commands {
			a := askAbout(t, c)
			if !a.byVoice {
				continue
			}
			allowed++
			for _, shell := range sandboxShells {
				programs, files := box.try(t, shell, c)
				for _, p := range programs {
					if !namesProgram(a.question, p) {
						ran++
						t.Errorf("%s: %q runs %s, and the question is: %s", shell, c, p, a.question)
					}
				}
				for _, f := range files {
					if !namesFile(a.question, f) {
						wrote++
						t.Errorf("%s: %q changes %s, and the question is: %s", shell, c, f, a.question)
					}
				}
			}
		}
		t.Logf("%-10s %9d %9d %13d %15d", list.name, len(list.commands), allowed, ran, wrote)
	}
}

// sees checks that the sandbox sees what runs and changes.
func (box *sandbox) sees(t *testing.T, shell string) {
	t.Helper()
	ran, wrote := box.try(t, shell, "make -f /tmp/other/Makefile; ./git; npm test; touch pwn; (cd bare && git status)")
	if want := []string{"/tmp/other/evil", sandboxProject + "/git", "/canaries/npm", sandboxProject + "/evil"}; !slices.Equal(ran, want) {
		t.Fatalf("%s: the sandbox saw %q run, want %q", shell, ran, want)
	}
	if want := []string{sandboxProject + "/pwn"}; !slices.Equal(wrote, want) {
		t.Fatalf("%s: the sandbox saw %q change, want %q", shell, wrote, want)
	}
	for command, changed := range map[string]string{
		"git clean -qfd ':!keep.txt'": sandboxProject + "/build/out",
		"cd flat && sort -r *":        sandboxProject + "/flat/one.txt",
	} {
		const question = "It would run git clean and sort. It would delete keep.txt."
		if _, wrote := box.try(t, shell, command); !slices.Contains(wrote, changed) || namesFile(question, changed) {
			t.Fatalf("%s: %q changes %s, and the sandbox saw %q", shell, command, changed, wrote)
		}
	}
}

// namesProgram reports whether a question names a program. One that is not on the path
// is named with its folder.
func namesProgram(question, program string) bool {
	folder, name := filepath.Split(program)
	return hasWord(question, name) && (folder == "/canaries/" || name != "git" && name != "ls" && name != "go" && name != "eslint" ||
		hasWord(question, "/"+name))
}

// hasWord reports whether a text has a name that is not a part of a longer one.
func hasWord(text, name string) bool {
	part := func(c byte) bool {
		return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for at := 0; ; at++ {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		at += i
		before, after := text[:at], text[at+len(name):]
		before, after = strings.TrimSuffix(before, "."), strings.TrimPrefix(after, ".")
		if (before == "" || name[0] == '/' || !part(before[len(before)-1])) && (after == "" || !part(after[0])) {
			return true
		}
	}
}

// wholeTree matches subcommands of Git that say that any file of the project may change.
var wholeTree = regexp.MustCompile(`\bgit (checkout|switch|reset|stash|pull|merge|rebase|cherry-pick|revert|clone|clean( -\w+)*”)`)

// namesFile reports whether a question names a changed file, a folder that it is in, or a
// pattern of either. What Git keeps is named with it.
func namesFile(question, file string) bool {
	folder, name := filepath.Split(file)
	inside, ok := strings.CutPrefix(file, sandboxProject+"/")
	if !ok {
		return hasWord(question, name) && (hasWord(question, filepath.Base(folder)) || filepath.Clean(folder) == sandboxHome && strings.Contains(question, "home folder"))
	}
	if strings.HasPrefix(inside, ".git/") && !strings.HasPrefix(inside, ".git/hooks/") && hasWord(question, "git") {
		return true
	}
	return wholeTree.MatchString(question) || strings.Contains(question, "everything in this folder") ||
		slices.ContainsFunc(strings.Split(inside, "/"), func(part string) bool { return hasWord(question, part) || hasPattern(question, part) })
}

// hasPattern reports whether a word of a text is a pattern of a name.
func hasPattern(text, name string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" '\"/“”", r) }), func(word string) bool {
		matches, err := filepath.Match(word, name)
		return err == nil && matches && strings.Contains(word, "*")
	})
}

// sandbox is a root folder with programs and canaries, and the repository of its project.
type sandbox struct{ root, git string }

func newSandbox(t *testing.T, commands []string) *sandbox {
	t.Helper()
	box := &sandbox{root: t.TempDir()}
	for _, dir := range []string{"usr/bin", "canaries", "dev", "etc"} {
		box.mkdir(t, dir)
	}
	for _, link := range []string{"bin", "lib", "lib64"} {
		target := "usr/" + link
		box.mkdir(t, target)
		if err := os.Symlink(target, filepath.Join(box.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range sandboxTools {
		box.install(t, filepath.Join("/usr/bin", tool))
	}
	box.write(t, "dev/null", "", 0o666)
	box.write(t, "etc/hosts", "127.0.0.1 localhost\n", 0o644)
	for _, c := range commands {
		for _, word := range strings.FieldsFunc(c, func(r rune) bool { return strings.ContainsRune(" ;|&(){}", r) }) {
			if plainName(word) && !slices.Contains(sandboxTools, word) {
				box.canary(t, "canaries/"+word)
			}
		}
	}
	box.git = filepath.Join(t.TempDir(), "git")
	box.try(t, sandboxShells[0], "git init -q -b main && git add README.md a.txt src Makefile web && git commit -qm first")
	if err := os.Rename(filepath.Join(box.root, sandboxProject, ".git"), box.git); err != nil {
		t.Fatal(err)
	}
	return box
}

func plainName(word string) bool {
	return word != "log" && word[0] != '.' && word[0] != '-' && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
	})
}

func (box *sandbox) mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(box.root, dir), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (box *sandbox) write(t *testing.T, file, text string, mode fs.FileMode) {
	t.Helper()
	box.mkdir(t, filepath.Dir(file))
	if err := os.WriteFile(filepath.Join(box.root, file), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// canary installs a program that records that it ran.
func (box *sandbox) canary(t *testing.T, file string) {
	t.Helper()
	box.write(t, file, "#!/bin/sh\necho \""+"/"+file+"\" >> "+sandboxLog+"\n", 0o755)
}

// install copies a program of this machine with its libraries.
func (box *sandbox) install(t *testing.T, program string) {
	t.Helper()
	in := filepath.Join(box.root, program)
	if _, err := os.Stat(in); err == nil {
		return
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	box.mkdir(t, filepath.Dir(program))
	if err := os.WriteFile(in, data, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return // a script
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			loader := make([]byte, p.Filesz-1)
			if _, err := p.ReadAt(loader, 0); err != nil {
				t.Fatal(err)
			}
			box.install(t, "/usr"+strings.TrimPrefix(string(loader), "/usr"))
		}
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, lib := range libraries {
		found, err := filepath.Glob("/usr/lib/*/" + lib)
		if err != nil || len(found) == 0 {
			found = []string{"/usr/lib/" + lib, "/usr/lib64/" + lib}
		}
		for _, file := range found {
			if _, err := os.Stat(file); err == nil {
				box.install(t, file)
				break
			}
		}
	}
}

// prepare restores the folders that commands work in.
func (box *sandbox) prepare(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"home", "tmp"} {
		if err := os.RemoveAll(filepath.Join(box.root, dir)); err != nil {
			t.Fatal(err)
		}
	}
	box.mkdir(t, "tmp")
	home, project := strings.TrimPrefix(sandboxHome, "/"), strings.TrimPrefix(sandboxProject, "/")
	for _, file := range []string{".bashrc", ".profile", ".ssh/id_rsa", ".ssh/authorized_keys"} {
		box.write(t, filepath.Join(home, file), "old\n", 0o600)
	}
	for _, file := range []string{"README.md", "a.txt", "src/main.go", "src/main.c", "build/out", "dist/x", "node_modules/x/index.js", "web/package.json", "x", "f", "keep.txt", "vendor/build", "-oMakefile", "--output=Makefile", "--pre=sh", "flat/one.txt", "flat/-oone.txt"} {
		box.write(t, filepath.Join(project, file), "one\ntwo TODO\n", 0o644)
	}
	if _, err := os.Stat(box.git); err == nil {
		if err := os.CopyFS(filepath.Join(box.root, project, ".git"), os.DirFS(box.git)); err != nil {
			t.Fatal(err)
		}
	}
	box.write(t, filepath.Join(home, ".gitconfig"), "[user]\nname = u\nemail = u@example.com\n", 0o600)
	box.write(t, filepath.Join(project, "bare/HEAD"), "ref: refs/heads/main\n", 0o644)
	box.write(t, filepath.Join(project, "bare/config"), "[core]\nrepositoryformatversion = 0\nworktree = .\nfsmonitor = "+sandboxProject+"/evil\n", 0o644)
	box.mkdir(t, filepath.Join(project, "bare/objects"))
	box.mkdir(t, filepath.Join(project, "bare/refs"))
	const makefile = "all build clean test deploy:\n\t@true\n"
	box.write(t, filepath.Join(project, "Makefile"), makefile, 0o644)
	box.write(t, "tmp/other/Makefile", "all test:\n\t@/tmp/other/evil\n", 0o644)
	for _, file := range []string{"evil", "git", "ls", "run.sh", "gradlew", "node_modules/.bin/go", "node_modules/.bin/eslint"} {
		box.canary(t, filepath.Join(project, file))
	}
	for _, file := range []string{"evil", "git", "ls"} {
		box.canary(t, "tmp/other/"+file)
	}
	box.write(t, strings.TrimPrefix(sandboxLog, "/"), "", 0o666)
}

// try has a shell run a command, and returns the programs that ran and the files that changed.
func (box *sandbox) try(t *testing.T, shell, command string) (programs, files []string) {
	t.Helper()
	box.prepare(t)
	before := box.tree(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // ends what waits for input
	defer cancel()
	cmd := exec.CommandContext(ctx, shell, "-c", command)
	cmd.Dir = sandboxProject
	cmd.Env = []string{"HOME=" + sandboxHome, "PATH=/canaries:/usr/bin", "LANG=C", "GIT_CONFIG_NOSYSTEM=1", "USER=u"}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot:      box.root,
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("cannot start the sandbox: %v; allow user namespaces (sysctl user.max_user_namespaces)", err)
	}
	log, err := os.ReadFile(filepath.Join(box.root, sandboxLog))
	if err != nil {
		t.Fatal(err)
	}
	after := box.tree(t)
	for file, state := range after {
		if before[file] != state {
			files = append(files, file)
		}
	}
	for file := range before {
		if _, there := after[file]; !there {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return slices.Compact(strings.Fields(string(log))), files
}

// tree returns the files of the sandbox with what they contain.
func (box *sandbox) tree(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(box.root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := "/" + strings.TrimPrefix(strings.TrimPrefix(file, box.root), "/")
		info, err := entry.Info()
		if err != nil || name == sandboxLog || name == "/dev/null" {
			return err
		}
		state := info.Mode().String()
		if info.Mode().IsRegular() {
			state += fmt.Sprint(info.Size())
			if strings.HasPrefix(name, "/home/") || strings.HasPrefix(name, "/tmp/") {
				data, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				state += string(data)
			}
		}
		files[name] = state
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
