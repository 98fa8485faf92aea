package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// UnknownMembers reports the members of params that the message type lacks, at any depth,
// because a client that sends one expects an effect. Names are case-sensitive. Messages
// without params have no members.
func UnknownMembers(of any, params *json.RawMessage) []FieldError {
	if params == nil {
		return nil
	}
	if of == nil {
		of = struct{}{}
	}
	return unknownIn(reflect.TypeOf(of), *params, "")
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func unknownIn(t reflect.Type, raw json.RawMessage, path string) (fields []FieldError) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	list := t.Kind() == reflect.Slice && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("["))
	switch {
	case list:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return nil // Decode reports the type error
		}
		for i, item := range items {
			fields = append(fields, unknownIn(t.Elem(), item, fmt.Sprintf("%s[%d]", path, i))...)
		}
		return fields
	case t.Kind() != reflect.Struct, t.Implements(unmarshaler), reflect.PointerTo(t).Implements(unmarshaler):
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil // likewise
	}
	known := map[string]reflect.Type{}
	for i := range t.NumField() {
		if name, _ := jsonField(t.Field(i)); name != "-" && name != "" {
			known[name] = t.Field(i).Type
		}
	}
	allowed := strings.Join(slices.Sorted(maps.Keys(known)), ", ")
	if allowed == "" {
		allowed = "no members"
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := strings.TrimPrefix(path+"."+clip(name, 80), ".")
		if member, ok := known[name]; ok {
			fields = append(fields, unknownIn(member, object[name], at)...)
		} else {
			fields = append(fields, FieldError{Field: at, Problem: "is unknown", Allowed: allowed})
		}
	}
	return fields
}
