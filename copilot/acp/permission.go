package acp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// ask is a permission request or a question of the agent. It is answered once: by the
// code that removes it from prompt.asks.
type ask struct {
	agent   *agent
	id      jsonrpc2.ID
	state   *tool
	options []acpsdk.PermissionOption
	call    copilot.ToolCall
	given   bool  // passed to the conversation; guarded by Adapter.mu
	form    *form // of a question to the user; nil for a permission request
}

// grant allows this one call, and reports whether the agent offers such an option.
func (k *ask) grant() bool {
	if k.form != nil {
		return k.form.yes(k)
	}
	return k.choose(acpsdk.PermissionOptionKindAllowOnce, grants)
}

// reject rejects this one call, and reports whether the agent offers such an option.
// Otherwise it answers "cancelled".
func (k *ask) reject() bool {
	if k.form != nil {
		k.form.decline(k)
		return true
	}
	if k.choose(acpsdk.PermissionOptionKindRejectOnce, rejections) {
		return true
	}
	k.dismiss()
	return false
}

// dismiss answers "cancelled".
func (k *ask) dismiss() {
	if k.form != nil {
		k.form.cancel(k)
		return
	}
	k.agent.reply(k.id, acpsdk.RequestPermissionResponse{Outcome: acpsdk.NewRequestPermissionOutcomeCancelled()})
}

// Ids that known agents use for options about a single call.
var (
	grants     = []string{"allow-once", "proceed-once", "once", "allow", "approved", "proceed", "yes"}
	rejections = []string{"reject-once", "reject", "cancel", "abort", "deny", "no"}
)

// wider matches words in options that cover more than one call.
var wider = regexp.MustCompile(`(?i)always|session|all\b|every|mode|auto|again|remember|trust|future|prefix|bypass|server`)

// choose selects the option of a kind that applies to this call alone, and reports
// whether there is exactly one. The kind does not suffice: agents offer two options of
// one kind, one of which changes more.
func (k *ask) choose(kind acpsdk.PermissionOptionKind, known []string) bool {
	var fit []acpsdk.PermissionOption
	for _, o := range k.options {
		if o.Kind == kind && !wider.MatchString(string(o.OptionId)) && !wider.MatchString(o.Name) {
			fit = append(fit, o)
		}
	}
	if len(fit) > 1 {
		fit = slices.DeleteFunc(fit, func(o acpsdk.PermissionOption) bool {
			return !slices.Contains(known, strings.ReplaceAll(strings.ToLower(string(o.OptionId)), "_", "-"))
		})
	}
	if len(fit) != 1 {
		return false
	}
	k.agent.reply(k.id, acpsdk.RequestPermissionResponse{Outcome: acpsdk.NewRequestPermissionOutcomeSelected(fit[0].OptionId)})
	return true
}

// toolNames gives the tool name that the conversation uses for each kind of call.
var toolNames = map[acpsdk.ToolKind]string{
	acpsdk.ToolKindRead: "read_file", acpsdk.ToolKindEdit: "edit_file", acpsdk.ToolKindDelete: "delete_file", acpsdk.ToolKindMove: "move_file",
	acpsdk.ToolKindSearch: "search", acpsdk.ToolKindExecute: "run_command", acpsdk.ToolKindFetch: "fetch", acpsdk.ToolKindSwitchMode: "change_mode",
}

var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// callOf returns a call as the conversation sees it. It omits the title, because in some
// agents the model writes the title, which may not say what the call does.
func callOf(id string, t *tool) copilot.ToolCall {
	name := toolNames[t.kind]
	if name == "" {
		name = "run_tool"
		if identifier.MatchString(t.title) {
			name = t.title
		}
	}
	harmless := t.kind == acpsdk.ToolKindRead || t.kind == acpsdk.ToolKindSearch
	destructive := !harmless
	raw, _ := t.input.(map[string]any)
	call := copilot.ToolCall{ID: id, Name: name, Input: inputOf(t), Destructive: &destructive, Reason: copilot.ReasonIn(raw)}
	call.Question, call.Choices = questionIn(t.kind, raw)
	return call
}

// titledAgent is Gemini CLI. Version 0.61.0 sends no input for a call: the title holds
// the command, and the text holds the directory and the model's reason.
const titledAgent = "gemini-cli"

