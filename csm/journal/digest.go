package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// digestSize truncates SHA-256 to 64 bits, enough to avoid chance collisions within a
// journal.
const digestSize = 8

// digester computes the digest chain of a record.
type digester struct {
	last string // last digest
	buf  []byte
}

// next returns the digest after a step: a hash of the previous digest, the texts of the
// event and its outcome, and the binary forms of the effects and the state. The binary
// forms are much faster to produce than JSON and depend on every field and on nothing
// else, such as time, the machine, or whether an empty slice is nil.
func (d *digester) next(event, outcome []byte, s *csm.State, fx []csm.Effect) string {
	b := append(append(append(d.buf[:0], d.last...), event...), outcome...)
	b = appendSlice(b, reflect.ValueOf(&fx).Elem(), appendEffect)
	b = appendState(b, reflect.ValueOf(s).Elem())
	d.buf, d.last = b, hash(b)
	return d.last
}

// An appender appends the binary form of a value of one type. It is derived once from the
// type, so that new fields need no code here: all fields in order, numbers as varints,
// strings and slices prefixed with their length, and the case of a sum prefixed with its
// name.
type appender func(b []byte, v reflect.Value) []byte

var (
	appendState  = appenderOf(reflect.TypeFor[csm.State]())
	appendEffect = appenderOf(reflect.TypeFor[csm.Effect]())

	// cases caches the appenders of cases of sums, by reflect.Type.
	cases sync.Map
)

func appenderOf(t reflect.Type) appender {
	switch t.Kind() {
	case reflect.Bool:
		return func(b []byte, v reflect.Value) []byte {
			if v.Bool() {
				return append(b, 1)
			}
			return append(b, 0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) []byte { return binary.AppendVarint(b, v.Int()) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(b []byte, v reflect.Value) []byte { return binary.AppendUvarint(b, v.Uint()) }
	case reflect.String:
		return func(b []byte, v reflect.Value) []byte { return appendText(b, v.String()) }
	case reflect.Struct:
		return structAppender(t)
	case reflect.Array:
		item := appenderOf(t.Elem())
		return func(b []byte, v reflect.Value) []byte { return appendSlice(b, v, item) }
	case reflect.Slice:
		item := appenderOf(t.Elem())
		return func(b []byte, v reflect.Value) []byte { return appendTail(b, v, item) }
	case reflect.Interface:
		return appendCase
	case reflect.Pointer: // pointers are to immutable values, which count
		data := appenderOf(t.Elem())
		return func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, 0)
			}
			return data(append(b, 1), v.Elem())
		}
	default:
		// A map has no order and a function has no value, so neither may be part of a
		// state.
		panic(fmt.Sprintf("journal: %v cannot be part of a state, an event or an effect: it has no canonical form", t))
	}
}

func structAppender(t reflect.Type) appender {
	fields := make([]appender, t.NumField())
	for i := range fields {
		fields[i] = appenderOf(t.Field(i).Type)
	}
	return func(b []byte, v reflect.Value) []byte {
		for i, f := range fields {
			b = f(b, v.Field(i))
		}
		return b
	}
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendSlice(b []byte, v reflect.Value, item appender) []byte {
	b = binary.AppendUvarint(b, uint64(v.Len()))
	for i := range v.Len() {
		b = item(b, v.Index(i))
	}
	return b
}

// tail is how many items at the end of a long list a digest covers. The lists of a state
// grow at their end, so earlier digests in the chain cover the others, and the work for a
// long answer is linear in its length.
const tail = 16

func appendTail(b []byte, v reflect.Value, item appender) []byte {
	b = binary.AppendUvarint(b, uint64(v.Len()))
	for i := max(v.Len()-tail, 0); i < v.Len(); i++ {
		b = item(b, v.Index(i))
	}
	return b
}

// sumCase is a case of a sum: its name, and the appender of its data.
type sumCase struct {
	name string
	data appender
}

func appendCase(b []byte, v reflect.Value) []byte {
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
	return c.(*sumCase).data(b, v)
}

// Core identifies the form of this build's core: its tables, events and state fields.
// Builds with the same name agree on every digest; builds with different names may agree
// in behaviour, but their digests cannot be compared.
var Core = sync.OnceValue(func() string {
	h := sha256.New()
	for _, c := range csm.Charts() {
		fmt.Fprintln(h, c.Name, c.Lines)
	}
	fmt.Fprintln(h, signature(reflect.TypeFor[csm.State]()))
	for k := range csm.NumKinds {
		e, err := csm.DecodeEvent(k, nil)
		if err != nil {
			panic(fmt.Sprintf("journal: cannot create %v: %v", k, err))
		}
		fmt.Fprintln(h, k, signature(reflect.TypeOf(e)))
	}
	return hex.EncodeToString(h.Sum(nil)[:digestSize])
})

// signature describes the form of a type.
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
