package shellcmd

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// set is a set of words.
type set map[string]bool

func words(list string) set {
	s := set{}
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}

// shells lists programs that run shell scripts.
var shells = words("sh bash dash ash zsh ksh mksh fish busybox-sh rbash")

// interpreters lists interpreters of other languages.
var interpreters = words("python python2 python3 py node nodejs deno bun perl ruby php lua osascript rscript tclsh expect gdb")

// foreignShells lists shells with another grammar.
var foreignShells = words("powershell pwsh cmd wsl iex invoke-expression")

// deleting lists programs that delete data whatever their arguments.
var deleting = words(`rm rmdir unlink shred srm trash trash-put rimraf del-cli wipefs del erase rd ri
	remove-item remove-itemproperty clear-content clear-item clear-recyclebin userdel groupdel deluser delgroup dropdb dropuser`)

// irreversible lists programs whose effects cannot be undone whatever their arguments.
var irreversible = words(`dd mkfs mke2fs mkswap newfs fdisk sfdisk gdisk sgdisk parted diskutil diskpart truncate format
	mv cp install rsync patch move copy ren rename move-item copy-item rename-item set-content out-file
	kill killall pkill stop-process taskkill shutdown reboot halt poweroff stop-computer restart-computer
	crontab passwd usermod visudo iptables nft ufw reg regedit set-executionpolicy format-volume`)

// permissions lists programs that change permissions, which cannot be restored after a recursive change.
var permissions = words("chmod chown chgrp")

// packagers lists package managers that run programs of packages by name.
var packagers = words("npm pnpm yarn bun deno npx bunx")

// subcommands lists programs whose first argument says what they do.
var subcommands = words(`go cargo dotnet npm pnpm yarn bun deno pip pip3 uv poetry gem bundle composer make just
	brew apt apt-get dnf docker podman kubectl helm terraform gh systemctl`)

// suspects lists arguments that make any program count as irreversible.
var suspects = words(`delete destroy drop prune purge remove rm rmi uninstall unpublish publish wipe erase autoremove
	flushall flushdb dropdatabase
	--delete --force --hard --prune --purge --overwrite --destroy --remove --mirror --yes-i-really-mean-it -delete`)

// suspect matches those with an object appended.
var suspect = regexp.MustCompile(`^(delete|destroy|drop|purge|remove|terminate|wipe)-[a-z-]+$`)

// sql matches SQL statements that delete.
var sql = regexp.MustCompile(`(?i)\b(drop\s+(table|database|schema|index|view|user|role)|truncate\s+table|delete\s+from)\b`)

// cmdlet matches PowerShell command names.
var cmdlet = regexp.MustCompile(`^[A-Z][A-Za-z]+-[A-Z][A-Za-z]+$`)

