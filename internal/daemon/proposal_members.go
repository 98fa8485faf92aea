package daemon

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/internal/protect"
)

// role is what a member of a coding agent's call holds.
type role int

const (
	unknownMember role = iota // it is spoken, or needs a click
	pathMember                // files and folders
	textMember                // a text of a file
	patchMember               // changes of files, which name them
	searchMember              // what is searched for, maybe in names of files
	siteMember                // addresses of sites
	promptMember              // what a fetched page is read for
	optionMember              // how much is read or changed
	partsMember               // objects with such members, or a map of them by file
)

// rolesOf returns the roles of members, whose names are as memberKey returns them.
func rolesOf(all map[role]string) map[string]role {
	roles := map[string]role{}
	for role, names := range all {
		for _, name := range strings.Fields(names) {
			roles[name] = role
		}
	}
	return roles
}

const (
	pathNames   = "path paths file files filepath filepaths filename filenames absolutepath absolutefilepath relativepath notebookpath dirpath targetfile uri uris directory folder movepath oldpath newpath sourcepath source destinationpath destination target targetpath"
	moveNames   = " from to src dest dst oldname newname"
	aboutACall  = "description explanation reason justification callid toolcallid turnid approvalid startedatms"
	partsOfFile = " offset limit lines pages viewrange startline endline"
)

// agentMembers are the members of calls that known agents send, by the kind of call. Only they are
// harmless.
var agentMembers = map[string]map[string]role{
	"edit": rolesOf(map[role]string{
		pathMember: pathNames, textMember: "oldstring newstring oldstr newstr oldtext newtext content filetext newsource instruction",
		patchMember: "diff unifieddiff patch patchtext", optionMember: aboutACall + " replaceall expectedreplacements insertline viewrange", partsMember: "edits changes",
	}),
	"delete": rolesOf(map[role]string{pathMember: pathNames, optionMember: aboutACall}),
	"move":   rolesOf(map[role]string{pathMember: pathNames + moveNames, optionMember: aboutACall}),
	"read":   rolesOf(map[role]string{pathMember: pathNames, optionMember: aboutACall + partsOfFile}),
	"search": rolesOf(map[role]string{
		pathMember: pathNames, searchMember: "pattern regex include exclude glob ignore",
		optionMember: aboutACall + " offset limit headlimit outputmode a b c n i type casesensitive multiline respectgitignore",
	}),
	"fetch": rolesOf(map[role]string{
		pathMember: pathNames, siteMember: "url urls", promptMember: "prompt", optionMember: aboutACall + " format timeout maxlength",
	}),
}

// verbs are the values with which a call says again what its kind says, by kind.
var verbs = map[string]map[string]bool{
	"edit":   setOf("create add view insert write edit update replace strreplace strreplaceeditor undoedit"),
	"delete": setOf("delete remove"),
	"move":   setOf("move rename"),
	"read":   setOf("read view list"),
	"search": setOf("search grep find glob"),
}

// members reads the input of a coding agent's call that has no command.
func (r *reader) members(kind string, all map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v, key := all[name], memberKey(name)
		if text, ok := v.(string); ok && (key == "type" || key == "command") && verbs[kind][memberKey(text)] {
			continue
		}
		understood := isNothing(v)
		if !understood {
			understood = r.member(kind, key, v)
		}
		if !understood {
			r.unknown(name, v)
		}
	}
}

// member reads a member, and reports whether it is understood.
func (r *reader) member(kind, key string, v any) bool {
	role := agentMembers[kind][key]
	if role == partsMember || role == pathMember && len(texts(v)) == 0 {
		return r.parts(kind, v)
	}
	list := texts(v)
	if l, ok := v.([]any); ok && len(l) != len(list) && role != optionMember {
		return false
	}
	switch role {
	case optionMember:
		_, object := v.(map[string]any)
		return !object
	case pathMember:
		r.targets = append(r.targets, list...)
	case textMember:
	case patchMember:
		for _, text := range list {
			r.patch(text)
		}
	case searchMember:
		for _, text := range list {
			if leadsAway.MatchString(text) || protect.Secret(text) && strings.ContainsAny(text, "./") {
				r.targets = append(r.targets, text)
			}
		}
	case siteMember:
		for _, text := range list {
			if !webAddress.MatchString(text) {
				return false
			}
		}
		r.names(v, hostName)
	case promptMember:
		if slices.ContainsFunc(list, func(text string) bool { return strings.Contains(text, "://") }) {
			return false
		}
	default:
		return false
	}
	return len(list) > 0
}

