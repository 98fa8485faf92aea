package daemon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// The members that the editor's tools add to a call: where a command runs, and the
// scripts of package.json behind its name. The question names the command, and the panel
// shows the members.
var resolvedMembers = []string{"folder", "scripts"}

// withoutResolved removes these members from the input of an editor tool. Its command runs in
// their folder.
func (r *reader) withoutResolved(call copilot.ToolCall, members map[string]any) {
	if editorQuestions[call.Name] == nil || readingTools[call.Name] {
		return
	}
	if folder, ok := members["folder"].(string); ok {
		r.place.Folder, r.open = folder, folder
	}
	if name, ok := members["workspaceFolder"].(string); ok { // the editor adds it where several are open
		r.p.in = name
		delete(members, "workspaceFolder")
	}
	for _, name := range resolvedMembers {
		delete(members, name)
	}
}

// judgeEditor marks a call of an editor tool that needs a click: it changes protected
// files, or the editor cannot tell everything that it would run.
func (r *reader) judgeEditor(call copilot.ToolCall) {
	in, ok := editorInputOf(call)
	if !ok || readingTools[call.Name] {
		return
	}
	r.p.protected = in.Protected
	r.p.unclear = r.p.unclear || in.Click && len(in.Protected) == 0
	if in.Click || len(in.Protected) > 0 {
		r.p.click, r.p.destructive, r.p.more = true, true, true
	}
}

// protectedWords introduce the names of protected files, by locale.
var protectedWords = says(
	" Programs or assistants act on it unasked: %s.",
	" Programme oder Assistenten richten sich ungefragt danach: %s.",
	"プログラムやアシスタントが確認なしに従うファイルです: %s。")

// folderWords say where a file is: its name and its folder.
var folderWords = says("%s in the folder %s", "%s im Ordner %s", "フォルダー %[2]s の %[1]s")

// spokenProtected names protected files with their folders.
func spokenProtected(paths []string, locale protocol.Locale) string {
	if len(paths) == 0 {
		return ""
	}
	var said []string
	for _, p := range paths {
		said = append(said, spokenPath(p, locale))
	}
	return fmt.Sprintf(protectedWords[locale], questions[locale].few(said))
}

// spokenPath names a file with its folder, which is relative to the workspace. Of a deep
// folder it names the beginning, from the first hidden folder on, and the end.
func spokenPath(file string, locale protocol.Locale) string {
	parts := strings.Split(strings.ReplaceAll(file, `\`, "/"), "/")
	name, folders := parts[len(parts)-1], parts[:len(parts)-1]
	if i := slices.IndexFunc(folders, func(part string) bool { return strings.HasPrefix(part, ".") }); i > 0 && len(folders) > 4 {
		folders = folders[i:]
	}
	if n := len(folders); n > 4 {
		folders = slices.Concat(folders[:2], folders[n-2:])
	}
	var said []string
	for _, part := range folders {
		said = append(said, clipSpoken(part))
	}
	if len(said) == 0 {
		return clipSpoken(name)
	}
	return fmt.Sprintf(folderWords[locale], clipSpoken(name), strings.Join(said, " "))
}
