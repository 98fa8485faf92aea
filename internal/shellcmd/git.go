package shellcmd

import (
	"regexp"
	"slices"
	"strings"
)

// gitDeletes lists git subcommands that discard data not stored elsewhere, whatever
// their arguments.
var gitDeletes = words("rm filter-branch filter-repo prune update-ref replace")

// gitRisks lists the arguments that make a subcommand discard data.
var gitRisks = map[string]*regexp.Regexp{
	"push":        regexp.MustCompile(`^(-[a-z]*[fd][a-z]*|--force.*|--delete|--mirror|--prune|\+.*|:.*)$`),
	"reset":       regexp.MustCompile(`^--(hard|merge|keep)$`),
	"checkout":    regexp.MustCompile(`^(-[a-zA-Z]*[fB][a-z]*|--force|--|\.|:/.*|-p|--patch|--ours|--theirs|--pathspec.*|.*\..*)$`),
	"switch":      regexp.MustCompile(`^(-[a-zA-Z]*[fC][a-z]*|--force|--discard-changes|--force-create)$`),
	"restore":     regexp.MustCompile(`.`),
	"branch":      regexp.MustCompile(`^(-[a-zA-Z]*[dDMCf][a-zA-Z]*|--delete|--force)$`),
	"tag":         regexp.MustCompile(`^(-[a-zA-Z]*[df][a-zA-Z]*|--delete|--force)$`),
	"stash":       regexp.MustCompile(`^(drop|clear|pop)$`),
	"reflog":      regexp.MustCompile(`^(expire|delete)$`),
	"gc":          regexp.MustCompile(`^--(prune|aggressive).*$`),
	"worktree":    regexp.MustCompile(`^(remove|prune)$`),
	"remote":      regexp.MustCompile(`^(remove|rm|prune|set-url)$`),
	"notes":       regexp.MustCompile(`^(remove|prune)$`),
	"rebase":      regexp.MustCompile(`.`),
	"config":      regexp.MustCompile(`^--(unset.*|remove-section|replace-all)$`),
	"am":          regexp.MustCompile(`^--(abort|skip)$`),
	"merge":       regexp.MustCompile(`^--(abort|quit)$`),
	"commit":      regexp.MustCompile(`^--amend$`),
	"lfs":         regexp.MustCompile(`^prune$`),
	"submodule":   regexp.MustCompile(`^deinit$`),
	"cherry-pick": regexp.MustCompile(`^--(abort|quit)$`),
	"revert":      regexp.MustCompile(`^--(abort|quit)$`),
}

// gitSettings matches settings that make git run programs.
var gitSettings = regexp.MustCompile(`(?i)(alias|pager|editor|command|hook|proxy|helper|ext|diff|merge|filter|textconv|sequence|program|browser|askpass|include)`)

var subcommand = regexp.MustCompile(`^[a-z][a-z0-9-]{0,29}$`)

// git analyzes a call of git.
func (x *reader) git(args []arg) {
	rest := x.options(wrapper{
		flags: "pPhv", values: "Cc",
		longFlags: strings.Fields(`help version html-path man-path info-path paginate no-pager no-replace-objects bare no-optional-locks
			literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs`),
		longValues: strings.Fields("git-dir work-tree namespace super-prefix"),
	}, args)
	for i, a := range args[:len(args)-len(rest)] {
		if i > 0 && args[i-1].text == "-c" && (!a.known || gitSettings.MatchString(a.text)) || strings.HasPrefix(a.text, "-c") && len(a.text) > 2 {
			x.opaque()
		}
	}
	if len(rest) == 0 {
		return
	}
	sub, rest := rest[0], rest[1:]
	if !sub.known || !subcommand.MatchString(sub.text) {
		x.opaque()
		return
	}
	if x.seen["git"] {
		delete(x.seen, "git")
		x.r.Programs = slices.DeleteFunc(x.r.Programs, func(p string) bool { return p == "git" })
	}
	x.add("git " + sub.text)
	if gitDeletes[sub.text] || sub.text == "clean" && !slices.ContainsFunc(rest, func(a arg) bool { return a.text == "-n" || a.text == "--dry-run" }) {
		x.r.Deletes = true
	}
	if sub.text == "checkout" && plainWords(rest) > 1 { // a revision and files
		x.r.Destructive = true
	}
	risk := gitRisks[sub.text]
	for i, a := range rest {
		if risk != nil && (!a.known || risk.MatchString(a.text)) {
			x.r.Destructive = true
		}
		switch {
		case sub.text == "submodule" && a.text == "foreach" && i+1 < len(rest),
			(a.text == "-x" || a.text == "--exec") && sub.text == "rebase" && i+1 < len(rest):
			x.inner(rest[i+1])
		case sub.text == "bisect" && a.text == "run":
			x.run(rest[i+1:])
		case strings.HasPrefix(a.text, "--upload-pack") || strings.HasPrefix(a.text, "--receive-pack") || strings.HasPrefix(a.text, "--exec="):
			x.opaque()
		}
	}
}

// plainWords counts the arguments that are not options. It returns 0 if a branch is created.
func plainWords(args []arg) (n int) {
	for _, a := range args {
		switch {
		case a.text == "-b" || a.text == "--orphan":
			return 0
		case !strings.HasPrefix(a.text, "-"):
			n++
		}
	}
	return n
}
