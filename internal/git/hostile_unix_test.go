//go:build unix

package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700))
}

// gitIn runs git as its users do, in a home folder without settings.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(clean(os.Environ()), "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=file")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// repository creates a repository with one commit and one changed, one new and one ignored file.
func repository(t *testing.T) string {
	dir := t.TempDir()
	put(t, dir, "a.go", "package a\n")
	put(t, dir, "sub/b.go", "package sub\n")
	put(t, dir, ".gitignore", "ignored.go\n")
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "add", ".")
	gitIn(t, dir, "commit", "-q", "-m", "Keep the tail")
	gitIn(t, dir, "branch", "feature/tail")
	put(t, dir, "a.go", "package changed\n")
	put(t, dir, "new.go", "package a\n")
	put(t, dir, "ignored.go", "package a\n")
	return dir
}

// all reads everything that the package can read of a folder.
func all(t *testing.T, dir string) (branch string, branches, files, changes []string, c Commit, err error) {
	t.Helper()
	r, err := Find(t.Context(), dir)
	if err != nil {
		return "", nil, nil, nil, Commit{}, err
	}
	defer r.Close()
	branches, e1 := r.Branches(t.Context(), 10)
	files, e2 := r.Files(t.Context())
	changes, e3 := r.Changes(t.Context())
	c, e4 := r.LastCommit(t.Context())
	return r.Branch(), branches, files, changes, c, errors.Join(e1, e2, e3, e4)
}

func check(t *testing.T, dir string) {
	t.Helper()
	branch, branches, files, changes, c, err := all(t, dir)
	slices.Sort(branches)
	slices.Sort(files)
	if err != nil || branch != "main" || !slices.Equal(branches, []string{"feature/tail", "main"}) ||
		!slices.Contains(files, "a.go") || !slices.Contains(files, "sub/b.go") || !slices.Contains(files, "new.go") || slices.Contains(files, "ignored.go") ||
		!slices.Contains(changes, "a.go") || !slices.Contains(changes, "new.go") || c.Subject != "Keep the tail" || c.Author != "Ada" || c.Age == "" {
		t.Errorf("branch %q, branches %q, files %q, changes %q, commit %+v: %v", branch, branches, files, changes, c, err)
	}
}

func TestReads(t *testing.T) {
	dir := repository(t)
	check(t, dir)
	r, err := Find(t.Context(), filepath.Join(dir, "sub"))
	must(t, err)
	defer r.Close()
	if files, err := r.Files(t.Context()); err != nil || !slices.Equal(files, []string{"b.go"}) {
		t.Errorf("the files of a subfolder: %q, %v", files, err)
	}
	gitIn(t, dir, "add", ".")
	gitIn(t, dir, "mv", "new.go", "renamed.go")
	gitIn(t, dir, "checkout", "-q", "--detach")
	if branch, _, _, changes, _, err := all(t, dir); branch != "" || err != nil || !slices.Contains(changes, "renamed.go") || slices.Contains(changes, "new.go") {
		t.Errorf("branch %q, changes %q: %v", branch, changes, err)
	}
	gitIn(t, dir, "gc", "-q") // packs the branches and objects
	gitIn(t, dir, "checkout", "-q", "main")
	check2, branches, _, _, c, err := all(t, dir)
	if err != nil || check2 != "main" || len(branches) != 2 || c.Subject != "Keep the tail" {
		t.Errorf("packed: %q, %q, %+v: %v", check2, branches, c, err)
	}
	gitIn(t, dir, "update-index", "--split-index")
	put(t, dir, "b.go", "package b\n")
	gitIn(t, dir, "add", "b.go")
	if _, _, files, changes, _, err := all(t, dir); err != nil || !slices.Contains(files, "sub/b.go") || !slices.Contains(files, "b.go") || slices.Contains(changes, "sub/b.go") {
		t.Errorf("a split index: %q, %q: %v", files, changes, err)
	}
	put(t, dir, ".git/HEAD", noHead+"\n")
	if _, err := Find(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("reftable: %v", err)
	}
	if _, err := Find(t.Context(), t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("no repository: %v", err)
	}
	fresh := t.TempDir()
	gitIn(t, fresh, "init", "-q", "-b", "main", "--object-format=sha256")
	put(t, fresh, "x", "x")
	gitIn(t, fresh, "add", ".")
	gitIn(t, fresh, "commit", "-q", "-m", "SHA-256")
	if _, _, _, changes, c, err := all(t, fresh); err != nil || len(changes) != 0 || c.Subject != "SHA-256" {
		t.Errorf("SHA-256: %q, %+v: %v", changes, c, err)
	}
}

