package protocol

import (
	"encoding/json"
	"testing"
)

// FuzzConfiguration applies a file of settings: an invalid value leaves the default.
func FuzzConfiguration(f *testing.F) {
	for _, s := range []string{`{}`, `null`, `{"agentvoice.provider":"x"}`, `{"agentvoice.vocabulary":7,"agentvoice.wake.phrase":"\ud800"}`, `{"agentvoice":{"voice":{"rate":1e999}}}`, `{"agentvoice.voice.rate":-1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c Configuration
		if json.Unmarshal(data, &c) != nil {
			return
		}
		set, _ := ParseConfiguration(c)
		if _, err := json.Marshal(set); err != nil {
			t.Fatalf("the settings cannot be written: %v", err)
		}
	})
}
