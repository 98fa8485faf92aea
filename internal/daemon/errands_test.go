package daemon

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// able is an adapter that supports everything; the test defines the results.
type able struct {
	call      func(ctx, wanted context.Context) (string, error)
	load      func(ctx context.Context, model string, progress func(int)) error
	summarise func(ctx context.Context, said []copilot.Message) (string, error)
}

func (*able) Name() string                                              { return "able" }
func (*able) Send(context.Context, copilot.Request, func(string)) error { return nil }
func (a *able) Models(context.Context) ([]copilot.Model, error) {
	return []copilot.Model{{ID: "m"}}, nil
}
func (a *able) Load(ctx context.Context, model string, progress func(int)) error {
	return a.load(ctx, model, progress)
}
func (a *able) Summarise(ctx context.Context, said []copilot.Message) (string, error) {
	return a.summarise(ctx, said)
}
func (a *able) CallTool(ctx, wanted context.Context, _ copilot.ToolCall) (string, error) {
	return a.call(ctx, wanted)
}

// errands returns an assistant without a core. The test receives its events.
func errands(t *testing.T, adapter copilot.Adapter) (a *assistant, next func() csm.Event) {
	t.Helper()
	posted := make(chan csm.Event, 16)
	d := newIdle(t, nil)
	a = newAssistant(d, adapter)
	a.post = func(e csm.Event) { posted <- e }
	t.Cleanup(a.close)
	return a, func() csm.Event {
		t.Helper()
		select {
		case e := <-posted:
			return e
		case <-time.After(patience):
			t.Fatal("nothing was posted")
			return nil
		}
	}
}

func TestLoadingAModel(t *testing.T) {
	ad := &able{}
	a, next := errands(t, ad)
	large := a.content.modelID("large")
	ad.load = func(_ context.Context, model string, progress func(int)) error {
		if model != "large" {
			t.Errorf("model %q", model)
		}
		progress(50)
		return nil
	}
	a.load(csm.LoadModel{Load: 1, Model: large})
	if p, done := next(), next(); p != (csm.ModelProgress{Load: 1, Percent: 50}) || done != (csm.ModelLoaded{Load: 1}) {
		t.Errorf("posted %v, %v", p, done)
	}
	for err, code := range map[error]csm.Code{
		errors.New("no disk"):                     csm.CodeModelFailed,
		&copilot.Error{Code: "copilotQuota"}:      csm.CodeCopilotQuota,
		&copilot.Error{Code: "a code of its own"}: csm.CodeModelFailed,
	} {
		ad.load = func(context.Context, string, func(int)) error { return err }
		a.load(csm.LoadModel{Load: 2, Model: large})
		if got := next(); got != (csm.ModelFailed{Load: 2, Code: code}) {
			t.Errorf("%v: %v, want %s", err, got, code)
		}
	}
}

// Loading another model cancels the previous load, whose later progress is not
// forwarded.
func TestAnotherModelIsLoadedInstead(t *testing.T) {
	ad := &able{}
	a, next := errands(t, ad)
	begun := make(chan struct{})
	ad.load = func(ctx context.Context, _ string, progress func(int)) error {
		close(begun)
		<-ctx.Done()
		progress(99)
		return ctx.Err()
	}
	a.load(csm.LoadModel{Load: 1})
	<-begun
	ad.load = func(context.Context, string, func(int)) error { return nil }
	a.load(csm.LoadModel{Load: 2})
	got := map[csm.Event]bool{next(): true, next(): true}
	if want := map[csm.Event]bool{(csm.ModelFailed{Load: 1, Code: csm.CodeModelFailed}): true, (csm.ModelLoaded{Load: 2}): true}; !reflect.DeepEqual(got, want) {
		t.Errorf("posted %v, want %v", got, want)
	}
}

// TestSearchIsCancelled: a search that is cancelled before it starts reports so.
func TestSearchIsCancelled(t *testing.T) {
	type plain struct{ copilot.Adapter }
	a, next := errands(t, plain{})
	a.content.mu.Lock() // blocks the search
	a.search(csm.SearchTools{Request: 4, Round: 1})
	a.cancel(searching)
	a.content.mu.Unlock()
	if got, want := next(), (csm.ToolSearchDone{Request: 4, Round: 1, Cancelled: true}); got != want {
		t.Errorf("posted %v, want %v", got, want)
	}
}

