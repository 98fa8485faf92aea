package daemon

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/internal/shellcmd"
)

// proposal is what a call would do, as far as its name and input show.
type proposal struct {
	objects  []string // files, folders and hosts, in spoken form
	commands []string // texts in the input that would be run
	programs []string // all programs of the commands, in spoken form
	verbatim []string // commands that have to be spoken as they stand
	named    []string // the programs of the others, in spoken form
	changes  changes  // files that the commands write
	action   action   // a spoken yes to a destructive call must name it
	// destructive says that a command in the input is destructive. click says that the
	// text does not show everything that would run, so that the call must not be
	// approved without looking at it.
	destructive, click bool
	unclear            bool     // a part of what it would do is not known
	long               bool     // it is too long to be asked about in words
	more               bool     // the call contains more than is spoken
	in                 string   // the folder of a coding agent's command, below its own
	about              []string // files with secrets, files elsewhere, and those behind a link
	protected          []string // files on which something acts unasked
	with               []string // members of a coding agent's call that are not known
}

// Member names of an input, in lower case and reduced to letters.
var (
	commandMembers = setOf("command commandline commands cmd cmdline script shellcommand bash")
	argumentLists  = setOf("args arguments argv")
	codeMembers    = setOf("code source expression snippet program")
	typedMembers   = setOf("input text data keys")
	pathMembers    = setOf(`filepath path file filename uri dirpath directory folder files filepaths paths uris oldpath newpath
		sourcepath destination destinationpath target targetpath task`)
	siteMembers = setOf("url urls host hosts")
	// silentMembers do not change what a command does, beside it.
	silentMembers = setOf(`description explanation reason justification goal title label name type kind id timeout timeoutms timeoutmilliseconds yieldtimems
		maxoutputtokens isbackground runinbackground background interactive group problemmatcher presentation shell
		callid toolcallid turnid processid approvalid startedatms parsedcmd availabledecisions proposedexecpolicyamendment`)
	// offMembers switch a protection off, and are harmless if they say that they do not.
	offMembers = setOf("shell withescalatedpermissions dangerouslydisablesandbox detached")
)

func setOf(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// memberKey normalises a member name for lookup.
func memberKey(name string) string { return strings.Join(nameWords(name), "") }

// onWindows says that terminals run PowerShell unless a call specifies otherwise.
var onWindows = runtime.GOOS == "windows"

// proposalOf derives the proposal from a call.
func proposalOf(call copilot.ToolCall) proposal {
	r := reader{words: nameWords(call.Name)}
	r.p.action = actionOf(call.Name)
	r.place.Folder, r.open = call.Folder, call.Folder
	r.runs = slices.Equal(r.p.action.names, actions[0].names) && named(r.words, actions[0].names)
	r.terminal = named(r.words, []string{"terminal", "shell", "console", "tty", "repl"})
	if onWindows || named(r.words, []string{"powershell", "pwsh", "cmd"}) {
		r.place.Shell = shellcmd.Windows
	}
	var input any
	if len(call.Input) > 0 && json.Unmarshal(call.Input, &input) != nil {
		r.p.more = true
	}
	switch v := input.(type) {
	case nil:
	case map[string]any:
		if ofAgent(call) {
			r.agentInput(call, v)
		} else {
			r.withoutResolved(call, v)
			r.object(v)
		}
	case string:
		if r.runs {
			r.command(v, nil)
		} else {
			r.p.more = true
		}
	default:
		r.p.more = true
	}
	r.judgeAgent(call, input)
	r.judgeEditor(call)
	if r.p.long || r.p.allWords(call) > maxQuestionWords {
		r.p.long, r.p.click, r.p.destructive, r.p.more = true, true, true, true
	}
	return r.p
}

func named(words, wanted []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(wanted, w) })
}

// reader reads the input of a call.
type reader struct {
	p              proposal
	words          []string // words of the tool's name
	runs, terminal bool     // the tool's name says that it runs something, and in a terminal
	place          shellcmd.Place
	open           string   // the folder that is open, "" if it is unknown
	sub            string   // the folder of the command, below it
	targets        []string // files that a coding agent's call is about, as they are written
}

