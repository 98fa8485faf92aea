package csm

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
)

// maxSamples bounds the number of differently shaped states that are tried: the corpus
// first, then states reached from it, breadth first.
const maxSamples = 2500

// Tests every cell of the machine against the table: in each state, each event takes the
// first row whose guard holds, or only changes a counter if there is none. Every row is
// taken.
func TestEveryCellFollowsTheTable(t *testing.T) {
	rows := Table()
	fired := make([]int, len(rows))
	todo := corpus(t)
	seen := map[string]bool{}
	for _, sm := range todo {
		seen[shape(sm.s)] = true
	}
	cells := map[[2]int]bool{}
	for i := 0; i < len(todo); i++ {
		sm := todo[i]
		for _, e := range liveEvents(sm.s) {
			if KindOf(e) == KindSpeechCursor { // bypasses the machine
				continue
			}
			cells[[2]int{int(sm.s.Conv.Phase()), int(KindOf(e))}] = true
			next := fireCell(t, rows, fired, sm, e)
			if k := shape(next); !seen[k] && len(todo) < maxSamples {
				seen[k] = true
				todo = append(todo, sample{sm.name + ", " + KindOf(e).String(), next, sm.seq + 1, sm.at + time.Millisecond})
			}
		}
		for _, e := range staleEvents(sm.s) {
			expectUnchanged(t, sm, e, Counters{Stale: 1})
		}
	}
	for i, r := range rows {
		if fired[i] == 0 {
			t.Errorf("row %d is never taken: %v on %v [%s] to %v", i, r.From, r.On, r.Guard.Name, r.To)
		}
	}
	for p := range NumPhases {
		for k := range NumKinds {
			named := k == KindSpeechStopped || k == KindPartial || k == KindFinal || k == KindRecognitionLost // these need known utterances
			if p != PhaseProcessing && p != PhaseSuspended && k != KindSpeechCursor && !cells[[2]int{int(p), int(k)}] && (!named || p.In(PhaseConnected)) {
				t.Errorf("the cell of %v and %v was not fired", p, k)
			}
		}
	}
	t.Logf("%d states, %d rows", len(todo), len(rows))
}

// fireCell steps sm through e and checks the result against the table.
func fireCell(t *testing.T, rows []Row, fired []int, sm sample, e Event) State {
	t.Helper()
	env := Envelope{Seq: sm.seq + 1, At: sm.at + time.Millisecond, Event: e}
	probe := &run{Context: context.Background(), st: sm.s, env: env, copilotOut: copilot.Ignored, speechOut: speech.Ignored}
	if !probe.route() {
		expectUnchanged(t, sm, e, Counters{Stale: 1})
		return sm.s
	}
	expectOneGuard(t, rows, probe)
	at := expectedRow(rows, probe)
	if at < 0 {
		expectUnchanged(t, sm, e, Counters{Ignored: 1})
		return sm.s
	}
	next, fx, seen := StepObserved(sm.s, env)
	if len(seen.Fired) == 0 || seen.Fired[0] != at {
		t.Fatalf("%s; %v %+v: took rows %v, want row %d", sm.name, KindOf(e), e, seen.Fired, at)
	}
	var took []Row
	for _, i := range seen.Fired {
		fired[i]++
		took = append(took, rows[i])
	}
	if err := CheckStep(sm.s, env, next, fx); err != nil {
		t.Fatalf("%s; %v %+v: %v", sm.name, KindOf(e), e, err)
	}
	if next.Counters != sm.s.Counters {
		t.Errorf("%s; %v %+v: counted, though row %d serves it", sm.name, KindOf(e), e, at)
	}
	expectNews(t, sm, e, took, next, fx)
	return next
}

// expectOneGuard checks that at most one guarded row of a state and trigger applies, so
// that their order does not matter.
func expectOneGuard(t *testing.T, rows []Row, r *run) {
	t.Helper()
	for _, on := range []Kind{r.trigger(), KindSettled} {
		for _, region := range []Phase{r.st.Approval.State.phase(), r.st.Conv.Phase()} {
			for p, ok := region, true; ok; p, ok = p.Parent() {
				var holds []string
				for _, row := range rows {
					if row.From == p && row.On == on && row.Guard.Holds != nil && row.Guard.Holds(r) {
						holds = append(holds, row.Guard.Name)
					}
				}
				if len(holds) > 1 {
					t.Errorf("%v on %v: %q hold at once", p, on, holds)
				}
			}
		}
	}
}

// expectedRow returns the row for the event according to the table.
func expectedRow(rows []Row, r *run) int {
	on := r.trigger()
	for _, region := range []Phase{r.st.Approval.State.phase(), r.st.Conv.Phase()} {
		for p, ok := region, true; ok; p, ok = p.Parent() {
			for i, row := range rows {
				if row.From == p && row.On == on && (row.Guard.Holds == nil || row.Guard.Holds(r)) {
					return i
				}
			}
		}
	}
	return -1
}

