package rpc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// If a client's deltas do not start at 0 or skip one, it is told which request, what
// was expected and what arrived, and the answer is cancelled.
func TestGapInDeltasIsNamedToTheClient(t *testing.T) {
	for name, test := range map[string]struct {
		seqs               []int
		expected, received int64
	}{
		"begins at 1":  {[]int{1}, 0, 1},
		"leaves out 2": {[]int{0, 1, 3}, 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			c := scripted(t, "")
			c.initializeAndListen(object{"copilot": true})
			c.request(protocol.MethodSendText, object{"text": "What is wrong?"})
			_, p := c.asked()
			for _, seq := range test.seqs {
				c.delta(p, seq, "word ")
			}
			var told protocol.ErrorParams
			for cancelled := false; told.Code == "" || !cancelled; { // in any order
				m := c.next()
				switch {
				case m.Method == protocol.MethodCancelRequest:
					cancelled = true
				case m.Method == protocol.NotifyError && told.Code == "":
					if err := json.Unmarshal(m.Params, &told); err != nil {
						t.Fatal(err)
					}
				}
			}
			if told.Code != protocol.CodeAnswerGap || told.RequestID != p.RequestID || told.ExpectedSeq == nil || *told.ExpectedSeq != test.expected ||
				told.ReceivedSeq == nil || *told.ReceivedSeq != test.received || !strings.Contains(told.Message, p.RequestID) {
				t.Errorf("the first error is %+v", told)
			}
			c.end()
		})
	}
}
