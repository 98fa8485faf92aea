package shellcmd

import "testing"

// A variable that decides which programs run cannot be set without a click, whichever
// way it is set.
func TestNoVariableIsSetSilently(t *testing.T) {
	check(t, []example{
		{`export "PATH=.:/usr/bin"; git status`, "export|git status", "o"},
		{`export 'PATH=.'`, "export", "o"},
		{`export CI=1 "PATH=."`, "export", "o"},
		{`export P"ATH=."`, "export", "o"},
		{`export -n PATH`, "export", "o"},
		{`export PATH`, "export", "o"},
		{"export $x", "export", "o"},
		{"export CI=1; npm test", "export|npm test", "s"},
		{"declare CI=1", "declare", "o"},
		{"readonly CI", "readonly", "o"},
		{"typeset CI", "typeset", "o"},
		{"local CI", "local", "o"},
		{"command export PATH=.", "command|export", "o"},
		{"true {PATH}>/dev/null; git status", "true|git status", "o"},
		{"true {PATH}</dev/null", "true", "o"},
		{"true {PATH}>&-", "true", "o"},
		{"true 10>a", "true", "o a"}, // dash reads one digit
		{"printf abc%n PATH; git status", "printf|git status", "o"},
		{"printf %5n PATH", "printf", "o"},
		{"printf -v PATH .", "printf", "o"},
		{"printf %d 'PATH=5'", "printf", "o"}, // Zsh computes it
		{"printf %*s 'PATH=5' x", "printf", "o"},
		{`printf '%s\n' 'a=b' c`, "printf", ""},
		{"printf '%-10s|%5s%%' a b", "printf", ""},
		{"exit 'PATH=5'", "exit", "o"},
		{"shift 'x[$(rm a)]'", "shift", "o"},
		{"wait -p PATH", "wait", "o"},
		{"wait %1; exit 1", "wait|exit", ""},
		{"[ PATH=5 -eq 5 ]", "[", "o"},
		{"[ * ]", "[", "o"},
		{"[ 1 -eq '-x[$(rm a)]' ]", "[", "o"},
		{"test a = b; [ -n a.b ]", "test|[", ""},
	})
}

// What shells read differently needs a click.
func TestShellsThatReadDifferently(t *testing.T) {
	check(t, []example{
		{"[[ a || ./evil ]]", "", "o"},
		{"[[ x > canary ]]", "", "o"},
		{"[[ -f a ]] && make", "make", "o"},
		{"(( a > b ))", "", "o"},
		{"ls &> a ./evil", "ls", "o a"},
		{"ls &>> a", "ls", "o a"},
		{"ls >& a", "ls", "o a"},
		{"ls |& sort", "ls|sort", "o"},
		{"cat <<< a", "cat", "o"},
		{"cat <(ls)", "cat|ls", "o"},
		{"echo x >! deploy.sh", "echo", "o !"},
		{"rm x<1-5>y", "rm", "Do y x"},
		{`ls $'a'`, "ls", "o"},
		{`ls $"a"`, "ls", "o"},
		{`echo '\'' ; rm -rf src #'`, "echo", "o"},
		{`grep '\.go' a`, "grep", ""},
		{`git commit -m 'don'\''t'`, "git commit", ""},
		{"case a in a) ls;;& b) pwd;; esac", "ls|pwd", "o"},
		{"select a in b; do ls; done", "ls", "o"},
		{"ls #; rm -rf src", "ls", "o"},
		{"# only this", "", "o"},
		{"bash -c 'ls # a'", "bash|ls", ""},
		{"eval 'ls # a'", "eval|ls", "o"},
		{`fish -c "echo '\\'' ; rm -rf src #'"`, "fish", "o"},
		{"fish -c ls", "fish", "o"},
		{"tcsh a", "tcsh", "o"},
		{"nu -c ls", "nu", "o"},
		{"ls 2>&1 > a < b", "ls", "d a"},
	})
}
