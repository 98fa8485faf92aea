package daemon

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/internal/protect"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// A coding agent runs its calls by itself, with what their members mean to it. What is not
// understood about one needs a click.

// The kinds of such calls, as the protocol names them. Others say nothing about what the
// call does.
var (
	editingKinds = setOf("edit delete move")
	readingKinds = setOf("read search")
	otherKinds   = setOf("execute fetch")
)

// editVerbs are commands of tools that edit files: they name what is done with the file, and
// nothing that runs.
var editVerbs = setOf("create view insert write edit delete move rename replace strreplace strreplaceeditor undo undoedit")

// folderMembers name the folder in which a command runs.
var folderMembers = setOf("cwd workdir workingdirectory directory dir")

// prepareAgent takes members away that are read in a way of their own, before the others.
func (r *reader) prepareAgent(call copilot.ToolCall, members map[string]any) {
	if call.Folder == "" {
		return
	}
	for name, v := range members {
		text, ok := v.(string)
		script, shell := scriptOf(v)
		switch key := memberKey(name); {
		case shell && key == "command" && call.Kind == "execute":
			members[name] = script
		case key == "parsedcmd" && call.Kind == "execute": // the agent's own reading of the command
			delete(members, name)
			r.p.more = true
		case ok && key == "command" && (editingKinds[call.Kind] || readingKinds[call.Kind]) && editVerbs[memberKey(text)]:
			delete(members, name)
			r.p.more = true
		case ok && folderMembers[key] && call.Kind == "execute":
			delete(members, name)
			r.folder(call.Folder, text)
		}
	}
}

// plainShell matches the shells of the system.
var plainShell = regexp.MustCompile(`^(/usr/bin/|/bin/)?(bash|sh|zsh|dash)$`)

// scriptOf returns the script that a command of three words has a shell of the system run.
func scriptOf(command any) (script string, ok bool) {
	words := texts(command)
	if list, is := command.([]any); !is || len(list) != 3 || len(words) != 3 || !plainShell.MatchString(words[0]) || words[1] != "-c" && words[1] != "-lc" {
		return "", false
	}
	return words[2], true
}

// folder judges the folder in which a command runs.
func (r *reader) folder(open, path string) {
	switch place := protect.Find(open, path); {
	case !place.Inside:
		r.p.in, r.p.click, r.p.destructive = place.Path, true, true
	case place.Within != ".":
		r.p.in = place.Within
	}
}

// guard marks a call that is about a file which holds secrets, or is elsewhere.
func (r *reader) guard(path string) {
	r.leadsTo(path)
	r.p.click, r.p.destructive, r.p.more = true, true, true
}

// leadsTo adds a file that the question names with its folder.
func (r *reader) leadsTo(path string) {
	if path = filepath.ToSlash(path); !slices.Contains(r.p.about, path) {
		r.p.about = append(r.p.about, path)
	}
}

// judgeAgent marks a call of a coding agent that needs a click, and adds the files that it
// gives besides its input.
func (r *reader) judgeAgent(call copilot.ToolCall, input any) {
	if call.Folder == "" || call.Question != "" {
		return
	}
	members, _ := input.(map[string]any)
	if len(members) == 0 && len(call.Diffs) == 0 || call.Kind == "execute" && len(r.p.commands) == 0 || call.Kind == "switch_mode" {
		// Nothing says what it would do, or it changes what the next ones may.
		r.p.click, r.p.unclear, r.p.destructive = true, true, true
	}
	targets := slices.Clone(call.Files)
	for _, d := range call.Diffs {
		targets = append(targets, d.Path)
		r.p.more = true
	}
	for _, path := range targets {
		r.p.objects = r.say(r.p.objects, clipSpoken(baseName(path)))
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if pathMembers[memberKey(name)] {
			targets = append(targets, texts(members[name])...)
		}
	}
	for _, path := range targets {
		place := protect.Find(call.Folder, path)
		switch changes := !readingKinds[call.Kind]; {
		case !place.Inside, protect.Secret(path), protect.Secret(place.Within), changes && place.Linked, !changes && protect.MayHoldToken(place.Within):
			r.guard(pathOf(place))
		case place.Linked:
			r.leadsTo(place.Within)
		case changes && place.Within != "." && protect.Protected(place.Within, call.Folder):
			r.p.protected = r.say(r.p.protected, place.Within)
			r.p.click, r.p.destructive, r.p.more = true, true, true
		}
	}
	if !editingKinds[call.Kind] && !readingKinds[call.Kind] && !otherKinds[call.Kind] {
		r.unknownKind(call, members)
	}
}

// pathOf returns where a path leads: below the folder, or the whole path.
func pathOf(p protect.Place) string {
	if p.Inside {
		return p.Within
	}
	return p.Path
}

// plainValue matches a value that can be spoken as it is.
var plainValue = regexp.MustCompile(`^[\pL\pN ._/@:+-]{1,40}$`)

// maxValueWords is how many words of an input are spoken.
const maxValueWords = 12

// unknownKind judges a call of which only the name and the input are known: the question says
// the whole input, or the call needs a click.
func (r *reader) unknownKind(call copilot.ToolCall, members map[string]any) {
	r.p.destructive = true
	var said []string
	words := 0
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := ""
		switch v := members[name].(type) {
		case string:
			value = v
		case bool, json.Number, float64:
			value = fmt.Sprint(v)
		}
		if !plainValue.MatchString(value) || !plainValue.MatchString(name) {
			r.p.click, r.p.unclear = true, true
			return
		}
		one := strings.Join(nameWords(name), " ") + " " + value
		words += len(strings.Fields(strings.NewReplacer("/", " ", ".", " ", "_", " ", "-", " ").Replace(one)))
		said = append(said, one)
	}
	if call.Name == nameOfUnknown || words > maxValueWords {
		r.p.click, r.p.unclear = true, true
		return
	}
	r.p.objects, r.p.more = said, len(members) == 0
}

// nameOfUnknown is the name of a tool that a coding agent does not name.
const nameOfUnknown = "run_tool"

// placeWords are the sentences about the calls of coding agents, by locale: the folder of a
// command, the files that need a click, and that the call has changed while it was asked about.
var placeWords = map[protocol.Locale]struct{ in, guarded, again string }{
	protocol.English:  {" In the folder %s.", " It is about %s.", "The call has changed. "},
	protocol.German:   {" Im Ordner %s.", " Es geht um %s.", "Der Aufruf hat sich geändert. "},
	protocol.Japanese: {"フォルダー %s で行います。", "対象は %s です。", "呼び出しが変わりました。"},
}

// where returns the sentences about where a call of a coding agent acts.
func (p proposal) where(locale protocol.Locale, quote func(string) string) (q string) {
	words, w := placeWords[locale], questions[locale]
	if p.in != "" {
		q += fmt.Sprintf(words.in, quote(clipPath(p.in)))
	}
	if len(p.about) > 0 {
		var names []string
		for _, path := range p.about {
			folder, name := filepath.ToSlash(filepath.Dir(path)), clipSpoken(baseName(path))
			if folder == "." {
				names = append(names, name)
			} else {
				names = append(names, fmt.Sprintf(w.inFolder, name, quote(clipPath(folder))))
			}
		}
		q += fmt.Sprintf(words.guarded, w.few(names))
	}
	return q
}
