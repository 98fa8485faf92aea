package journal

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
)

// busy returns a state with something in every part.
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

// digestOf returns the digest of a state and its effects alone.
func digestOf(s csm.State, fx []csm.Effect) string { return new(digester).next(nil, nil, &s, fx) }

// readBack returns a copy of s that shares no memory.
func readBack(t testing.TB, s csm.State) (back csm.State) {
	t.Helper()
	b, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(b, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// eachField calls change for every number, string, boolean and length in v, with a
// function that modifies it.
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

// fields returns the paths of everything in a value.
func fields(v reflect.Value) (paths []string) {
	eachField("", v, func(path string, _ func()) { paths = append(paths, path) })
	return paths
}

// A change of any field of a state, however deep, changes the digest, and so does another
// case of a sum with the same data.
func TestDigestCoversEveryField(t *testing.T) {
	s, fx := busy(t)
	want := digestOf(s, fx)
	fresh := func() reflect.Value {
		v := reflect.New(reflect.TypeFor[csm.State]()).Elem()
		v.Set(reflect.ValueOf(readBack(t, s)))
		return v
	}
	if got := digestOf(fresh().Interface().(csm.State), fx); got != want {
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
		got := digestOf(v.Interface().(csm.State), fx)
		if other, twice := seen[got]; twice {
			t.Errorf("a change of %s has the digest of %s", path, other)
		}
		seen[got] = path
	}
	a, b := s, s
	a.Conv, b.Conv = csm.Preparing{}, csm.Listening{}
	if digestOf(a, nil) == digestOf(b, nil) {
		t.Error("two phases without data have one digest")
	}
	if digestOf(s, fx) == digestOf(s, fx[:len(fx)-1]) || digestOf(s, nil) == digestOf(s, fx) {
		t.Error("effects are not in the digest")
	}
}

// A state decoded from a snapshot has the same digest.
func TestDigestOfASnapshot(t *testing.T) {
	s, _ := busy(t)
	if back := readBack(t, s); digestOf(back, nil) != digestOf(s, nil) {
		t.Error("it has another")
	}
}

// A digest depends on the previous one and on the texts of the event and its outcome.
func TestDigestsAreAChain(t *testing.T) {
	s, fx := busy(t)
	d := digester{}
	a := d.next([]byte("event"), []byte("effects"), &s, fx)
	if b := d.next([]byte("event"), []byte("effects"), &s, fx); a == b {
		t.Error("the one before does not count")
	}
	for _, texts := range [][2]string{{"Event", "effects"}, {"event", "Effects"}} {
		d := digester{}
		if d.next([]byte(texts[0]), []byte(texts[1]), &s, fx) == a {
			t.Errorf("%v do not count", texts)
		}
	}
}

// BenchmarkDigest measures the digest of a busy state and its effects.
func BenchmarkDigest(b *testing.B) {
	s, fx := busy(b)
	var d digester
	b.ReportAllocs()
	for b.Loop() {
		d.next(nil, nil, &s, fx)
	}
	b.ReportMetric(float64(len(d.buf)), "bytes")
}

// The cost of a digest does not depend on the length of the answer, but its value depends
// on the last addition.
func TestDigestsOfALongAnswerAreLinear(t *testing.T) {
	size := func(n int) (int, string) {
		s, fx := busy(t)
		segments := make([]speech.Segment, n)
		for i := range segments {
			segments[i] = speech.Segment{Seq: uint32(i + 1), Request: 1, Start: i, End: i + 1}
		}
		s.Speech = speech.Playing{Line: speech.Line{Segments: segments}}
		var d digester
		digest := d.next(nil, nil, &s, fx)
		return len(d.buf), digest
	}
	short, _ := size(100)
	long, one := size(100_000)
	if long > short+short/2 {
		t.Errorf("the digest of a state covers %d bytes with 100 segments, and %d with 100,000", short, long)
	}
	if _, other := size(100_001); other == one {
		t.Error("one more segment gives the same digest")
	}
}