// An adapter that supports none of it answers at once.
func TestWithoutErrands(t *testing.T) {
	type plain struct{ copilot.Adapter }
	a, next := errands(t, plain{})
	id := a.content.newCall(1, copilot.ToolCall{ID: "c"})
	a.content.setUtterance(1, "Hello there.")
	a.load(csm.LoadModel{Load: 1})
	a.search(csm.SearchTools{Request: 4, Round: 2})
	a.callTool(csm.CallTool{ToolCall: id})
	a.summarise(csm.Summarise{Job: 5, Items: []history.Item{{Utterance: 1}}})
	got, want := map[csm.Event]bool{}, map[csm.Event]bool{
		csm.ModelLoaded{Load: 1}: true, csm.ToolSearchDone{Request: 4, Round: 2}: true,
		csm.ToolDone{ToolCall: id, Code: csm.CodeToolFailed}: true, csm.Summarised{Job: 5}: true,
	}
	for range want {
		got[next()] = true
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("posted %v, want %v", got, want)
	}
	if got := a.content.summary(5); got != "User: Hello there." {
		t.Errorf("the summary is %q", got)
	}
}

func TestSummaries(t *testing.T) {
	ad := &able{}
	a, next := errands(t, ad)
	a.content.setUtterance(1, "Hello there.")
	a.content.setSummary(1, "They met.")
	e := csm.Summarise{Job: 2, Previous: 1, Items: []history.Item{{Utterance: 1}}}
	ad.summarise = func(_ context.Context, said []copilot.Message) (string, error) {
		if len(said) != 2 || said[0].Content != summaryLead+"They met." || said[1].Content != "Hello there." {
			t.Errorf("it is asked with %+v", said)
		}
		return "They talk.", nil
	}
	a.summarise(e)
	if got := next(); got != (csm.Summarised{Job: 2}) || a.content.summary(2) != "They talk." {
		t.Errorf("%v: %q", got, a.content.summary(2))
	}
	ad.summarise = func(context.Context, []copilot.Message) (string, error) { return "", errors.New("no") }
	e.Job = 3
	a.summarise(e)
	if got := next(); got != (csm.Summarised{Job: 3}) || a.content.summary(3) != "They met.\nUser: Hello there." {
		t.Errorf("%v: %q", got, a.content.summary(3))
	}
	for said, err := range map[string]error{"": nil, "half of it": errors.New("cut")} {
		ad.summarise = func(context.Context, []copilot.Message) (string, error) { return said, err }
		a.summarise(e)
		if got := next(); got != (csm.Summarised{Job: 3}) || a.content.summary(3) != "They met.\nUser: Hello there." {
			t.Errorf("%v: %q", got, a.content.summary(3))
		}
	}
	ad.summarise = func(_ context.Context, said []copilot.Message) (string, error) {
		if len(said) != 1 || said[0].Content != "Hello there." {
			t.Errorf("with nothing before, it is asked with %+v", said)
		}
		return "They met.", nil
	}
	a.summarise(csm.Summarise{Job: 6, Items: e.Items})
	next()
	began := make(chan struct{})
	ad.summarise = func(ctx context.Context, _ []copilot.Message) (string, error) {
		close(began)
		<-ctx.Done()
		return "", ctx.Err()
	}
	a.summarise(csm.Summarise{Job: 7, Items: e.Items})
	<-began
	ad.summarise = func(context.Context, []copilot.Message) (string, error) { return "They met again.", nil }
	a.summarise(csm.Summarise{Job: 8, Items: e.Items})
	ends := map[csm.Event]bool{next(): true, next(): true}
	if want := map[csm.Event]bool{(csm.Summarised{Job: 7, Code: csm.CodeCopilotFailed}): true, (csm.Summarised{Job: 8}): true}; !reflect.DeepEqual(ends, want) {
		t.Errorf("of two summaries at a time came %v, want %v", ends, want)
	}
	ad.summarise = func(ctx context.Context, _ []copilot.Message) (string, error) {
		<-ctx.Done()
		return "too late", nil
	}
	e.Job = 4
	a.summarise(e)
	a.cancel(summarising)
	if got := next().(csm.Summarised); got.Code == "" || a.content.summary(4) != "" {
		t.Errorf("%v: %q", got, a.content.summary(4))
	}
}

