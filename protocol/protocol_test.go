package protocol

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNegotiate(t *testing.T) {
	for client, ok := range map[string]bool{
		"1.0": true, "1": true, "1.7": true, "1.0.3": true,
		"2.0": false, "0.9": false, "10.0": false, "": false, "1.x": false, "one": false, "1.": false, " 1.0": false,
		strings.Repeat("9", 1000): false,
	} {
		v, err := Negotiate(English, client)
		if (err == nil) != ok || ok && v != Version {
			t.Errorf("%.20q: %q, %v", client, v, err)
		}
		if err != nil {
			if data, _ := DataOf(err); data.Code != CodeUnsupportedProtocolVersion || len(err.Message) > 200 {
				t.Errorf("%.20q: %+v", client, err)
			}
		}
	}
}

func TestTimestamp(t *testing.T) {
	at := At(time.Date(2025, 9, 26, 19, 24, 30, 421_999_999, time.FixedZone("", 2*3600)))
	data, err := json.Marshal(at)
	if err != nil || string(data) != `"2025-09-26T17:24:30.421Z"` {
		t.Errorf("%s, %v", data, err)
	}
	var back Timestamp
	if err := json.Unmarshal([]byte(`"2025-09-26T19:24:30.4219+02:00"`), &back); err != nil || !back.Equal(at.Time) {
		t.Errorf("%v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`null`), &back); err != nil || !back.IsZero() {
		t.Errorf("null: %v, %v", back, err)
	}
	for _, bad := range []string{`"yesterday"`, `1758907470421`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is accepted as a time", bad)
		}
	}
}

// payloads returns every type on the wire.
func payloads() []reflect.Type {
	types := []reflect.Type{reflect.TypeFor[ErrorData]()}
	for _, m := range Messages {
		for _, v := range []any{m.Params, m.Result} {
			if v != nil && !slices.Contains(types, reflect.TypeOf(v)) {
				types = append(types, reflect.TypeOf(v))
			}
		}
	}
	return types
}

// fill sets every field of v to a non-zero value.
func fill(v reflect.Value) {
	switch v.Interface().(type) {
	case Timestamp:
		v.Set(reflect.ValueOf(At(time.UnixMilli(1758907470421))))
		return
	case json.RawMessage:
		v.SetBytes([]byte(`{"k":[1]}`))
		return
	case RequestID:
		v.Set(reflect.ValueOf(RequestID{Str: "a", IsString: true}))
		return
	}
	if values, ok := enumValues[v.Type()]; ok {
		v.SetString(values[len(values)-1])
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		elem := reflect.New(v.Type().Elem()).Elem()
		fill(elem)
		v.SetMapIndex(reflect.ValueOf("k"), elem)
	case reflect.String:
		v.SetString("日本 \"quoted\"")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	default:
		v.SetInt(7)
	}
}

func TestRoundTripOfEveryType(t *testing.T) {
	for _, typ := range payloads() {
		v := reflect.New(typ)
		fill(v.Elem())
		data, err := json.Marshal(v.Interface())
		if err != nil {
			t.Errorf("%s: %v", typ, err)
			continue
		}
		back := reflect.New(typ)
		if err := json.Unmarshal(data, back.Interface()); err != nil {
			t.Errorf("%s: %v", typ, err)
		}
		if !reflect.DeepEqual(v.Interface(), back.Interface()) {
			t.Errorf("%s: %s became %+v", typ, data, back.Elem())
		}
	}
}

// The zero value of a type is encoded as documented: no null, except copilotRequestId and
// opaque JSON.
func TestEmptyIsNotNull(t *testing.T) {
	null := regexp.MustCompile(`"(\w+)":null`)
	for _, typ := range payloads() {
		if typ.Kind() != reflect.Struct {
			continue
		}
		data, err := json.Marshal(reflect.Zero(typ).Interface())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range null.FindAllSubmatch(data, -1) {
			if field := string(m[1]); field != "copilotRequestId" && field != "input" {
				t.Errorf("%s sends %s: null", typ, field)
			}
		}
	}
}