// object reads the members of an object.
func (r *reader) object(members map[string]any) {
	var args []string
	command := false
	for name, v := range members {
		key := memberKey(name)
		command = command || r.isCommand(key)
		if s, ok := v.(string); ok && key == "shell" {
			if named(nameWords(baseName(s)), []string{"powershell", "pwsh", "cmd"}) {
				r.place.Shell = shellcmd.Windows
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch key := memberKey(name); {
		case command && argumentLists[key]:
			args = append(args, texts(members[name])...)
		case command && folderMembers[key] && !isNothing(members[name]):
			r.folder(members[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		v, key := members[name], memberKey(name)
		switch {
		case command && folderMembers[key]:
			r.p.more = true
		case command && argumentLists[key]: // they are part of the command
			if _, list := v.([]any); !isEmpty(v) && len(texts(v)) == 0 || list && len(texts(v)) != len(v.([]any)) {
				r.needsClick()
			}
		case r.isCommand(key):
			r.commands(v, args, strings.HasSuffix(key, "s"))
		case codeMembers[key] && r.runs:
			r.needsClick()
		case pathMembers[key]:
			r.names(v, baseName)
		case siteMembers[key]:
			r.names(v, hostName)
		default:
			switch {
			case !command || isNothing(v) || isEmpty(v) && offMembers[key]:
			case !silentMembers[key] || key == "shell" && !knownShell(v):
				r.needsClick()
			default:
				r.p.more = true
				continue
			}
			r.value(v)
		}
	}
}

// shells matches the shells that a call may name.
var shells = regexp.MustCompile(`(?i)^((/usr)?/bin/|C:\\Windows\\[\w.\\]*\\)?(sh|bash|zsh|dash|ksh|fish|cmd|pwsh|powershell)(\.exe)?$`)

// posixShell matches the shells of the system whose scripts are asked about by themselves.
var posixShell = regexp.MustCompile(`^((/usr)?/bin/)?(bash|sh|zsh|dash)$`)

// knownShell reports whether a member names a shell of the system, or asks for one.
func knownShell(v any) bool {
	name, ok := v.(string)
	return !ok && v == true || ok && shells.MatchString(name)
}

// needsClick records that the call may do something that its command does not show.
func (r *reader) needsClick() {
	r.p.click, r.p.unclear, r.p.destructive, r.p.more = true, true, true, true
}

// isEmpty reports whether a member says nothing.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// isCommand reports whether a member holds a command.
func (r *reader) isCommand(key string) bool {
	return commandMembers[key] || r.terminal && typedMembers[key]
}

// value reads a member whose key has no special meaning.
func (r *reader) value(v any) {
	r.p.more = true
	switch v := v.(type) {
	case map[string]any:
		r.object(v)
	case []any:
		for _, e := range v {
			r.value(e)
		}
	}
}

// commands reads a member that holds a command: its text, its words (or several texts),
// or an object that contains a command.
func (r *reader) commands(v any, args []string, several bool) {
	switch v := v.(type) {
	case string:
		r.command(v, args)
	case []any:
		words := texts(v)
		if len(words) != len(v) {
			r.needsClick()
			r.value(v)
			return
		}
		if several || len(words) == 1 {
			for _, w := range words {
				r.command(w, args)
			}
			return
		}
		words = slices.Concat(words, args)
		if len(words) == 3 && posixShell.MatchString(words[0]) && (words[1] == "-c" || words[1] == "-lc") {
			r.command(words[2], nil)
			return
		}
		r.p.commands = append(r.p.commands, strings.Join(words, " "))
		r.read(shellcmd.ReadWords(words, r.place))
		r.judgeWords(strings.Join(words, " "))
		r.p.more = r.p.more || len(r.p.named) > 0 || len(r.p.verbatim) == 0
	case nil:
	default:
		r.needsClick()
		r.value(v)
	}
}

func (r *reader) command(text string, args []string) {
	if len(args) > 0 {
		r.read(shellcmd.ReadWords(append([]string{text}, args...), r.place))
		text += " " + strings.Join(args, " ") // a shell may receive it in this form
	}
	c := shellcmd.Read(text, r.place)
	if strings.TrimSpace(text) == "" {
		r.needsClick()
	}
	r.p.commands = append(r.p.commands, text)
	r.read(c)
	r.judgeWords(text)
	r.p.more = r.p.more || c.Spoken == "" && (len(c.Programs) != 1 || c.Programs[0] != text)
}

// read adds the effects of a command.
func (r *reader) read(c shellcmd.Reading) {
	c = r.judgeFiles(c)
	r.p.destructive = r.p.destructive || c.Destructive
	r.p.click = r.p.click || c.Opaque || c.Protected
	r.p.unclear = r.p.unclear || c.Opaque && !c.Long
	r.p.long = r.p.long || c.Long
	if c.Deletes {
		r.p.action = actions[deleteAction]
	}
	for _, name := range c.Programs {
		said := spokenProgram(name)
		if said == "" {
			r.p.click, r.p.unclear = true, true
			continue
		}
		r.p.programs = r.say(r.p.programs, said)
		if c.Spoken == "" {
			r.p.named = r.say(r.p.named, said)
		}
	}
	if c.Spoken != "" {
		r.p.verbatim = r.say(r.p.verbatim, c.Spoken)
	}
	if c.Spoken == "" || c.Protected {
		r.p.changes.add(c)
	}
}

// say appends a name unless it is empty or already in names.
func (r *reader) say(names []string, name string) []string {
	if name == "" || slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// names reads a member that holds names.
func (r *reader) names(v any, short func(string) string) {
	list := texts(v)
	if s, ok := v.([]any); len(list) == 0 || ok && len(s) != len(list) {
		r.value(v)
	}
	for _, text := range list {
		name := clipSpoken(short(text))
		r.p.more = r.p.more || name != text
		r.p.objects = r.say(r.p.objects, name)
	}
	r.p.more = r.p.more || len(r.p.objects) > maxNamed
}

// texts returns a string, or the strings of a list.
func texts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

func baseName(path string) string {
	path = strings.TrimRight(strings.ReplaceAll(path, `\`, "/"), "/")
	return path[strings.LastIndex(path, "/")+1:]
}

func hostName(s string) string {
	if u, err := url.Parse(s); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return s
}

// spokenProgram returns the spoken name of a program, also of one whose name is a sign.
func spokenProgram(name string) string {
	switch name {
	case "[":
		return "test"
	case ".":
		return "source"
	case ":":
		return "colon"
	}
	return clipPath(name)
}
