package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/language"
)

// DefaultSettings returns every setting at its default.
func DefaultSettings() Settings {
	var s Settings
	for _, row := range SettingsTable {
		row.set(&s, row.Default)
	}
	return s
}

// ParseConfiguration reads settings over the defaults. See Apply.
func ParseConfiguration(c Configuration) (Settings, []FieldError) {
	return DefaultSettings().Apply(c)
}

// Apply changes the settings that c names; null restores the default. The errors name
// each invalid or unknown agentvoice field, in order of names, with the allowed values.
// Valid fields are applied even if there are errors, so that the caller can either reject
// c or keep its valid part. Fields outside agentvoice are ignored.
func (s Settings) Apply(c Configuration) (Settings, []FieldError) {
	flat := map[string]json.RawMessage{}
	var fields []FieldError
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if name+"." == Prefix || strings.HasPrefix(name, Prefix) {
			fields = append(fields, flatten(flat, name, c[name])...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(flat)) {
		row, ok := settingNamed(name)
		if !ok {
			fields = append(fields, FieldError{Field: clip(name, 80), Problem: "is an unknown setting"})
			continue
		}
		value, problem := row.read(flat[name])
		if problem != "" {
			fields = append(fields, FieldError{Field: name, Problem: problem, Allowed: row.Allowed()})
			continue
		}
		row.set(&s, value)
	}
	return s, append(fields, s.conflicts()...)
}

// Strangers reports the fields of c outside agentvoice.
func (c Configuration) Strangers() []FieldError {
	var fields []FieldError
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if name+"." != Prefix && !strings.HasPrefix(name, Prefix) {
			fields = append(fields, FieldError{Field: clip(name, 80), Problem: "is not a setting", Allowed: "names that begin with " + Prefix})
		}
	}
	return fields
}

// A linear search will do: lookups are rare and the table is short.
func settingNamed(name string) (Setting, bool) {
	i := slices.IndexFunc(SettingsTable, func(row Setting) bool { return row.Name == name })
	if i < 0 {
		return Setting{}, false
	}
	return SettingsTable[i], true
}

// flatten adds the fields of nested objects to flat under their dotted names. No setting
// is itself an object.
func flatten(flat map[string]json.RawMessage, name string, raw json.RawMessage) []FieldError {
	var object map[string]json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) && json.Unmarshal(raw, &object) == nil {
		var fields []FieldError
		for _, key := range slices.Sorted(maps.Keys(object)) {
			fields = append(fields, flatten(flat, name+"."+key, object[key])...)
		}
		return fields
	}
	if _, twice := flat[name]; twice {
		return []FieldError{{Field: name, Problem: "is set twice", Allowed: "once, flat or nested"}}
	}
	flat[name] = raw
	return nil
}

// Allowed describes the values that a setting accepts.
func (s Setting) Allowed() string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	bounds := number(s.Min) + " to " + number(s.Max)
	switch {
	case len(s.Enum) > 0 && s.Enum[0] == "":
		return `""` + strings.Join(s.Enum, ", ")
	case len(s.Enum) > 0:
		return strings.Join(s.Enum, ", ")
	case s.Kind() == KindBoolean:
		return "true, false"
	case s.Kind() == KindNumber:
		return bounds
	case s.Kind() == KindInteger:
		return "a whole number, " + bounds
	case s.Kind() == KindMilliseconds:
		return "whole milliseconds, " + bounds
	default:
		return "a string"
	}
}

// read returns the value of a setting, typed as Default, or what is wrong with it.
func (s Setting) read(raw json.RawMessage) (value any, problem string) {
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, "cannot be read"
	}
	switch v := value.(type) {
	case nil:
		return s.Default, ""
	case bool:
		if s.Kind() == KindBoolean {
			return v, ""
		}
	case string:
		if s.Kind() != KindString {
			break
		}
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
			return nil, fmt.Sprintf("is %q", clip(v, 32))
		}
		return v, ""
	case float64:
		switch kind := s.Kind(); {
		case kind == KindString || kind == KindBoolean:
			break
		case v < s.Min || v > s.Max:
			return nil, "is " + strconv.FormatFloat(v, 'g', -1, 64)
		case kind != KindNumber && v != math.Trunc(v):
			return nil, "is not a whole number"
		default:
			return v, ""
		}
	}
	return nil, "has the wrong type"
}

