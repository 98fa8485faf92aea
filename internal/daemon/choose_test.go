package daemon

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// patience limits every wait on a slow machine; no test passes because of it.
const patience = time.Minute

// closing is an adapter that records when it was closed.
type closing struct {
	*able
	closed chan struct{}
}

func (c closing) Close() error { close(c.closed); return nil }
func (closing) Title() string  { return "Codex" }

// agentvoice.agent takes effect with the next conversation: the previous agent is
// closed, and the editor's is kept.
func TestAgentIsChosenWhenAConversationBegins(t *testing.T) {
	editor := &able{}
	agent := closing{&able{}, make(chan struct{})}
	var folders []string
	trusted := t.TempDir()
	d := New(Config{
		Clock: &dispatch.Virtual{}, Settings: protocol.DefaultSettings(), Adapter: editor,
		World: func(Port) World { return idle{} }, Notify: func(string, any) {},
		Choose: func(s protocol.Settings, folder string, _ bool) copilot.Adapter {
			folders = append(folders, folder)
			if s.Agent == "" {
				return nil
			}
			return agent
		},
	})
	d.OpenWorkspace(&protocol.Workspace{Folders: []protocol.WorkspaceFolder{{Path: trusted, Trusted: true}}})
	var failure string
	begin := func(name string) copilot.Adapter {
		set := d.Settings()
		set.Agent = name
		d.Configure(set)
		d.Post(csm.UserStart{})
		d.Drain()
		was := d.adapter()
		failure = d.failure(csm.CodeCopilotTimeout, "").Message
		d.Post(csm.UserStop{})
		d.Post(csm.SessionClosed{Instance: d.State().Instance})
		d.Post(csm.AudioClosed{Instance: d.State().Instance})
		d.Drain()
		return was
	}
	if got := begin(""); got != editor {
		t.Errorf("%v answers without the setting", got)
	}
	if got := begin("acp:x"); got != agent || folders[len(folders)-1] != trusted {
		t.Errorf("%v answers with the setting, in %q", got, folders)
	}
	if failure != "Codex did not answer in time." {
		t.Errorf("its failure is told as %q", failure)
	}
	if got := begin(""); got != editor {
		t.Errorf("%v answers after the setting was cleared", got)
	}
	if failure != "Copilot did not answer in time." {
		t.Errorf("the failure of the editor's is told as %q", failure)
	}
	select {
	case <-agent.closed:
	case <-time.After(patience):
		t.Error("the agent was not closed")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
