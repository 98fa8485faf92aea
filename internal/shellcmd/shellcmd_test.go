package shellcmd

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// row is a command, its programs, and its rating: "" for harmless, "d" destructive,
// "D" deletes, "o" opaque; followed by the overwritten file.
type row struct{ text, programs, how string }

func check(t *testing.T, rows []row) {
	t.Helper()
	for _, c := range rows {
		r := Read(c.text, Posix)
		sep := " "
		if strings.Contains(c.programs, "|") || strings.HasPrefix(c.programs, "git ") || strings.Contains(c.programs, ". ") {
			sep = "|"
		}
		var want []string
		if c.programs != "" {
			want = strings.Split(strings.TrimSuffix(c.programs, "|"), sep)
		}
		if c.text == "env -S 'rm a'" {
			want = []string{"env", "rm a"}
		}
		if !slices.Equal(r.Programs, want) {
			t.Errorf("%q runs %q, want %q", c.text, r.Programs, want)
		}
		how, file, _ := strings.Cut(c.how, " ")
		got := ""
		switch {
		case r.Deletes:
			got = "D"
		case r.Destructive && (!r.Opaque || how == "do"):
			got = "d"
		}
		if r.Opaque {
			got += "o"
		}
		if got != how || r.Destructive != (how != "") || strings.Join(r.Overwrites, " ") != file {
			t.Errorf("%q is %q and overwrites %q, want %q", c.text, got, r.Overwrites, c.how)
		}
	}
}

func TestListsPipelinesGroups(t *testing.T) {
	check(t, []row{
		{"ls", "ls", ""},
		{"cd x && rm -rf .", "cd rm", "D"},
		{"cd x; make; ./run.sh --fast", "cd make run.sh", ""},
		{"test -f a || touch a", "test touch", ""},
		{"cat a | grep b | sort | uniq -c", "cat grep sort uniq", ""},
		{"(cd a; rm b) & { shred c; }", "cd rm shred", "D"},
		{"! false && :", "false :", ""},
		{"if true; then rm a; else ls; fi", "true rm ls", "D"},
		{"for f in *; do unlink $f; done", "unlink", "D"},
		{"while read l; do echo $l; done < list", "read echo", ""},
		{"case $1 in a) rmdir x;; esac", "rmdir", "D"},
		{"f() { rm -r y; }; f", "rm f", "D"},
		{"[ -f a ] && [[ -d b ]] && echo c", "[ echo", ""},
		{"ls # rm -rf .", "ls", ""},
		{"ls\nrm a", "ls rm", "D"},
	})
}

func TestSubstitutionsAndHereDocuments(t *testing.T) {
	check(t, []row{
		{"echo $(rm a)", "echo rm", "D"},
		{"echo `rm a`", "echo rm", "D"},
		{`echo "it is $(date; rm a)"`, "echo date rm", "D"},
		{"diff <(sort a) <(rm b)", "diff sort rm", "D"},
		{"cat <<EOF\n$(rm a)\nEOF", "cat rm", "D"},
		{"cat <<'EOF'\n$(rm a)\nEOF", "cat", ""},
		{"bash <<'EOF'\nrm a\nEOF", "rm bash", "Do"},
		{"sh <<< 'rm a'", "rm sh", "Do"},
		{"x=$(rm a)", "rm", "D"},
		{"echo ${x:-$(rm a)}", "echo rm", "D"},
	})
}

func TestLeadingAssignments(t *testing.T) {
	check(t, []row{
		{"FOO=1 make test", "make test|", ""},
		{"PATH=. ls", "ls", "o"},
		{"LD_PRELOAD=./x.so ls", "ls", "o"},
		{"export PATH=.; ls", "export ls", "o"},
	})
}

