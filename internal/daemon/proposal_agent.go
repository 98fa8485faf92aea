package daemon

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/internal/protect"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// A coding agent runs its calls by itself, with what their members mean to it. What is not
// understood about one needs a click.

// ofAgent reports whether a coding agent runs a call by itself. Then its name says nothing about our
// own tools.
func ofAgent(call copilot.ToolCall) bool {
	return call.Folder != "" || strings.HasPrefix(call.Agent, "acp:")
}

// agentInput reads the input of a call of a coding agent: its command, or the members that are
// known of its kind.
func (r *reader) agentInput(call copilot.ToolCall, members map[string]any) {
	if call.Question != "" {
		return
	}
	command, paths := false, false
	for name, v := range members {
		key := memberKey(name)
		text, _ := v.(string)
		command = command || r.isCommand(key) && !isEmpty(v) && !verbs[call.Kind][memberKey(text)]
		if pathMembers[key] && !folderMembers[key] {
			r.targets = append(r.targets, texts(v)...)
			paths = true
		}
	}
	if !command {
		r.targets = nil
		r.members(call.Kind, members)
		return
	}
	if call.Kind != "execute" && paths { // a verb that its kind does not say, or more than a command
		r.needsClick()
	}
	for name, v := range members {
		script, shell := scriptOf(v)
		switch key := memberKey(name); {
		case shell && key == "command":
			members[name] = script
		case key == "parsedcmd": // the agent's own reading of the command
			delete(members, name)
			r.p.more = true
		}
	}
	r.object(members)
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

// judgeAgent marks a call of a coding agent that needs a click, and names the files that it is
// about.
func (r *reader) judgeAgent(call copilot.ToolCall, input any) {
	if !ofAgent(call) || call.Question != "" {
		return
	}
	members, _ := input.(map[string]any)
	_, known := agentMembers[call.Kind]
	for _, d := range call.Diffs {
		r.targets = append(r.targets, d.Path)
		r.p.more = true
	}
	says := len(members) > 0 || len(call.Diffs) > 0
	if call.Kind == "execute" {
		known, says = true, len(r.p.commands) > 0
	}
	r.targets = append(r.targets, call.Files...)
	places := make([]protect.Place, len(r.targets))
	for i, path := range r.targets {
		places[i] = protect.Find(call.Folder, path)
		r.judgePath(call, path, places[i])
	}
	r.nameTargets(places)
	if !known || !says || len(r.p.objects)+len(r.p.commands) == 0 && call.Kind != "search" {
		// Nothing says what it would do, or it changes what the next ones may.
		r.needsClick()
	}
}

// judgePath is the gate of every path in a call of a coding agent.
func (r *reader) judgePath(call copilot.ToolCall, path string, place protect.Place) {
	switch changes := call.Kind != "read" && call.Kind != "search"; {
	case !place.Inside, protect.Secret(path), protect.Secret(place.Within), changes && place.Linked, !changes && protect.MayHoldToken(place.Within):
		r.guard(pathOf(place))
	case place.Linked:
		r.leadsTo(place.Within)
	case changes && place.Within != "." && protect.Protected(place.Within, call.Folder):
		r.protect(place.Within)
	}
}

// protect marks a call that changes a file on which something acts unasked.
func (r *reader) protect(path string) {
	r.p.protected = r.say(r.p.protected, path)
	r.p.click, r.p.destructive, r.p.more = true, true, true
}

// nameTargets adds the spoken names of the files that a call is about: with their folders, where
// several have one name.
func (r *reader) nameTargets(places []protect.Place) {
	files := map[string][]string{} // places by name
	for i, path := range r.targets {
		name := baseName(path)
		files[name] = r.say(files[name], places[i].Path)
	}
	for i, path := range r.targets {
		name := baseName(path)
		if len(files[name]) > 1 {
			name = strings.ReplaceAll(pathOf(places[i]), "/", " ")
		}
		said := clipSpoken(name)
		if utf8.RuneCountInString(name) > maxSpoken || said == "" && path != "." && path != "/" {
			r.needsClick()
		}
		r.p.objects = r.say(r.p.objects, said)
	}
	if len(r.p.objects) > maxNamed {
		r.needsClick()
	}
}

// pathOf returns where a path leads: below the folder, or the whole path.
func pathOf(p protect.Place) string {
	if p.Inside {
		return p.Within
	}
	return p.Path
}

// placeWords are the sentences about the calls of coding agents, by locale: the folder of a
// command, the files that need a click, the members that are not known, and that the call has changed while it was asked about.
var placeWords = map[protocol.Locale]struct{ in, guarded, with, again string }{
	protocol.English:  {" In the folder %s.", " It is about %s.", " With %s.", "The call has changed. "},
	protocol.German:   {" Im Ordner %s.", " Es geht um %s.", " Mit %s.", "Der Aufruf hat sich geändert. "},
	protocol.Japanese: {"フォルダー %s で行います。", "対象は %s です。", "指定は %s です。", "呼び出しが変わりました。"},
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
	if len(p.with) > 0 {
		q += fmt.Sprintf(words.with, w.list(p.with))
	}
	return q
}

// allWords estimates the words of the whole question about a call. One about no command has fewer
// of them besides what it names.
func (p proposal) allWords(call copilot.ToolCall) int {
	words := p.spokenWords() + len(nameWords(call.Name))
	if len(p.commands) == 0 {
		words -= len(nameWords(call.Name))
	}
	return words + wordsOf(p.where(protocol.English, quoted)) + wordsOf(spokenProtected(p.protected, protocol.English))
}
