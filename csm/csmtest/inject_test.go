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

// Rules derived from the state itself (001, layer 7): wherever the scenarios move a field
// away from its default, the field is an active condition, and every injection is tried
// on it. A stale answer, by any of its ids, and a repeated fact leave each active field
// unchanged; any other event leaves a valid state. New fields, events and ids are covered
// automatically.
func TestInjectionsKeepActiveFields(t *testing.T) {
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

// place is a state of a scenario, and where it occurs.
type place struct {
	csmtest.Stepped
	where string
}

// places returns the states of all scenarios: one for each combination of region cases,
// and one for each field that is active there for the first time.
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

// changedFields returns the fields that differ or that only one state has.
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

// injection is one event of an injection class. Strict ones must not change anything.
type injection struct {
	class  string
	event  csm.Event
	strict bool
}

// meantAgain lists the kinds whose events have a meaning each time they occur.
var meantAgain = map[string]string{
	"configure":        "the same configuration is set again",
	"stt.partial":      "a longer transcript",
	"copilot.delta":    "a sign of an answer, which restarts its deadline",
	"copilot.toolCall": "a sign of an answer; the call is taken once",
	"tts.bufferReady":  "of another segment, or of the same one after an underrun",
	"tts.cursor":       "a measurement",
	"model.progress":   "a measurement",
	"suspend":          "a request",
	"resume":           "a request",
	"vad.pause":        "the next pause",
	"vad.resume":       "the next word",
	"session.failed":   "a session that fails again while reopening",
	"audio.failed":     "devices that fail again while reopening",
	"session.renewal":  "a request of the service",
	"session.expiring": "a request of the service",
	"session.renewed":  "a request of the service",
}

// injections are tried on a state: every kind of event with live ids, all its stale
// variants, and a repetition of the event that led here.
func injections(at place) []injection {
	var out []injection
	live := csmtest.NewWorld(func(string, int) int { return 0 })
	live.State = at.After
	for k := range csm.NumKinds {
		if k == csm.KindFatal || k == csm.KindReset {
			continue // the core's own events
		}
		e := live.Invent(k)
		out = append(out, injection{class: "live " + k.String(), event: e})
		for _, v := range csmtest.StaleVariants(at.After, e) {
			out = append(out, injection{class: v.Class(), event: v.Event, strict: true})
		}
	}
	e := at.Envelope.Event
	_, again := meantAgain[csm.KindOf(e).String()]
	wish := strings.HasPrefix(csm.KindOf(e).String(), "user.") // a second command is a new one
	return append(out, injection{class: csm.KindOf(e).String() + " repeated", event: e, strict: !again && !wish})
}

// atRest are fields that no scenario can make active, with the reason.
var atRest = map[string]string{
	"Timers.start.Left":                          "it is never suspended",
	"Timers.fault.Left":                          "it is never suspended",
	"Timers.terminate.Left":                      "it is never suspended",
	"Timers.suspend.Left":                        "it is never suspended",
	"Timers.interrupt.Left":                      "it is never suspended",
	"Timers.confirm.Left":                        "it is never suspended",
	"Timers.utterance.Left":                      "an open utterance is dropped when the conversation is held",
	"Timers.revoke.Left":                         "a hold withdraws the yes, and the next utterance brings the full time",
	"Timers.pause.Left":                          "an open utterance is dropped when the conversation is held",
	"Speech(Playing).Line.Ended":                 "an ended line drains",
	"Copilot(Generating).Live.Calls":             "calls arrive with the answer",
	"Copilot(SearchingTools).Live.Calls":         "calls arrive with the answer",
	"Copilot(WaitingForApproval).Live.Cancelled": "nothing is running that could be cancelled",
	"Turn(UserSpeaking).Open.Committed":          "a manual commit ends the utterance",
}

// Some scenario moves every field of the state away from its default, so that the rules
// above cover it.
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
			t.Errorf("no scenario changes %s from its default; add a scenario to testdata/csm, or explain in atRest why none can", path)
		}
	}
}
