package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// digestSize is how much of a SHA-256 identifies a state: 64 bits, so that two
// states of one journal that differ never look alike by chance.
const digestSize = 8

// Digest identifies a state, and the effects of the step that led to it where
// there are any. It depends on every field of both and on nothing else: not on
// time, the machine, or whether an empty slice is nil.
//
// It is the first quarter of the SHA-256 over the binary forms of the effects and
// of the state (AppendBinary), which are made in a fraction of the time that their
// JSON takes.
func Digest(s csm.State, fx []csm.Effect) string { return newDigester().of(&s, fx) }

// digester makes digests with a buffer of its own.
type digester struct {
	buf []byte
	// last is what a pointer led to last, and its binary form. A state points to
	// what is never written to, mostly to the same from step to step.
	last struct {
		to   reflect.Value // so that its address is not given to anything else
		form []byte
	}
}

func newDigester() *digester { return &digester{buf: make([]byte, 0, 2048)} }

func (d *digester) of(s *csm.State, fx []csm.Effect) string {
	var text [2 * digestSize]byte
	return string(d.hex(&text, s, fx))
}

func (d *digester) hex(text *[2 * digestSize]byte, s *csm.State, fx []csm.Effect) []byte {
	b := d.slice(d.buf[:0], reflect.ValueOf(&fx).Elem(), appendEffect)
	b = appendState(d, b, reflect.ValueOf(s).Elem())
	d.buf = b
	full := sha256.Sum256(b)
	hex.Encode(text[:], full[:digestSize])
	return text[:]
}

// AppendBinary appends the binary form of a state to b: all its fields in their
// order, numbers as varints, strings and slices after their length, and the case
// of a sum after its name.
func AppendBinary(b []byte, s csm.State) []byte {
	return appendState(new(digester), b, reflect.ValueOf(&s).Elem())
}

// An appender appends the binary form of a value of one type. The appender of a
// type is made once, from the type, so that a new field needs no line here.
type appender func(d *digester, b []byte, v reflect.Value) []byte

var (
	appendState  = appenderOf(reflect.TypeFor[csm.State]())
	appendEffect = appenderOf(reflect.TypeFor[csm.Effect]())

	// cases holds the appenders of the cases of sums, by reflect.Type.
	cases sync.Map
)

func appenderOf(t reflect.Type) appender {
	switch t.Kind() {
	case reflect.Bool:
		return func(_ *digester, b []byte, v reflect.Value) []byte {
			if v.Bool() {
				return append(b, 1)
			}
			return append(b, 0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(_ *digester, b []byte, v reflect.Value) []byte { return binary.AppendVarint(b, v.Int()) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(_ *digester, b []byte, v reflect.Value) []byte { return binary.AppendUvarint(b, v.Uint()) }
	case reflect.String:
		return func(_ *digester, b []byte, v reflect.Value) []byte { return appendText(b, v.String()) }
	case reflect.Struct:
		return structAppender(t)
	case reflect.Slice, reflect.Array:
		item := appenderOf(t.Elem())
		return func(d *digester, b []byte, v reflect.Value) []byte { return d.slice(b, v, item) }
	case reflect.Interface:
		return (*digester).aCase
	case reflect.Pointer: // to what is never written to; its value counts
		data := appenderOf(t.Elem())
		return func(d *digester, b []byte, v reflect.Value) []byte { return d.pointed(b, v, data) }
	default:
		// A map has no order and a function no value, and neither belongs into a
		// state.
		panic(fmt.Sprintf("journal: %v cannot be part of a state, an event or an effect: it has no canonical form", t))
	}
}

func structAppender(t reflect.Type) appender {
	fields := make([]appender, t.NumField())
	for i := range fields {
		fields[i] = appenderOf(t.Field(i).Type)
	}
	return func(d *digester, b []byte, v reflect.Value) []byte {
		for i, f := range fields {
			b = f(d, b, v.Field(i))
		}
		return b
	}
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func (d *digester) slice(b []byte, v reflect.Value, item appender) []byte {
	b = binary.AppendUvarint(b, uint64(v.Len()))
	for i := range v.Len() {
		b = item(d, b, v.Index(i))
	}
	return b
}

// pointed appends what v points to. A value that was appended through the same
// pointer before has the same form again.
func (d *digester) pointed(b []byte, v reflect.Value, data appender) []byte {
	if v.IsNil() {
		return append(b, 0)
	}
	if !d.last.to.IsValid() || d.last.to.Type() != v.Type() || d.last.to.Pointer() != v.Pointer() {
		form := data(d, make([]byte, 0, 256), v.Elem())
		d.last.form = form
		d.last.to = reflect.ValueOf(v.Interface()) // not v, which is a place in a state
	}
	return append(append(b, 1), d.last.form...)
}

// sumCase is a case of a sum: its name, and the appender of its data.
type sumCase struct {
	name string
	data appender
}

func (d *digester) aCase(b []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(b, 0)
	}
	v = v.Elem()
	t := v.Type()
	c, ok := cases.Load(t)
	if !ok {
		c, _ = cases.LoadOrStore(t, &sumCase{t.String(), appenderOf(t)})
	}
	b = appendText(b, c.(*sumCase).name)
	return c.(*sumCase).data(d, b, v)
}

// Core names the form of this build's core: its table, its events, and the
// fields of its states. Two builds with the same name were made to agree on every
// digest; two with different names may agree on what they do, and their digests
// cannot be compared.
var Core = sync.OnceValue(func() string {
	h := sha256.New()
	fmt.Fprintln(h, csm.DOTWithGuards())
	fmt.Fprintln(h, signature(reflect.TypeFor[csm.State]()))
	for k := range csm.NumKinds {
		e, err := csm.DecodeEvent(k, nil)
		if err != nil {
			panic(fmt.Sprintf("journal: %v cannot be made: %v", k, err))
		}
		fmt.Fprintln(h, k, signature(reflect.TypeOf(e)))
	}
	return hex.EncodeToString(h.Sum(nil)[:digestSize])
})

// signature is the form of a type in words.
func signature(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		var b strings.Builder
		b.WriteString("{")
		for i := range t.NumField() {
			f := t.Field(i)
			fmt.Fprintf(&b, "%s %s;", f.Name, signature(f.Type))
		}
		return b.String() + "}"
	case reflect.Pointer:
		return "*" + signature(t.Elem())
	case reflect.Slice:
		return "[]" + signature(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), signature(t.Elem()))
	default:
		return t.String()
	}
}

// hash identifies a text.
func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:digestSize])
}

// bounds are the numbers of a configuration that are no times, and how many
// timers there are: what a core that replays the journal must be able to hold.
func bounds(c csm.Config) map[string]int {
	b := map[string]int{"timers": int(csm.NumTimers)}
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Type == reflect.TypeFor[time.Duration]() || !v.Field(i).CanInt() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		b[name] = int(v.Field(i).Int())
	}
	return b
}
