package csmtest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// idFields are the fields of events that identify something that may be live or over.
// They alone decide whether an event is stale; all other fields are content.
var idFields = []string{"Instance", "Epoch", "Request", "Gen", "Seq", "Utterance", "Round", "ToolCall", "Load", "Job"}

// aliases maps names of ids in the state to their names in events.
var aliases = map[string]string{
	"Utterance.ID":   "Utterance",
	"Call.ID":        "ToolCall",
	"Open.Successor": "Epoch",
}

// overFields are parts of the state that remember ended things or counters: an id in them
// is not live.
var overFields = []string{"IDs", "Items", "Summary", "Counters", "Config", "Faults", "Retry", "Timers", "Remaining", "CauseSeq", "Cursor"}

// LiveIDs returns the live ids in s, by their name in events. It finds them by walking
// the state.
func LiveIDs(s csm.State) map[string][]uint64 {
	ids := map[string][]uint64{}
	walkIDs(reflect.ValueOf(s), ids)
	return ids
}

func walkIDs(v reflect.Value, ids map[string][]uint64) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			walkIDs(v.Elem(), ids)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walkIDs(v.Index(i), ids)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if slices.Contains(overFields, f.Name) {
				continue
			}
			name := f.Name
			if a, ok := aliases[v.Type().Name()+"."+name]; ok {
				name = a
			}
			if n, ok := number(v.Field(i)); ok {
				if slices.Contains(idFields, name) && (n != 0 || fromZero(name)) && !slices.Contains(ids[name], n) {
					ids[name] = append(ids[name], n)
				}
				continue
			}
			walkIDs(v.Field(i), ids)
		}
	}
}

// fromZero says whether ids of a kind start at 0, which means none for the others.
func fromZero(field string) bool { return field == "Gen" || field == "Round" }

func number(v reflect.Value) (uint64, bool) {
	switch {
	case v.CanUint():
		return v.Uint(), true
	case v.CanInt():
		return uint64(v.Int()), true
	default:
		return 0, false
	}
}

func setNumber(v reflect.Value, n uint64) {
	if v.CanUint() {
		v.SetUint(n)
	} else {
		v.SetInt(int64(n))
	}
}

// Make creates an event of a kind from fields by their Go names. It ignores fields that
// the event does not have, so that callers need not know which build added them.
func Make(kind string, fields map[string]any) (csm.Event, error) {
	k, ok := csm.KindByName(kind)
	if !ok {
		return nil, fmt.Errorf("unknown event %q", kind)
	}
	zero, err := csm.DecodeEvent(k, nil)
	if err != nil {
		return nil, err
	}
	v := reflect.New(reflect.TypeOf(zero)).Elem()
	for name, val := range fields {
		f := v.FieldByName(name)
		if !f.IsValid() {
			continue
		}
		given := reflect.ValueOf(val)
		if !given.CanConvert(f.Type()) {
			return nil, fmt.Errorf("field %s of event %s: invalid value %v", name, kind, val)
		}
		f.Set(given.Convert(f.Type()))
	}
	return v.Interface().(csm.Event), nil
}

// flat returns the fields of a struct by name, including those of embedded structs.
func flat(x any) map[string]any {
	out := map[string]any{}
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		for i := range v.NumField() {
			f := v.Field(i)
			if f.Kind() == reflect.Struct {
				walk(f)
				continue
			}
			out[v.Type().Field(i).Name] = f.Interface()
		}
	}
	if v := reflect.ValueOf(x); v.Kind() == reflect.Struct {
		walk(v)
	}
	return out
}

// with returns e with one field replaced; ok is false if e does not have the field or the
// value is the same.
func with(e csm.Event, field string, n uint64) (csm.Event, bool) {
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	f := v.FieldByName(field)
	if !f.IsValid() {
		return e, false
	}
	old, ok := number(f)
	if !ok || old == n {
		return e, false
	}
	setNumber(f, n)
	return v.Interface().(csm.Event), true
}

// compact formats the non-zero fields of a struct as "name=value", in order, except those
// in skip.
func compact(x any, skip ...string) string {
	var out []string
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		for i := range v.NumField() {
			f, name := v.Field(i), v.Type().Field(i).Name
			if f.Kind() == reflect.Pointer {
				continue
			}
			switch {
			case f.IsZero() || slices.Contains(skip, name) || f.Kind() == reflect.Slice && f.Len() == 0:
			case f.Kind() == reflect.Struct:
				walk(f)
			case f.Kind() == reflect.Bool:
				out = append(out, lowerFirst(name))
			case f.Kind() == reflect.Slice:
				out = append(out, fmt.Sprintf("%s=%d", lowerFirst(name), f.Len()))
			default:
				out = append(out, fmt.Sprintf("%s=%v", lowerFirst(name), readable(f.Interface())))
			}
		}
	}
	if v := reflect.ValueOf(x); v.Kind() == reflect.Struct {
		walk(v)
	}
	return strings.Join(out, " ")
}

// readable formats a value as in scenarios.
func readable(x any) any {
	switch x := x.(type) {
	case csm.Class:
		if int(x) < len(classes) {
			return classes[x]
		}
	case csm.Device:
		return [...]string{"both", "microphone", "speaker"}[min(x, csm.Speaker)]
	case csm.SuspendReason:
		var names []string
		for _, name := range slices.Sorted(maps.Keys(reasons)) {
			if r := reasons[name]; name != "" && r != 0 && x&r != 0 {
				names = append(names, name)
			}
		}
		return strings.Join(names, "+")
	}
	return x
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