// Wire names are lowerCamelCase, and every field has one.
func TestFieldNames(t *testing.T) {
	camel := regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(typ.Elem())
		case reflect.Struct:
			if seen[typ] || typ == reflect.TypeFor[Timestamp]() || typ == reflect.TypeFor[RequestID]() {
				return
			}
			seen[typ] = true
			for i := range typ.NumField() {
				if name, _ := jsonField(typ.Field(i)); !camel.MatchString(name) {
					t.Errorf("wire name of %s.%s is %q", typ, typ.Field(i).Name, name)
				}
				visit(typ.Field(i).Type)
			}
		}
	}
	for _, typ := range payloads() {
		visit(typ)
	}
}

func TestMethodsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Messages {
		if seen[m.Method] {
			t.Errorf("%s has two rows", m.Method)
		}
		seen[m.Method] = true
		if m.Doc == "" {
			t.Errorf("%s is not documented", m.Method)
		}
		if m.Notification && m.Result != nil {
			t.Errorf("%s is a notification with a result", m.Method)
		}
		if got, ok := Lookup(m.Method); !ok || got.Method != m.Method {
			t.Errorf("%s is not found", m.Method)
		}
	}
	if _, ok := Lookup("conversation/unknown"); ok {
		t.Error("an unknown method is found")
	}
}

func TestEnumsAreClosedLists(t *testing.T) {
	for _, e := range Enums {
		sorted := slices.Sorted(slices.Values(e.Values))
		if len(sorted) < 2 || len(slices.Compact(sorted)) != len(e.Values) || sorted[0] == "" {
			t.Errorf("%s has values %q", e.Type, e.Values)
		}
	}
	// REQ-001, and the closed list of causes (REQ-010): 13 of the specification and 20 of
	// the protocol.
	if len(States) != 10 || len(Causes) != 33 {
		t.Errorf("%d states and %d causes", len(States), len(Causes))
	}
}

// INT-003: every state has its label in every language.
func TestLabels(t *testing.T) {
	for _, s := range States {
		for _, l := range Locales {
			if l.Label(s, "") == "" {
				t.Errorf("%s has no label in %s", s, l)
			}
		}
	}
	for state, label := range map[State]string{
		StateListening: "● Listening", StateProcessing: "⋯ Thinking",
		StateWaitingForCopilot: "⋯ Waiting for Copilot", StateSpeaking: "● Speaking",
	} {
		if got := English.Label(state, ""); got != label {
			t.Errorf("%s is %q, want %q", state, got, label)
		}
	}
	if got := German.Label(StateWaitingForCopilot, "Codex"); got != "⋯ Wartet auf Codex" {
		t.Errorf("label for another agent: %q", got)
	}
}

// Texts name the assistant: Copilot or another agent.
func TestTextsNameTheAssistant(t *testing.T) {
	named := 0
	for _, e := range Errors {
		for _, l := range Locales {
			for _, text := range []string{e.Message(l), e.Remediation(l), e.Spoken(l)} {
				if strings.ContainsAny(text, "{}") {
					t.Errorf("%s: %q", e.Code, text)
				}
			}
			codex := e.By("Codex")
			for _, text := range []string{codex.Message(l), codex.Remediation(l), codex.Spoken(l)} {
				if strings.Contains(text, "Codex") {
					named++
				}
				if strings.ContainsAny(text, "{}") {
					t.Errorf("%s: %q", e.Code, text)
				}
			}
		}
	}
	if named < 3*8 { // eight codes in three languages
		t.Errorf("%d texts name the agent", named)
	}
}

func TestMatchLocale(t *testing.T) {
	for tag, want := range map[string]Locale{
		"en": English, "en-GB": English, "de": German, "de-AT": German, "de_CH": German, "ja-JP": Japanese,
		"ja": Japanese, "JA": Japanese, "fr": English, "zh-cn": English, "": English, "!": English, "de-DE-x-private": German,
	} {
		if got := MatchLocale(tag); got != want {
			t.Errorf("%q: %s, want %s", tag, got, want)
		}
	}
}
