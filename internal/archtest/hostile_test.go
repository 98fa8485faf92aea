package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// readers are the packages that open files by a path, with the reason why none of these files is
// one of the workspace. Everything else reads with package workspace, whose files may be hostile.
var readers = map[string]string{
	"internal/workspace":      "it is the reader of the workspace",
	"internal/protect":        "it follows the links of a path, and opens nothing",
	"audio/engine":            "the folder of installed models, and the system's lists of processes and threads",
	"audio/engine/sherpa":     "a part of an installed model",
	"audio/hearing/moonshine": "a part of an installed model",
	"audio/voice/kokoro":      "parts of an installed model",
	"audio/voice/pronounce":   "the word lists that are installed with a model",
	"audio/wake":              "the word list of an installed engine",
	"audio/portaudio":         "the key of the user's sound server, and the system's load",
	"audio/wavio":             "recordings that the command line names",
	"cmd/agentvoice-daemon":   "files that the command line names, and the daemon's own",
	"csm/journal":             "journals that the command line names",
	"session/registry":        "the daemon's record",
	"internal/filelock":       "the daemon's own locks",
	"internal/daemon/watch":   "the daemon's own folder of sockets",
	"internal/daemon/rpc":     "it writes diagnostics where the user wants them",
	"internal/models":         "the folder of installed models",
	"internal/assets":         "it opens what is installed with the program, to see whether it may",
}

// starters are the packages that start programs, with what they start.
var starters = map[string]string{
	"internal/git":          "git, on a git folder of its own",
	"cmd/agentvoice-daemon": "itself, for engines",
	"copilot/acp":           "the coding agent that the user chose",
	"copilot/offline":       "the tests of the folder, after the user's yes",
	"internal/models":       "pip, for the engine's package",
}

// tools of this repository run on its own files and are no part of the daemon.
var tools = []string{"bench/...", "csm/csmtest", "internal/archtest", "internal/contract", "internal/gen", "internal/memo", "internal/official", "internal/prove/...", "internal/testutil/...", "internal/tools/..."}

// opening are the functions that open or list files by a path, or start programs.
var opening = map[string]map[string][]string{
	"files": {
		"os":            {"Open", "OpenFile", "OpenInRoot", "OpenRoot", "ReadFile", "ReadDir", "DirFS", "CopyFS", "Create", "Readlink"},
		"path/filepath": {"Walk", "WalkDir", "Glob"},
		"io/ioutil":     {"ReadFile", "ReadDir"},
	},
	"programs": {
		"os/exec": {"Command", "CommandContext", "LookPath"},
		"os":      {"StartProcess"},
		"syscall": {"Exec", "ForkExec", "StartProcess"},
	},
}

// TestWorkspaceIsReadInOnePlace: files of the workspace are hostile, and so is its repository.
func TestWorkspaceIsReadInOnePlace(t *testing.T) {
	used := map[string]bool{}
	for _, f := range tree(t) {
		if f.isTest || matches(tools, f.pkg()) {
			continue
		}
		for _, at := range opens(f, "files") {
			used["files "+f.pkg()] = true
			if readers[f.pkg()] == "" {
				t.Errorf("%s: open files of the workspace with internal/workspace; if it can be none, add the package to readers with the reason", at)
			}
		}
		for _, at := range opens(f, "programs") {
			used["programs "+f.pkg()] = true
			if starters[f.pkg()] == "" {
				t.Errorf("%s: run git with internal/git; if it is another program, add the package to starters and say which", at)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && slices.Contains(programOf(call), "git") && f.pkg() != "internal/git" {
				t.Errorf("%s: run git with internal/git", f.at(call.Pos()))
			}
			return true
		})
	}
	for pkg := range readers {
		if !used["files "+pkg] {
			t.Errorf("%s opens no files; remove it from readers", pkg)
		}
	}
	for pkg := range starters {
		if !used["programs "+pkg] {
			t.Errorf("%s starts no programs; remove it from starters", pkg)
		}
	}
}

// opens returns where a file uses a function of a kind, also as a value.
func opens(f source, kind string) (places []string) {
	names := importNames(f)
	ast.Inspect(f.ast, func(n ast.Node) bool {
		of, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := of.X.(*ast.Ident); ok && pkg.Obj == nil && slices.Contains(opening[kind][names[pkg.Name]], of.Sel.Name) {
			places = append(places, f.at(of.Pos())+" uses "+names[pkg.Name]+"."+of.Sel.Name)
		}
		return true
	})
	return places
}

// The walk must find each form.
func TestOpenedFilesAreFound(t *testing.T) {
	const text = `package p

import (
	"os"
	"os/exec"
	files "path/filepath"
)

var open = os.Open

func bad(dir string) {
	_, _ = os.ReadFile(dir)
	_ = files.WalkDir(dir, nil)
	_ = exec.Command("git", "status")
	_, _ = os.Stat(dir)
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "bad.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := source{path: "bad.go", ast: file, fset: fset}
	for kind, want := range map[string]string{
		"files":    "bad.go:9 uses os.Open, bad.go:12 uses os.ReadFile, bad.go:13 uses path/filepath.WalkDir",
		"programs": "bad.go:14 uses os/exec.Command",
	} {
		if got := strings.Join(opens(f, kind), ", "); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}
