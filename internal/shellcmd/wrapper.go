package shellcmd

import (
	"regexp"
	"slices"
	"strings"
)

// wrapper describes a program that runs the program in its arguments: the options
// before that program, short and long, without and with a value.
type wrapper struct {
	flags, values         string
	longFlags, longValues []string
	words                 int  // number of words between the options and the program
	assigns               bool // variable assignments are allowed
	alone                 bool // runs nothing without a program
}

// wrappers lists the known wrappers by name.
var wrappers = map[string]wrapper{
	"sudo": {
		flags: "AbEeHiKklnPSsVv", values: "CDgGhpRrTtUu", assigns: true,
		longFlags:  strings.Fields("askpass background preserve-env edit set-home login remove-timestamp reset-timestamp list non-interactive preserve-groups stdin shell validate version"),
		longValues: strings.Fields("close-from chdir group host prompt chroot role command-timeout type other-user user"),
	},
	"doas":       {flags: "Lns", values: "Cu"},
	"pkexec":     {longFlags: []string{"disable-internal-agent", "keep-cwd"}, longValues: []string{"user"}},
	"env":        {flags: "i0v", values: "uCP", assigns: true, alone: true, longFlags: []string{"ignore-environment", "null", "debug"}, longValues: []string{"unset", "chdir"}},
	"cross-env":  {assigns: true},
	"nice":       {flags: "0123456789", values: "n", longValues: []string{"adjustment"}, alone: true},
	"nohup":      {},
	"setsid":     {flags: "cfw", longFlags: []string{"ctty", "fork", "wait"}},
	"time":       {flags: "apvl", values: "fo", longFlags: []string{"append", "portability", "verbose"}, longValues: []string{"format", "output"}, alone: true},
	"timeout":    {flags: "fpv", values: "ks", words: 1, longFlags: []string{"preserve-status", "foreground", "verbose"}, longValues: []string{"kill-after", "signal"}},
	"stdbuf":     {values: "ioe", longValues: []string{"input", "output", "error"}},
	"ionice":     {flags: "t", values: "cnpPu", longValues: []string{"class", "classdata", "pid"}, alone: true},
	"chrt":       {flags: "abdfiomprRv0123456789", words: 1},
	"taskset":    {flags: "ac", words: 1},
	"exec":       {flags: "cl", values: "a", alone: true},
	"command":    {flags: "pvV", alone: true},
	"builtin":    {alone: true},
	"noglob":     {alone: true},
	"nocorrect":  {alone: true},
	"chroot":     {words: 1, longFlags: []string{"skip-chdir"}, longValues: []string{"userspec", "groups"}},
	"caffeinate": {flags: "disum", values: "tw", alone: true},
	"unbuffer":   {flags: "p"},
	"fakeroot":   {},
	"strace":     {flags: "CcDdFfhikqrTtVvwxyYz", values: "abeEIoOpPsSuUX"},
	"ltrace":     {flags: "bcCfhiLrStTV", values: "aAeloFnpsuwx"},
	"busybox":    {alone: true},
	"toybox":     {alone: true},
	"xargs": {
		flags: "0eilorptx", values: "adEIJLnPRSs", alone: true,
		longFlags:  strings.Fields("null eof replace max-lines no-run-if-empty interactive verbose exit open-tty show-limits"),
		longValues: strings.Fields("arg-file delimiter max-args max-procs max-chars process-slot-var"),
	},
	"npx":  {flags: "yq", values: "p", longFlags: []string{"yes", "no", "quiet", "no-install"}, longValues: []string{"package"}},
	"bunx": {longFlags: []string{"bun"}},
	"pnpx": {}, "uvx": {values: "p", longValues: []string{"from", "with", "python"}},
}

// runners lists programs that are wrappers with these subcommands only.
var runners = map[string]set{
	"npm": words("exec x"), "pnpm": words("exec dlx"), "yarn": words("exec dlx"), "bun": words("x"), "uv": words("run"),
	"poetry": words("run"), "pipenv": words("run"), "bundle": words("exec"), "pipx": words("run"), "rye": words("run"), "hatch": words("run"),
}

var assignment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)=`)

// wrapped analyzes the program that a wrapper runs.
func (x *reader) wrapped(w wrapper, args []arg) {
	rest := x.options(w, args)
	if len(rest) > w.words {
		x.run(rest[w.words:])
	} else if !w.alone {
		x.opaque() // such as an interactive shell
	}
}

// options skips the options of a wrapper. An unknown option makes the reading opaque,
// because it may take the next word.
func (x *reader) options(w wrapper, args []arg) []arg {
	for i := 0; i < len(args); i++ {
		a := args[i]
		set := assignment.FindStringSubmatch(a.text)
		switch {
		case w.assigns && set != nil:
			x.variable(set[1])
		case !a.known, a.text == "", a.text[0] != '-' && a.text[0] != '+':
			return args[i:]
		case a.text == "--":
			return args[i+1:]
		case a.text == "-":
		case strings.HasPrefix(a.text, "--"):
			option, _, joined := strings.Cut(a.text[2:], "=")
			switch {
			case slices.Contains(w.longValues, option) && !joined:
				i++
			case !slices.Contains(w.longValues, option) && !slices.Contains(w.longFlags, option):
				x.opaque()
			}
		default:
			if x.letters(w, a.text[1:]) {
				i++
			}
		}
	}
	return nil
}

// letters parses short options, and reports whether the last one takes the next word.
func (x *reader) letters(w wrapper, letters string) (takes bool) {
	for i, l := range letters {
		switch {
		case strings.ContainsRune(w.values, l):
			return i == len(letters)-1
		case !strings.ContainsRune(w.flags, l):
			x.opaque()
		}
	}
	return false
}