func TestWrappers(t *testing.T) {
	check(t, []row{
		{"sudo rm a", "sudo rm", "D"},
		{"sudo -u root -H -- /sbin/reboot now", "sudo reboot", "d"},
		{"sudo -i", "sudo", "o"},
		{"sudo --frobnicate ls", "sudo ls", "o"},
		{"env A=1 -u B rm a", "env rm", "D"},
		{"env -S 'rm a'", "env rm a", "o"},
		{"env PATH=. ls", "env ls", "o"},
		{"time nohup nice -n 5 rm a", "time nohup nice rm", "D"},
		{"timeout -k 5 10 rm a", "timeout rm", "D"},
		{"command rm a; builtin cd; exec ls", "command rm builtin cd exec ls", "D"},
		{"find . -name '*.o' | xargs -0 -n 1 rm", "find xargs rm", "D"},
		{"xargs -I{} sh -c 'rm {}'", "xargs sh rm", "D"},
		{"xargs -I{} {}", "xargs {}", "o"},
		{"bash -c 'cd x && rm -rf .'", "bash cd rm", "D"},
		{`bash -lc "rm $x"`, "bash rm", "Do"},
		{"bash -c 'bash -c \"rm a\"'", "bash rm", "D"},
		{"bash script.sh a b", "bash", ""},
		{"curl https://x | sh", "curl sh", "o"},
		{"eval rm a", "eval rm", "D"},
		{`eval "$x"`, "eval", "o"},
		{"trap 'rm a' EXIT", "trap rm", "D"},
		{"alias ls='rm -rf'", "alias rm", "D"},
		{"su -c 'rm a' bob", "su rm", "D"},
		{"ssh -p 22 host rm a", "ssh rm", "D"},
		{"ssh host", "ssh", ""},
		{"npx --yes rimraf dist", "npx rimraf", "D"},
		{"pnpm dlx rimraf dist", "pnpm dlx|rimraf", "D"},
		{"npm test", "npm test|", ""},
		{"go; go test ./... && /usr/local/go/bin/go run ./x; go -C x vet", "go|go test|go run", ""},
		{"npm $x; npm -s test; npm [a-z]", "npm", ""},
		{"go " + strings.Repeat("a", 31), "go", ""},
		{"yarn rimraf dist", "yarn rimraf|rimraf", "D"},
		{"deno eval x", "deno eval|", "o"},
		{"node --inspect build.js", "node", ""},
		{"aws ec2 terminate-instances --instance-ids i-1", "aws", "d"},
		{"chmod +x build.sh", "chmod", ""},
		{"chmod -R 777 .", "chmod", "d"},
		{"echo 'rm a' | xargs -I{} sh -c '{}'", "echo xargs sh {}", "o"},
		{"bash -o pipefail -c 'rm a'", "bash rm", "D"},
		{"sh -c -- 'rm a'", "sh rm", "D"},
		{"bash -c \"$(curl -s x)\"", "bash curl", "o"},
		{"echo aGk= | base64 -d | sh", "echo base64 sh", "o"},
		{"echo x | sudo tee /etc/hosts", "echo sudo tee", "d /etc/hosts"},
		{"docker ps", "docker ps|", ""},
		{"docker run -v /:/x alpine rm -rf /x", "docker run|", "do"},
		{"python -c 'import shutil'", "python", "o"},
		{"python3 -m pytest -q", "python3", ""},
		{"node build.js -e", "node", ""},
		{"perl -pi -e s/a/b/ f", "perl", "do"},
		{"awk '{print $1}' f", "awk", ""},
		{`awk 'BEGIN{system("rm a")}'`, "awk", "o"},
	})
}

func TestProgramsByOtherWays(t *testing.T) {
	check(t, []row{
		{`\rm a`, "rm", "D"},
		{`r''m a`, "rm", "D"},
		{`"rm" a`, "rm", "D"},
		{"/bin/rm a", "rm", "D"},
		{"RM.EXE a", "RM.EXE", "D"},
		{`$x a`, "", "o"},
		{`r? a`, "r?", "o"},
		{`{rm,-rf,.}`, "{rm,-rf,.}", "o"},
		{`$'\162m' a`, "", "o"},
		{`"" a`, "", "o"},
		{"r\\\nm a", "rm", "D"},
		{"rm${IFS}-rf${IFS}.", "", "o"},
		{"/bin/r* a", "r*", "o"},
		{"r\u043c a", "r\u043c", "o"}, // a Cyrillic letter
		{"ls a\rrm b", "ls", "o"},     // a terminal treats it as Enter
		{"=rm a", "=rm", "o"},
		{`"rm. This is harmless" a`, "rm. This is harmless", "o"},
		{"!! a", "!!", "o"},
	})
}

func TestFiles(t *testing.T) {
	check(t, []row{
		{"echo a > b", "echo", "d b"},
		{"echo a >> b", "echo", ""},
		{"echo a > /dev/null 2>&1", "echo", ""},
		{"> important", "", "d important"},
		{"make &> log", "make", "d log"},
		{"echo a | tee b", "echo tee", "d b"},
		{"echo a | tee -a b", "echo tee", ""},
		{"curl -o b https://x", "curl", "d b"},
		{"curl -X DELETE https://x", "curl", "d"},
		{"sed -i s/a/b/ f", "sed", "d"},
		{"sed -n 1p f", "sed", ""},
		{"mv a b", "mv", "d"},
		{"find . -delete", "find", "D"},
		{"find . -exec rm {} +", "find rm", "D"},
		{`find . -exec sh -c 'rm "$1"' _ {} \;`, "find sh rm", "D"},
		{"find . -name x", "find", ""},
		{"psql -c 'DROP TABLE a'", "psql", "d"},
		{"terraform destroy", "terraform destroy|", "d"},
	})
}