func (s Setting) set(settings *Settings, value any) {
	switch field := s.field(settings).(type) {
	case *string:
		*field = value.(string)
	case *Provider:
		*field = Provider(value.(string))
	case *bool:
		*field = value.(bool)
	case *int:
		*field = int(value.(float64))
	case *float64:
		*field = value.(float64)
	case *time.Duration:
		*field = time.Duration(value.(float64)) * time.Millisecond
	}
}

// conflicts reports settings that are invalid in combination, or whose format is stricter
// than their type.
func (s Settings) conflicts() []FieldError {
	var fields []FieldError
	switch {
	case s.Endpoint == "" && s.needsEndpoint():
		fields = append(fields, FieldError{Field: "agentvoice.endpoint", Problem: "is empty", Allowed: fmt.Sprintf("a URL; provider %s requires one", s.Provider)})
	case s.Endpoint != "":
		if problem, allowed := badEndpoint(s.Endpoint, s.Provider); problem != "" {
			fields = append(fields, FieldError{Field: "agentvoice.endpoint", Problem: problem, Allowed: allowed})
		}
	}
	if s.Deployment == "" && s.SessionWith() == ProviderAzure {
		fields = append(fields, FieldError{Field: "agentvoice.deployment", Problem: "is empty", Allowed: "the name of a deployment; provider azure requires one"})
	}
	if s.Transcription.Deployment == "" && s.Hears() == ProviderAzure {
		fields = append(fields, FieldError{Field: "agentvoice.transcription.deployment", Problem: "is empty", Allowed: "the name of a transcription model's deployment; provider azure requires one"})
	}
	if problem, allowed := badEndpoint(s.Chat.Endpoint, ProviderCompatible); s.Chat.Endpoint != "" && problem != "" {
		fields = append(fields, FieldError{Field: "agentvoice.chat.endpoint", Problem: problem, Allowed: allowed})
	}
	fields = append(fields, s.networkConflicts()...)
	fields = append(fields, s.hearingConflicts()...)
	fields = append(fields, s.voiceConflicts()...)
	if _, problem, allowed := ModelPrices(s.Budget.Prices); problem != "" {
		fields = append(fields, FieldError{Field: "agentvoice.budget.prices", Problem: problem, Allowed: allowed})
	}
	for _, tag := range []struct{ field, value string }{
		{"agentvoice.locale", s.Locale}, {"agentvoice.transcription.language", s.Transcription.Language},
	} {
		if _, err := language.Parse(tag.value); tag.value != "" && err != nil {
			fields = append(fields, FieldError{Field: tag.field, Problem: "is not a language tag", Allowed: "a BCP 47 tag such as de or ja-JP"})
		}
	}
	return fields
}

// hasOwnEndpoint says whether the provider has a fixed address or runs on this machine.
func hasOwnEndpoint(p Provider) bool {
	return p == ProviderLocal || p == ProviderOpenAI || p == ProviderLive
}

// needsEndpoint says whether the provider is used without an endpoint from another
// setting.
func (s Settings) needsEndpoint() bool {
	hears := s.Hears() == s.Provider && s.Hearing.Endpoint == ""
	speaks := s.Speaks() == s.Provider && s.Voice.Endpoint == ""
	return !hasOwnEndpoint(s.Provider) && (hears || speaks)
}

// otherEndpoint validates the endpoint for recognition or for the voice.
func (s Settings) otherEndpoint(field, endpoint string, of Provider) (fields []FieldError) {
	switch {
	case endpoint == "" && of != s.Provider && !hasOwnEndpoint(of):
		return []FieldError{{Field: field, Problem: "is empty", Allowed: fmt.Sprintf("a URL; provider %s requires one", of)}}
	case endpoint != "":
		if problem, allowed := badEndpoint(endpoint, of); problem != "" {
			return []FieldError{{Field: field, Problem: problem, Allowed: allowed}}
		}
	}
	return nil
}

