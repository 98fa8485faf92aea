package csmtest

import (
	"reflect"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Field is one field of a state, or of the current case of a region.
type Field struct {
	Path   string // such as Queue, Conv(Suspended).Reasons or Timers.response
	Value  any
	Active bool // it differs from the initial state
}

// Fields walks a state: all its fields, those of structs in it, and those of its regions'
// cases. Slices and plain values are leaves.
func Fields(s csm.State) []Field {
	initial := map[string]any{}
	for _, f := range leaves(csm.Initial()) {
		initial[f.Path] = f.Value
	}
	out := leaves(s)
	for i, f := range out {
		rest, known := initial[f.Path]
		out[i].Active = !reflect.ValueOf(f.Value).IsZero() && !(known && reflect.DeepEqual(rest, f.Value))
	}
	return out
}

func leaves(s csm.State) []Field {
	var out []Field
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch {
		case v.Kind() == reflect.Interface && !v.IsNil():
			e := v.Elem()
			if e.Kind() != reflect.Struct {
				walk(path, e)
				return
			}
			out = append(out, Field{Path: path, Value: e.Type().Name()}) // the current case
			walk(path+"("+e.Type().Name()+")", e)
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				walk(strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), v.Field(i))
			}
		case v.Kind() == reflect.Array && v.Len() == int(csm.NumTimers):
			for t := range csm.NumTimers {
				walk(path+"."+t.String(), v.Index(int(t)))
			}
		default:
			out = append(out, Field{Path: path, Value: v.Interface()})
		}
	}
	walk("", reflect.ValueOf(s))
	return slices.DeleteFunc(out, func(f Field) bool { return strings.HasPrefix(f.Path, "Counters.") })
}