// expectNews checks the resulting phase and what was published (REQ-010).
func expectNews(t *testing.T, sm sample, e Event, rows []Row, next State, fx []Effect) {
	t.Helper()
	conv, want, told := sm.s.Conv.Phase(), []Cause(nil), Cause("")
	for i, row := range rows {
		if !row.From.In(PhaseAny) { // a row of the approval region
			told = row.Means
			continue
		}
		if row.On == KindSettled && i == 0 || !conv.In(row.From) {
			t.Errorf("%s on %v: row %d is %+v, in %v", sm.name, KindOf(e), i, row, conv)
		}
		if row.Internal() {
			continue
		}
		conv, want = row.To, []Cause{row.Means}
		if row.On == ApprovalListens || row.On == ApprovalDecided {
			want = []Cause{told}
		}
		if row.To == PhaseFaulted && row.Means == CauseError {
			want = append(want, CauseBreakerOpen)
		}
	}
	if next.Conv.Phase() != conv {
		t.Errorf("%s on %v: led to %v, want %v", sm.name, KindOf(e), next.Conv.Phase(), conv)
	}
	if conv.Active() && sm.s.Hold != next.Hold && (sm.s.Phase() == PhaseSuspended) != (next.Phase() == PhaseSuspended) {
		want = []Cause{holdCause(KindOf(e))}
	}
	var news []PublishState
	for _, f := range fx {
		switch f := f.(type) {
		case PublishState:
			news = append(news, f)
		case Notify:
			expectCode(t, f.Code)
		case PublishError:
			expectCode(t, f.Code)
		case Reply:
			if f.Code != "" {
				expectCode(t, f.Code)
			}
		}
	}
	from, to := sm.s.Phase(), next.Phase()
	if from == to {
		if len(news) != 0 {
			t.Errorf("%s on %v: published %+v without a transition", sm.name, KindOf(e), news)
		}
		return
	}
	if len(news) != 1 || news[0].From != from || news[0].To != to || news[0].Seq != sm.seq+1 || !slices.Contains(want, news[0].Cause) {
		t.Errorf("%s on %v: published %+v, want one from %v to %v by %v", sm.name, KindOf(e), news, from, to, want)
		return
	}
	if news[0].Code != "" {
		expectCode(t, news[0].Code)
	}
	if next.Cause != news[0].Cause || next.Previous != from || next.CauseSeq != sm.seq+1 {
		t.Errorf("%s on %v: the state remembers %v, %v, %d", sm.name, KindOf(e), next.Cause, next.Previous, next.CauseSeq)
	}
}

func expectCode(t *testing.T, c Code) {
	t.Helper()
	if !slices.Contains(Codes, c) {
		t.Errorf("code %q is not in the list", c)
	}
}

// expectUnchanged checks that an event that is stale or without a meaning only changes
// its counter, and that only calls get a reply.
func expectUnchanged(t *testing.T, sm sample, e Event, count Counters) {
	t.Helper()
	next, fx := Step(sm.s, Envelope{Seq: sm.seq + 1, At: sm.at + time.Millisecond, Event: e})
	want := sm.s
	want.Counters.Stale += count.Stale
	want.Counters.Ignored += count.Ignored
	if !reflect.DeepEqual(next, want) {
		t.Errorf("%s; %v %+v: want only %+v to change\n%+v\n%+v", sm.name, KindOf(e), e, count, want, next)
	}
	calls := 0
	if callOf(e) != 0 {
		calls = 1
	}
	if len(fx) != calls {
		t.Errorf("%s; %v %+v: %d effects, want %d", sm.name, KindOf(e), e, len(fx), calls)
	}
	for _, f := range fx {
		if r, ok := f.(Reply); !ok || r.Code == "" {
			t.Errorf("%s; %v %+v: answered by %+v, want a refusal", sm.name, KindOf(e), e, f)
		}
	}
}

// REQ-010: causes come from one closed list; every transition has one.
func TestREQ010EveryRowHasACauseOfTheList(t *testing.T) {
	for _, r := range Table() {
		switch {
		case r.Internal() && r.Means != "":
			t.Errorf("%v on %v stays, and has the cause %q", r.From, r.On, r.Means)
		case r.Internal():
		case !slices.Contains(Causes, r.Means):
			t.Errorf("%v on %v to %v: cause %q is not in the list", r.From, r.On, r.To, r.Means)
		}
	}
	for _, list := range [][]string{asStrings(Causes), asStrings(Codes)} {
		slices.Sort(list)
		if len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("a name is twice in %q", list)
		}
	}
}

func asStrings[S ~string](in []S) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return out
}

// Every kind has a unique name, a decoder that returns the kind, and a lane.
func TestEveryKindIsRegistered(t *testing.T) {
	for k := range NumKinds {
		back, ok := KindByName(k.String())
		e, err := DecodeEvent(k, []byte("{}"))
		if !ok || back != k || err != nil || KindOf(e) != k {
			t.Errorf("kind %d %q: found as %v (%v), decoded as %T (%v)", k, k, back, ok, e, err)
		}
	}
	if _, err := DecodeEvent(NumKinds, nil); err == nil {
		t.Error("an invalid kind was decoded")
	}
	if _, err := DecodeEvent(KindFinal, []byte(`{"unknown":1}`)); err == nil {
		t.Error("an unknown field was taken")
	}
}
