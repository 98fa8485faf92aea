package csm_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/csmtest"
)

// Every reachable state survives a JSON round trip and continues identically.
func TestStateJSONRoundTrip(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := csmtest.NewWorld(func(_ string, n int) int { return r.IntN(n) })
		w.Step = func(s csm.State, e csm.Envelope) (csm.State, []csm.Effect) {
			back := roundTrip(t, s)
			if !reflect.DeepEqual(tidy(back), tidy(s)) {
				t.Fatalf("%+v\nis read as\n%+v", s, back)
			}
			next, fx := csm.Step(s, e)
			again, fx2 := csm.Step(back, e)
			if !reflect.DeepEqual(tidy(again), tidy(next)) || !reflect.DeepEqual(fx, fx2) {
				t.Fatalf("after %v it goes another way:\n%+v\n%+v", csm.KindOf(e.Event), next, again)
			}
			return next, fx
		}
		if err := w.Walk(60); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// roundTrip returns s decoded from its own JSON.
func roundTrip(t *testing.T, s csm.State) csm.State {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var back csm.State
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(b) {
		t.Fatalf("%s\nis read as\n%s, %v", b, again, err)
	}
	return back
}

// tidy replaces empty slices by nil, since JSON that omits them cannot tell the two
// apart.
func tidy(s csm.State) csm.State {
	v := reflect.New(reflect.TypeFor[csm.State]()).Elem()
	v.Set(reflect.ValueOf(s))
	tidyIn(v)
	return v.Interface().(csm.State)
}

func tidyIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			tidyIn(v.Field(i))
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.SetZero()
		}
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		own := reflect.New(v.Elem().Type()).Elem()
		own.Set(v.Elem())
		tidyIn(own)
		v.Set(own)
	}
}
