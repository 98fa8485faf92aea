package acp

import (
	"encoding/json"
	"testing"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"
)

// recordingConn records the outcome that an answer selects.
type recordingConn struct{ outcome chan string }

func (recordingConn) Close() error           { return nil }
func (c recordingConn) ReadObject(any) error { select {} }
func (c recordingConn) WriteObject(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var m fakeMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if o := m.Result.Outcome; o.Outcome == "selected" {
		c.outcome <- o.OptionID
	} else {
		c.outcome <- o.Outcome
	}
	return nil
}

// The options are copied from seven real agents.
func TestOptionIsOfThisCallAlone(t *testing.T) {
	for name, test := range map[string]struct{ options, allow, reject string }{
		"codex":  {codexOptions, "approved", "abort"},
		"gemini": {`[{"optionId":"proceed_always","name":"Allow for this session","kind":"allow_always"},{"optionId":"proceed_once","name":"Allow","kind":"allow_once"},{"optionId":"cancel","name":"Reject","kind":"reject_once"}]`, "proceed_once", "cancel"},
		"qwen, one of two changes the mode": {
			`[{"optionId":"restore_previous","name":"Yes, and auto-accept edits","kind":"allow_once"},{"optionId":"proceed_once","name":"Yes","kind":"allow_once"},{"optionId":"cancel","name":"No","kind":"reject_once"}]`, "proceed_once", "cancel"},
		"claude":            {`[{"optionId":"allow_always","name":"Always Allow","kind":"allow_always"},{"optionId":"allow-once","name":"Allow","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}]`, "allow-once", "reject"},
		"opencode":          {`[{"optionId":"once","name":"Allow once","kind":"allow_once"},{"optionId":"always","name":"Always allow","kind":"allow_always"},{"optionId":"reject","name":"Reject","kind":"reject_once"}]`, "once", "reject"},
		"always, disguised": {`[{"optionId":"yes-session","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]`, "", "no"},
		"two unknown":       {`[{"optionId":"a","name":"Red","kind":"allow_once"},{"optionId":"b","name":"Blue","kind":"allow_once"}]`, "", ""},
		"and more":          {`[{"optionId":"proceed_once","name":"Yes, and stop asking","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]`, "", "no"},
		"and more, alone":   {`[{"optionId":"x1","name":"Yes, and stop asking","kind":"allow_once"},{"optionId":"x2","name":"No, and explain","kind":"reject_once"}]`, "", ""},
		"for the folder":    {`[{"optionId":"allow","name":"Allow for this folder","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]`, "", "no"},
		"says nothing":      {`[{"optionId":"x","name":"Deploy","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]`, "", "no"},
		"an unknown id":     {`[{"optionId":"x","name":"Allow this edit once","kind":"allow_once"},{"optionId":"y","name":"Reject","kind":"reject_once"}]`, "", ""},
		"in plain words":    {`[{"optionId":"allow_once","name":"Allow this edit once","kind":"allow_once"},{"optionId":"reject_once","name":"Reject","kind":"reject_once"}]`, "allow_once", "reject_once"},
		"permanently":       {`[{"optionId":"allow","name":"Allow permanently","kind":"allow_once"},{"optionId":"reject","name":"Deny","kind":"reject_once"}]`, "", "reject"},
		"for long":          {`[{"optionId":"yes","name":"Yes, for this conversation","kind":"allow_once"},{"optionId":"no","name":"No, and leave","kind":"reject_once"}]`, "", ""},
		"another language":  {`[{"optionId":"allow","name":"Erlauben und merken","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]`, "", "no"},
		"goose":             {`[{"optionId":"allow_always","name":"Always Allow","kind":"allow_always"},{"optionId":"allow_once","name":"Allow Once","kind":"allow_once"},{"optionId":"reject_once","name":"Deny","kind":"reject_once"},{"optionId":"reject_always","name":"Always Deny","kind":"reject_always"}]`, "allow_once", "reject_once"},
		"goose, by ids":     {`[{"optionId":"allow_always","name":"allow_always","kind":"allow_always"},{"optionId":"allow_once","name":"allow_once","kind":"allow_once"},{"optionId":"reject_once","name":"reject_once","kind":"reject_once"}]`, "allow_once", "reject_once"},
		"codex, of an edit": {`[{"optionId":"approved-for-session","name":"Always","kind":"allow_always"},{"optionId":"approved","name":"Yes","kind":"allow_once"},{"optionId":"abort","name":"No, provide feedback","kind":"reject_once"}]`, "approved", "abort"},
		"two that fit":      {`[{"optionId":"once","name":"Allow","kind":"allow_once"},{"optionId":"allow","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]`, "", "no"},
		"a plan of Claude":  {`[{"optionId":"acceptEdits","name":"Yes, and auto-accept edits","kind":"allow_always"},{"optionId":"default","name":"Yes, and manually approve edits","kind":"allow_once"},{"optionId":"plan","name":"No, keep planning","kind":"reject_once"}]`, "", ""},
		"only always":       {`[{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"never","name":"Never","kind":"reject_always"}]`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var options []acpsdk.PermissionOption
			if err := json.Unmarshal([]byte(test.options), &options); err != nil {
				t.Fatal(err)
			}
			c := recordingConn{make(chan string, 1)}
			g := &agent{conn: jsonrpc2.NewConn(t.Context(), c, handler{})}
			k := &ask{agent: g, id: jsonrpc2.ID{Num: 1}, options: options}
			if ok := k.grant(); ok != (test.allow != "") {
				t.Errorf("granted %v", ok)
			} else if ok {
				if got := <-c.outcome; got != test.allow {
					t.Errorf("granted by %q, want %q", got, test.allow)
				}
			}
			want := test.reject
			if want == "" {
				want = "cancelled"
			}
			k.reject()
			if got := <-c.outcome; got != want {
				t.Errorf("rejected by %q, want %q", got, want)
			}
		})
	}
}

// Gemini CLI sends the command of a call only in its title; in other agents the model
// writes the title, so it is not trusted.
func TestCommandInTheTitle(t *testing.T) {
	const call = `"toolCallId":"c1","status":"pending","kind":"execute","title":"touch a.txt && ls","content":[{"type":"content","content":{"type":"text","text":"[current working directory /w/x] (Make it (again))"}}]`
	for agent, want := range map[string]string{
		"gemini-cli": `{"command":"touch a.txt \u0026\u0026 ls","cwd":"/w/x","description":"Make it (again)"} Make it (again)`, "other": ` `,
	} {
		bubble(t, func(t *testing.T) {
			f := newFakeAgent(func(f *fakeAgent, _ string) string {
				f.send(`{"jsonrpc":"2.0","id":"perm-9","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{` + call + `},"options":` + codexOptions + `}}`)
				f.pause(cancelLimit)
				return "cancelled"
			})
			f.name = agent
			f.waiting["perm-9"] = make(chan string, 2)
			k := newTalker(t, f)
			k.want(k.ask(t.Context(), "go"), "")
			if c := k.call(); string(c.Input)+" "+c.Reason != want {
				t.Errorf("%s: the call is %s because of %q, want %s", agent, c.Input, c.Reason, want)
			}
			k.a.End(k.id())
		})
	}
}
