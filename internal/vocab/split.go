package vocab

import (
	"strings"
	"unicode"
)

// words splits a name into its parts in lower case: parseConfigV2 is parse, config,
// v, 2; HTTPServer is http, server; main.go is main, ., go.
func words(name string) (parts []string) {
	runes := []rune(name)
	begin := 0
	cut := func(end int) {
		if end > begin {
			parts = append(parts, strings.ToLower(string(runes[begin:end])))
		}
		begin = end
	}
	for i, r := range runes {
		switch {
		case r == '.':
			cut(i)
			if i > 0 && i+1 < len(runes) {
				parts = append(parts, ".")
			}
			begin = i + 1
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			cut(i)
			begin = i + 1
		case i == begin:
		case unicode.IsDigit(r) != unicode.IsDigit(runes[i-1]):
			cut(i)
		case unicode.IsUpper(r) && unicode.IsLower(runes[i-1]):
			cut(i)
		case unicode.IsLower(r) && unicode.IsUpper(runes[i-1]) && i-1 > begin:
			cut(i - 1)
		}
	}
	cut(len(runes))
	return parts
}

// digits are the spoken forms of the digits.
var digits = [10]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

// abbreviations maps abbreviated parts of names to their spoken forms.
var abbreviations = map[string]string{
	"arg": "argument", "args": "arguments", "async": "a sync", "attr": "attribute", "auth": "auth", "buf": "buffer",
	"cfg": "config", "char": "character", "cmd": "command", "conf": "config", "conn": "connection", "ctx": "context",
	"db": "d b", "desc": "description", "dev": "dev", "dir": "directory", "doc": "doc", "env": "environment", "err": "error", "exec": "exec",
	"ext": "extension", "fmt": "format", "fn": "function", "func": "function", "id": "i d", "idx": "index", "impl": "implementation",
	"info": "info", "init": "init", "int": "int", "js": "j s", "json": "jason", "len": "length", "lib": "library", "max": "max", "md": "m d",
	"min": "min", "msg": "message", "num": "number", "obj": "object", "param": "parameter", "params": "parameters", "pkg": "package",
	"pos": "position", "prev": "previous", "ptr": "pointer", "py": "pie", "ref": "reference", "regexp": "reg exp", "req": "request",
	"res": "response", "resp": "response", "rs": "r s", "spec": "spec", "sql": "sequel", "src": "source", "std": "standard",
	"str": "string", "sync": "sync", "temp": "temp", "tmp": "temp", "ts": "t s", "tsx": "t s x", "txt": "text", "util": "util",
	"utils": "utils", "val": "value", "var": "variable", "ver": "version", "yaml": "yamel", "yml": "yamel",
}

// spoken returns the spoken forms of a part of a name, likeliest first; each is words
// separated by spaces.
func spoken(part string) []string {
	switch {
	case part == ".":
		return []string{"dot", "."}
	case isDigits(part):
		return []string{number(part)}
	}
	var ways []string
	if unpronounceable(part) {
		ways = append(ways, spelled(part))
	} else {
		ways = append(ways, part)
	}
	if full, known := abbreviations[part]; known && full != part {
		ways = append(ways, full)
	}
	if len(part) <= 4 && !unpronounceable(part) && len(part) > 1 && !ordinary(part) {
		ways = append(ways, spelled(part))
	}
	return ways
}

func isDigits(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// number returns digits as words: 16 is sixteen; longer numbers are read digit by digit.
func number(s string) string {
	teens := []string{"ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}
	tens := []string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
	if len(s) == 2 && s[0] == '1' {
		return teens[s[1]-'0']
	}
	if len(s) == 2 && s[0] > '1' {
		if s[1] == '0' {
			return tens[s[0]-'0']
		}
		return tens[s[0]-'0'] + " " + digits[s[1]-'0']
	}
	var out []string
	for _, d := range s {
		out = append(out, digits[d-'0'])
	}
	return strings.Join(out, " ")
}

// spelled returns a part spelled letter by letter.
func spelled(part string) string {
	var out []string
	for _, r := range part {
		out = append(out, string(r))
	}
	return strings.Join(out, " ")
}

// unpronounceable reports whether people spell a part: a single letter, or letters
// without a vowel.
func unpronounceable(part string) bool {
	return len(part) == 1 || !strings.ContainsAny(part, "aeiouyäöü")
}

// Said returns the likeliest spoken form of a name, in lower case.
func Said(name string) string { return forms(name)[0] }

// maxForms limits the spoken forms of a name.
const maxForms = 6

// forms returns the spoken forms of a name: the likeliest first, then variants with one
// or all parts spoken differently.
func forms(name string) []string {
	parts := words(name)
	var first, second []string
	for _, p := range parts {
		ways := spoken(p)
		first = append(first, ways[0])
		second = append(second, ways[len(ways)-1])
	}
	out := []string{strings.Join(first, " ")}
	add := func(form string) {
		for _, f := range out {
			if f == form {
				return
			}
		}
		if len(out) < maxForms {
			out = append(out, form)
		}
	}
	for i, p := range parts {
		if p == "." {
			continue // without the dot it is a different name
		}
		for _, way := range spoken(p)[1:] {
			changed := append([]string(nil), first...)
			changed[i] = way
			add(strings.Join(changed, " "))
		}
	}
	add(strings.Join(second, " "))
	return out
}
