package dispatch_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
)

const canary = "the canary sings"

// stringsOf counts the strings that a type can hold, at any depth.
func stringsOf(t reflect.Type) (n int) {
	switch t.Kind() {
	case reflect.String:
		return 1
	case reflect.Struct:
		for i := range t.NumField() {
			n += stringsOf(t.Field(i).Type)
		}
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return stringsOf(t.Elem())
	case reflect.Interface, reflect.Map:
		return 1
	}
	return n
}

// Text in place of a code reaches neither the core nor the handlers, and is reported. No
// event can hold text in another way.
func TestTextInPlaceOfCodeIsRejected(t *testing.T) {
	var refused []csm.Kind
	var said []string
	l := dispatch.New(dispatch.Config{
		Clock: &dispatch.Virtual{}, Refused: func(k csm.Kind) { refused = append(refused, k) },
		Execute: func(s dispatch.Step) { said = append(said, fmt.Sprintf("%+v", s)) },
	})
	var want []csm.Kind
	for k := range csm.NumKinds {
		e, err := csm.DecodeEvent(k, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := reflect.New(reflect.TypeOf(e)).Elem()
		v.Set(reflect.ValueOf(e))
		all := stringsOf(v.Type())
		for i := range v.NumField() {
			if v.Field(i).Type() == reflect.TypeFor[csm.Code]() {
				v.Field(i).SetString(canary)
				all--
			}
		}
		if all != 0 {
			t.Errorf("event %v holds text outside of its csm.Code fields, which closed does not check", k)
		}
		if e = v.Interface().(csm.Event); strings.Contains(fmt.Sprintf("%+v", e), canary) {
			want = append(want, k)
		}
		l.Post(csm.UserStart{})
		l.Drain()
		if f := v.FieldByName("Instance"); f.IsValid() {
			f.SetUint(uint64(l.State().Instance)) // so that the core accepts it
		}
		l.Post(v.Interface().(csm.Event))
		l.Post(csm.SessionFailed{Instance: l.State().Instance, Code: csm.CodeSessionFailed})
		l.Post(csm.UserStop{})
		l.Drain()
	}
	if !slices.Equal(refused, want) || len(want) < 8 {
		t.Errorf("refused %v, want %v", refused, want)
	}
	if all := strings.Join(said, "\n"); strings.Contains(all, canary) || !strings.Contains(all, string(csm.CodeInternalError)) || !strings.Contains(all, string(csm.CodeSessionFailed)) {
		t.Error("the core got the text, or codes of the list were refused")
	}
}
