package journal_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

const canary = "the canary sings"

// strings calls found with each string that v can hold. It fills what it walks:
// slices get an item.
func eachString(v reflect.Value, found func(reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		found(v)
	case reflect.Struct:
		for i := range v.NumField() {
			eachString(v.Field(i), found)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		eachString(v.Index(0), found)
	case reflect.Array:
		for i := range v.Len() {
			eachString(v.Index(i), found)
		}
	}
}

// anyEvent is a zero event of a kind, to be changed.
func anyEvent(t testing.TB, k csm.Kind) reflect.Value {
	t.Helper()
	e, err := csm.DecodeEvent(k, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	return v
}

// Every string of every event is of a type with a closed list: a new one must get
// its line in the lists, or all it says would be refused.
func TestEveryStringOfAnEventHasItsList(t *testing.T) {
	for k := range csm.NumKinds {
		eachString(anyEvent(t, k), func(s reflect.Value) {
			if journal.Closed[s.Type()] == nil {
				t.Errorf("event %v has a string of type %v; add its list to closed", k, s.Type())
			}
		})
	}
}

// A word that a handler puts where a code belongs, in any string of any event, is
// not in the journal, and the journal replays to what it says.
func TestCanaryInAnyEventIsRefused(t *testing.T) {
	var out bytes.Buffer
	w, err := journal.NewWriter(&out, header)
	if err != nil {
		t.Fatal(err)
	}
	s, seq, put := csm.Initial(), uint64(0), 0
	step := func(e csm.Event) {
		seq++
		env := csm.Envelope{Seq: seq, Event: e}
		var fx []csm.Effect
		s, fx = csm.Step(s, env)
		w.Step(env, s, fx)
	}
	for k := range csm.NumKinds {
		step(csm.UserStart{})
		v := anyEvent(t, k)
		if f := v.FieldByName("Instance"); f.IsValid() {
			f.SetUint(uint64(s.Instance)) // so that the core takes it in
		}
		eachString(v, func(s reflect.Value) { s.SetString(canary); put++ })
		step(v.Interface().(csm.Event))
		step(csm.UserStop{})
	}
	w.Words(ms, journal.Words{Kind: canary, ID: 1, Text: canary})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "canary") {
		t.Errorf("the journal says %q in line %d", canary, lineWith(t, out.String(), canary))
	}
	if w.Refused() != put || put < 8 {
		t.Errorf("%d strings were refused, of %d", w.Refused(), put)
	}
	if n := strings.Count(out.String(), `"note":"refused"`); n == 0 || n > put {
		t.Errorf("%d notes say that %d were refused", n, put)
	}
	if res, err := replay(out.String()); err != nil || res.Events != int(seq) {
		t.Errorf("%+v, %v", res, err)
	}
}

// Whatever was refused in a conversation, the journal says what a conversation
// with internalError in its place would have: it replays identically.
func TestRefusedJournalReplaysIdentically(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		w, err := journal.NewWriter(&out, header)
		if err != nil {
			t.Fatal(err)
		}
		k := newTalk(w, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") })
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			code := csm.Code(rapid.SampledFrom([]string{canary, canary + " twice", "canary", string(csm.CodeDeviceLost), ""}).Draw(t, "code"))
			s := k.loop.State()
			k.loop.Post(rapid.SampledFrom([]csm.Event{
				csm.SessionFailed{Instance: s.Instance, Code: code}, csm.AudioFailed{Instance: s.Instance, Code: code},
				csm.ConnLost{Epoch: s.IDs.Epoch, Code: code}, csm.CopilotDone{Request: s.IDs.Request, Code: code},
				csm.UserStop{Code: code}, csm.RecognitionLost{Epoch: s.IDs.Epoch, Utterance: k.words, Code: code},
				csm.SpeechFailed{Gen: s.Speech.Generation(), Seq: s.IDs.Segment, Code: code},
			}).Draw(t, "failure"))
			k.next()
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "canary") {
			t.Fatalf("it leaks:\n%s", out.String())
		}
		if res, err := replay(out.String()); err != nil || res.OtherCore {
			t.Fatalf("%+v, %v", res, err)
		}
	})
}

// The same conversation, recorded with its words and without, replays to the same
// transitions and effects; only the full journal has the words.
func TestRedactedReplaysAsFull(t *testing.T) {
	full := header
	full.Content = journal.Full
	rapid.Check(t, func(t *rapid.T) {
		var a, b bytes.Buffer
		redacted, err := journal.NewWriter(&a, header)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := journal.NewWriter(&b, full)
		if err != nil {
			t.Fatal(err)
		}
		k := newTalk(redacted, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") })
		k.also = func(s dispatch.Step) {
			for _, w := range []*journal.Writer{redacted, whole} {
				w.Words(s.Envelope.At, journal.Words{Kind: "utterance", ID: k.words, Text: fmt.Sprint(canary, k.words)})
			}
			whole.Step(s.Envelope, s.State, s.Effects)
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			k.next()
		}
		for _, w := range []*journal.Writer{redacted, whole} {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(a.String(), "canary") || !strings.Contains(b.String(), "canary") {
			t.Fatal("the words are where they should not be, or are not where they should")
		}
		x, y := steps(t, a.String()), steps(t, b.String())
		if !reflect.DeepEqual(x, y) {
			t.Fatal("they differ in more than the notes of words")
		}
		for _, s := range []string{a.String(), b.String()} {
			if res, err := replay(s); err != nil || res.Events != len(x) {
				t.Fatalf("%+v, %v", res, err)
			}
		}
	})
}

// steps are the lines of events, without their places in the file.
func steps(t *rapid.T, s string) (list []journal.Line) {
	j, err := journal.Read(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range j.Lines {
		if l.Event != "" {
			l.N, l.Number, l.Sum = 0, 0, ""
			list = append(list, l)
		}
	}
	return list
}
