package shellcmd

import "testing"

// A pattern may expand to the name of a file that is an option.
func TestPatternsMayBeOptions(t *testing.T) {
	check(t, []example{
		{"rg TODO *", "rg", "o"},
		{"sort *", "sort", "o"},
		{"git diff *", "git diff", "o"},
		{"git diff -- *", "git diff", ""},
		{"gofmt -l *.go", "gofmt", "o"},
		{"eslint *.js", "eslint", "o"},
		{"eslint src/*.js", "eslint", ""},
		{"rm *", "rm", "Do *"},
		{"rm -- *.o", "rm", "Ds *.o"},
		{"rm ./*.o", "rm", "Ds ./*.o"},
		{"sort -- *", "sort", ""},
		{"cat *; ls *.go; wc -l *; grep x *", "cat|ls|wc|grep", ""},
		{"base64 *", "base64", "o"},
	})
}

// A pattern may expand to several words, and move others to where they mean something else.
func TestPatternsMayBeSeveralWords(t *testing.T) {
	check(t, []example{
		{"uniq a*", "uniq", "o"},
		{"uniq -f a*", "uniq", "o"},
		{"cp src/*", "cp", "o"},
		{"cp src/* out", "cp", "d out"},
		{"printf a* PATH", "printf", "o"},
		{"find . -name *", "find", "o"},
		{"find . -name a*", "find", "o"},
		{"dd o*", "dd", "o"},
		{"git push origin m*", "git push", "o"},
		{"timeout 5* ls", "timeout|ls", "o"},
	})
}

// Git reads its operands as patterns, also if they are quoted.
func TestPatternsOfGit(t *testing.T) {
	check(t, []example{
		{"git clean -fd ':!keep.txt'", "git clean", "Do :!keep.txt"},
		{"git restore ':!x'", "git restore", "o :!x"},
		{"git restore :/", "git restore", "op :/"},
		{"git checkout -- ':!x'", "git checkout", "o :!x"},
		{"git checkout ':^x'", "git checkout", "o :^x"},
		{"git add ':!x'", "git add", "o"},
		{"git stash push ':!x'", "git stash push", "o"},
		{"git rm -r ':(exclude)x'", "git rm", "Do :(exclude)x"},
		{"git clean -fdx '*'", "git clean", "Ds *"},
		{"git restore 'src/*.go'", "git restore", "ds src/*.go"},
		{"git --icase-pathspecs clean -fd x", "git clean", "Do x"},
		{"git clean -fd src", "git clean", "D src"},
		{"git push origin :main", "git push", "ds"},
	})
}

// A program may read in its folder what it runs: the folder is spoken. A repository may
// have another one of Git in it, with its own settings.
func TestTheFolderOfAProgramIsSpoken(t *testing.T) {
	check(t, []example{
		{"cd evil && make", "cd|make", "s"},
		{"cd evil && npm test", "cd|npm test", "s"},
		{"cd evil && pylint x", "cd|pylint", "s"},
		{"cd evil && frobnicate", "cd|frobnicate", "ds"},
		{"cd evil && ls && sort x", "cd|ls|sort", ""},
		{"cd evil && touch x", "cd|touch", " evil/x"},
		{"cd evil && cd .. && make", "cd|make", "o"},
		{"cd evil && git status", "cd|git status", "o"},
		{"cd evil && sudo git status", "cd|sudo|git status", "o"},
		{"(cd evil; git status)", "cd|git status", "o"},
		{"pushd evil && git log", "pushd|git log", "o"},
		{"pushd +1 && rm x", "pushd|rm", "Dop x"},
		{"git -C evil status", "git status", "o"},
		{"git -C . status", "git status", "s"},
		{"cd . && git status", "cd|git status", ""},
		{"find . -execdir git status ';'", "find|git status", "o"},
		{"find . -execdir cat {} +", "find|cat", ""},
	})
}

// What the rows say is true of all programs of that name.
func TestRowsAreTrue(t *testing.T) {
	check(t, []example{
		{"base64 -o Makefile x", "base64", "d Makefile"}, // of macOS
		{"base64 -oMakefile x", "base64", "d Makefile"},
		{"base64 -d x", "base64", ""},
		{"base64 --decode -w 0 x", "base64", ""},
		{"base64 --new-option x", "base64", "ds"},
		{"tclsh --version < evil.tcl", "tclsh", "o"},
		{"expect -v < evil", "expect", "o"},
		{"osascript -h < evil", "osascript", "o"},
		{"node --version", "node", ""},
		{"node -v", "node", ""},
		{"node -h", "node", ""},
		{"node --test", "node", ""},
		{"node --check < evil", "node", "o"},
		{"python3 -V", "python3", ""},
		{"python3 -v < evil", "python3", "o"},
		{"php -i", "php", ""},
		{"ruby -v", "ruby", ""},
		{"ruby -w < evil", "ruby", "o"},
		{"perl -v", "perl", ""},
		{"mocha -u ./evil.js", "mocha", "o"},
		{"mocha --grep x", "mocha", ""},
		{"mocha /tmp/evil.js", "mocha", "o"},
		{"mocha test/a.js", "mocha", "s"},
		{"jest -u", "jest", ""},
		{"vitest run -t x", "vitest", ""},
	})
}
