package journal

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// eventForms are how the events are read, by their names. Most events are flat
// objects of numbers, words and truths, which need no general decoder; it reads
// the rest, and says what is wrong.
var eventForms = sync.OnceValue(func() map[string]*eventForm {
	m := map[string]*eventForm{}
	for k := range csm.NumKinds {
		e, err := csm.DecodeEvent(k, nil)
		if err != nil {
			panic(fmt.Sprintf("journal: %v cannot be made: %v", k, err))
		}
		f := &eventForm{kind: k, of: reflect.TypeOf(e), fields: map[string]int{}}
		for i := range f.of.NumField() {
			name, _, _ := strings.Cut(f.of.Field(i).Tag.Get("json"), ",")
			f.fields[name] = i
		}
		m[k.String()] = f
	}
	return m
})

type eventForm struct {
	kind   csm.Kind
	of     reflect.Type
	fields map[string]int
}

func (f *eventForm) decode(data []byte) (csm.Event, error) {
	v := reflect.New(f.of).Elem()
	if !f.plain(&scan{b: data}, v) {
		return csm.DecodeEvent(f.kind, data)
	}
	return v.Interface().(csm.Event), nil
}

// plain reads a flat object into v; where it cannot, what it set is of no use.
func (f *eventForm) plain(s *scan, v reflect.Value) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return s.at == len(s.b)
	}
	for {
		key, ok := s.text()
		i, known := f.fields[string(key)]
		if !ok || !known || !s.take(':') || !s.scalar(v.Field(i)) {
			return false
		}
		if !s.take(',') {
			return s.take('}') && s.at == len(s.b)
		}
	}
}

// scalar reads a value of the kind of v.
func (s *scan) scalar(v reflect.Value) bool {
	switch {
	case v.CanUint():
		n, ok := s.number()
		ok = ok && !v.OverflowUint(n)
		if ok {
			v.SetUint(n)
		}
		return ok
	case v.CanInt():
		minus := s.take('-')
		u, ok := s.number()
		n := int64(u)
		if minus {
			n = -n
		}
		ok = ok && !v.OverflowInt(n) && (!minus || n != 0)
		if ok {
			v.SetInt(n)
		}
		return ok
	case v.Kind() == reflect.String:
		t, ok := s.text()
		if ok {
			v.SetString(string(t))
		}
		return ok
	case v.Kind() == reflect.Bool:
		is := bytes.HasPrefix(s.b[s.at:], []byte("true"))
		if is {
			s.at += len("true")
		} else if bytes.HasPrefix(s.b[s.at:], []byte("false")) {
			s.at += len("false")
		} else {
			return false
		}
		v.SetBool(is)
		return true
	}
	return false
}
