package shellcmd

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// plainAwk matches programs of awk that only print.
	plainAwk = regexp.MustCompile(`^(NR *([<>]|[=!<>]=) *[0-9]+ *|/[^/\\]*/ *)?(\{ *print[ $0-9A-Z,"a-z_:.-]*\})?$`)
	// sedAddress matches the lines that a command of sed is for.
	sedAddress = regexp.MustCompile(`^((\d+|\$|/[^/\\\n]*/)(,(\d+|\$|/[^/\\\n]*/))?)?`)
	sedFlags   = regexp.MustCompile(`^[gIip0-9]*$`)
	// plainGoFlags matches flags of Go's compiler and linker that run nothing.
	plainGoFlags = regexp.MustCompile(`^((all=)?-[swNl]( |$)|-X [\w./-]+=[\w.-]+( |$))*$`)
)

// plainSed reports whether a script of sed is one command that prints, deletes or
// replaces.
func plainSed(script string) bool {
	script = script[len(sedAddress.FindString(script)):]
	switch script {
	case "p", "d", "q", "=":
		return true
	}
	if len(script) < 4 || script[0] != 's' || strings.Contains(script, "\n") || strings.IndexByte("/|#,:@%!_", script[1]) < 0 {
		return false
	}
	parts := 0
	for i := 2; i < len(script); i++ {
		switch script[i] {
		case '\\':
			i++
		case script[1]:
			if parts++; parts == 2 {
				return sedFlags.MatchString(script[i+1:])
			}
		}
	}
	return false
}

// plainOperand matches an operand of a test that is not computed. Bash runs substitutions
// in subscripts, and Zsh assigns what a number is compared with.
var plainOperand = regexp.MustCompile(`^(\[|\]|=|==|!=|!|\(|\)|<|>|[\pL\pN ./@%:,_~-]*)$`)

// plainFormat matches a format of printf that takes its arguments as texts. Zsh computes
// numbers, and Bash assigns the variable of %n.
var plainFormat = regexp.MustCompile(`^([^%]|%-?[0-9]*(\.[0-9]+)?s|%%)*$`)

// plainNumber matches a number or a job. Zsh computes others.
var plainNumber = regexp.MustCompile(`^%?[0-9]+$`)

// sh analyzes what a shell is told to run: a script in an argument, a file, or standard
// input.
func (x *reader) sh(args []arg) {
	command := false
	for i, a := range args {
		switch {
		case !a.known && !command:
			x.opaque()
			return
		case command && !strings.HasPrefix(a.text, "-"):
			folder, left, batch := x.folder, x.left, x.batch
			x.batch = true
			x.inner(a)
			x.folder, x.left, x.batch = folder, left, batch
			return
		case a.text == "--":
		case len(a.text) > 1 && (a.text[0] == '-' || a.text[0] == '+'):
			if !shellOptions.MatchString(a.text) {
				x.opaque()
			}
			command = command || strings.Contains(a.text, "c")
		case i > 0 && strings.HasSuffix(args[i-1].text, "o"): // the name of an option
		default:
			x.value(nil, 'f', a)
			x.r.Destructive = true
			x.spoken(args[i+1:])
			return
		}
	}
	x.opaque() // reads standard input
}

// shellOptions matches the options of shells that are understood.
var shellOptions = regexp.MustCompile(`^-([exulfnv]*(c|o)?|[exulfnv]*oc|-login|-norc|-noprofile|-posix)$`)

// eval analyzes words that are a script.
func (x *reader) eval(args []arg) {
	all := make([]string, 0, len(args))
	for _, a := range args {
		all = append(all, a.text)
		if !a.known {
			x.opaque()
		}
	}
	x.speak = true
	x.script(strings.Join(all, " "))
}

// remote analyzes a command for another machine.
func (x *reader) remote(c *call) {
	all := make([]string, 0, len(c.rest))
	for _, a := range c.rest {
		all = append(all, a.text)
		if !a.known {
			x.opaque()
		}
	}
	x.r.Destructive = true
	if len(all) > 0 {
		x.script(strings.Join(all, " "))
	} else if x.stdin {
		x.opaque()
	}
}

// module analyzes a module that Python runs.
func (x *reader) module(c *call) {
	x.speak = true
	args := c.rest
	if len(args) == 0 {
		x.opaque()
		return
	}
	name, args := args[0], args[1:]
	if strings.HasPrefix(name.text, "-") { // it was joined, and is not understood
		x.opaque()
		return
	}
	if r := find(name.text); r != nil && !r.is["subs"] && !r.is["runs"] {
		inner := &call{row: r, said: r.name, options: set{}, dashes: -1}
		x.parse(inner, args)
		x.effects(inner)
		x.operands(inner)
		if inner.strange {
			x.unknown(args)
		}
		return
	}
	x.unknown(c.rest)
}

// Expressions of find, without a value and with one.
var (
	findFlags = words(`-print -print0 -depth -mount -xdev -empty -not -o -or -a -and -true -false -readable -writable -executable
		-nouser -nogroup -prune -quit -ls -follow -daystart -noleaf -H -L -P -d -s -X -E ( ) ! ,`)
	findValues = words(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime -mmin -atime -amin -ctime
		-cmin -newer -anewer -cnewer -newermt -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -samefile -lname -ilname -fstype -regextype -printf`)
)

// find analyzes what find runs for each file, and its own actions.
func (x *reader) find(args []arg) {
	for i := 0; i < len(args); i++ {
		t := args[i].text
		switch {
		case !args[i].known || args[i].leading:
			x.opaque()
		case findFlags[t]:
		case findValues[t]:
			if i++; i < len(args) && (!args[i].known || args[i].pattern) {
				x.opaque() // it may be several words
			}
		case t == "-delete":
			x.r.Deletes, x.speak = true, true
		case slices.Contains([]string{"-fprint", "-fprint0", "-fls", "-fprintf"}, t) && i+1 < len(args):
			i++
			x.file(args[i], &x.r.Overwrites)
			if t == "-fprintf" {
				i++
			}
		case slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, t):
			end := i + 1
			for end < len(args) && args[end].text != ";" && (args[end].text != "+" || args[end-1].text != "{}") {
				end++
			}
			if i+1 >= end {
				x.opaque()
			}
			if i+1 < len(args) {
				if r := find(args[i+1].text); r == nil || !r.is["reads"] {
					x.speak, x.r.Destructive = true, true
					if strings.HasSuffix(t, "dir") { // it may find there what it runs
						x.opaque()
					}
				}
			}
			x.run(args[i+1 : min(end, len(args))])
			i = end
		case strings.HasPrefix(t, "-"):
			x.opaque()
		default:
			x.reads(args[i])
		}
	}
}
