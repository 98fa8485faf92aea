package main

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
)

// Both output formats fail in the same cases.
func TestDevicesAgreesWithItsJSON(t *testing.T) {
	for name, list := range map[string][]portaudio.Device{"none": nil, "one": {{ID: "pulse:x", Name: "x", Inputs: 1}}} {
		var text, array strings.Builder
		said, printed := printDevices(&text, list, false), printDevices(&array, list, true)
		if (said == nil) != (printed == nil) || (said == nil) != (len(list) > 0) {
			t.Errorf("%s: %v, as JSON %v", name, said, printed)
		}
		if !strings.HasPrefix(array.String(), "[") {
			t.Errorf("%s: the JSON is %s", name, array.String())
		}
	}
}