// titledText matches the text of such a call.
var titledText = regexp.MustCompile(`(?s)^\s*(?:\[current working directory (.*?)\])?\s*(?:\((.*)\))?\s*$`)

// fromTitle sets the input of a command from the title and text of its call.
func (t *tool) fromTitle(text string) {
	if t.kind != acpsdk.ToolKindExecute || t.input != nil || t.title == "" {
		return
	}
	input := map[string]any{"command": t.title}
	if m := titledText.FindStringSubmatch(text); m != nil {
		for i, name := range []string{"cwd", "description"} {
			if m[i+1] != "" {
				input[name] = m[i+1]
			}
		}
	}
	t.input = input
}

// inputOf returns what a call would do. For a command it keeps only the fields that
// define the command, so that repeated requests compare equal; otherwise it returns the
// whole input with the files that the call names.
func inputOf(t *tool) json.RawMessage {
	raw, _ := t.input.(map[string]any)
	input := map[string]any{}
	if command, ok := raw["command"]; ok {
		for _, name := range []string{"command", "cwd", "args", "shell"} {
			if v, there := raw[name]; there {
				input[name] = v
			}
		}
		input["command"] = command
		if words, ok := command.([]any); ok && len(words) == 3 {
			if shell, script := posixShell(words), words[2]; shell {
				input["command"] = script
			}
		}
	} else {
		for name, v := range raw {
			input[name] = v
		}
		if raw == nil && t.input != nil {
			input["input"] = t.input
		}
	}
	if len(t.files) > 0 {
		input["files"] = t.files
	}
	b, err := json.Marshal(input)
	if err != nil {
		return json.RawMessage("{}") // unreachable: the input was decoded from JSON
	}
	return b
}

// posixShell reports whether words run a script in a shell. The user is then asked about
// the script.
func posixShell(words []any) bool {
	shell, _ := words[0].(string)
	flag, _ := words[1].(string)
	_, text := words[2].(string)
	name := shell[strings.LastIndexByte(shell, '/')+1:]
	return text && (name == "bash" || name == "sh" || name == "zsh" || name == "dash") && (flag == "-c" || flag == "-lc")
}

// update holds the fields that tool_call, tool_call_update and permission requests share.
type update struct {
	title     *string
	kind      *acpsdk.ToolKind
	status    *acpsdk.ToolCallStatus
	input     any
	output    any
	content   []acpsdk.ToolCallContent
	locations []acpsdk.ToolCallLocation
}

// maxResult limits the size of a stored result, in bytes.
const maxResult = 64 << 10

// merge applies an update. A call that has ended stays ended.
func (t *tool) merge(u update) {
	if u.title != nil && *u.title != "" {
		t.title = *u.title
	}
	if u.kind != nil && *u.kind != "" {
		t.kind = *u.kind
	}
	if u.status != nil && *u.status != "" && !t.ended() {
		t.status = *u.status
	}
	if u.input != nil {
		t.input = u.input
	}
	for _, l := range u.locations {
		t.addFile(l.Path)
	}
	var text strings.Builder
	for _, c := range u.content {
		switch {
		case c.Diff != nil:
			t.addFile(c.Diff.Path)
		case c.Content != nil && c.Content.Content.Text != nil:
			text.WriteString(c.Content.Content.Text.Text)
		}
	}
	if s := outputOf(u.output); s != "" {
		text.Reset()
		text.WriteString(s)
	}
	if s := text.String(); s != "" {
		t.output = s[:min(len(s), maxResult)]
	}
}

func (t *tool) addFile(path string) {
	if path != "" && !slices.Contains(t.files, path) {
		t.files = append(t.files, path)
	}
}

// outputOf extracts the text of a raw output.
func outputOf(raw any) string {
	switch v := raw.(type) {
	case string:
		return v
	case map[string]any:
		for _, name := range []string{"formatted_output", "aggregated_output", "output", "stdout", "content", "error", "message"} {
			if s, ok := v[name].(string); ok && s != "" {
				return s
			}
		}
		if code, ok := v["exit_code"].(float64); ok {
			return fmt.Sprintf("exit code %d", int(code))
		}
	}
	return ""
}
