package official

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/openai/openai-go/v3/live"
)

// TestLiveServerEvents: the library reads each event of the Live side of the embedded
// server, and knows every member of it.
func TestLiveServerEvents(t *testing.T) {
	for _, line := range lines(t, "../../audio/localrealtime/testdata/live.jsonl") {
		var e live.ServerEventUnion
		if err := json.Unmarshal(line, &e); err != nil {
			t.Errorf("%v: %s", err, line)
			continue
		}
		event := e.AsAny()
		if event == nil {
			t.Errorf("an event of unknown type: %s", line)
			continue
		}
		for _, path := range unknown(reflect.ValueOf(event), "") {
			t.Errorf("%s: the library does not know %s", e.Type, path)
		}
	}
}

// TestLiveClientEvents: what the client sends to make a Live session and in it, read and
// written again by the library, is the same.
func TestLiveClientEvents(t *testing.T) {
	for _, line := range lines(t, "../../audio/realtime/testdata/live.jsonl") {
		var head struct{ Type string }
		if err := json.Unmarshal(line, &head); err != nil {
			t.Fatal(err)
		}
		event, known := map[string]any{
			"":                          new(live.LiveNewParams),
			"session.commentary.append": new(live.CommentaryAppendEventParam),
			"session.thinking.append":   new(live.ThinkingAppendEventParam),
		}[head.Type]
		if !known {
			t.Errorf("an event of unknown type: %s", line)
			continue
		}
		if err := json.Unmarshal(line, event); err != nil {
			t.Errorf("%v: %s", err, line)
			continue
		}
		again, err := json.Marshal(event)
		if err != nil || !reflect.DeepEqual(value(t, again), value(t, line)) {
			t.Errorf("%v: the library makes\n%s of\n%s", err, again, line)
		}
	}
}