func TestWorktreesAndSubmodules(t *testing.T) {
	dir := repository(t)
	tree := filepath.Join(t.TempDir(), "tree")
	gitIn(t, dir, "worktree", "add", "-q", tree, "feature/tail")
	if branch, branches, files, changes, _, err := all(t, tree); branch != "feature/tail" || len(branches) != 2 || !slices.Contains(files, "a.go") || len(changes) != 0 || err != nil {
		t.Errorf("a worktree: %q, %q, %q, %q: %v", branch, branches, files, changes, err)
	}
	outer := repository(t)
	gitIn(t, outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", dir, "inner")
	if branch, _, files, _, _, err := all(t, filepath.Join(outer, "inner")); branch != "main" || !slices.Contains(files, "sub/b.go") || err != nil {
		t.Errorf("a submodule: %q, %q: %v", branch, files, err)
	}
	check(t, outer)
}

// TestNothingOfTheRepositoryRuns: a repository names a canary wherever git would start a
// program. First git itself, run as a user runs it, has to start some of them, so that the
// canaries work.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	for _, place := range []string{"top", "sub"} {
		dir := repository(t)
		ran := filepath.Join(t.TempDir(), "ran")
		canary := filepath.Join(dir, "canary.sh")
		put(t, dir, "canary.sh", "#!/bin/sh\necho \"$0 $*\" >>'"+ran+"'\nexec cat\n")
		arm(t, dir, canary)
		cmd := exec.Command("git", "status", "--porcelain")
		cmd.Dir, cmd.Env = dir, clean(os.Environ())
		_ = cmd.Run()
		if text, err := os.ReadFile(ran); err != nil || len(text) == 0 {
			t.Fatalf("the canaries do not work: %v", err)
		}
		must(t, os.Remove(ran))
		for _, name := range []string{"GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "GIT_EDITOR", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_PROXY_COMMAND"} {
			t.Setenv(name, canary)
		}
		t.Setenv("GIT_CONFIG_COUNT", "1")
		t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
		t.Setenv("GIT_CONFIG_VALUE_0", canary)
		t.Setenv("GIT_CONFIG_PARAMETERS", "'core.fsmonitor="+canary+"'")
		t.Setenv("GIT_DIR", filepath.Join(dir, "bare"))
		t.Setenv("GIT_EXEC_PATH", dir)
		switch place {
		case "top":
			check(t, dir)
		case "sub":
			if _, _, files, _, _, err := all(t, filepath.Join(dir, "sub")); err != nil || !slices.Equal(files, []string{"b.go"}) {
				t.Errorf("the files of a subfolder: %q, %v", files, err)
			}
		}
		if text, err := os.ReadFile(ran); err == nil {
			t.Errorf("in %s ran:\n%s", place, text)
		}
	}
}

// arm names the canary in every setting, attribute and hook of a repository.
func arm(t *testing.T, dir, canary string) {
	t.Helper()
	put(t, dir, ".gitattributes", "* filter=evil diff=evil merge=evil text=auto\n*.go filter=evil\n")
	put(t, dir, ".git/info/attributes", "* filter=evil2 diff=evil\n")
	put(t, dir, "included", "[core]\n\tfsmonitor = "+canary+"\n[filter \"evil2\"]\n\tclean = "+canary+"\n\tprocess = "+canary+"\n\trequired = true\n")
	put(t, dir, ".gitmodules", "[submodule \"s\"]\n\tpath = s\n\turl = ./s\n\tupdate = !"+canary+"\n\tignore = none\n")
	set := func(key, value string) { gitIn(t, dir, "config", key, value) }
	for _, key := range []string{
		"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter.evil2.clean", "filter.evil2.process",
		"diff.external", "diff.evil.command", "diff.evil.textconv", "merge.evil.driver", "core.pager", "pager.status", "pager.log", "core.editor", "sequence.editor", "core.sshCommand",
		"core.askPass", "core.gitProxy", "core.alternateRefsCommand", "credential.helper", "gpg.program", "gpg.ssh.program", "interactive.diffFilter", "uploadpack.packObjectsHook", "trailer.x.command",
		"sendemail.smtpserver", "browser.x.cmd", "man.x.cmd", "difftool.x.cmd", "mergetool.x.cmd", "receive.procReceiveRefs", "protocol.ext.allow", "remote.origin.vcs", "remote.origin.uploadpack", "log.showSignature",
	} {
		set(key, canary)
	}
	for _, name := range []string{"status", "log", "ls-files", "for-each-ref", "config"} {
		set("alias."+name, "!"+canary)
	}
	set("log.showSignature", "true")
	set("filter.evil.required", "true")
	set("submodule.s.update", "!"+canary)
	set("remote.origin.promisor", "true")
	set("remote.origin.url", "ext::"+canary)
	set("extensions.partialClone", "origin")
	set("core.repositoryFormatVersion", "1")
	set("include.path", filepath.Join(dir, "included"))
	set("includeIf.gitdir:/.path", filepath.Join(dir, "included"))
	set("core.hooksPath", filepath.Join(dir, "hooks"))
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "pre-auto-gc", "reference-transaction", "post-checkout"} {
		for _, place := range []string{"hooks", ".git/hooks"} {
			put(t, dir, place+"/"+hook, "#!/bin/sh\nexec '"+canary+"'\n")
		}
	}
	for _, name := range []string{"git", "git-status", "git-log", "git-ls-files", "git-remote-ext", "cat", "less"} {
		put(t, dir, name, "#!/bin/sh\nexec '"+canary+"'\n")
	}
	// A bare repository inside of the folder, and a nested one with its own canaries.
	gitIn(t, dir, "init", "-q", "--bare", "bare")
	gitIn(t, filepath.Join(dir, "bare"), "config", "core.fsmonitor", canary)
	gitIn(t, dir, "init", "-q", "nested")
	gitIn(t, filepath.Join(dir, "nested"), "config", "core.fsmonitor", canary)
	put(t, dir, "nested/x.go", "package x\n")
	set("core.fsmonitor", canary) // last, because every command runs it
}

