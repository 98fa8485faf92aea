package protocol

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// silent are the failures that only programs see.
var silent = []ErrorCode{
	CodeParseError, CodeInvalidRequest, CodeMethodNotFound, CodeInvalidParams, CodeNotInitialized,
	CodeRequestCancelled, CodeUnsupportedProtocolVersion, CodeShuttingDown, CodeAnswerGap,
	CodeWatchRefused, CodeReadOnly,
}

func TestErrorsHaveTexts(t *testing.T) {
	for _, e := range Errors {
		for _, l := range Locales {
			if e.Message(l) == "" || e.Remediation(l) == "" {
				t.Errorf("%s has no message or remediation in %s", e.Code, l)
			}
			if (e.Spoken(l) == "") != slices.Contains(silent, e.Code) {
				t.Errorf("%s: spoken in %s is %q", e.Code, l, e.Spoken(l))
			}
			if n := len([]rune(e.Spoken(l))); n > 90 {
				t.Errorf("%s: spoken in %s has %d characters", e.Code, l, n)
			}
			if strings.ContainsAny(e.Spoken(l), "`_*()/") {
				t.Errorf("%s: spoken in %s has characters that cannot be spoken: %s", e.Code, l, e.Spoken(l))
			}
			if l != English && (e.Message(l) == e.Message(English) || e.Remediation(l) == e.Remediation(English)) {
				t.Errorf("%s is English in %s", e.Code, l)
			}
		}
	}
}

func TestErrorNumbers(t *testing.T) {
	standard := map[ErrorCode]int64{
		CodeParseError: -32700, CodeInvalidRequest: -32600, CodeMethodNotFound: -32601, CodeInvalidParams: -32602,
		CodeInternalError: -32603, CodeNotInitialized: -32002, CodeRequestCancelled: -32800,
	}
	numbers := map[int64]ErrorCode{}
	for _, e := range Errors {
		if other, twice := numbers[e.Number]; twice {
			t.Errorf("%s and %s are both %d", e.Code, other, e.Number)
		}
		numbers[e.Number] = e.Code
		if want, ok := standard[e.Code]; ok {
			if e.Number != want {
				t.Errorf("%s is %d, want %d", e.Code, e.Number, want)
			}
			continue
		}
		if e.Number > -32000 || e.Number <= -32096 && e.Number >= -32099 || e.Number < -32599 || e.Number == -32001 {
			t.Errorf("%s has the reserved number %d", e.Code, e.Number)
		}
	}
	for _, n := range []int64{-32000, -32043} { // the first and last of version 1.0 are fixed
		if numbers[n] == "" {
			t.Errorf("number %d is missing", n)
		}
	}
}

func TestNewError(t *testing.T) {
	e := German.NewError(CodeConversationActive, "turn-1")
	if e.Code != -32000 || !strings.HasSuffix(e.Message, "(turn-1)") || !strings.HasPrefix(e.Message, "Ein Gespräch") {
		t.Errorf("%+v", e)
	}
	data, ok := DataOf(e)
	if !ok || data.Code != CodeConversationActive || data.Retryable || !strings.Contains(data.Remediation, "Beenden") {
		t.Errorf("%+v, %v", data, ok)
	}
	if e := NewError("neverHeardOf", ""); e.Code != -32603 || strings.HasSuffix(e.Message, ")") {
		t.Errorf("an unknown code: %+v", e)
	}
	if _, ok := DataOf(nil); ok {
		t.Error("data of a nil error")
	}
	if ErrorCode("neverHeardOf").Known() || !CodeCopilotQuota.Known() {
		t.Error("Known is wrong")
	}
	p := English.NewErrorParams(CodeCopilotTimeout, "turn-1")
	if p.Code != CodeCopilotTimeout || p.Message == "" || p.Remediation == "" || !p.Retryable || p.TurnID != "turn-1" {
		t.Errorf("%+v", p)
	}
}

func raw(s string) *json.RawMessage {
	m := json.RawMessage(s)
	return &m
}

