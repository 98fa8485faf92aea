package journal

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// No string of an event may say anything but a word of a closed list, because a
// handler could otherwise put what somebody said into one by mistake. A string
// that is in none is refused: the record says csm.CodeInternalError in its place,
// in the event and wherever the core kept it, in that step and in all that
// follow. The core compares codes with those it knows and does nothing else with
// them, so a replay of the record takes the same way as the conversation did.

// closed are the lists, by the type of the field. A field of another string type
// must get its line here, which a test asks for.
var closed = map[reflect.Type]func(string) bool{
	reflect.TypeFor[csm.Code](): func(s string) bool { return s == "" || slices.Contains(csm.Codes, csm.Code(s)) },
}

// refusal is what was refused so far.
type refusal struct {
	texts []string // longest first
	count int      // of strings
}

// maxRefused bounds the texts that are remembered, against a handler that makes
// up a new one each time.
const maxRefused = 1 << 10

// event returns e with nothing in it but words of the closed lists.
func (r *refusal) event(e csm.Event) csm.Event {
	if isClosed(reflect.ValueOf(&e).Elem()) {
		return e
	}
	return rewrite(e, func(t reflect.Type, s string) string {
		if known := closed[t]; known != nil && known(s) {
			return s
		}
		r.remember(s)
		return string(csm.CodeInternalError)
	})
}

func (r *refusal) remember(s string) {
	r.count++
	if i, known := slices.BinarySearchFunc(r.texts, s, longer); !known && len(r.texts) < maxRefused {
		r.texts = slices.Insert(r.texts, i, s)
	}
}

func longer(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) }

// isClosed says whether every string of an event is in its list.
func isClosed(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		known := closed[v.Type()]
		return known != nil && known(v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			if !isClosed(v.Field(i)) {
				return false
			}
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			if !isClosed(v.Index(i)) {
				return false
			}
		}
	case reflect.Interface, reflect.Pointer:
		return v.IsNil() || isClosed(v.Elem())
	}
	return true
}

// strings is how a string of a state or of an effect is recorded once something
// was refused. A code, and a plain string that is one word, is replaced where it
// is in no list; a sentence that the core made has what was refused taken out.
func (r *refusal) strings(t reflect.Type, s string) string {
	sentence := t == reflect.TypeFor[string]() && strings.Contains(s, " ")
	switch {
	case t != reflect.TypeFor[csm.Code]() && t != reflect.TypeFor[string]():
		return s // of a list of the core's own, which no event reaches
	case sentence && len(r.texts) < maxRefused:
		for _, text := range r.texts {
			s = strings.ReplaceAll(s, text, string(csm.CodeInternalError))
		}
		return s
	case closed[reflect.TypeFor[csm.Code]()](s):
		return s
	default:
		return string(csm.CodeInternalError)
	}
}

// rewrite returns a copy of x, which shares nothing with x, with each string
// replaced.
func rewrite[T any](x T, with func(reflect.Type, string) string) T {
	v := reflect.New(reflect.TypeFor[T]()).Elem()
	v.Set(reflect.ValueOf(&x).Elem())
	rewriteIn(v, with)
	return v.Interface().(T)
}

func rewriteIn(v reflect.Value, with func(reflect.Type, string) string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(with(v.Type(), v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			rewriteIn(v.Field(i), with)
		}
	case reflect.Array:
		for i := range v.Len() {
			rewriteIn(v.Index(i), with)
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		for i := range own.Len() {
			rewriteIn(own.Index(i), with)
		}
		v.Set(own)
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		own := reflect.New(v.Type().Elem())
		own.Elem().Set(v.Elem())
		rewriteIn(own.Elem(), with)
		v.Set(own)
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		own := reflect.New(v.Elem().Type()).Elem()
		own.Set(v.Elem())
		rewriteIn(own, with)
		v.Set(own)
	}
}
