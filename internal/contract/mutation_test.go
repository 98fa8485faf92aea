package contract

import (
	"strings"
	"testing"
)

// deletions remove one end of a promise from a source, one per kind. old identifies
// it by its text; every occurrence is removed.
var deletions = []struct {
	what, file, old, new string
	want                 orphan // its kind and name
}{
	{"the producer of an event", "internal/daemon/live/devices.go",
		"csm.AudioRestored{", "csm.AudioLost{", orphan{kind: "event", name: "AudioRestored"}},
	{"what calls the producer of an event", "internal/daemon/live/live.go",
		".deactivate(", ".nothing(", orphan{kind: "event", name: "SessionClosed"}},
	{"the handler of an effect", "internal/daemon/live/live.go",
		"w.devices.close(e.Instance)", "", orphan{kind: "effect", name: "CloseAudio"}},
	{"the reader of a setting", "internal/daemon/config.go",
		"c.FaultRetries = s.Fault.MaxRetries", "", orphan{kind: "setting", name: "agentvoice.fault.maxRetries"}},
	{"the consumer of a spoken command", "internal/daemon/voicecommands.go",
		"spoken.CommandTryAgain", "spoken.CommandRepeat", orphan{kind: "spoken command", name: "CommandTryAgain"}},
	{"the daemon's handler of a request", "internal/daemon/rpc/call.go",
		"protocol.MethodCommitTurn:", "\"none\":", orphan{kind: "method", name: "conversation/commitTurn"}},
	{"the daemon's sender of a notification", "internal/daemon/publish.go",
		"protocol.NotifyCaption", "protocol.NotifyTurn", orphan{kind: "method", name: "agentvoice.caption"}},
	{"the extension's sender of a request", "extension/src/conversation.ts",
		"'conversation/commitTurn'", "'conversation/state'", orphan{kind: "method", name: "conversation/commitTurn"}},
	{"the extension's handler of a notification", "extension/src/sync.ts",
		"wire.on('agentvoice.caption'", "void ('agentvoice.caption'", orphan{kind: "method", name: "agentvoice.caption"}},
	{"the reader of a parameter", "internal/daemon/rpc/conversation.go",
		"p.Source", "\"\"", orphan{kind: "parameter", name: "conversation/interrupt Source"}},
	{"what raises an error code", "csm/table.go",
		"CodeNothingToRetry", "CodeInvalidState", orphan{kind: "error code", name: "nothingToRetry"}},
	{"the user of a string of the extension", "extension/src/strings.ts",
		"t('Hold to talk')", "''", orphan{kind: "string", name: `"Hold to talk"`}},
	{"a translation of the extension", "extension/l10n/bundle.l10n.ja.json",
		"\"Hold to talk\"", "\"Hold it\"", orphan{kind: "string", name: `"Hold to talk"`}},
	{"a translation of the manifest", "extension/package.nls.de.json",
		"\"command.start\"", "\"command.begin\"", orphan{kind: "string", name: "command.start"}},
}

// TestEachDeletionIsFound shows that the check covers each end of a promise: the
// source has no such orphan, and has one after the deletion.
func TestEachDeletionIsFound(t *testing.T) {
	all := load(t, nil)
	before := all.orphans(t, "")
	for _, d := range deletions {
		t.Run(strings.ReplaceAll(d.what, " ", "-"), func(t *testing.T) {
			text, err := all.read(d.file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), d.old) {
				t.Fatalf("%s no longer contains %q; choose another end of a promise", d.file, d.old)
			}
			if o := find(before, d.want); o != nil {
				t.Fatalf("already an orphan: %v", o)
			}
			overlay := map[string]string{d.file: strings.ReplaceAll(string(text), d.old, d.new)}
			without := *all
			if without.overlay = overlay; strings.HasSuffix(d.file, ".go") {
				without = *load(t, overlay)
			}
			o := find(without.orphans(t, d.want.kind), d.want)
			if o == nil {
				t.Fatalf("orphan %s not found", d.want.key())
			}
			t.Log(o)
		})
	}
}

// find returns the orphan with the kind and name of another, or nil.
func find(list []orphan, want orphan) *orphan {
	for _, o := range list {
		if o.key() == want.key() {
			return &o
		}
	}
	return nil
}

// TestTheCheckSeesProductionAlone: code in the headless daemon or in tests connects
// nothing.
func TestTheCheckSeesProductionAlone(t *testing.T) {
	s := load(t, nil)
	for _, pkg := range []string{"internal/daemon/headless", "csm/csmtest", "bench/roombench"} {
		if product(pkg) {
			t.Errorf("%s counts as production", pkg)
		}
	}
	for _, kind := range []struct {
		name string
		n    int
	}{
		{"events", len(s.implementers("csm", "Event"))}, {"effects", len(s.implementers("csm", "Effect"))}, {"settings", len(s.rows())},
		{"messages", len(s.messages())}, {"error codes", len(s.constants("protocol", "ErrorCode"))}, {"spoken commands", len(s.constants("copilot/spoken", "Command"))},
	} {
		if kind.n < 8 {
			t.Errorf("the check found only %d %s", kind.n, kind.name)
		}
	}
}