func TestDecode(t *testing.T) {
	if p, err := Decode[InterruptParams](English, raw(`{"source":"voice","later":true}`)); err != nil || p.Source != InterruptVoice {
		t.Errorf("%+v, %v", p, err)
	}
	for _, absent := range []*json.RawMessage{nil, raw(`null`), raw(` {} `), raw(`{"reason":null}`)} {
		if p, err := Decode[EndParams](English, absent); err != nil || p.Reason != "" {
			t.Errorf("%+v, %v", p, err)
		}
	}
	if p, err := Decode[PushToTalkParams](English, raw(`{"down":false}`)); err != nil || p.Down {
		t.Errorf("%+v, %v", p, err)
	}
	if c, err := Decode[Configuration](English, raw(`{"agentvoice.provider":"local"}`)); err != nil || len(c) != 1 {
		t.Errorf("%v, %v", c, err)
	}
}

func TestDecodeNamesTheField(t *testing.T) {
	tests := []struct {
		name   string
		fields []FieldError
		field  string
		says   string
	}{
		{"missing", fieldsOf[InterruptParams](`{}`), "source", "missing"},
		{"absent params", fieldsOf[SendTextParams](``), "text", "missing"},
		{"null", fieldsOf[PushToTalkParams](`{"down":null}`), "down", "missing"},
		{"wrong case", fieldsOf[SendTextParams](`{"Text":"x"}`), "text", "missing"},
		{"not in the list", fieldsOf[InterruptParams](`{"source":"magic"}`), "source", "voice, button"},
		{"empty of a list", fieldsOf[EndParams](`{"reason":""}`), "reason", "user-stop"},
		{"wrong type", fieldsOf[SendTextParams](`{"text":7}`), "text", "a string"},
		{"wrong number", fieldsOf[AdvanceParams](`{"ms":1.5}`), "ms", "a whole number"},
		{"wrong flag", fieldsOf[MuteParams](`{"muted":"yes"}`), "muted", "true or false"},
		{"nested", fieldsOf[InitializeParams](`{"protocolVersion":"1.0","clientInfo":{"name":[]}}`), "clientInfo.name", "a string"},
		{"array", fieldsOf[SendTextParams](`["x"]`), "", "object"},
		{"string", fieldsOf[SendTextParams](`"x"`), "", "object"},
		{"map from an array", fieldsOf[Configuration](`[]`), "", "object"},
		{"rate", fieldsOf[PlaybackParams](`{"action":"continue","rate":9}`), "rate", "0.5 to 3"},
		{"negative", fieldsOf[AdvanceParams](`{"ms":-1}`), "ms", "0 or more"},
	}
	for _, tt := range tests {
		if len(tt.fields) != 1 || tt.fields[0].Field != tt.field || !strings.Contains(tt.fields[0].Error(), tt.says) {
			t.Errorf("%s: %+v, want %q about %q", tt.name, tt.fields, tt.says, tt.field)
		}
	}
}

// fieldsOf decodes params and returns the fields that the error names.
func fieldsOf[T any](params string) []FieldError {
	_, err := Decode[T](English, raw(params))
	data, _ := DataOf(err)
	return data.Fields
}

// Errors quote neither the user's words nor secrets.
func TestDecodeErrorsHoldNoContent(t *testing.T) {
	_, err := Decode[SendTextParams](English, raw(`{"text":["my secret"]}`))
	if err == nil || strings.Contains(err.Message, "secret") {
		t.Errorf("%+v", err)
	}
	_, err2 := DecodeResult[CredentialsResult](json.RawMessage(`{"value":{"k":"sk-secret"}}`))
	if err2 == nil || strings.Contains(err2.Error(), "secret") {
		t.Errorf("%v", err2)
	}
}

func TestDecodeResult(t *testing.T) {
	r, err := DecodeResult[CopilotSendResult](json.RawMessage(`{"status":"failed","error":{"code":"copilotQuota","message":"m","retryable":false}}`))
	if err != nil || r.Status != StatusFailed || r.Error.Code != string(CodeCopilotQuota) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, bad := range []string{``, `null`, `{"status":"done"}`, `[]`, `{"status":1}`} {
		if _, err := DecodeResult[CopilotSendResult](json.RawMessage(bad)); err == nil {
			t.Errorf("%q is accepted as a result", bad)
		}
	}
}

func TestCredentialsDoNotPrint(t *testing.T) {
	r := CredentialsResult{Value: "sk-secret"}
	for _, s := range []string{r.String(), r.GoString()} {
		if strings.Contains(s, "sk-") {
			t.Error(s)
		}
	}
}
