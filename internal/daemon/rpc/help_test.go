package rpc_test

import (
	"encoding/json"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// A failure with a help page from the provider says so, and the page is opened only
// when the user asks for it.
func TestTheUserOpensThePageThatHelps(t *testing.T) {
	c := scripted(t, `
		await state listening
		session.failed quotaExceeded
	`)
	c.initialize(nil, object{"agentvoice.provider": "openai"})
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	m := c.until("the error", func(m message) bool {
		if m.Method == protocol.MethodOpenExternal {
			t.Error("a page is opened unasked")
		}
		return m.Method == protocol.NotifyError
	})
	var p protocol.ErrorParams
	if err := json.Unmarshal(m.Params, &p); err != nil || p.Code != protocol.CodeQuotaExceeded || !p.HasHelp || p.Retryable {
		t.Errorf("the error is %+v", p)
	}
	id := c.request(protocol.MethodOpenHelp, object{"code": "quotaExceeded"})
	page := c.until("the page", func(m message) bool { return m.Method == protocol.MethodOpenExternal })
	var opens protocol.OpenExternalParams
	if err := json.Unmarshal(page.Params, &opens); err != nil || opens.URL != "https://platform.openai.com/settings/organization/billing/overview" {
		t.Errorf("the page is %q", opens.URL)
	}
	c.respond(page.ID, nil)
	if m := c.answer(id); m.Error != nil {
		t.Errorf("the answer is %+v", m.Error)
	}
	c.refused(protocol.MethodOpenHelp, object{"code": "deviceLost"}, protocol.CodeInvalidState)
	c.refused(protocol.MethodOpenHelp, object{"code": "nonsense"}, protocol.CodeInvalidParams)
}
