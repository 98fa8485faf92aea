package protocol

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

func configuration(t *testing.T, s string) Configuration {
	t.Helper()
	var c Configuration
	if err := json.Unmarshal([]byte(s), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	s, fields := ParseConfiguration(nil)
	if len(fields) > 0 {
		t.Errorf("the defaults are bad: %v", fields)
	}
	if s.Copilot.Timeout != 8*time.Second || s.Interruption.Confirm != 250*time.Millisecond || s.Provider != ProviderLocal {
		t.Errorf("%+v", s)
	}
	// Each default is also accepted when sent.
	c := Configuration{}
	for _, row := range SettingsTable {
		raw, err := json.Marshal(row.Default)
		if err != nil {
			t.Fatal(err)
		}
		c[row.Name] = raw
	}
	again, fields := ParseConfiguration(c)
	if len(fields) > 0 || again != s {
		t.Errorf("the defaults, sent: %v, %+v", fields, again)
	}
}

// The table has exactly one row for every field of Settings.
func TestTableCoversSettings(t *testing.T) {
	var s Settings
	names, pointers := map[string]bool{}, map[any]bool{}
	name := regexp.MustCompile(`^agentvoice(\.[a-z][a-zA-Z]*)+$`)
	for _, row := range SettingsTable {
		p := row.field(&s)
		if names[row.Name] || pointers[p] || !name.MatchString(row.Name) {
			t.Errorf("%s: the name or the field is taken or malformed", row.Name)
		}
		names[row.Name], pointers[p] = true, true
		if row.Meaning == "" || row.Scope == "" {
			t.Errorf("%s has no meaning or scope", row.Name)
		}
		if (row.Kind() == KindMilliseconds) != strings.HasSuffix(row.Name, "Ms") {
			t.Errorf("%s: kind %s does not fit the name", row.Name, row.Kind())
		}
		if row.Kind() != KindString && row.Kind() != KindBoolean && row.Min >= row.Max {
			t.Errorf("%s has no range", row.Name)
		}
	}
	leaves := 0
	var count func(reflect.Type)
	count = func(typ reflect.Type) {
		if typ.Kind() != reflect.Struct {
			leaves++
			return
		}
		for i := range typ.NumField() {
			count(typ.Field(i).Type)
		}
	}
	count(reflect.TypeFor[Settings]())
	if leaves != len(SettingsTable) {
		t.Errorf("%d fields, %d rows", leaves, len(SettingsTable))
	}
}

// A workspace cannot set who receives the user's audio and what is stored.
func TestScopesProtectTheUser(t *testing.T) {
	for _, row := range SettingsTable {
		for _, p := range []string{"provider", "endpoint", "deployment", "model", "privacy.persist", "privacy.journal", "privacy.watch", "voice.provider", "voice.endpoint", "voice.model", "hearing.provider", "hearing.endpoint"} {
			if row.Name == Prefix+p && row.Scope != ScopeApplication {
				t.Errorf("%s can be set by a workspace", row.Name)
			}
		}
	}
}

// A workspace sets no words: each text that it can set is a choice that says nothing for the user.
func TestWorkspaceSetsNoWords(t *testing.T) {
	choices := map[string]string{
		"agentvoice.locale":                 "a language tag",
		"agentvoice.transcription.language": "a language tag",
		"agentvoice.voice.name":             "a speaker of the installed voice",
		"agentvoice.copilot.model":          "a model of the editor",
	}
	for _, s := range SettingsTable {
		if s.Kind() == KindString && len(s.Enum) == 0 && s.Scope == ScopeWindow && choices[s.Name] == "" {
			t.Errorf("%s can be set by a workspace; make its scope application if it changes what is heard or sent", s.Name)
		}
	}
}

func TestParseConfiguration(t *testing.T) {
	s, fields := ParseConfiguration(configuration(t, `{
		"agentvoice.copilot.timeoutMs": 9000, "agentvoice": {"voice": {"rate": 1.5}, "cues": {"enabled": false}},
		"agentvoice.fault.maxRetries": 0, "editor.fontSize": 12, "agentvoicex": {"a": 1}, "agentvoice.turnDetection.mode": null}`))
	if len(fields) > 0 {
		t.Fatalf("%v", fields)
	}
	want := DefaultSettings()
	want.Copilot.Timeout, want.Voice.Rate, want.Cues.Enabled, want.Fault.MaxRetries = 9*time.Second, 1.5, false, 0
	if s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
	// Fields that are not named do not change; null restores the default.
	s, fields = s.Apply(configuration(t, `{"agentvoice.voice.rate": null}`))
	want.Voice.Rate = 1
	if len(fields) > 0 || s != want {
		t.Errorf("%v, %+v", fields, s)
	}
}

func TestBadConfiguration(t *testing.T) {
	tests := []struct{ name, config, field, says string }{
		{"wrong type", `{"agentvoice.copilot.timeoutMs":"8s"}`, "agentvoice.copilot.timeoutMs", "whole milliseconds, 500 to 120000"},
		{"too small", `{"agentvoice.copilot.timeoutMs":5}`, "agentvoice.copilot.timeoutMs", "is 5"},
		{"too large", `{"agentvoice.voice.rate":1e300}`, "agentvoice.voice.rate", "0.5 to 3"},
		{"fraction", `{"agentvoice.fault.maxRetries":1.5}`, "agentvoice.fault.maxRetries", "whole number"},
		{"beyond float", `{"agentvoice.voice.rate":1e999}`, "agentvoice.voice.rate", "0.5 to 3"},
		{"not in the list", `{"agentvoice.provider":"skynet"}`, "agentvoice.provider", "local, openai, live, azure, localai, compatible"},
		{"number for text", `{"agentvoice.voice.name":7}`, "agentvoice.voice.name", "a string"},
		{"text for flag", `{"agentvoice.cues.enabled":"true"}`, "agentvoice.cues.enabled", "true, false"},
		{"flag for number", `{"agentvoice.cues.volume":true}`, "agentvoice.cues.volume", "0 to 1"},
		{"list", `{"agentvoice.voice.name":["a"]}`, "agentvoice.voice.name", "a string"},
		{"unknown", `{"agentvoice.warp":9}`, "agentvoice.warp", "unknown setting"},
		{"unknown, nested", `{"agentvoice":{"voice":{"nam":"x"}}}`, "agentvoice.voice.nam", "unknown setting"},
		{"object for a setting", `{"agentvoice.voice.name":{"x":1}}`, "agentvoice.voice.name.x", "unknown setting"},
		{"not an object", `{"agentvoice":7}`, "agentvoice", "unknown setting"},
		{"twice", `{"agentvoice.cues.volume":0.1,"agentvoice":{"cues":{"volume":0.2}}}`, "agentvoice.cues.volume", "twice"},
		{"endpoint is missing", `{"agentvoice.provider":"localai"}`, "agentvoice.endpoint", "a URL"},
		{"endpoint is not a URL", `{"agentvoice.endpoint":"example.com"}`, "agentvoice.endpoint", "absolute"},
		{"endpoint is a file", `{"agentvoice.endpoint":"file:///etc/passwd"}`, "agentvoice.endpoint", "absolute"},
		{"endpoint has a password", `{"agentvoice.endpoint":"https://u:hunter2@example.com"}`, "agentvoice.endpoint", "without them"},
		{"proxy is not a URL", `{"agentvoice.network.proxy":"proxy.example:8080"}`, "agentvoice.network.proxy", "http, https or socks5"},
		{"proxy of another kind", `{"agentvoice.network.proxy":"ftp://proxy.example"}`, "agentvoice.network.proxy", "http, https or socks5"},
		{"proxy has a password", `{"agentvoice.network.proxy":"http://u:hunter2@proxy.example"}`, "agentvoice.network.proxy", "HTTPS_PROXY"},
		{"a relay is not a URL", `{"agentvoice.network.turnUsername":"u","agentvoice.network.turnServers":"turn:a.example turn.example:3478"}`, "agentvoice.network.turnServers", "turns:"},
		{"a relay has a password", `{"agentvoice.network.turnUsername":"u","agentvoice.network.turnServers":"turn:u:hunter2@a.example"}`, "agentvoice.network.turnServers", "turns:"},
		{"user name of the relays is missing", `{"agentvoice.network.turnServers":"turn:a.example:3478?transport=tcp,turns:[::1]:5349"}`, "agentvoice.network.turnUsername", "user name"},
		{"unencrypted key", `{"agentvoice.provider":"openai","agentvoice.endpoint":"http://example.com"}`, "agentvoice.endpoint", "https"},
		{"deployment of a transcription model is missing", `{"agentvoice.provider":"azure","agentvoice.endpoint":"https://x.openai.azure.com","agentvoice.deployment":"rt"}`, "agentvoice.transcription.deployment", "transcription"},
		{"language is not a tag", `{"agentvoice.transcription.language":"deutsch!"}`, "agentvoice.transcription.language", "BCP 47"},
		{"deployment is missing", `{"agentvoice.provider":"azure","agentvoice.endpoint":"https://x.openai.azure.com","agentvoice.transcription.deployment":"tr"}`, "agentvoice.deployment", "deployment"},
		{"endpoint of any server is missing", `{"agentvoice.provider":"compatible"}`, "agentvoice.endpoint", "a URL"},
		{"recognition endpoint is missing", `{"agentvoice.hearing.provider":"compatible"}`, "agentvoice.hearing.endpoint", "a URL"},
		{"unencrypted key for recognition", `{"agentvoice.hearing.provider":"openai","agentvoice.hearing.endpoint":"http://example.com"}`, "agentvoice.hearing.endpoint", "https"},
		{"no transcriptions", `{"agentvoice.hearing.wire":"transcriptions"}`, "agentvoice.hearing.wire", "local does not support transcriptions"},
		{"voice in a missing session", `{"agentvoice.provider":"openai","agentvoice.hearing.wire":"transcriptions","agentvoice.voice.wire":"realtime"}`, "agentvoice.voice.wire", "session is with local"},
		{"recognition deployment is missing", `{"agentvoice.hearing.provider":"azure","agentvoice.hearing.endpoint":"https://x.openai.azure.com","agentvoice.deployment":"rt"}`, "agentvoice.transcription.deployment", "transcription"},
		{"voice endpoint is missing", `{"agentvoice.voice.provider":"localai","agentvoice.voice.model":"piper"}`, "agentvoice.voice.endpoint", "a URL"},
		{"voice endpoint has a password", `{"agentvoice.voice.provider":"openai","agentvoice.voice.model":"m","agentvoice.voice.endpoint":"https://u:hunter2@example.com"}`, "agentvoice.voice.endpoint", "without them"},
		{"unencrypted key for the voice", `{"agentvoice.voice.provider":"openai","agentvoice.voice.model":"m","agentvoice.voice.endpoint":"http://example.com"}`, "agentvoice.voice.endpoint", "https"},
		{"session of another provider", `{"agentvoice.voice.provider":"openai","agentvoice.voice.wire":"realtime"}`, "agentvoice.voice.wire", "session is with local"},
		{"unsupported wire", `{"agentvoice.voice.wire":"speech"}`, "agentvoice.voice.wire", "local does not support speech"},
		{"voice model is missing", `{"agentvoice.provider":"localai","agentvoice.endpoint":"http://nas","agentvoice.voice.wire":"speech"}`, "agentvoice.voice.model", "name of a model"},
		{"the model of a voice of another service is missing", `{"agentvoice.voice.provider":"openai"}`, "agentvoice.voice.model", "a voice of openai requires one"},
		{"no transcriptions of a Live session", `{"agentvoice.provider":"live","agentvoice.hearing.wire":"transcriptions","agentvoice.voice.provider":"local"}`, "agentvoice.hearing.wire", "live does not support transcriptions"},
		{"no speech beside a Live session", `{"agentvoice.provider":"live","agentvoice.voice.wire":"speech"}`, "agentvoice.voice.wire", "live does not support speech"},
		{"voice in a missing Live session", `{"agentvoice.voice.provider":"live"}`, "agentvoice.voice.provider", "only if it also hears"},
		{"unencrypted key for a Live session", `{"agentvoice.provider":"live","agentvoice.endpoint":"http://example.com"}`, "agentvoice.endpoint", "https"},
		{"locale", `{"agentvoice.locale":"klingon!"}`, "agentvoice.locale", "BCP 47"},
	}
	for _, tt := range tests {
		_, fields := ParseConfiguration(configuration(t, tt.config))
		if len(fields) != 1 || fields[0].Field != tt.field || !strings.Contains(fields[0].Error(), tt.says) {
			t.Errorf("%s: %v, want %q about %s", tt.name, fields, tt.says, tt.field)
		}
		if len(fields) > 0 && strings.Contains(fields[0].Error(), "hunter2") {
			t.Errorf("%s: the error quotes a secret: %v", tt.name, fields[0])
		}
	}
}

func TestGoodEndpoints(t *testing.T) {
	for _, c := range []string{
		`{"agentvoice.provider":"openai","agentvoice.endpoint":"http://127.0.0.1:8080"}`,
		`{"agentvoice.provider":"openai","agentvoice.endpoint":"http://[::1]:8080/base"}`,
		`{"agentvoice.provider":"localai","agentvoice.endpoint":"http://nas:8080"}`,
		`{"agentvoice.provider":"azure","agentvoice.endpoint":"https://x.openai.azure.com","agentvoice.deployment":"rt","agentvoice.transcription.deployment":"tr"}`,
		`{"agentvoice.voice.provider":"openai","agentvoice.voice.model":"gpt-4o-mini-tts"}`,
		`{"agentvoice.provider":"compatible","agentvoice.endpoint":"http://nas:8000/v1"}`,
		`{"agentvoice.hearing.provider":"compatible","agentvoice.hearing.endpoint":"http://nas:8000"}`,
		`{"agentvoice.provider":"azure","agentvoice.endpoint":"https://x.openai.azure.com","agentvoice.transcription.deployment":"tr","agentvoice.hearing.wire":"transcriptions","agentvoice.voice.model":"our-voice"}`,
		`{"agentvoice.provider":"localai","agentvoice.hearing.provider":"local","agentvoice.voice.endpoint":"http://nas","agentvoice.voice.model":"piper"}`,
		`{"agentvoice.voice.provider":"localai","agentvoice.voice.endpoint":"http://nas:8080","agentvoice.voice.model":"piper"}`,
		`{"agentvoice.provider":"openai","agentvoice.voice.wire":"realtime"}`,
		`{"agentvoice.provider":"live"}`,
		`{"agentvoice.provider":"live","agentvoice.voice.provider":"openai","agentvoice.voice.model":"tts-1"}`,
		`{"agentvoice.provider":"openai","agentvoice.voice.provider":"openai"}`,
		`{"agentvoice.provider":"openai","agentvoice.voice.provider":"local"}`,
	} {
		if _, fields := ParseConfiguration(configuration(t, c)); len(fields) > 0 {
			t.Errorf("%s: %v", c, fields)
		}
	}
}

// Valid settings apply even if others are invalid, which keep their values.
func TestValidSettingsApplyDespiteInvalidOnes(t *testing.T) {
	base := DefaultSettings()
	base.Cues.Volume = 0.9
	s, fields := base.Apply(configuration(t, `{"agentvoice.cues.volume":7,"agentvoice.voice.rate":2,"agentvoice.zzz":1}`))
	if len(fields) != 2 || fields[0].Field != "agentvoice.cues.volume" || fields[1].Field != "agentvoice.zzz" {
		t.Errorf("%v", fields)
	}
	if s.Cues.Volume != 0.9 || s.Voice.Rate != 2 {
		t.Errorf("%+v", s)
	}
}
