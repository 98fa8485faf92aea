package protect

import "testing"

func TestSecretsAndProtectedFiles(t *testing.T) {
	for path, want := range map[string]struct{ secret, protected bool }{
		"src/parser.go": {false, false}, "README.md": {false, false}, "docs/a.md": {false, false}, "scripts/build.sh": {false, true}, "scripts/lint.sh": {false, false}, "a.txt": {false, false},
		".editorconfig": {false, false}, "data/x.json": {false, false}, "src/credentials.go": {false, false},
		".env": {true, true}, "x/.ENV.local": {true, true}, ".env.example": {false, true}, "id_rsa": {true, true}, "server.pem": {true, true}, ".ssh/config": {true, true},
		".git/config": {false, true}, ".GIT/hooks/pre-commit": {false, true}, "sub/.git/config": {false, true}, "GIT~1/config": {false, true}, ".git": {false, true},
		".git./config": {false, true}, ".git::$INDEX_ALLOCATION/config": {false, true}, ".g\u200cit/config": {false, true}, "．git/config": {false, true},
		".vscode/settings.json": {false, true}, ".husky/pre-commit": {false, true}, ".github/workflows/ci.yml": {false, true}, ".bashrc": {false, true}, ".envrc": {true, true},
		"Makefile": {false, true}, "makefile": {false, true}, "package.json": {false, true}, "setup.py": {false, true}, "conftest.py": {false, true}, "build.rs": {false, true},
		"node_modules/x/index.js": {false, true}, "CLAUDE.md": {false, true}, "AGENTS.md": {false, true}, "bin/tool": {false, true}, "": {false, true},
		"Dockerfile": {false, true}, "vite.config.ts": {false, true}, "tsconfig.json": {false, true}, ".npmrc": {true, true},
	} {
		if secret, protected := Secret(path), Protected(path, "/home/me/project"); secret != want.secret || protected != want.protected {
			t.Errorf("%q: secret %v, protected %v; want %+v", path, secret, protected, want)
		}
	}
	if !Protected("a.go", "/home/me/project/.git/x") {
		t.Error("a folder in .git is not protected")
	}
}
