package rpc_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

const journalSetting = "agentvoice.privacy.journal"

// saved requests the journal and reads it.
func (c *client) saved(content protocol.JournalContent) string {
	c.t.Helper()
	var result protocol.JournalResult
	c.call(protocol.MethodJournal, object{"content": content}, &result)
	b, err := os.ReadFile(result.Path)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// replays checks that a saved journal replays to what was recorded.
func replays(t *testing.T, saved string) {
	t.Helper()
	j, err := journal.Read(strings.NewReader(saved))
	if err != nil {
		t.Fatal(err)
	}
	if res, err := journal.Replay(j); err != nil || res.Difference != nil {
		t.Errorf("the journal does not replay: %v, %+v", err, res.Difference)
	}
}

// heardOut lets an answer play to its end.
func (c *client) heardOut() {
	c.t.Helper()
	c.request(protocol.MethodAdvance, object{"ms": 5000})
	c.state(protocol.StateListening)
}

// When the user disables the recording of words, those already recorded are removed
// from memory and from disk, while the conversation continues.
func TestJournalWithoutWordsFromNowOn(t *testing.T) {
	cfg := scriptedConfig(t, "auto speech 0ms 1s")
	onDisk := filepath.Join(t.TempDir(), "journal.jsonl")
	cfg.Journal = journal.Files(onDisk, journal.DefaultLimits)
	c := serve(t, cfg, true)
	c.initialize(object{"copilot": true}, object{journalSetting: "full"})
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	c.request(protocol.MethodSendText, object{"text": "my secret CANARY-BEFORE"})
	id, p := c.asked()
	c.delta(p, 0, "CANARY-BEFORE is safe. ")
	if saved := c.saved(protocol.JournalFull); !strings.Contains(saved, "CANARY-BEFORE") {
		t.Fatalf("the full journal has no words:\n%s", saved)
	}

	c.call(protocol.MethodConfigure, object{journalSetting: "redacted"}, nil)
	c.delta(p, 1, "CANARY-AFTER too.")
	c.respond(id, completedResult)
	c.heardOut()
	c.request(protocol.MethodSendText, object{"text": "CANARY-AFTER"})
	_, _ = c.asked()
	c.refused(protocol.MethodJournal, object{"content": "full"}, protocol.CodeInvalidState)
	saved := c.saved(protocol.JournalRedacted)
	if strings.Contains(saved, "CANARY") {
		t.Errorf("the journal holds words after the user took that back:\n%s", saved)
	}
	if !strings.Contains(saved, `"content":"redacted"`) {
		t.Error("the journal does not say that it is redacted")
	}
	replays(t, saved)
	if kept, err := os.ReadFile(onDisk); err == nil && bytes.Contains(kept, []byte("CANARY")) {
		t.Error("the words are still on the disk")
	}
	c.end()
}

// A journal that is switched off is deleted at once; one that is switched on again
// starts there, with the state, and replays.
func TestJournalOffAndOnAgain(t *testing.T) {
	c := scripted(t, "auto speech 0ms 1s")
	c.initialize(object{"copilot": true}, object{journalSetting: "full"})
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	c.request(protocol.MethodSendText, object{"text": "CANARY-BEFORE"})
	id, p := c.asked()
	c.call(protocol.MethodConfigure, object{journalSetting: "off"}, nil)
	c.refused(protocol.MethodJournal, object{"content": "full"}, protocol.CodeInvalidState)
	c.refused(protocol.MethodJournal, object{"content": "redacted"}, protocol.CodeInvalidState)
	c.delta(p, 0, "CANARY-WHILE-OFF.")
	c.respond(id, completedResult)
	c.heardOut()

	c.call(protocol.MethodConfigure, object{journalSetting: "full"}, nil)
	c.request(protocol.MethodSendText, object{"text": "CANARY-AGAIN"})
	id, p = c.asked()
	c.delta(p, 0, "Yes.")
	c.respond(id, completedResult)
	c.heardOut()
	saved := c.saved(protocol.JournalFull)
	if strings.Contains(saved, "CANARY-BEFORE") || strings.Contains(saved, "CANARY-WHILE-OFF") {
		t.Errorf("the journal holds what was said before it was switched on:\n%s", saved)
	}
	if !strings.Contains(saved, "CANARY-AGAIN") {
		t.Errorf("the journal does not hold what was said since:\n%s", saved)
	}
	replays(t, saved)
	c.end()
}
