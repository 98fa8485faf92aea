package dispatch

import (
	"reflect"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// codes lists the code fields of each kind of event. A test checks that all other fields
// are numbers or closed types.
var codes = func() (fields [csm.NumKinds][]int) {
	for k := range fields {
		e, err := csm.DecodeEvent(csm.Kind(k), nil)
		if err != nil {
			panic("dispatch: " + err.Error())
		}
		t := reflect.TypeOf(e)
		for i := range t.NumField() {
			if t.Field(i).Type == reflect.TypeFor[csm.Code]() {
				fields[k] = append(fields[k], i)
			}
		}
	}
	return fields
}()

// closed replaces each code of e that is not in csm.Codes by internalError, and says
// whether there was one. This keeps words out of the core and the journal if a handler
// puts them into a code by mistake.
func closed(e csm.Event) (csm.Event, bool) {
	open := false
	for _, i := range codes[csm.KindOf(e)] {
		code := csm.Code(reflect.ValueOf(e).Field(i).String())
		if code == "" || slices.Contains(csm.Codes, code) {
			continue
		}
		own := reflect.New(reflect.TypeOf(e)).Elem()
		own.Set(reflect.ValueOf(e))
		own.Field(i).SetString(string(csm.CodeInternalError))
		e, open = own.Interface().(csm.Event), true
	}
	return e, open
}
