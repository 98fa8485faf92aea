package dispatch

import (
	"reflect"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// codes is where the events of each kind hold a code. All other fields of events
// are numbers and words of closed types, which a test checks.
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
// whether there was one. A handler could put what somebody said into a code by
// mistake; then neither the core nor the journal gets it.
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