// A cancelled call ends as the tool reports. Only when the daemon ends is it not waited
// for.
func TestCallsThatAreToldToStop(t *testing.T) {
	ad := &able{}
	a, next := errands(t, ad)
	id := a.content.newCall(1, copilot.ToolCall{ID: "c"})
	ad.call = func(ctx, wanted context.Context) (string, error) { <-wanted.Done(); return "it ran", ctx.Err() }
	a.callTool(csm.CallTool{ToolCall: id})
	a.cancelTool(id)
	if got := next(); got != (csm.ToolDone{ToolCall: id}) {
		t.Errorf("posted %v", got)
	}
	if call, _ := a.content.call(id); call.result != "it ran" {
		t.Errorf("the result is %q", call.result)
	}
	ad.call = func(_, wanted context.Context) (string, error) { <-wanted.Done(); return "", copilot.ErrCancelled }
	a.callTool(csm.CallTool{ToolCall: id})
	a.cancelTool(id)
	if got := next(); got != (csm.ToolDone{ToolCall: id, Cancelled: true}) {
		t.Errorf("posted %v", got)
	}
	ad.call = func(context.Context, context.Context) (string, error) {
		t.Error("a call that is not known was run")
		return "", nil
	}
	a.callTool(csm.CallTool{ToolCall: id + 1})
	if got := next(); got != (csm.ToolDone{ToolCall: id + 1, Code: csm.CodeToolFailed}) {
		t.Errorf("posted %v", got)
	}
	ad.call = func(ctx, _ context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	a.callTool(csm.CallTool{ToolCall: id})
	a.close()
	if got := next(); got != (csm.ToolDone{ToolCall: id, Code: csm.CodeToolFailed}) {
		t.Errorf("posted %v", got)
	}
}

// Words of an answer before a tool call form a segment before the call, however short
// they are.
func TestWordsComeBeforeTheCallBehindThem(t *testing.T) {
	a, next := errands(t, wanting{&able{}})
	a.send(csm.SendCopilot{Request: 7, Deadline: time.Minute}, "")
	var order []string
	for len(order) == 0 || order[len(order)-1] != "csm.CopilotDone" {
		switch e := next().(type) {
		case csm.CopilotDelta, csm.CopilotSent:
		default:
			order = append(order, reflect.TypeOf(e).String())
		}
	}
	if want := []string{"csm.CopilotSegment", "csm.CopilotToolCall", "csm.CopilotSegment", "csm.CopilotDone"}; !reflect.DeepEqual(order, want) {
		t.Errorf("posted %v, want %v", order, want)
	}
}

// wanting is an adapter whose answer requests a tool in the middle of a sentence.
type wanting struct{ *able }

func (wanting) Send(_ context.Context, r copilot.Request, emit func(string)) error {
	emit("Let me")
	r.Wants(copilot.ToolCall{ID: "c1", Name: "runTests"})
	emit("see.")
	return nil
}

// A call that is asked about again is a separate call, a name refers to the latest
// call, and the client's flag on what is destructive overrides the tool's.
func TestWhatIsKnownOfCalls(t *testing.T) {
	c := newContent()
	yes, no := true, false
	first := c.newCall(1, copilot.ToolCall{ID: "c", Name: "look", Input: []byte(`{"n":1}`)})
	again := c.newCall(1, copilot.ToolCall{})
	c.callAgain(again, first)
	c.callAgain(again+1, again+2) // an unknown call
	was, _ := c.call(first)
	is, known := c.call(again)
	if !known || is.ID == was.ID || is.Name != "look" || string(is.Input) != `{"n":1}` || is.request != 1 {
		t.Errorf("the call again is %+v", is)
	}
	if _, known := c.call(again + 1); known {
		t.Error("a call again of nothing is known")
	}
	latest := c.newCall(2, copilot.ToolCall{ID: "c", Name: "look"})
	if got := c.callNamed("c"); got != latest {
		t.Errorf("the name means call %d, want %d", got, latest)
	}
	if got := c.callNamed("x"); got != 0 {
		t.Errorf("a name of nothing means call %d", got)
	}
	c.setResult(99, "nothing is known of it")
	c.setTools([]copilot.Tool{{Name: "erase", Destructive: &yes, Confirms: true}, {Name: "look", Destructive: &no}, {Name: "other"}})
	for _, x := range []struct {
		call copilot.ToolCall
		want bool
	}{
		{copilot.ToolCall{Name: "erase"}, true}, {copilot.ToolCall{Name: "look"}, false}, {copilot.ToolCall{Name: "other"}, true}, {copilot.ToolCall{Name: "unknown"}, true},
		{copilot.ToolCall{Name: "erase", Destructive: &no}, false}, {copilot.ToolCall{Name: "look", Destructive: &yes}, true},
		{copilot.ToolCall{Name: "look", Destructive: &no, Input: []byte(`{"command":"rm -rf /"}`)}, true},
	} {
		if got := c.destructive(x.call); got != x.want {
			t.Errorf("%+v is destructive: %v", x.call, got)
		}
	}
	if !c.confirms("erase") || c.confirms("look") || c.confirms("unknown") {
		t.Error("the client's dialog asks about another tool")
	}
	large := c.modelID("large")
	if large == 0 || c.modelID("large") != large || c.modelID("") != 0 || c.modelID("small") == large || c.model(large) != "large" {
		t.Error("a model has not one id")
	}
	for job := range uint32(maxSummaries + 2) {
		c.setSummary(job+1, "s")
	}
	if len(c.summaries) != maxSummaries || c.summary(2) != "" || c.summary(3) != "s" {
		t.Errorf("%d summaries are kept", len(c.summaries))
	}
}

// Each setting of the core follows the user's setting.
func TestSettingsReachTheCore(t *testing.T) {
	set := protocol.DefaultSettings()
	set.Conversation.StartTimeout, set.Copilot.Timeout, set.Copilot.Stall = 11*time.Second, 12*time.Second, 13*time.Second
	set.Suspend.Max, set.Fault.MaxRetries = 14*time.Second, 7
	c := coreConfig(set)
	if c.StartTimeout != 11*time.Second || c.CopilotTimeout != 12*time.Second || c.StallTimeout != 13*time.Second || c.SuspendMax != 14*time.Second || c.FaultRetries != 7 {
		t.Errorf("the core is told %+v", c)
	}
}

func TestModelsOfTheAdapter(t *testing.T) {
	d := New(Config{Clock: &dispatch.Virtual{}, Adapter: &able{}, World: func(Port) World { return idle{} }})
	if models, err := d.Models(t.Context()); err != nil || len(models) != 1 {
		t.Errorf("models %v, %v", models, err)
	}
	if models, err := newIdle(t, nil).Models(t.Context()); err != nil || models != nil {
		t.Errorf("without an adapter: %v, %v", models, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// ending is an adapter that keeps resources open between the rounds of a request.
type ending struct {
	*able
	ended []string
}

func (e *ending) End(id string) { e.ended = append(e.ended, id) }

// A request that ends while the user is asked about a call has no answer to cancel. The
// adapter is notified once, and not between rounds.
func TestAdapterIsToldOfTheEndOfARequest(t *testing.T) {
	ad := &ending{able: &able{}}
	a, _ := errands(t, ad)
	live := func(request uint64, round int) copilot.Live { return copilot.Live{Request: request, Round: round} }
	for _, st := range []copilot.State{
		copilot.Ready{}, copilot.Generating{Live: live(1, 0)}, copilot.WaitingForApproval{Live: live(1, 0)}, copilot.CallingTool{Live: live(1, 0)},
		copilot.Streaming{Live: live(1, 1)}, copilot.WaitingForApproval{Live: live(1, 1)}, copilot.Ready{}, copilot.Ready{},
		copilot.Generating{Live: live(2, 0)}, copilot.Generating{Live: live(3, 0)}, copilot.Idle{},
	} {
		a.follow(csm.State{Copilot: st})
	}
	if want := []string{requestID(1), requestID(2), requestID(3)}; !reflect.DeepEqual(ad.ended, want) {
		t.Errorf("the ends are %v, want %v", ad.ended, want)
	}
}

// working is an adapter whose requests are long-running tasks.
type working struct{ *able }

func (working) ToolLimit() time.Duration { return time.Hour }
func (working) MaxRounds() int           { return 77 }

func TestTasksOfAnAgentMayTakeLong(t *testing.T) {
	d := &Daemon{assistant: &assistant{adapter: working{&able{}}}, content: newContent(), set: protocol.DefaultSettings()}
	d.content.setTools([]copilot.Tool{{Name: "of the editor"}})
	if c := d.coreConfig(); c.ToolTimeout != time.Hour || c.RoundsMax != 77 || c.Tools {
		t.Errorf("a tool may take %v, a request %d rounds, and a search comes first: %v", c.ToolTimeout, c.RoundsMax, c.Tools)
	}
}
