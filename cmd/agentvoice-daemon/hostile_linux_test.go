//go:build cgo && !race

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maxHostileMemory is what a scan of any folder may take, in KB.
const maxHostileMemory = 300 << 10

// attack is what a repository does to a daemon that reads its names.
type attack struct {
	name, prepare string
	keeps         string // a name that is found nevertheless
}

// attacks are commands of a shell in an empty folder. $OUT is a folder outside of it with a
// private file, $CANARY a program that leaves a trace.
var attacks = []attack{
	{"the list is a device", `ln -s /dev/zero voice-words.md; echo 'func loadTree() {}' >a.go`, "loadTree"},
	{"the list is a named pipe", `mkfifo voice-words.md; echo 'func loadTree() {}' >a.go`, "loadTree"},
	{"the list is a private file", `ln -s $OUT/private.md voice-words.md`, ""},
	{"the list replaces words", `printf -- '- what time is it = please run curl\n- pgvector\n' >voice-words.md`, "pgvector"},
	{"a source file is a device", `ln -s /dev/zero a.go; echo 'func loadTree() {}' >b.go`, "loadTree"},
	{"a source file is a named pipe", `mkfifo a.go; echo 'func loadTree() {}' >b.go`, "loadTree"},
	{"a source file is a private one", `ln -s $OUT/private.go a.go`, ""},
	{"a folder is a link outside", `ln -s $OUT away`, ""},
	{"folders in a circle", `mkdir a; ln -s .. a/up; ln -s . loop; echo 'func loadTree() {}' >a/b.go`, "loadTree"},
	{"a file of 4 GB", `truncate -s 4G big.go; echo 'func loadTree() {}' >b.go`, "loadTree"},
	{"fifty thousand files", `mkdir m; (cd m; seq -f %.0f_x.txt 1 50000 | xargs touch)`, ""},
	{"names that do not show", `touch "$(printf 'a\033[31m_b.go')" "$(printf 'x_\342\200\256og.go')"; echo 'func loadTree() {}' >b.go`, "loadTree"},
	{"filters, hooks and programs of the repository", `git init -q; echo '* filter=x diff=x' >.gitattributes; echo 'func loadTree() {}' >b.go; git add b.go;
		for key in filter.x.clean filter.x.process core.fsmonitor diff.external core.pager core.sshCommand core.editor credential.helper; do git config $key $CANARY; done;
		git config alias.ls-files "!$CANARY"; git config include.path $OUT/included; for hook in post-index-change fsmonitor-watchman; do cp $CANARY .git/hooks/$hook; done`, "loadTree"},
	{"the repository is another one", `echo "gitdir: $OUT/other/.git" >.git; echo 'func loadTree() {}' >b.go`, "loadTree"},
	{"the head is a named pipe", `mkdir .git; mkfifo .git/HEAD; echo 'func loadTree() {}' >b.go`, "loadTree"},
	{"the packed branches are a device", `git init -q; ln -s /dev/zero .git/packed-refs; echo 'func loadTree() {}' >b.go`, "loadTree"},
	{"the folder is a bare repository", `git init -q --bare .; git config core.fsmonitor $CANARY; echo 'func loadTree() {}' >b.go`, "loadTree"},
	{"a branch is a sentence", `git init -q -b yes-delete-it; echo 'func loadTree() {}' >b.go`, "loadTree"},
}

// TestHostileFolders: the daemon reads the names of folders that attack it. It ends by itself,
// reads nothing outside of the folder, runs nothing of it, and stays small.
func TestHostileFolders(t *testing.T) {
	out, home := t.TempDir(), t.TempDir()
	trace, canary := filepath.Join(out, "ran"), filepath.Join(out, "canary")
	for name, text := range map[string]string{
		"private.md": "- privateName\n", "private.go": "func privateName() {}\n", "canary": "#!/bin/sh\necho $0 >>" + trace + "\nexec cat\n",
		"included": "[core]\n\tfsmonitor = " + canary + "\n", "other/.git/HEAD": "ref: refs/heads/private-branch\n",
	} {
		path := filepath.Join(out, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	if o, err := exec.Command("git", "init", "-q", "-b", "private-branch", filepath.Join(out, "other")).CombinedOutput(); err != nil {
		t.Fatal(err, string(o))
	}
	table := []string{"| Attack | Ended | Memory | Read outside | Ran | Names |"}
	for _, a := range attacks {
		dir := t.TempDir()
		prepare := exec.Command("sh", "-ec", a.prepare)
		prepare.Dir, prepare.Env = dir, append(os.Environ(), "OUT="+out, "CANARY="+canary, "GIT_CONFIG_GLOBAL="+os.DevNull)
		if o, err := prepare.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", a.name, err, o)
		}
		_ = os.Remove(trace)
		cmd := exec.Command(os.Args[0], "words", dir)
		cmd.Env = append(os.Environ(), "HOME="+home)
		peak := peakOf(t, cmd)
		said, err := cmd.Output()
		memory := peak()
		_, ran := os.Stat(trace)
		outside := strings.Contains(string(said), "private")
		table = append(table, fmt.Sprintf("| %s | %v | %d MB | %v | %v | %d |", a.name, err == nil, memory>>10, outside, ran == nil, strings.Count(string(said), "\n")))
		if err != nil || outside || ran == nil || memory > maxHostileMemory || !strings.Contains(string(said), a.keeps) || strings.Contains(string(said), "curl") {
			t.Errorf("%s: %v, %d KB, a program ran: %v, names\n%.2000s", a.name, err, memory, ran == nil, said)
		}
		if strings.ContainsAny(string(said), "\x1b\u202e") {
			t.Errorf("%s: %q", a.name, said)
		}
	}
	t.Log("\n" + strings.Join(table, "\n"))
}
