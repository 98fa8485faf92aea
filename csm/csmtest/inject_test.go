package csmtest_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/csmtest"
)

// Rules made from the state itself (001, layer 7): wherever the scenarios bring a
// field of the state away from its default, that field is an active condition, and
// every injection is tried on it. A stale answer of any kind, by any of its ids,
// leaves each active field as it is; a repeated fact does so too; whatever else
// comes leaves a state that is valid. A new field, event or id has its rules by
// being there.
func TestInjectionsLeaveActiveFieldsAlone(t *testing.T) {
	t.Parallel()
	rules := map[string]map[string]bool{} // by field, then by class
	strict, loose := 0, 0
	for _, at := range places(t) {
		active := activeFields(at.After)
		for _, c := range injections(at) {
			next, fx := csm.Step(at.After, csm.Envelope{Seq: at.Envelope.Seq + 1, At: at.Envelope.At, Event: c.event})
			if !c.strict {
				loose++
				if err := csm.CheckStep(at.After, csm.Envelope{Seq: at.Envelope.Seq + 1, At: at.Envelope.At, Event: c.event}, next, fx); err != nil {
					t.Fatalf("%s, then %s (%+v): %v", at.where, c.class, c.event, err)
				}
				continue
			}
			strict++
			changed := changedFields(at.After, next)
			for _, path := range active {
				if rules[path] == nil {
					rules[path] = map[string]bool{}
				}
				rules[path][c.class] = true
				if slices.Contains(changed, path) {
					t.Errorf("%s: %s (%+v) changed the active field %s", at.where, c.class, c.event, path)
				}
			}
			for _, f := range fx {
				if _, ok := f.(csm.Reply); !ok {
					t.Errorf("%s: %s (%+v) asks for %s", at.where, c.class, c.event, csm.NameOf(f))
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	n := 0
	for _, classes := range rules {
		n += len(classes)
	}
	t.Logf("%d fields were active, under %d rules; %d stale or repeated events and %d others were tried", len(rules), n, strict, loose)
	if len(rules) < 60 || n < 3000 {
		t.Errorf("only %d fields and %d rules: the scenarios reach too little", len(rules), n)
	}
}

// place is a state that a scenario went through, and where.
type place struct {
	csmtest.Stepped
	where string
}

// places are the states of all scenarios: one for each combination of the cases
// that the regions are in, and one for each field that is active there for the
// first time.
func places(t *testing.T) []place {
	t.Helper()
	seen := map[string]bool{}
	var out []place
	for _, s := range scenarios(t) {
		o, err := csmtest.Play(s)
		if err != nil {
			t.Fatal(err)
		}
		for i, st := range o.Steps {
			cases := fmt.Sprintf("%T %T %T %T %T %T", st.After.Conv, st.After.Conn, st.After.Turn, st.After.Speech, st.After.Copilot, st.After.History)
			if st.After.Phase() == csm.PhaseSuspended {
				cases += ", held"
			}
			fresh := !seen[cases]
			seen[cases] = true
			for _, path := range activeFields(st.After) {
				fresh = fresh || !seen[path]
				seen[path] = true
			}
			if fresh {
				out = append(out, place{st, fmt.Sprintf("%s, step %d (%v)", s.Name, i+1, csm.KindOf(st.Envelope.Event))})
			}
		}
	}
	return out
}

func activeFields(s csm.State) []string {
	var out []string
	for _, f := range csmtest.Fields(s) {
		if f.Active {
			out = append(out, f.Path)
		}
	}
	return out
}

// changedFields are the fields whose values differ, or that only one has.
func changedFields(a, b csm.State) []string {
	b.Counters = a.Counters
	if reflect.DeepEqual(a, b) {
		return nil
	}
	var out []string
	other := map[string]any{}
	for _, f := range csmtest.Fields(b) {
		other[f.Path] = f.Value
	}
	for _, f := range csmtest.Fields(a) {
		if got, ok := other[f.Path]; !ok || !reflect.DeepEqual(got, f.Value) {
			out = append(out, f.Path)
		}
	}
	return out
}

// injection is one event of an injection class. The strict ones must change
// nothing.
type injection struct {
	class  string
	event  csm.Event
	strict bool
}

// meantAgain are the kinds whose events mean something each time they come.
var meantAgain = map[string]string{
	"configure":        "the same configuration is set again",
	"stt.partial":      "words that are still coming",
	"copilot.delta":    "a sign of life, whose deadline begins anew",
	"copilot.toolCall": "a sign of life; the call is taken once",
	"tts.bufferReady":  "of another segment, or of the same after it ran dry",
	"tts.cursor":       "a measurement",
	"model.progress":   "a measurement",
	"suspend":          "a wish",
	"resume":           "a wish",
	"vad.pause":        "the next pause",
	"vad.resume":       "the next word",
	"session.failed":   "a session that breaks again while it is being opened again",
	"audio.failed":     "devices that fail again while they are being opened again",
	"session.renewal":  "a wish of the service",
	"session.expiring": "a wish of the service",
	"session.renewed":  "a wish of the service",
}

// injections are tried on a state: every kind of event with live ids, every stale
// variant of it, and the event that led here once more.
func injections(at place) []injection {
	var out []injection
	live := csmtest.NewWorld(func(string, int) int { return 0 })
	live.State = at.After
	for k := range csm.NumKinds {
		if k == csm.KindFatal || k == csm.KindReset {
			continue // the core's own
		}
		e := live.Invent(k)
		out = append(out, injection{class: "live " + k.String(), event: e})
		for _, v := range csmtest.StaleVariants(at.After, e) {
			out = append(out, injection{class: v.Class(), event: v.Event, strict: true})
		}
	}
	e := at.Envelope.Event
	_, again := meantAgain[csm.KindOf(e).String()]
	wish := strings.HasPrefix(csm.KindOf(e).String(), "user.") // a second wish is another one
	return append(out, injection{class: csm.KindOf(e).String() + " repeated", event: e, strict: !again && !wish})
}

// atRest are fields that no scenario need make active, with the reason.
var atRest = map[string]string{
	"Timers.start.Left":                          "it does not stand still",
	"Timers.fault.Left":                          "it does not stand still",
	"Timers.terminate.Left":                      "it does not stand still",
	"Timers.suspend.Left":                        "it does not stand still",
	"Timers.interrupt.Left":                      "it does not stand still",
	"Timers.confirm.Left":                        "it does not stand still",
	"Timers.utterance.Left":                      "an utterance that is open is dropped when the conversation is held",
	"Timers.pause.Left":                          "an utterance that is open is dropped when the conversation is held",
	"Speech(Playing).Line.Ended":                 "an ended line drains",
	"Copilot(Generating).Live.Calls":             "calls come with the answer",
	"Copilot(SearchingTools).Live.Calls":         "calls come with the answer",
	"Copilot(WaitingForApproval).Live.Cancelled": "nothing runs that could be told to stop",
	"Turn(UserSpeaking).Open.Committed":          "the user's hand ends it",
}

// Every field of the state is away from its default somewhere in the scenarios,
// so that the rules above look at it.
func TestScenariosMakeEveryFieldActive(t *testing.T) {
	t.Parallel()
	fields, active := map[string]bool{}, map[string]bool{}
	for _, at := range places(t) {
		for _, f := range csmtest.Fields(at.After) {
			fields[f.Path] = true
			active[f.Path] = active[f.Path] || f.Active
		}
	}
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		if _, why := atRest[path]; !active[path] && !why && !strings.Contains(path, "Config.") {
			t.Errorf("no scenario brings %s away from its default; tell a conversation in testdata/csm that does, or say in atRest why none can", path)
		}
	}
}
