package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// example is a message in docs/protocol.md.
type example struct {
	definition string // in the schema
	payload    any    // zero value of params, result or error data
	raw        json.RawMessage
	body       json.RawMessage
	where      string
}

// examples reads the JSON blocks of the document. A block has one or more messages; a
// response belongs to the request with its id in the same block.
func examples(t *testing.T) []example {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	var list []example
	doc := goldmark.DefaultParser().Parse(text.NewReader(source))
	err = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		block, ok := n.(*ast.FencedCodeBlock)
		if !entering || !ok || string(block.Language(source)) != "json" {
			return ast.WalkContinue, nil
		}
		line := 1 + bytes.Count(source[:block.Lines().At(0).Start], []byte("\n"))
		in, err := blockExamples(block.Lines().Value(source), fmt.Sprintf("docs/protocol.md:%d", line))
		list = append(list, in...)
		return ast.WalkContinue, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func blockExamples(block []byte, where string) ([]example, error) {
	var list []example
	asked := map[string]protocol.Message{}
	for d := json.NewDecoder(bytes.NewReader(block)); ; {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		var m struct {
			ID             json.RawMessage
			Method         string
			Params, Result json.RawMessage
			Error          *struct{ Data json.RawMessage }
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		e := example{raw: raw, where: where}
		switch row, known := protocol.Lookup(m.Method); {
		case m.Error != nil:
			e.definition, e.payload, e.body = "ErrorResponse", protocol.ErrorData{}, m.Error.Data
		case m.Method == "":
			row, known = asked[string(m.ID)]
			if !known {
				return nil, fmt.Errorf("%s: a response without a request in its block", where)
			}
			e.definition, e.payload, e.body = pascal(row.Method)+"Response", row.Result, m.Result
		case !known:
			return nil, fmt.Errorf("%s: unknown method %s", where, m.Method)
		default:
			e.definition, e.payload, e.body = pascal(m.Method)+"Notification", row.Params, m.Params
			if m.ID != nil {
				asked[string(m.ID)] = row
				e.definition = pascal(m.Method) + "Request"
			}
		}
		list = append(list, e)
	}
}

// Every message of the wire has an example in the document, and each example is valid
// in the strict schema, which rejects unknown fields.
//
//test:documents
func TestExamplesOfTheDocumentMatchTheSchema(t *testing.T) {
	inRoot(t)
	schema, err := buildSchema(true)
	if err != nil {
		t.Fatal(err)
	}
	compiled := compile(t, schema)
	missing := map[string]bool{}
	for _, a := range schema.AnyOf {
		missing[strings.TrimPrefix(a.Ref, defs)] = true
	}
	for _, e := range examples(t) {
		delete(missing, e.definition)
		if err := validate(compiled(e.definition), e.raw); err != nil {
			t.Errorf("%s: %s: %v", e.where, e.definition, err)
		}
	}
	if len(missing) > 0 {
		t.Errorf("the document has no example of %q", slices.Sorted(maps.Keys(missing)))
	}
}

// The examples survive a round trip through the Go types unchanged.
//
//test:documents
func TestExamplesOfTheDocumentMatchTheGoTypes(t *testing.T) {
	inRoot(t)
	for _, e := range examples(t) {
		if e.payload == nil {
			if e.body != nil && string(e.body) != "null" {
				t.Errorf("%s: %s has a payload", e.where, e.definition)
			}
			continue
		}
		if e.body == nil {
			continue // optional params
		}
		v := reflect.New(reflect.TypeOf(e.payload))
		d := json.NewDecoder(bytes.NewReader(e.body))
		d.DisallowUnknownFields()
		if err := d.Decode(v.Interface()); err != nil {
			t.Errorf("%s: %s: %v", e.where, e.definition, err)
			continue
		}
		again, err := json.Marshal(v.Interface())
		if err != nil {
			t.Fatal(err)
		}
		if !sameJSON(t, e.body, again) {
			t.Errorf("%s: %s: %s becomes %s", e.where, e.definition, e.body, again)
		}
	}
}

// The document lists every error of the table.
//
//test:documents
func TestErrorsOfTheDocument(t *testing.T) {
	inRoot(t)
	source, err := os.ReadFile(filepath.Join("docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range protocol.Errors {
		retryable := map[bool]string{true: "yes", false: "no"}[e.Retryable]
		row := fmt.Sprintf("| `%s` | %d | %s | %s | %s |\n", e.Code, e.Number, retryable,
			e.Message(protocol.English), e.Remediation(protocol.English))
		if !strings.Contains(string(source), row) {
			t.Errorf("docs/protocol.md has no row %s", row)
		}
	}
}

// The published schema accepts unknown fields, because fields may be added, but
// rejects other errors.
func TestPublishedSchema(t *testing.T) {
	inRoot(t)
	published, err := buildSchema(false)
	if err != nil {
		t.Fatal(err)
	}
	compiled := compile(t, published)
	tests := []struct {
		definition, message string
		valid               bool
	}{
		{"ConversationInterruptRequest", `{"jsonrpc":"2.0","id":1,"method":"conversation/interrupt","params":{"source":"voice","new":1}}`, true},
		{"ConversationInterruptRequest", `{"jsonrpc":"2.0","id":1,"method":"conversation/interrupt","params":{"source":"magic"}}`, false},
		{"ConversationInterruptRequest", `{"jsonrpc":"2.0","id":1,"method":"conversation/interrupt"}`, false},
		{"ConversationInterruptRequest", `{"jsonrpc":"2.0","id":-1,"method":"conversation/interrupt","params":{"source":"voice"}}`, false},
		{"ConversationStartRequest", `{"jsonrpc":"2.0","id":"a","method":"conversation/start"}`, true},
		{"AudioMuteResponse", `{"jsonrpc":"2.0","id":1,"result":{}}`, false},
		{"ConfigurationUpdateRequest", `{"jsonrpc":"2.0","id":1,"method":"configuration/update","params":{"agentvoice.copilot.timeoutMs":5}}`, false},
		{"ConfigurationUpdateRequest", `{"jsonrpc":"2.0","id":1,"method":"configuration/update","params":{"agentvoice.copilot.timeoutMs":null}}`, true},
		{"ConversationHistoryResponse", `{"jsonrpc":"2.0","id":1,"result":{"transitions":null}}`, false},
		{"AgentvoiceLevelNotification", `{"jsonrpc":"2.0","method":"agentvoice.level","params":{"input":2,"output":0}}`, false},
	}
	for _, tt := range tests {
		if err := validate(compiled(tt.definition), []byte(tt.message)); (err == nil) != tt.valid {
			t.Errorf("%s: %v", tt.message, err)
		}
	}
}

// compile returns a function that compiles a definition of a schema.
func compile(t *testing.T, schema any) func(definition string) *jsonschema.Schema {
	t.Helper()
	data, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(schemaID, doc); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compile(schemaID); err != nil {
		t.Fatal(err)
	}
	return func(definition string) *jsonschema.Schema {
		s, err := c.Compile(schemaID + defs + definition)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func validate(s *jsonschema.Schema, message []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(message))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}