// TestBareFolderIsNoRepository: a folder that looks like a git folder is a folder.
func TestBareFolderIsNoRepository(t *testing.T) {
	dir := t.TempDir()
	gitIn(t, dir, "init", "-q", "--bare", ".")
	if _, err := Find(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("a bare repository: %v", err)
	}
}

// TestGitFolderElsewhere: a file or link .git that leads out of its folder reads nothing of a
// repository that does not know the folder.
func TestGitFolderElsewhere(t *testing.T) {
	private := repository(t)
	for name, make := range map[string]func(dir string){
		"file":     func(dir string) { put(t, dir, ".git", "gitdir: "+filepath.Join(private, ".git")+"\n") },
		"relative": func(dir string) { put(t, dir, ".git", "gitdir: ../"+filepath.Base(private)+"/.git\n") },
		"link":     func(dir string) { must(t, os.Symlink(filepath.Join(private, ".git"), filepath.Join(dir, ".git"))) },
		"common": func(dir string) {
			put(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
			put(t, dir, ".git/commondir", filepath.Join(private, ".git")+"\n")
		},
		"objects": func(dir string) {
			put(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
			must(t, os.MkdirAll(filepath.Join(dir, ".git/refs"), 0o700), os.Symlink(filepath.Join(private, ".git/objects"), filepath.Join(dir, ".git/objects")))
		},
		"refs": func(dir string) {
			put(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
			must(t, os.MkdirAll(filepath.Join(dir, ".git/objects"), 0o700), os.Symlink(filepath.Join(private, ".git/refs"), filepath.Join(dir, ".git/refs")))
		},
		"index": func(dir string) {
			gitIn(t, dir, "init", "-q")
			must(t, os.Symlink(filepath.Join(private, ".git/index"), filepath.Join(dir, ".git/index")))
		},
	} {
		dir := t.TempDir()
		make(dir)
		_, branches, files, _, c, err := all(t, dir)
		if len(branches) != 0 || slices.Contains(files, "a.go") || c.Subject != "" || err == nil {
			t.Errorf("%s: branches %q, files %q, commit %+v: %v", name, branches, files, c, err)
		}
	}
}

// TestGitFolderOfPipesAndDevices: the files of a git folder are devices and pipes. Were one of
// them read or waited for, this test would not end.
func TestGitFolderOfPipesAndDevices(t *testing.T) {
	for _, name := range []string{".git", ".git/HEAD", ".git/config", ".git/packed-refs", ".git/index", ".git/refs/heads/main", ".git/commondir", ".git/shallow", ".git/info/exclude",
		".git/objects/info/alternates", ".git/objects", ".git/refs"} {
		for _, kind := range []string{"pipe", "device"} {
			dir := repository(t)
			path := filepath.Join(dir, filepath.FromSlash(name))
			must(t, os.RemoveAll(path))
			if kind == "pipe" {
				must(t, syscall.Mkfifo(path, 0o600))
			} else {
				must(t, os.Symlink("/dev/zero", path))
			}
			_, _, _, _, c, err := all(t, dir)
			if err == nil && c.Subject != "Keep the tail" {
				t.Errorf("%s is a %s: %+v", name, kind, c)
			}
		}
	}
}

// What is read in place can still hold git up, but it ends with its caller.
func TestEndsWithItsCaller(t *testing.T) {
	dir := repository(t)
	r, err := Find(t.Context(), dir)
	must(t, err)
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Changes(ctx); err == nil {
		t.Error("a command after the end succeeds")
	}
}

func TestOutputIsBounded(t *testing.T) {
	w := &limited{full: func() {}}
	for range 3 {
		if n, err := w.Write(make([]byte, outputLimit/2+1)); n != outputLimit/2+1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if w.text.Len() != outputLimit || !w.more {
		t.Errorf("kept %d bytes, more %v", w.text.Len(), w.more)
	}
}

func TestEnvironmentIsClean(t *testing.T) {
	env := clean([]string{"PATH=/bin", "GIT_DIR=/x", "git_ssh=x", "Pager=x", "SSH_ASKPASS=x", "GIT_TRACE=/x", "EDITOR=x"})
	if env[0] != "PATH=/bin" || slices.ContainsFunc(env, func(e string) bool { return strings.HasSuffix(e, "=x") || strings.HasSuffix(e, "=/x") }) {
		t.Errorf("%q", env)
	}
}