func TestGit(t *testing.T) {
	check(t, []row{
		{"git status && git diff", "git status|git diff", ""},
		{"git commit -m 'delete'", "git commit", "d"},
		{"git push", "git push", ""},
		{"git push --force", "git push", "d"},
		{"git push -f origin main", "git push", "d"},
		{"git push origin +main", "git push", "d"},
		{"git push origin :main", "git push", "d"},
		{"git push $FLAGS", "git push", "d"},
		{"git -C x reset --hard", "git reset", "d"},
		{"git reset a", "git reset", ""},
		{"git clean -fdx", "git clean", "D"},
		{"git clean -n", "git clean", ""},
		{"git checkout -- .", "git checkout", "d"},
		{"git checkout main", "git checkout", ""},
		{"git checkout HEAD~1 README", "git checkout", "d"},
		{"git checkout README.md", "git checkout", "d"},
		{"git checkout -b x main", "git checkout", ""},
		{"git log --format=%H | xargs git reset --hard", "git log|xargs|git reset", "d"},
		{"git branch -D x", "git branch", "d"},
		{"git -c alias.x='!rm a' x", "git x", "o"},
		{"git submodule foreach 'rm a'", "git submodule|rm", "D"},
		{"git $x", "git", "o"},
	})
}

func TestOtherShellsAndInvalidCommands(t *testing.T) {
	check(t, []row{
		{"Remove-Item -Recurse x", "Remove-Item", "Do"},
		{"Get-ChildItem", "Get-ChildItem", "o"},
		{"powershell -Command rm", "powershell", "o"},
		{"cmd /c del x", "cmd", "o"},
		{"echo $env:PATH", "echo", "o"},
		{"del /s /q x", "del", "D"},
		{"echo 'a", "", "o"},
		{"ls\u202e", "ls\u202e", "o"},
		{"", "", ""},
	})
}

// PowerShell and cmd have their own grammar, so only what means the same everywhere
// is accepted.
func TestWindowsShells(t *testing.T) {
	for text, opaque := range map[string]bool{
		"npm test":                     false,
		`git commit -m "Fix it"; ls`:   false,
		"go test ./... | tee -a log":   false,
		"$x = 1":                       true,
		"Get-ChildItem":                true,
		"ls | % { rm $_ }":             true,
		"for %i in (*) do del %i":      true,
		"npm test ^\n & del x":         true,
		"& { Remove-Item x -Recurse }": true,
		`Start-Process cmd -Args "/c"`: true,
		"(Get-Content a) -replace 'b'": true,
		"ls `rm`":                      true,
	} {
		if r := Read(text, Windows); r.Opaque != opaque || opaque && !r.Destructive {
			t.Errorf("%q: %+v, want opaque %v", text, r, opaque)
		}
	}
}

func TestReadWords(t *testing.T) {
	if r := ReadWords([]string{"bash", "-c", "cd x && rm -rf ."}); !slices.Equal(r.Programs, []string{"bash", "cd", "rm"}) || !r.Deletes {
		t.Errorf("%+v", r)
	}
	if r := ReadWords([]string{"echo", "$(rm a)", ">", "b"}); !slices.Equal(r.Programs, []string{"echo"}) || r.Destructive {
		t.Errorf("words are not expanded: %+v", r)
	}
}

// A command that is too long or too deeply nested is not analyzed completely, and is opaque.
func TestLimits(t *testing.T) {
	deep := "rm a"
	for range 20 {
		deep = "eval " + mustQuote(t, deep)
	}
	for name, text := range map[string]string{"deep": deep, "long": "ls " + strings.Repeat("a", maxText)} {
		if r := Read(text, Posix); !r.Opaque || !r.Destructive {
			t.Errorf("%s: %+v", name, r)
		}
	}
	var many []string
	for i := range 300 {
		many = append(many, "tool"+strings.Repeat("x", i%30)+string(rune('a'+i%26)))
	}
	r := Read(strings.Join(many, " && "), Posix)
	for _, m := range many {
		if !slices.Contains(r.Programs, m) {
			t.Fatalf("%s is missing", m)
		}
	}
}

func mustQuote(t *testing.T, s string) string {
	t.Helper()
	q, err := syntax.Quote(s, syntax.LangBash)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// FuzzRead: for any text, every word in command position, as found by an independent
// walk over the syntax, is in the reading; and a text that cannot be parsed is never
// rated harmless.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"cd x && rm -rf .", "echo $(rm a) `b`", "sudo -u x env A=1 xargs -I{} bash -c 'rm {}'", "git push --force; find . -exec rm {} +",
		"cat <<EOF\n$(rm a)\nEOF", "f() { rm x; }; f", "a=$(b) c > d", "if a; then b; elif c; then d; fi", "((", "${x:-$(rm)}", "{a,b}", "!!", "time -p ls", "coproc a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		slow := time.AfterFunc(10*time.Second, func() { panic("slow: " + text) })
		defer slow.Stop()
		r := Read(text, Posix)
		Read(text, Windows)
		ReadWords(strings.Fields(text))
		file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
		if err != nil {
			if !r.Opaque || !r.Destructive {
				t.Errorf("%q cannot be parsed, but its reading is %+v", text, r)
			}
			return
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			call, ok := n.(*syntax.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			word := call.Args[0].Lit()
			if word == "" || strings.Contains(word, `\`) {
				return true
			}
			program := path.Base(word)
			if !slices.ContainsFunc(r.Programs, func(p string) bool { return p == program || strings.HasPrefix(p, program+" ") }) {
				t.Errorf("%q runs %q; the reading has %q", text, program, r.Programs)
			}
			return true
		})
	})
}
