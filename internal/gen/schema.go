package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

const (
	module   = "github.com/agentvoice/agentvoice-daemon"
	schemaID = "https://" + module + "/protocol/schema.gen.json"
	defs     = "#/$defs/"
)

func schemaJSON() ([]byte, error) {
	s, err := buildSchema(false)
	if err != nil {
		return nil, err
	}
	return indented(s)
}

// buildSchema has a definition per type and per message; the whole schema matches any
// message. A strict schema rejects unknown fields, which is right for examples and
// wrong for clients, because fields may be added.
func buildSchema(strict bool) (*jsonschema.Schema, error) {
	b := builder{defs: jsonschema.Definitions{}}
	b.reflector = jsonschema.Reflector{Anonymous: true, AllowAdditionalProperties: !strict, Mapper: b.mapped}
	if err := b.reflector.AddGoComments(module, "./protocol"); err != nil {
		return nil, err
	}
	b.enums()
	b.defs["RequestID"] = &jsonschema.Schema{
		Description: "The id of a request.",
		AnyOf:       []*jsonschema.Schema{{Type: "string"}, {Type: "integer", Minimum: "0"}},
	}
	b.defs["Configuration"] = configurationSchema(strict)
	root := &jsonschema.Schema{
		Version: jsonschema.Version, ID: schemaID, Title: "Agent Voice editor wire " + protocol.Version,
		Definitions: b.defs,
	}
	add := func(name string, s *jsonschema.Schema) error {
		if _, twice := b.defs[name]; twice {
			return fmt.Errorf("duplicate definition %s", name)
		}
		b.defs[name] = s
		root.AnyOf = append(root.AnyOf, ref(name))
		return nil
	}
	if err := add("ErrorResponse", b.errorResponse()); err != nil {
		return nil, err
	}
	for _, m := range protocol.Messages {
		for name, s := range b.envelopes(m) {
			if err := add(name, s); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(root.AnyOf, func(a, b *jsonschema.Schema) int { return strings.Compare(a.Ref, b.Ref) })
	return root, nil
}

type builder struct {
	reflector jsonschema.Reflector
	defs      jsonschema.Definitions
}

// mapped returns the schema of types whose JSON differs from their Go kind.
func (b *builder) mapped(t reflect.Type) *jsonschema.Schema {
	switch {
	case t == reflect.TypeFor[protocol.Timestamp]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case t == reflect.TypeFor[protocol.RequestID]():
		return ref("RequestID")
	case t == reflect.TypeFor[protocol.Configuration]():
		return ref("Configuration")
	case strings.HasPrefix(t.Name(), "List["):
		return &jsonschema.Schema{Type: "array", Items: b.typeSchema(t.Elem())}
	case b.isEnum(t):
		return ref(t.Name())
	default:
		return nil
	}
}

func (b *builder) isEnum(t reflect.Type) bool {
	return slices.ContainsFunc(protocol.Enums, func(e protocol.Enum) bool { return e.Type == t })
}

func (b *builder) enums() {
	for _, e := range protocol.Enums {
		s := &jsonschema.Schema{Type: "string", Description: b.reflector.CommentMap[e.Type.PkgPath()+"."+e.Type.Name()]}
		for _, v := range e.Values {
			s.Enum = append(s.Enum, v)
		}
		b.defs[e.Type.Name()] = s
	}
}

// typeSchema defines a type and everything that it contains, and returns a reference
// to it.
func (b *builder) typeSchema(t reflect.Type) *jsonschema.Schema {
	if s := b.mapped(t); s != nil {
		return s
	}
	if t.Kind() != reflect.Struct {
		s := b.reflector.ReflectFromType(t)
		s.Version, s.Definitions = "", nil
		return s
	}
	if _, done := b.defs[t.Name()]; !done {
		b.defs[t.Name()] = nil // placeholder, for recursive types
		maps.Copy(b.defs, b.reflector.ReflectFromType(t).Definitions)
	}
	return ref(t.Name())
}

// envelopes returns the messages of one row.
func (b *builder) envelopes(m protocol.Message) map[string]*jsonschema.Schema {
	head := object("jsonrpc", constant("2.0"), "method", constant(m.Method))
	if m.Params != nil {
		params := b.typeSchema(reflect.TypeOf(m.Params))
		head.Properties.Set("params", params)
		if def := b.defs[strings.TrimPrefix(params.Ref, defs)]; len(def.Required) > 0 {
			head.Required = append(head.Required, "params")
		}
	}
	name := pascal(m.Method)
	head.Description = m.Doc
	if m.Notification {
		return map[string]*jsonschema.Schema{name + "Notification": head}
	}
	head.Properties.Set("id", ref("RequestID"))
	head.Required = append(head.Required, "id")
	result := &jsonschema.Schema{Type: "null"}
	if m.Result != nil {
		result = b.typeSchema(reflect.TypeOf(m.Result))
	}
	return map[string]*jsonschema.Schema{
		name + "Request":  head,
		name + "Response": object("jsonrpc", constant("2.0"), "id", ref("RequestID"), "result", result),
	}
}

func (b *builder) errorResponse() *jsonschema.Schema {
	id := &jsonschema.Schema{
		Description: "null when the message that it answers had none that could be read.",
		AnyOf:       []*jsonschema.Schema{ref("RequestID"), {Type: "null"}},
	}
	body := object(
		"code", &jsonschema.Schema{Type: "integer"},
		"message", &jsonschema.Schema{Type: "string"},
		"data", b.typeSchema(reflect.TypeFor[protocol.ErrorData]()))
	s := object("jsonrpc", constant("2.0"), "id", id, "error", body)
	s.Description = "The daemon's answer to a request that failed. That of a client may have no data."
	return s
}

// configurationSchema returns the flat form. The nested form has a field agentvoice.
func configurationSchema(strict bool) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Description: "Settings by name; null is the default.", Properties: jsonschema.NewProperties()}
	for _, row := range protocol.SettingsTable {
		s.Properties.Set(row.Name, &jsonschema.Schema{
			Description: row.Meaning,
			AnyOf:       []*jsonschema.Schema{settingSchema(row), {Type: "null"}},
		})
	}
	if strict {
		s.AdditionalProperties = jsonschema.FalseSchema
	}
	return s
}

// settingSchema returns the type, bounds and default of a setting.
func settingSchema(row protocol.Setting) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: jsonType(row.Kind()), Default: row.Default}
	for _, v := range row.Enum {
		s.Enum = append(s.Enum, v)
	}
	if s.Type == "integer" || s.Type == "number" {
		s.Minimum, s.Maximum = number(row.Min), number(row.Max)
	}
	return s
}

func jsonType(k protocol.Kind) string {
	if k == protocol.KindMilliseconds {
		return "integer"
	}
	return string(k)
}

func number(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }

func ref(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: defs + name} }

func constant(v string) *jsonschema.Schema { return &jsonschema.Schema{Const: v} }

// object takes alternating names and schemas; all of them are required. Messages are
// closed, because JSON-RPC has no other members.
func object(pairs ...any) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		s.Properties.Set(name, pairs[i+1].(*jsonschema.Schema))
		s.Required = append(s.Required, name)
	}
	s.AdditionalProperties = jsonschema.FalseSchema
	return s
}

// pascal converts a method to a name: conversation/start becomes ConversationStart,
// $/cancelRequest becomes CancelRequest.
func pascal(method string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(method, func(r rune) bool { return strings.ContainsRune("$/.", r) }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func indented(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return out.Bytes(), err
}
