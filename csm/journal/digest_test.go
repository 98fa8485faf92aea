package journal

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// busy is a state in which something of everything is there.
func busy(t testing.TB) (csm.State, []csm.Effect) {
	t.Helper()
	s, fx := csm.Initial(), []csm.Effect(nil)
	u := uint64(0)
	for seq, e := range []csm.Event{
		csm.UserStart{Call: 1}, csm.SessionReady{Instance: 1}, csm.AudioPrimed{Instance: 1}, csm.AudioReady{Instance: 1}, csm.ConnReady{Epoch: 1},
		csm.SpeechStarted{Epoch: 1, Utterance: u + 1, Pos: 480}, csm.SpeechStopped{Epoch: 1, Utterance: u + 1, Pos: 960},
		csm.Final{Epoch: 1, Utterance: u + 1, Words: 2}, csm.CopilotSent{Request: 1, Attempt: 1}, csm.CopilotDelta{Request: 1, Chars: 9},
		csm.CopilotSegment{Request: 1, End: 9}, csm.UserText{Utterance: u + 2, Words: 1}, csm.Suspend{Reason: csm.SuspendUser},
	} {
		s, fx = csm.Step(s, csm.Envelope{Seq: uint64(seq + 1), At: time.Duration(seq) * time.Millisecond, Event: e})
	}
	if s.Phase() != csm.PhaseSuspended || len(fx) == 0 {
		t.Fatalf("the state is %v with %d effects", s.Phase(), len(fx))
	}
	return s, fx
}

// eachField calls change at every number, text, truth and length that v holds,
// with a way to make it another.
func eachField(path string, v reflect.Value, change func(path string, to func())) {
	switch {
	case v.CanInt():
		change(path, func() { v.SetInt(v.Int() + 1) })
	case v.CanUint():
		change(path, func() { v.SetUint(v.Uint() + 1) })
	case v.Kind() == reflect.Bool:
		change(path, func() { v.SetBool(!v.Bool()) })
	case v.Kind() == reflect.String:
		change(path, func() { v.SetString(v.String() + "x") })
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			eachField(path+"."+v.Type().Field(i).Name, v.Field(i), change)
		}
	case v.Kind() == reflect.Slice:
		change(path+" length", func() { v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem()))) })
		fallthrough
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			eachField(path+"[]", v.Index(i), change)
		}
	case v.Kind() == reflect.Interface:
		own := reflect.New(v.Elem().Type()).Elem()
		own.Set(v.Elem())
		eachField(path, own, func(path string, to func()) {
			change(path, func() { to(); v.Set(own) })
		})
	case v.Kind() == reflect.Pointer && v.IsNil():
		change(path, func() { v.Set(reflect.New(v.Type().Elem())) })
	case v.Kind() == reflect.Pointer:
		own := reflect.New(v.Type().Elem())
		own.Elem().Set(v.Elem())
		eachField(path, own.Elem(), func(path string, to func()) {
			change(path, func() { to(); v.Set(own) })
		})
	default:
		panic("a state holds a " + v.Kind().String())
	}
}

// fields are the paths of all that a value holds.
func fields(v reflect.Value) (paths []string) {
	eachField("", v, func(path string, _ func()) { paths = append(paths, path) })
	return paths
}

// A change of any field of a state, however deep, is another digest, and so is
// another case of a sum with the same data.
func TestDigestCoversEveryField(t *testing.T) {
	s, fx := busy(t)
	want := Digest(s, fx)
	fresh := func() reflect.Value {
		v := reflect.New(reflect.TypeFor[csm.State]()).Elem()
		v.Set(reflect.ValueOf(rewrite(s, func(_ reflect.Type, s string) string { return s })))
		return v
	}
	if got := Digest(fresh().Interface().(csm.State), fx); got != want {
		t.Fatalf("a copy has the digest %s, want %s", got, want)
	}
	paths := fields(fresh())
	if len(paths) < 100 {
		t.Fatalf("a state has %d fields only", len(paths))
	}
	seen := map[string]string{want: "the state itself"}
	for i, path := range paths {
		v, n := fresh(), 0
		eachField("", v, func(_ string, to func()) {
			if n == i {
				to()
			}
			n++
		})
		got := Digest(v.Interface().(csm.State), fx)
		if other, twice := seen[got]; twice {
			t.Errorf("a change of %s has the digest of %s", path, other)
		}
		seen[got] = path
	}
	a, b := s, s
	a.Conv, b.Conv = csm.Preparing{}, csm.Listening{}
	if Digest(a, nil) == Digest(b, nil) {
		t.Error("two phases without data have one digest")
	}
	if Digest(s, fx) == Digest(s, fx[:len(fx)-1]) || Digest(s, nil) == Digest(s, fx) {
		t.Error("effects are not in the digest")
	}
}

// A state that was read back from a snapshot has the digest that it had.
func TestDigestOfASnapshot(t *testing.T) {
	s, _ := busy(t)
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back csm.State
	if err := json.Unmarshal(b, &back); err != nil || Digest(back, nil) != Digest(s, nil) || !bytes.Equal(AppendBinary(nil, back), AppendBinary(nil, s)) {
		t.Errorf("%v", err)
	}
}

// Events are read alike by the quick reader and by the core's.
func TestEventsAreReadAsTheCoreReadsThem(t *testing.T) {
	for name, f := range eventForms() {
		v := reflect.New(f.of).Elem()
		for _, path := range append(fields(v), "") {
			eachField("", v, func(at string, to func()) {
				if at == path {
					to()
				}
			})
			data, err := json.Marshal(v.Interface())
			if err != nil {
				t.Fatal(err)
			}
			quick, err := f.decode(data)
			slow, also := csm.DecodeEvent(f.kind, data)
			if err != nil || also != nil || !reflect.DeepEqual(quick, slow) {
				t.Errorf("%s %s: %+v, %v, and %+v, %v", name, data, quick, err, slow, also)
			}
		}
		for _, bad := range []string{`{"x":1}`, `[]`, `{`, `{"epoch":-1}`, `{"epoch":4294967296}`, `{"call":01}`, `{}{`, `{"code":1}`} {
			if _, err := f.decode([]byte(bad)); err == nil {
				if _, also := csm.DecodeEvent(f.kind, []byte(bad)); also != nil {
					t.Errorf("%s %s is read, and the core says %v", name, bad, also)
				}
			}
		}
	}
}

// BenchmarkDigest is the digest of a busy state and the effects that led to it.
func BenchmarkDigest(b *testing.B) {
	s, fx := busy(b)
	d := newDigester()
	b.ReportAllocs()
	for b.Loop() {
		d.of(&s, fx)
	}
	b.ReportMetric(float64(len(AppendBinary(nil, s))), "bytes")
}
