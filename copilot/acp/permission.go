package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
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
	tool    acpsdk.ToolCallId // the agent's name for the call, which it may reuse
	state   *tool
	options []acpsdk.PermissionOption
	call    copilot.ToolCall
	given   bool  // passed to the conversation; guarded by Adapter.mu
	form    *form // of a question to the user; nil for a permission request
	kept    bool  // a question for which the agent sent no request, so that it gets no response
}

// grant allows this one call, and reports whether the agent offers such an option.
func (k *ask) grant() bool {
	if k.form != nil {
		return k.form.yes(k)
	}
	return k.choose(allowOnce)
}

// reject rejects this one call, and reports whether the agent offers such an option.
// Otherwise it answers "cancelled".
func (k *ask) reject() bool {
	if k.form != nil {
		k.form.decline(k)
		return true
	}
	if k.choose(rejectOnce) {
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
	if k.kept {
		return
	}
	k.agent.reply(k.id, acpsdk.RequestPermissionResponse{Outcome: acpsdk.NewRequestPermissionOutcomeCancelled()})
}

// answer is a way to answer a permission request for one call: the ids and the names that known
// agents give to such an option. An option is chosen by what is known about it, never because
// nothing in it is known to be wrong.
type answer struct {
	kind  acpsdk.PermissionOptionKind
	ids   []string
	names *regexp.Regexp
}

var (
	allowOnce = answer{
		acpsdk.PermissionOptionKindAllowOnce, []string{"allow-once", "allow", "approve", "approved", "proceed-once", "proceed", "once", "yes"},
		regexp.MustCompile(`(?i)^((yes|ok|okay) )?(allow|approve|accept|run|proceed)( (it|this|this call|this tool|this command|this edit|this change|command|edit))?( (just |only )?(once|this time))?$|^(yes|ok|okay)( just)?( once| this once| this time)?$`),
	}
	rejectOnce = answer{
		acpsdk.PermissionOptionKindRejectOnce, []string{"reject-once", "reject", "cancel", "abort", "deny", "no"},
		regexp.MustCompile(`(?i)^(no )?(reject|deny|decline|cancel|abort|skip)( (it|this|this call|this tool|this command|this edit|this change|command|edit))?( once| this time)?$|^no$|^no and tell \w+( code)? what to do differently$|^no (suggest changes|provide feedback)$`),
	}
)

// fits reports whether an option is about one call: its id and its name are both known.
func (w answer) fits(o acpsdk.PermissionOption) bool {
	id := strings.ReplaceAll(strings.ToLower(string(o.OptionId)), "_", "-")
	name := strings.Join(strings.FieldsFunc(o.Name, func(r rune) bool { return strings.ContainsRune(" ,.!()_-", r) }), " ")
	return o.Kind == w.kind && slices.Contains(w.ids, id) && w.names.MatchString(name)
}

// choose selects the option that applies to this call alone, and reports whether there is exactly
// one. The kind does not suffice: agents offer two options of one kind, one of which changes more.
func (k *ask) choose(way answer) bool {
	var fit []acpsdk.PermissionOption
	for _, o := range k.options {
		if way.fits(o) {
			fit = append(fit, o)
		}
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

// callOf returns a call as the conversation sees it: all that the agent sent about it. The
// title is what the agent says and names no tool; in some agents the model writes it.
func (a *Adapter) callOf(g *agent, k *ask) copilot.ToolCall {
	t := k.state
	name := toolNames[t.kind]
	if name == "" {
		name = "run_tool"
	}
	destructive := t.kind != acpsdk.ToolKindRead && t.kind != acpsdk.ToolKindSearch
	call := copilot.ToolCall{
		ID: string(k.tool) + "#" + strconv.FormatUint(a.calls, 10), Agent: a.name, Name: name, Kind: string(t.kind), Title: t.title,
		Input: t.input, Files: slices.Clone(t.files), Diffs: slices.Clone(t.diffs), Folder: a.opts.Dir, Destructive: &destructive,
	}
	if g.titled {
		call.Input = t.titled()
	}
	var input map[string]any
	if json.Unmarshal(call.Input, &input) == nil {
		call.Reason = copilot.ReasonIn(input)
		call.Question, call.Choices = questionIn(t.kind, input)
	}
	return call
}

// changed replaces an ask whose call is not the one that the user was asked about, so that
// the user is asked again, and reports whether it did. The caller holds Adapter.mu.
func (a *Adapter) changed(p *prompt, k *ask) bool {
	if k.form != nil {
		return false
	}
	now := a.callOf(k.agent, k)
	if now.Hash() == k.call.Hash() && now.Hash() != "" {
		return false
	}
	a.calls++
	k.call, k.given = a.callOf(k.agent, k), false
	k.call.Again = true
	p.queueAsk(k)
	return true
}

// opencodeForks are opencode and what is made from it. Versions 1.18.33 and 7.7.9 may request
// permission for a call before the update with all of its input.
var opencodeForks = []string{"OpenCode", "Kilo"}

// incomplete reports whether more about a call is expected from its agent.
func (k *ask) incomplete() bool {
	return k.agent.fork && k.state != nil && !k.state.described && k.form == nil
}

// titledAgent is Gemini CLI. Version 0.61.0 sends no input for a call: the title holds
// the command, and the text holds the directory and the model's reason.
const titledAgent = "gemini-cli"

// titledText matches the text of such a call.
var titledText = regexp.MustCompile(`(?s)^\s*(?:\[current working directory (.*?)\])?\s*(?:\((.*)\))?\s*$`)

// titled returns the input of a call of such an agent.
func (t *tool) titled() json.RawMessage {
	if t.kind != acpsdk.ToolKindExecute || len(t.input) > 0 || t.title == "" {
		return t.input
	}
	input := map[string]string{"command": t.title}
	if m := titledText.FindStringSubmatch(t.about); m != nil {
		for i, name := range []string{"cwd", "description"} {
			if m[i+1] != "" {
				input[name] = m[i+1]
			}
		}
	}
	b, _ := json.Marshal(input) // strings do not fail
	return b
}

// joined returns the input of a permission request, with the members of the call's known input that
// the request omits: opencode omits the folder. A request that contradicts the known input is about
// another call.
func joined(known, asked json.RawMessage) json.RawMessage {
	var before, now map[string]json.RawMessage
	if ambiguous(known) || ambiguous(asked) || json.Unmarshal(known, &before) != nil || json.Unmarshal(asked, &now) != nil || before == nil || now == nil {
		return asked
	}
	for name, value := range now {
		if old, ok := before[name]; ok && !bytes.Equal(old, value) {
			return asked
		}
	}
	maps.Copy(before, now)
	all, _ := json.Marshal(before) // raw values do not fail
	return all
}

// ambiguous reports whether parsers read an input differently.
func ambiguous(input json.RawMessage) bool { return copilot.ToolCall{Input: input}.Hash() == "" }

// update holds the fields that tool_call, tool_call_update and permission requests share.
type update struct {
	title     *string
	kind      *acpsdk.ToolKind
	status    *acpsdk.ToolCallStatus
	input     json.RawMessage
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
	if len(u.input) > 0 && string(u.input) != "null" {
		t.input = u.input
	}
	for _, l := range u.locations {
		t.addFile(l.Path)
	}
	var text strings.Builder
	var diffs []copilot.Diff
	for _, c := range u.content {
		switch {
		case c.Diff != nil:
			diffs = append(diffs, copilot.Diff{Path: c.Diff.Path, Old: c.Diff.OldText, New: c.Diff.NewText})
			t.addFile(c.Diff.Path)
		case c.Content != nil && c.Content.Content.Text != nil:
			text.WriteString(c.Content.Content.Text.Text)
		}
	}
	if diffs != nil { // content replaces what was sent before
		t.diffs = diffs
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