// parts reads objects with the members of a call: one, a list, or one for each file.
func (r *reader) parts(kind string, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, part := range v {
			members, byFile := part.(map[string]any)
			if !byFile {
				r.members(kind, map[string]any{name: part})
				continue
			}
			r.targets = append(r.targets, name)
			r.members(kind, members)
		}
		return true
	case []any:
		for _, part := range v {
			members, ok := part.(map[string]any)
			if !ok {
				return false
			}
			r.members(kind, members)
		}
		return true
	}
	return false
}

// isNothing reports whether a member has no value. false is one: it can switch a protection off.
func isNothing(v any) bool { return v != false && isEmpty(v) }

// leadsAway matches a path that may lead out of the folder; webAddress an address that is fetched;
// looksLikePath a text that may be a path.
var (
	leadsAway     = regexp.MustCompile(`^(/|~|\\|[A-Za-z]:[\\/]|(?i:file:))|(^|[/\\])\.\.([/\\]|$)`)
	webAddress    = regexp.MustCompile(`^((?i:https?)://[^\s/\\]|[\pL\pN.-]+(:\d+)?([/?#]|$))`)
	looksLikePath = regexp.MustCompile(`^[^\r\n]*[/\\~][^\r\n]*$|^\.|^[^\s]+\.\w{1,8}$|^(?i:file):`)
)

// maxValueWords is how many words of members that are not known are spoken.
const maxValueWords = 12

// plainValue matches a value that can be spoken as it is.
var plainValue = regexp.MustCompile(`^[\pL\pN ._/@:+~-]{1,40}$`)

// unknown reads a member that is not known: the question says it, or the call needs a click. Files
// that it names are judged like others.
func (r *reader) unknown(name string, v any) {
	r.p.destructive = true
	switch v := v.(type) {
	case map[string]any:
		for _, n := range slices.Sorted(maps.Keys(v)) {
			r.mayBePath(n)
			r.unknown(name+" "+n, v[n])
		}
	case []any:
		for _, e := range v {
			r.unknown(name, e)
		}
	case nil:
	default:
		value := fmt.Sprint(v)
		if text, ok := v.(string); ok {
			r.mayBePath(text)
		}
		said := strings.Join(nameWords(name), " ")
		words := said + " " + value
		for _, other := range r.p.with {
			words += " " + other
		}
		if said == "" || !plainValue.MatchString(name) || !plainValue.MatchString(value) || len(nameWords(words)) > maxValueWords {
			r.needsClick()
			return
		}
		r.p.with = r.say(r.p.with, said+" "+value)
	}
}

// mayBePath has a text judged as a path, if it may be one.
func (r *reader) mayBePath(text string) {
	if looksLikePath.MatchString(text) || protect.Acting(text) {
		r.targets = append(r.targets, text)
	}
}

// fileHeader matches the lines of a patch that name files; renamed two files in one line; sidePrefix
// what git puts before a name.
var (
	fileHeader = regexp.MustCompile(`(?m)^(?:Index:|---|\+\+\+|(?:rename|copy) (?:from|to)|\*\*\*(?: (?:Add|Update|Delete) File:| Move to:)?)[ \t]+([^\t\r\n]+)`)
	gitHeader  = regexp.MustCompile(`(?m)^diff --git (.+) (\S+)\r?$`)
	sidePrefix = regexp.MustCompile(`^[ab]/`)
)

// notFiles are other words of such lines.
var notFiles = []string{"/dev/null", "Begin Patch", "End Patch", "End of File"}

// patch adds the files that a patch names. A line of a file may look like such a name: then one
// more file is judged.
func (r *reader) patch(text string) {
	var names []string
	for _, m := range slices.Concat(fileHeader.FindAllStringSubmatch(text, -1), gitHeader.FindAllStringSubmatch(text, -1)) {
		names = append(names, m[1:]...)
	}
	for _, name := range names {
		switch name = strings.TrimSpace(name); {
		case slices.Contains(notFiles, name):
		case strings.HasPrefix(name, `"`): // with escapes
			r.needsClick()
		default:
			r.targets = append(r.targets, sidePrefix.ReplaceAllString(name, ""))
		}
	}
}
