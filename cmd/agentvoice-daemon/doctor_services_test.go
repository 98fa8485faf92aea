package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// with returns the default settings with some changed.
func with(t *testing.T, changed map[string]string) protocol.Settings {
	t.Helper()
	c := protocol.Configuration{}
	for name, value := range changed {
		c[name], _ = json.Marshal(value)
	}
	set, bad := protocol.DefaultSettings().Apply(c)
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	return set
}

// TestDoctorNamesTheEndOfModels with an injected day.
func TestDoctorNamesTheEndOfModels(t *testing.T) {
	openai := map[string]string{"agentvoice.provider": "openai", "agentvoice.voice.model": "gpt-4o-mini-tts", "agentvoice.transcription.model": "gpt-4o-mini-transcribe"}
	for day, want := range map[string][]string{
		"2026-10-01": {"ok gpt-realtime-2.1-mini: $0.6 in and $2.4 out for a million tokens of text, $10 in and $20 out for a million tokens of audio (as of ", "ok gpt-4o-mini-transcribe: $1.25 in and $5 out", "; OpenAI ends it on 2027-02-26", "ok gpt-4o-mini-tts", "; OpenAI ends it on 2027-01-06"},
		"2026-12-01": {"ok gpt-4o-mini-transcribe", "warn gpt-4o-mini-tts: OpenAI ends it on 2027-01-06; set agentvoice.voice.provider to local"},
		"2027-03-01": {"FAIL gpt-4o-mini-transcribe: OpenAI ended it on 2027-02-26; set agentvoice.transcription.model to gpt-transcribe", "FAIL gpt-4o-mini-tts: OpenAI ended it"},
	} {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		var told strings.Builder
		for _, f := range examineModels(with(t, openai), at) {
			mark := map[bool]string{true: "FAIL", false: "warn"}[f.Needed]
			if f.OK {
				mark = "ok"
			}
			told.WriteString(mark + " " + f.Detail + "\n")
		}
		for _, w := range want {
			if !strings.Contains(told.String(), w) {
				t.Errorf("%s: no %q in\n%s", day, w, told.String())
			}
		}
	}
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	openai["agentvoice.model"], openai["agentvoice.transcription.model"] = "gpt-realtime", "gpt-9"
	all := examineModels(with(t, openai), at)
	wants(t, all[:1], "model", false, "gpt-realtime: OpenAI ends it on 2027-01-20; set agentvoice.model to gpt-realtime-2.1")
	wants(t, all[1:2], "model", true, "gpt-9", "a budget does not count it")
	// Another service does not end what it calls by the same names, and local models are its own.
	openai["agentvoice.endpoint"] = "https://proxy.example"
	if all := examineModels(with(t, openai), at); all != nil {
		t.Errorf("of another service: %v", all)
	}
	if all := examineModels(protocol.DefaultSettings(), at); all != nil {
		t.Errorf("of this machine: %v", all)
	}
}

func TestSettingsNameTheEndOfModels(t *testing.T) {
	notes := modelNotes(with(t, map[string]string{"agentvoice.provider": "openai", "agentvoice.model": "gpt-realtime-mini", "agentvoice.voice.wire": "realtime"}),
		time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	want := "agentvoice.model: OpenAI ends gpt-realtime-mini on 2027-01-20; set agentvoice.model to gpt-realtime-2.1-mini"
	if !slices.Contains(notes, want) {
		t.Errorf("no %q in %q", want, notes)
	}
	text, err := printed(t, `{"agentvoice.provider": "openai", "agentvoice.transcription.model": "whisper-1"}`, "settings", "check", "-")
	if err != nil || !strings.Contains(text, "agentvoice.transcription.model: OpenAI end") || !strings.Contains(text, "2 settings, no problems") {
		t.Errorf("%v, %q", err, text)
	}
}