// turnURL matches the URLs of RFC 7065, with a host and without a user.
var turnURL = regexp.MustCompile(`^turns?:([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?(\?transport=(udp|tcp))?$`)

// TURNServers returns the URLs in the setting.
func TURNServers(setting string) []string {
	return strings.FieldsFunc(setting, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// networkConflicts validates the network settings. Its errors quote no URL.
func (s Settings) networkConflicts() (fields []FieldError) {
	bad := func(field, problem, allowed string) {
		fields = append(fields, FieldError{Field: "agentvoice.network." + field, Problem: problem, Allowed: allowed})
	}
	if proxy := s.Network.Proxy; proxy != "" {
		u, err := url.Parse(proxy)
		switch {
		case err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme):
			bad("proxy", "is not a proxy URL", "an http, https or socks5 URL such as http://proxy.example:8080")
		case u.User != nil:
			bad("proxy", "contains a user name or password", "a URL without them; set HTTPS_PROXY in the environment instead")
		}
	}
	servers := TURNServers(s.Network.TURN)
	for i, server := range servers {
		if !turnURL.MatchString(server) {
			bad("turnServers", fmt.Sprintf("has an invalid TURN URL at position %d", i+1), "URLs such as turn:turn.example:3478?transport=tcp or turns:turn.example:5349")
		}
	}
	if len(servers) > 0 && s.Network.TURNUsername == "" {
		bad("turnUsername", "is empty", "the user name for the TURN servers; agentvoice.network.turnServers requires one")
	}
	return fields
}

// hearingConflicts validates the settings of the recognition service.
func (s Settings) hearingConflicts() []FieldError {
	of := s.Hears()
	fields := s.otherEndpoint("agentvoice.hearing.endpoint", s.Hearing.Endpoint, of)
	if s.Hearing.Wire == WireTranscriptions && (of == ProviderLocal || of == ProviderLive) {
		return append(fields, FieldError{Field: "agentvoice.hearing.wire", Problem: "is transcriptions", Allowed: fmt.Sprintf("auto or realtime; %s does not support transcriptions", of)})
	}
	return fields
}

// voiceConflicts validates the settings of the voice service.
func (s Settings) voiceConflicts() []FieldError {
	of := s.Speaks()
	fields := s.otherEndpoint("agentvoice.voice.endpoint", s.Voice.Endpoint, of)
	bad := func(field, problem, allowed string) {
		fields = append(fields, FieldError{Field: "agentvoice.voice." + field, Problem: problem, Allowed: allowed})
	}
	needsModel := of == ProviderOpenAI || of == ProviderAzure || of == ProviderLocalAI
	switch {
	case s.Voice.Wire == WireRealtime && of != s.SessionWith():
		bad("wire", "is realtime", fmt.Sprintf("auto or speech; the session is with %s", s.SessionWith()))
	case s.Voice.Wire == WireSpeech && (of == ProviderLocal || of == ProviderLive):
		bad("wire", "is speech", fmt.Sprintf("auto; %s does not support speech", of))
	case of == ProviderLive && s.SessionWith() != of:
		bad("provider", "is live", "another provider; live speaks only if it also hears")
	case s.Voice.Model == "" && needsModel && (of != s.SessionWith() || s.Voice.Wire == WireSpeech || s.Voice.Endpoint != "" && s.Voice.Wire != WireRealtime):
		bad("model", "is empty", fmt.Sprintf("the name of a model or deployment; a voice of %s requires one; or set agentvoice.voice.provider to local", of))
	}
	return fields
}

// badEndpoint never quotes the URL, which may contain a secret.
func badEndpoint(endpoint string, provider Provider) (problem, allowed string) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http"):
		return "is not a URL", "an absolute https or http URL"
	case u.User != nil:
		return "contains a user name or password", "a URL without them; store the key as a secret"
	case u.Scheme == "http" && (provider == ProviderOpenAI || provider == ProviderLive || provider == ProviderAzure) && !loopback(u.Hostname()):
		return "would send the key unencrypted", "an https URL"
	default:
		return "", ""
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
