package shellcmd

import (
	"path"
	"regexp"
	"strings"
)

var (
	// plain matches texts that PowerShell, cmd and Bash interpret the same way.
	plain = regexp.MustCompile(`^[\w./:=@,+ "';|&<>-]*$`)
	// plainWords matches texts that are just words in all of them.
	plainWords = regexp.MustCompile(`^[\w./\\:=@,+ -]*$`)
	// splatted matches the arguments that a variable of PowerShell holds.
	splatted = regexp.MustCompile(`(^|[ "';|&])@`)
	// quotedSigns matches a quoted word that cmd does not read as one.
	quotedSigns = regexp.MustCompile(`'[^']*[;|&<>][^']*'`)
)

// windowsPrograms lists the programs of the table that are the same on Windows. Others
// have their names from commands of PowerShell or cmd.
var windowsPrograms = words(`git go gofmt golangci-lint staticcheck npm npx pnpm yarn bun node cargo rustc python pip pytest dotnet make cmake ctest
	ninja mvn gradle docker docker-compose gh tsc eslint prettier jest vitest mocha mypy ruff black kubectl terraform uv poetry rg jq java javac
	ls pwd echo cat cd remove-item ri del erase rd`)

// forWindows returns a command as the parser accepts it.
func (x *reader) forWindows(text string) string {
	switch {
	case splatted.MatchString(text):
		x.opaque()
	case plainWords.MatchString(text):
		return strings.ReplaceAll(text, `\`, "/")
	case !plain.MatchString(text) || quotedSigns.MatchString(text) || strings.Count(text, "'")%2 != 0:
		x.opaque()
	}
	return text
}

// lookupWindows is lookup for PowerShell and cmd.
func (x *reader) lookupWindows(text string) (r *row, said string) {
	base := strings.ToLower(path.Base(strings.ReplaceAll(text, `\`, "/")))
	for _, end := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		base = strings.TrimSuffix(base, end)
	}
	r = find(base)
	if r != nil && !windowsPrograms[r.name] && !r.is["closed"] {
		r = nil
	}
	if strings.ContainsAny(text, `/\`) {
		x.speak, x.r.Destructive = true, true
		return r, strings.ReplaceAll(text, `\`, "/")
	}
	return r, text
}
