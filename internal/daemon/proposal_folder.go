package daemon

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/agentvoice/agentvoice-daemon/internal/protect"
	"github.com/agentvoice/agentvoice-daemon/internal/shellcmd"
)

// folderMembers name the folder in which a command runs.
var folderMembers = setOf("cwd workdir workingdirectory workdirectory currentdirectory workspacefolder directory dir folder")

// folder reads the folder in which a command runs. Unless it is the one that is open, the question
// says it.
func (r *reader) folder(v any) {
	text, ok := v.(string)
	if !ok || r.sub != "" {
		r.needsClick()
		return
	}
	in := path.Clean(filepath.ToSlash(text))
	if r.open == "" {
		if farFolder.MatchString(in) {
			r.needsClick()
		}
	} else {
		place := protect.Find(r.open, text)
		in, r.place.Folder = pathOf(place), place.Path
		if !place.Inside {
			r.p.click, r.p.destructive = true, true
		}
	}
	if in == "." {
		return
	}
	r.sub, r.p.in = in, in
	if clipPath(in) != in {
		r.needsClick()
	}
}

// farFolder matches a path that leads out of any folder that is open.
var farFolder = regexp.MustCompile(`^(~|\.\./|\.\.$|/$)`)

// fixedPath matches a path that does not depend on the folder.
var fixedPath = regexp.MustCompile(`^(/|~|\$|\\|[A-Za-z]:)`)

// judgeFiles judges the files that a command writes and deletes, and returns the reading with their
// paths below the folder that is open.
func (r *reader) judgeFiles(c shellcmd.Reading) shellcmd.Reading {
	for _, files := range []*[]string{&c.Overwrites, &c.Writes, &c.Removes} {
		var paths []string
		for _, file := range *files {
			if r.sub != "" && !fixedPath.MatchString(file) {
				file = path.Join(r.sub, filepath.ToSlash(file))
			}
			paths = append(paths, file)
			if r.needsAClick(file, files == &c.Removes) {
				c.Protected, c.Destructive = true, true
			}
		}
		*files = paths
	}
	return c
}

// needsAClick reports whether a command may change a file only after a click: it is elsewhere, or
// the table of edits has it. What is deleted does not act any more. Commands also make folders,
// programs and archives, so kinds of files that are not known are ordinary here.
func (r *reader) needsAClick(file string, removed bool) bool {
	file = path.Clean(strings.ReplaceAll(file, `\`, "/"))
	outside := r.sub != "" && (fixedPath.MatchString(file) || farFolder.MatchString(file))
	if r.open != "" && !outside {
		follow := file
		if removed { // a link is deleted, not what it leads to
			follow = path.Dir(file)
		}
		place := protect.Find(r.open, follow)
		if place.Linked && (!removed || !place.Inside) {
			r.guard(pathOf(place))
		}
		outside = !place.Inside || !removed && place.Linked
	}
	return outside || !removed && file != "." && (protect.Acting(file) || protect.Secret(file))
}

// judgeWords marks a command that names a file with secrets, itself or through a link.
func (r *reader) judgeWords(command string) {
	for _, word := range strings.FieldsFunc(command, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("'\"`;|&<>()=,", c) }) {
		secret := protect.Secret(word) && strings.ContainsAny(word, "./")
		if r.open != "" {
			place := protect.Find(r.place.Folder, word)
			secret = secret || place.Linked && protect.Secret(place.Within)
		}
		switch named := slices.Concat(r.p.changes.overwrites, r.p.changes.writes, r.p.changes.removes); {
		case secret && slices.Contains(named, word):
			r.p.click, r.p.destructive = true, true
		case secret:
			r.guard(word)
		}
	}
}
