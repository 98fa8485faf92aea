package watch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// canary is in every text of a notification.
const canary = "xyzzy"

// fill puts the canary into every text of a value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(canary + v.Type().Name())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[protocol.Timestamp]() {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[protocol.Any]() {
			v.SetBytes([]byte(`"` + canary + `"`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	}
}

// ids are the members that may hold text that the daemon generates: ids, names from
// closed lists, labels of states, and the user's wake phrase, which is a setting.
var ids = map[string]bool{
	"turnId": true, "callId": true, "requestId": true, "retryOf": true, "causeId": true, "id": true, "ids": true,
	"copilotRequestId": true, "sessionId": true, "transcriptId": true, "pendingActions": true,
	"state": true, "previousState": true, "substate": true, "cause": true, "role": true, "event": true, "outcome": true, "end": true,
	"status": true, "severity": true, "kind": true, "provider": true, "mode": true, "mutedBy": true, "fault": true, "code": true,
	"reason": true, "localizedLabel": true, "phrase": true,
	"agentvoice.session.path": true, // of the network; a path of a file is named path, too
}

// leaks returns members with the canary that are not ids.
func leaks(where string, v any) (found []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if !ids[name] && !ids[where+"."+name] {
				found = append(found, leaks(where+"."+name, inner)...)
			} else if m, nested := inner.(map[string]any); nested {
				found = append(found, leaks(where+"."+name, m)...)
			}
		}
	case []any:
		for _, inner := range v {
			found = append(found, leaks(where, inner)...)
		}
	case string:
		if strings.Contains(v, canary) {
			found = append(found, where)
		}
	}
	return found
}

// Without words, no notification contains text that somebody said or wrote, whatever
// its fields contain.
func TestRedactedNotificationsHoldNoWords(t *testing.T) {
	dropped := map[string]bool{}
	for _, m := range protocol.Messages {
		if m.Direction != protocol.DaemonToClient || !m.Notification {
			continue
		}
		params := reflect.New(reflect.TypeOf(m.Params)).Elem()
		fill(params)
		plain := redact(protocol.English, params.Interface())
		if plain == nil {
			dropped[m.Method] = true
			continue
		}
		b, err := json.Marshal(plain)
		if err != nil {
			t.Fatal(err)
		}
		var wire any
		if err := json.Unmarshal(b, &wire); err != nil {
			t.Fatal(err)
		}
		for _, where := range leaks(m.Method, wire) {
			t.Errorf("%s has words: %s", where, b)
		}
	}
	if got := fmt.Sprint(dropped); got != "map[agentvoice.caption:true agentvoice.transcript:true]" {
		t.Errorf("left out are %s", got)
	}
	if redact(protocol.English, protocol.NotificationParams{Message: canary}) != nil {
		t.Error("a notice without a code is sent, and it may repeat what was said")
	}
	if redact(protocol.English, struct{ Text string }{canary}) != nil {
		t.Error("a notification that is not known is sent")
	}
}

// Words reach a watcher only if both it and the user's setting ask for them; switching
// the setting off takes effect at once.
func TestWordsNeedTheUsersSetting(t *testing.T) {
	h := begin(t, protocol.PrivacyWatchWords, nil)
	plain, full := h.follow(protocol.WatchParams{}), h.follow(protocol.WatchParams{Words: true})
	h.daemon.Post(csm.UserStart{})
	until(t, full, protocol.NotifyState, state(protocol.StateListening))
	if err := h.daemon.SendText("tell me about "+canary, nil); err != nil {
		t.Fatal(err)
	}
	_, p := until(t, full, protocol.NotifyTranscript, func(p protocol.TranscriptParams) bool { return p.Final })
	if p.Text != "tell me about "+canary {
		t.Errorf("it was said %q", p.Text)
	}
	until(t, full, protocol.NotifyState, state(protocol.StateSpeaking)) // it says that the answer is empty
	h.daemon.Configure(protocol.DefaultSettings())
	if err := h.daemon.SendText("and more about "+canary, nil); err != nil {
		t.Fatal(err)
	}
	seen, _ := until(t, full, protocol.NotifyQueue, func(q protocol.Queue) bool { return q.Count == 1 })
	if got := strings.Join(seen, "\n"); strings.Contains(got, canary) {
		t.Errorf("after the setting was taken back it saw\n%s", got)
	}
	h.daemon.Post(csm.UserStop{})
	seen, _ = until(t, plain, protocol.NotifyState, state(protocol.StateIdle))
	if got := strings.Join(seen, "\n"); strings.Contains(got, canary) || !strings.Contains(got, `"turn-completed"`) {
		t.Errorf("without words it saw\n%s", got)
	}
}