// key returns a program's name as in the tables.
func key(text string) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(text, `\`, "/")))
	for _, end := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		base = strings.TrimSuffix(base, end)
	}
	return base
}

// run analyzes the words of a call.
func (x *reader) run(args []arg) {
	if len(args) == 0 {
		return
	}
	first, rest := args[0], args[1:]
	k := key(first.text)
	if first.text == "" || !first.known {
		x.opaque()
	}
	if first.text == "" {
		return
	}
	if first.known {
		said := path.Base(first.text)
		if first.pattern && said != "[" {
			x.opaque()
		}
		if subcommands[k] && len(rest) > 0 && rest[0].known && subcommand.MatchString(rest[0].text) {
			x.program(said, rest[0].text)
		} else {
			x.program(said)
		}
	}
	if x.nested >= maxNested {
		x.opaque()
		return
	}
	x.nested++
	defer func() { x.nested-- }()
	if cmdlet.MatchString(first.text) || foreignShells[k] {
		x.opaque()
	}
	x.judge(k, rest)
	x.within(k, rest)
}

// judge rates whether a program's effects can be undone.
func (x *reader) judge(k string, args []arg) {
	switch {
	case deleting[k]:
		x.r.Deletes = true
	case irreversible[k] || strings.HasPrefix(k, "mkfs."):
		x.r.Destructive = true
	}
	if k == "echo" || k == "printf" || k == "grep" || k == "rg" || k == "man" || k == "[" || k == "test" {
		return // their arguments are just text
	}
	for _, a := range args {
		switch {
		case suspects[strings.ToLower(a.text)], suspect.MatchString(a.text), sql.MatchString(a.text):
			x.r.Destructive = true
		case packagers[k] && deleting[a.text]: // yarn runs installed programs by name
			x.program(a.text)
			x.r.Deletes = true
		case permissions[k] && (a.text == "--recursive" || strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "R")):
			x.r.Destructive = true
		}
	}
}

// within analyzes what a program runs, and how some programs use files.
func (x *reader) within(k string, args []arg) {
	if w, ok := wrappers[k]; ok {
		x.wrapped(w, args)
		return
	}
	if sub, ok := runners[k]; ok && len(args) > 0 && sub[args[0].text] {
		x.wrapped(wrapper{flags: "yq", values: "pc"}, args[1:])
		return
	}
	switch k {
	case "git":
		x.git(args)
	case "eval", "trap", "alias", "source", ".":
		x.builtin(k, args)
	case "find", "fd", "fdfind":
		x.find(args)
	case "ssh":
		x.remote(args)
	case "su", "runuser", "script", "flock", "watch":
		x.optionScript(k, args)
	case "docker", "podman", "nerdctl", "kubectl", "parallel", "at", "batch", "nix", "unshare", "nsenter", "systemd-run", "make-me-root":
		x.carrier(k, args)
	case "sed", "perl", "tee", "curl", "wget", "tar", "awk", "gawk", "mawk", "nawk", "ln", "sort":
		x.files(k, args)
	}
	switch {
	case shells[k]:
		x.shell(args)
	case interpreters[k]:
		x.interpreter(args)
	}
}

// shell analyzes what a shell is told to run: a script in an argument, a file, or
// standard input.
func (x *reader) shell(args []arg) {
	command := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case !a.known && !command:
			x.opaque()
			return
		case a.known && (a.text == "--rcfile" || a.text == "--init-file"):
			x.opaque()
			i++
		case a.known && strings.HasPrefix(a.text, "--"):
		case a.known && len(a.text) > 1 && (a.text[0] == '-' || a.text[0] == '+'):
			command = command || a.text[0] == '-' && strings.Contains(a.text, "c")
			if strings.Contains(a.text, "s") {
				x.opaque()
			}
			if strings.HasSuffix(strings.ToLower(a.text), "o") {
				i++
			}
		case command:
			x.inner(a)
			return
		default:
			return // script file
		}
	}
	x.opaque() // reads standard input
}

// interpreter handles interpreters: code in an argument is opaque.
func (x *reader) interpreter(args []arg) {
	for i, a := range args {
		switch {
		case a.text == "eval" && i == 0: // deno eval
			x.opaque()
			return
		case !a.known:
			x.opaque()
			return
		case a.text == "-m" && i+1 < len(args), a.text == "--version", a.text == "-V", a.text == "-v", a.text == "test", a.text == "run":
			return
		case !strings.HasPrefix(a.text, "-"):
			return
		case a.text == "-" || a.text[1] != '-' && strings.ContainsAny(a.text, "cerpEni"),
			strings.HasPrefix(a.text, "--eval"), strings.HasPrefix(a.text, "--print"), strings.HasPrefix(a.text, "--require"), strings.HasPrefix(a.text, "--import"):
			x.opaque()
			return
		}
	}
	x.opaque() // reads standard input
}

// builtin analyzes builtins that run commands, now or later.
func (x *reader) builtin(k string, args []arg) {
	switch k {
	case "eval":
		all := make([]string, 0, len(args))
		for _, a := range args {
			all = append(all, a.text)
			if !a.known {
				x.opaque()
			}
		}
		x.script(strings.Join(all, " "))
	case "trap":
		if len(args) > 1 {
			x.inner(args[0])
		}
	case "alias":
		for _, a := range args {
			if _, script, defines := strings.Cut(a.text, "="); defines {
				x.inner(arg{text: script, known: a.known})
			}
		}
	default: // source
		if len(args) == 0 || !args[0].known {
			x.opaque()
		}
	}
}

// find analyzes what find and fd run per file, and their own actions.
func (x *reader) find(args []arg) {
	for i := 0; i < len(args); i++ {
		switch t := args[i].text; {
		case t == "-delete":
			x.r.Deletes = true
		case slices.Contains([]string{"-fprint", "-fprint0", "-fprintf", "-fls"}, t) && i+1 < len(args):
			x.overwrite(args[i+1])
		case slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}, t):
			end := i + 1
			for end < len(args) && args[end].text != ";" && args[end].text != "+" {
				end++
			}
			if i+1 >= end {
				x.opaque()
			}
			x.run(args[i+1 : end])
			i = end
		case !args[i].known && strings.HasPrefix(t, "$"):
			x.opaque() // it may be any of these options
		}
	}
}

// remote analyzes a command for another machine.
func (x *reader) remote(args []arg) {
	rest := x.options(wrapper{flags: "46AaCfGgKkMNnqsTtVvXxYy", values: "BbcDEeFIiJLlmOopQRSWw"}, args)
	if len(rest) > 0 {
		rest = rest[1:] // skip the host
	}
	var all []string
	for _, a := range rest {
		all = append(all, a.text)
		if !a.known {
			x.opaque()
		}
	}
	if len(all) > 0 {
		x.script(strings.Join(all, " "))
	}
}

// optionScript analyzes a script given as the value of an option, or as the remaining
// words.
func (x *reader) optionScript(k string, args []arg) {
	for i, a := range args {
		if (a.text == "-c" || a.text == "--command") && i+1 < len(args) {
			x.inner(args[i+1])
			return
		}
		if script, ok := strings.CutPrefix(a.text, "--command="); ok {
			x.inner(arg{text: script, known: a.known})
			return
		}
	}
	switch k {
	case "watch":
		var all []string
		for _, a := range x.options(wrapper{flags: "bcdegprtwx", values: "nq"}, args) {
			all = append(all, a.text)
		}
		x.script(strings.Join(all, " "))
	case "flock":
		if rest := x.options(wrapper{flags: "ensuoxF", values: "wE"}, args); len(rest) > 1 {
			x.run(rest[1:])
		}
	default:
		x.opaque() // an interactive shell
	}
}

// carriers lists the subcommands with which a carrier is harmless.
var carriers = words("ps images logs inspect version info top stats port diff history search get describe explain api-resources config")

// carrier handles programs that run others by their own syntax.
func (x *reader) carrier(k string, args []arg) {
	if len(args) == 0 || !args[0].known || !carriers[args[0].text] || k == "parallel" || k == "at" || k == "batch" {
		x.opaque()
	}
}

// files collects the files that some programs replace.
func (x *reader) files(k string, args []arg) {
	has := func(short string, long ...string) bool {
		return slices.ContainsFunc(args, func(a arg) bool {
			t := a.text
			return len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.Contains(t, short) ||
				slices.ContainsFunc(long, func(l string) bool { return t == l || strings.HasPrefix(t, l+"=") })
		})
	}
	switch k {
	case "sed":
		x.r.Destructive = x.r.Destructive || has("i", "--in-place")
	case "perl":
		x.r.Destructive = x.r.Destructive || has("i")
	case "ln":
		x.r.Destructive = x.r.Destructive || has("f", "--force")
	case "tee":
		for _, a := range args {
			if !has("a", "--append") && !strings.HasPrefix(a.text, "-") {
				x.overwrite(a)
			}
		}
	case "tar":
		for _, a := range args {
			for _, runs := range []string{"--to-command", "--checkpoint-action", "--use-compress-program", "-I", "--rsh-command"} {
				if strings.HasPrefix(a.text, runs) {
					x.opaque()
				}
			}
		}
	case "awk", "gawk", "mawk", "nawk":
		if slices.ContainsFunc(args, func(a arg) bool {
			return strings.ContainsAny(a.text, "|>") || strings.Contains(a.text, "system") || a.text == "-f"
		}) {
			x.opaque()
		}
	default:
		x.output(k, args)
	}
}

// output handles the option that names the output file, and curl's method.
func (x *reader) output(k string, args []arg) {
	short, long := map[string]string{"curl": "-o", "wget": "-O", "sort": "-o"}[k], "--output"
	if k == "wget" {
		long = "--output-document"
	}
	for i, a := range args {
		value, joined := strings.CutPrefix(a.text, long+"=")
		if !joined && strings.HasPrefix(a.text, short) && len(a.text) > 2 {
			value, joined = a.text[2:], true
		}
		switch {
		case joined:
			x.overwrite(arg{text: value, known: a.known})
		case (a.text == short || a.text == long) && i+1 < len(args):
			x.overwrite(args[i+1])
		case k == "curl" && (strings.HasPrefix(a.text, "-X") || strings.HasPrefix(a.text, "--request")):
			next := a.text
			if i+1 < len(args) {
				next += args[i+1].text
			}
			if up := strings.ToUpper(next); strings.Contains(up, "DELETE") || strings.Contains(up, "PUT") || strings.Contains(up, "PATCH") {
				x.r.Destructive = true
			}
		}
	}
}
