package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// FieldError says what is wrong with one field of a message.
type FieldError struct {
	Field   string `json:"field"`
	Problem string `json:"problem"`
	Allowed string `json:"allowed,omitempty"`
}

// Error formats field, problem and allowed values in one line.
func (e FieldError) Error() string {
	s := e.Problem
	if e.Field != "" {
		s = e.Field + " " + s
	}
	if e.Allowed != "" {
		s += "; allowed: " + e.Allowed
	}
	return s
}

// Decode reads the params of a request or notification as T: an object with all required
// fields of T, of the right types and, at the top level, with values from the closed
// lists. Unknown fields are ignored; UnknownMembers reports them. Absent params count as
// an empty object. The error is an invalidParams response that names each invalid field.
func Decode[T any](locale Locale, params *json.RawMessage) (T, *jsonrpc2.Error) {
	var raw json.RawMessage
	if params != nil {
		raw = *params
	}
	v, fields := decode[T](raw)
	if len(fields) > 0 {
		return v, locale.InvalidParams(fields)
	}
	return v, nil
}

// DecodeResult reads a client's result as T, as strictly as Decode.
func DecodeResult[T any](result json.RawMessage) (T, error) {
	v, fields := decode[T](result)
	if len(fields) > 0 {
		return v, fmt.Errorf("decode the client's result as %T: %w", v, fields[0])
	}
	return v, nil
}

func decode[T any](raw json.RawMessage) (T, []FieldError) {
	var v T
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		raw = json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return v, []FieldError{{Problem: "is not an object", Allowed: "an object with named fields"}}
	}
	var fields []FieldError
	t := reflect.TypeFor[T]()
	if t.Kind() == reflect.Struct {
		fields = missing(t, object)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, append(fields, typeError(err))
	}
	if t.Kind() == reflect.Struct {
		fields = append(fields, unlisted(reflect.ValueOf(v), object)...)
	}
	if c, ok := any(v).(interface{ validate() []FieldError }); ok {
		fields = append(fields, c.validate()...)
	}
	return v, fields
}

// missing reports the required fields of t that object lacks.
func missing(t reflect.Type, object map[string]json.RawMessage) []FieldError {
	var fields []FieldError
	for i := range t.NumField() {
		name, optional := jsonField(t.Field(i))
		if !optional && !given(object, name) {
			fields = append(fields, FieldError{Field: name, Problem: "is missing"})
		}
	}
	return fields
}

func given(object map[string]json.RawMessage, name string) bool {
	raw, ok := object[name]
	return ok && !bytes.Equal(raw, []byte("null"))
}

// unlisted reports the fields of v whose value is not in their closed list.
func unlisted(v reflect.Value, object map[string]json.RawMessage) []FieldError {
	var fields []FieldError
	for i := range v.NumField() {
		allowed, ok := enumValues[v.Field(i).Type()]
		name, _ := jsonField(v.Type().Field(i))
		if !ok || !given(object, name) {
			continue
		}
		if s := v.Field(i).String(); !slices.Contains(allowed, s) {
			fields = append(fields, FieldError{
				Field: name, Problem: fmt.Sprintf("is %q", clip(s, 32)), Allowed: strings.Join(allowed, ", "),
			})
		}
	}
	return fields
}

// jsonField is the name of a field on the wire, and whether it may be absent.
func jsonField(f reflect.StructField) (name string, optional bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
}

// typeError reports a field of the wrong type. It omits the value, which may contain the
// user's words.
func typeError(err error) FieldError {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return FieldError{Field: e.Field, Problem: "is a " + strings.SplitN(e.Value, " ", 2)[0], Allowed: jsonType(e.Type)}
	}
	return FieldError{Problem: "cannot be read: " + err.Error()}
}

func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return "a whole number"
	}
}
