package shellcmd

import (
	"path"
	"regexp"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// maxSpokenWords is the length of the longest command that is spoken as it stands.
const maxSpokenWords = 12

// invisible reports whether a character is not seen where it stands, or changes how
// others are displayed: it has no width, combines with the one before it, or looks
// like a space.
func invisible(r rune) bool {
	switch {
	case r == ' ' || r == '\n' || r == '\t':
		return false
	case r == 0x2800 || r == unicode.ReplacementChar: // the empty Braille pattern
		return true
	}
	return !unicode.IsGraphic(r) || unicode.In(r, unicode.M, unicode.Z, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// hasInvisible reports whether a text has invisible characters.
func hasInvisible(text string) bool {
	return strings.ContainsFunc(strings.ReplaceAll(text, "\r\n", "\n"), invisible)
}

// lookalike reports whether a character may be taken for another one. Letters that
// people of the three languages write are not.
func lookalike(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r >= 0xc0 && r <= 0x17f:
		return !unicode.IsLetter(r) || strings.ContainsRune("ıĸŀŉſ", r)
	}
	return !unicode.IsLetter(r) || !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r > 0xff00
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// reference matches an argument that leads out of the workspace: an absolute path, a
// path of a home folder, an address or a file of another machine.
var reference = regexp.MustCompile(`(^|[=@:,])(~|/|[A-Za-z]:[\\/]|\\\\|\.\.([/\\]|$))|[/\\]\.\.([/\\]|$)|://|^[\w.-]+@[\w.-]+:|\{.*\.\.`)

// farFile matches an argument with a path that leads out of the workspace, also as the
// value of an option.
var farFile = regexp.MustCompile(`(^|[=@:,]|^-\w)(~|/([^/]|$)|[A-Za-z]:[\\/]|\.\.([/\\]|$))|[/\\]\.\.([/\\]|$)`)

// scripted matches a name that may be a script.
var scripted = regexp.MustCompile("[\\s;|&$(){}`]")

// harmlessFiles are the files that can be written without changing anything.
var harmlessFiles = regexp.MustCompile(`^(-|/dev/(null|zero|stdin|stdout|stderr|tty|fd/[0-9]+))$`)

// drive matches the beginning of an absolute path of Windows.
var drive = regexp.MustCompile(`^[A-Za-z]:/`)

// cleanFolder returns the path of a workspace as paths of commands are compared with it,
// or "" if it is not absolute.
func cleanFolder(folder string) string {
	folder = strings.TrimRight(strings.ReplaceAll(folder, `\`, "/"), "/")
	if !path.IsAbs(folder) && !drive.MatchString(folder) {
		return ""
	}
	return folder
}

// local returns an argument with the absolute path of the workspace as a relative one.
func (x *reader) local(text string) string {
	if x.workspace == "" {
		return text
	}
	for at := 0; ; {
		i := strings.Index(text[at:], x.workspace)
		if i < 0 {
			return text
		}
		i += at
		rest := text[i+len(x.workspace):]
		if (i == 0 || strings.IndexByte("=@:,", text[i-1]) >= 0) && (rest == "" || rest[0] == '/') {
			text = text[:i] + "." + rest
		}
		at = i + 1
	}
}

// outside reports whether a path may lead out of the workspace.
func outside(file string) bool {
	if file == "" || harmlessFiles.MatchString(file) {
		return false
	}
	if reference.MatchString(file) {
		clean := path.Clean(strings.ReplaceAll(file, `\`, "/"))
		return path.IsAbs(clean) || clean[0] == '~' || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(file, ":@=,{")
	}
	return false
}

// protected matches files that decide what programs do later.
var protected = regexp.MustCompile(`(?i)(^|[/=@:,])(\.git|\.hg|\.vscode|\.idea|\.husky|\.github|\.devcontainer|\.ssh|\.cargo)(/|$)|(^|[/=@:,])(\.git(config|modules|attributes)|\.(bash|zsh|profile|login|npm|yarn|envrc|env|inputrc|vimrc|netrc|pypirc)[\w.]*|package\.json)$`)

// NamesFolder reports whether a file has to be named with its folder: it may be outside
// of the workspace, or decides what programs do.
func NamesFolder(file string) bool { return outside(file) || protected.MatchString(file) }

// codeLike matches an argument that may be a script: it has spaces, or signs that
// programs use in their languages.
var codeLike = regexp.MustCompile("[\\s;|&<>(){}$`'\"!*?\\\\\\[\\]^#]")

// maxArgument is the length of the longest argument that is not taken for a script.
const maxArgument = 60

func mayBeCode(a arg) bool {
	return !a.known || len(a.text) > maxArgument || codeLike.MatchString(a.text)
}

// spokenWords counts the words of a text as a voice speaks it.
func spokenWords(text string) int {
	return len(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
}

// asItStands returns a script in the form in which it can be spoken: in one line, and
// only if each word stands for itself. fits is false if it is only too long.
func asItStands(file *syntax.File) (text string, fits bool) {
	plain := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			plain = plain && standsForItself(n)
		case *syntax.Redirect:
			plain = plain && n.Hdoc == nil
		}
		return plain
	})
	var b strings.Builder
	if !plain || syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, file) != nil {
		return "", false
	}
	text = strings.TrimSpace(b.String())
	if strings.ContainsAny(text, "\n\t") || hasInvisible(text) || len(text) > 10*maxSpokenWords || spokenWords(text) > maxSpokenWords {
		return "", false
	}
	return text, true
}

// standsForItself reports whether a word is what it looks like, without escapes or
// expansions inside it.
func standsForItself(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		switch p.Value {
		case `\;`, `\(`, `\)`, `\!`:
			return true
		}
		return !strings.Contains(p.Value, `\`)
	case *syntax.SglQuoted:
		return !p.Dollar
	case *syntax.DblQuoted:
		if len(p.Parts) == 0 {
			return true
		}
		lit, ok := p.Parts[0].(*syntax.Lit)
		return ok && len(p.Parts) == 1 && !p.Dollar && !strings.Contains(lit.Value, `\`)
	}
	return false
}
