package daemon

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// uttered is an utterance, or a typed text, of a talk.
type uttered struct {
	moment
	tag        string // the word that only it has; "" if it has none
	begun      time.Duration
	ended      time.Duration // of the voice, 0 while it lasts
	known      bool          // its words have arrived, or will not
	typed      bool
	refused    bool   // the client was told that the text was not taken
	over       bool   // began over the assistant's voice
	overAsking string // the call whose question was to be heard at its onset
}

// allows reports whether the words are a yes to a call.
func (u *uttered) allows(c copilot.ToolCall) bool {
	if u.typed || u.Fate != "sure" || !u.known || u.ended == 0 {
		return false
	}
	return u.Words == "named" || c.Destructive != nil && slices.Contains([]string{"yes", "go", "okay"}, u.Words)
}

// objects reports whether the words, or their lack, withdraw an earlier yes.
func (u *uttered) objects() bool {
	switch {
	case u.typed, !u.known, u.ended == 0, u.Fate == "lost", u.Fate == "never":
		return true
	case u.Words == "hum", u.Words == "empty":
		return false
	}
	return u.Fate != "sure" || slices.Contains([]string{"message", "no", "but", "wait", "stop"}, u.Words)
}

// scheduledRequest is a request as the assistant got it.
type scheduledRequest struct {
	copilot.Request
	plan           reply
	words          string // the user's last message
	done, answered bool
}

// talkRun plays a talk, and records what must be true of it.
type talkRun struct {
	d     *Daemon
	clock *dispatch.Virtual
	world *scheduledWorld
	talk  talk

	mu       sync.Mutex
	said     []*uttered
	requests []*scheduledRequest
	calls    int
	heard    map[string]time.Duration // when the question about a call was heard
	clicked  map[string]bool          // calls that a click allowed
	ran      map[string]int
	dropped  []drop
	told     []note
	muted    bool
	wrong    []string
}

// drop is when the user stopped everything, and whether messages were waiting then.
type drop struct {
	at      time.Duration
	waiting bool
}

type note struct {
	at    time.Duration
	what  string
	taken bool
}

func (s *talkRun) fault(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf("%v: ", s.clock.Now())+fmt.Sprintf(format, args...))
}

// stillWorld does what the core asks for at once, and plays each segment for a second.
type stillWorld struct {
	idle
	port  Port
	voice world.Speaker
	spoke []string
}

func (w *stillWorld) Execute(e csm.Effect) {
	w.voice.Take(e)
	switch e := e.(type) {
	case csm.Speak:
		w.spoke = append(w.spoke, w.port.Words(e.Segment))
		w.voice.Buffer(e)
	case csm.Flush:
		if flushed, ok := w.voice.Flush(e); ok {
			w.port.Post(flushed)
		}
	case csm.ActivateSession, csm.OpenAudio, csm.StartCapture, csm.OpenConnection, csm.DeactivateSession, csm.CloseAudio, csm.CloseConnection:
		w.port.Post(world.Ending(e, world.Done))
	default:
	}
}

// scheduledWorld reports which questions were heard.
type scheduledWorld struct {
	stillWorld
	s    *talkRun
	asks map[uint32]string // calls by segment
}

func (w *scheduledWorld) Execute(e csm.Effect) {
	w.s.mu.Lock()
	now := w.s.clock.Now()
	switch e := e.(type) {
	case csm.Speak:
		if e.Segment.Ask != 0 {
			call, _ := w.s.d.content.call(e.Segment.Ask)
			w.asks[e.Segment.Seq] = call.ID
			w.s.told = append(w.s.told, note{at: now, what: "asks " + call.ID})
		}
		if e.Segment.Notice != "" {
			w.s.told = append(w.s.told, note{at: now, what: string(e.Segment.Notice)})
		}
	case csm.Notify:
		w.s.told = append(w.s.told, note{at: now, what: string(e.Code)})
	case csm.Report:
		w.s.fault("an invariant is violated: %s", e.What)
	default:
	}
	w.s.mu.Unlock()
	w.stillWorld.Execute(e)
}

func (*talkRun) Name() string { return "scheduled" }

func (s *talkRun) sleep(ctx context.Context, ms int) bool {
	woken := make(chan struct{})
	defer s.clock.AfterFunc(time.Duration(ms)*time.Millisecond, func() { close(woken) })()
	select {
	case <-woken:
		return true
	case <-ctx.Done():
		return false
	}
}

// Send answers a request. A round after calls has words only.
func (s *talkRun) Send(ctx context.Context, r copilot.Request, emit func(string)) error {
	req := s.begin(r)
	plan := req.plan
	end := func(err error) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		req.done, req.answered = true, err == nil
		return err
	}
	if !s.sleep(ctx, plan.First) {
		return end(ctx.Err())
	}
	if plan.Ends == "fails" && r.Round == 0 {
		return end(&copilot.Error{Code: string(csm.CodeCopilotUnavailable), Retryable: true})
	}
	emit("Let me see what there is. ")
	if !s.sleep(ctx, plan.Rest) {
		return end(ctx.Err())
	}
	if r.Round == 0 && r.Wants != nil {
		for _, kind := range plan.Calls {
			call := scheduledCalls[kind]
			s.mu.Lock()
			s.calls++
			call.ID = fmt.Sprint("call-", s.calls)
			s.mu.Unlock()
			r.Wants(call)
		}
	}
	if plan.Ends == "cut" {
		return end(&copilot.Error{Code: string(csm.CodeAnswerCutLength)})
	}
	emit("That is all.")
	return end(nil)
}

// begin records a request. Each round is sent once an attempt, one at a time, and its words are
// in no other message.
func (s *talkRun) begin(r copilot.Request) *scheduledRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	req := &scheduledRequest{Request: r, plan: s.talk.Replies[len(s.requests)%len(s.talk.Replies)]}
	var all []string
	for _, m := range r.Messages {
		if m.Role == copilot.RoleUser {
			all = append(all, m.Content)
			req.words = m.Content
		}
	}
	last := ""
	for _, content := range all {
		tag := tags.FindString(content)                                 // words may be added to a request that is ahead of the queue
		if tag != "" && tag < last && !s.typed(tag) && !s.typed(last) { // a text may overtake words that are awaited
			s.fault("request %s round %d has %s after %s: %q", r.ID, r.Round, tag, last, all)
		}
		last = max(last, tag)
	}
	for _, u := range s.said {
		if n := strings.Count(strings.Join(all, "\n"), u.tag); u.tag != "" && n > 1 {
			s.fault("request %s round %d has %s %d times: %q", r.ID, r.Round, u.tag, n, all)
		}
	}
	for _, old := range s.requests {
		if old.ID == r.ID && old.Round == r.Round && old.Attempt >= r.Attempt {
			s.fault("request %s round %d attempt %d is sent twice", r.ID, r.Round, r.Attempt)
		}
		if !old.done {
			s.fault("request %s is sent while %s is open", r.ID, old.ID)
		}
		if r.Round > 0 || old.ID == r.ID {
			continue
		}
		for _, u := range s.said {
			if u.tag != "" && strings.Contains(old.words, u.tag) && strings.Contains(req.words, u.tag) && !strings.HasPrefix(req.words, old.words) {
				s.fault("request %s says %q, which has words of request %s, %q", r.ID, req.words, old.ID, old.words)
			}
		}
	}
	s.requests = append(s.requests, req)
	return req
}

// tags are the words of which each utterance has its own, in the order of the onsets.
var tags = regexp.MustCompile(`word\d+`)

func (s *talkRun) typed(tag string) bool {
	return slices.ContainsFunc(s.said, func(u *uttered) bool { return u.tag == tag && u.typed })
}

// CallTool runs a call, which the user must have allowed.
func (s *talkRun) CallTool(_, wanted context.Context, c copilot.ToolCall) (string, error) {
	s.mu.Lock()
	s.ran[c.ID]++
	if s.ran[c.ID] > 1 {
		s.fault("%s ran twice", c.ID)
	}
	if !s.clicked[c.ID] && !c.Allowed {
		s.consented(c)
	}
	s.mu.Unlock()
	if !s.sleep(wanted, 200) {
		return "", copilot.ErrCancelled
	}
	return "done", nil
}

// consented checks that a yes to the call was said after the question was heard, and nothing
// after that yes withdrew it.
func (s *talkRun) consented(c copilot.ToolCall) {
	now, why := s.clock.Now(), "nobody said yes"
	for _, u := range s.said {
		heard, asked := s.heard[c.ID]
		switch {
		case !u.allows(c):
			continue
		case !asked || u.begun < heard:
			why = "the yes came before the question was heard"
			continue
		}
		why = ""
		for _, v := range s.said {
			if v.begun > u.begun && v.objects() {
				why = fmt.Sprintf("%v after the yes", v.moment)
			}
			if silent := now - v.ended; !reads(c) && !v.typed && (v.ended == 0 || silent < 700*time.Millisecond) {
				why = fmt.Sprintf("the user was silent for %v", silent)
			}
		}
		for _, d := range s.dropped {
			if d.at >= u.begun {
				why = "the user interrupted after the yes"
			}
		}
		if why == "" {
			return
		}
	}
	s.fault("%s (%s) ran without consent: %s", c.ID, c.Name, why)
}

func newTalkRun(t talk) *talkRun {
	set := protocol.DefaultSettings()
	s := &talkRun{talk: t, clock: &dispatch.Virtual{}, heard: map[string]time.Duration{}, clicked: map[string]bool{}, ran: map[string]int{}}
	s.d = New(Config{
		Clock: s.clock, Settings: set, Verify: true, Adapter: s, Notify: func(string, any) {},
		World: func(p Port) World {
			s.world = &scheduledWorld{s: s, asks: map[uint32]string{}, stillWorld: stillWorld{port: p}}
			s.world.voice = world.Speaker{
				Clock: s.clock, Post: s.spoken(p.Post), Length: func(csm.Speak) time.Duration { return time.Second },
			}
			return s.world
		},
	})
	s.d.Post(csm.UserStart{})
	s.after(0)
	return s
}

// spoken records which questions were heard to their end.
func (s *talkRun) spoken(post func(csm.Event)) func(csm.Event) {
	return func(e csm.Event) {
		if played, ok := e.(csm.SpeechPlayed); ok {
			s.mu.Lock()
			if call := s.world.asks[played.Seq]; call != "" {
				s.heardNow(call)
			}
			s.mu.Unlock()
		}
		post(e)
	}
}

func (s *talkRun) heardNow(call string) {
	if _, before := s.heard[call]; !before {
		s.heard[call] = s.clock.Now()
	}
}

func (s *talkRun) settle() {
	for {
		synctest.Wait()
		if s.d.Idle() {
			return
		}
		s.d.Drain()
	}
}

func (s *talkRun) after(ms int) { s.clock.Advance(time.Duration(ms)*time.Millisecond, s.settle) }

// asked returns the call that the user is asked about, and its core's id.
func (s *talkRun) asked() (call toolCall, id uint64) {
	if w, open := s.d.State().Copilot.(copilot.WaitingForApproval); open {
		id = w.Calls[0].ID
		call, _ = s.d.content.call(id)
	}
	return call, id
}

// until waits until the user is asked about a call, or until that question was heard.
func (s *talkRun) until(what string) {
	for range 60 {
		call, id := s.asked()
		if _, heard := s.heard[call.ID]; id != 0 && (what == "asked" || heard) {
			return
		}
		s.after(100)
	}
}

func (s *talkRun) play() {
	for _, m := range s.talk.Moments {
		if m.Until != "" {
			s.until(m.Until)
		}
		s.after(m.After)
		switch m.Do {
		case "say":
			s.say(m)
		case "type":
			s.write(m)
		case "allow", "refuse":
			if call, id := s.asked(); id != 0 {
				s.clicked[call.ID] = m.Do == "allow"
				s.d.Post(csm.UserApprove{ToolCall: id, Approved: m.Do == "allow"})
			}
		case "interrupt":
			s.drop()
			s.d.Post(csm.UserInterrupt{})
		default:
			s.muted = m.Do == "mute"
			s.d.Mute(protocol.MuteParams{Muted: s.muted})
		}
		s.settle()
	}
	s.after(3_600_000) // all questions, each asked twice, and what was queued behind them
	s.write(moment{})
	s.after(10000)
}

func (s *talkRun) drop() {
	s.dropped = append(s.dropped, drop{s.clock.Now(), len(s.d.State().Queue) > 0})
}

func (s *talkRun) utter(m moment) *uttered {
	u := &uttered{moment: m, begun: s.clock.Now(), over: speech.Begun(s.d.State().Speech)}
	if strings.Contains(sayings[m.Words], "%") {
		u.tag = fmt.Sprintf("word%03d", len(s.said))
	}
	s.mu.Lock()
	s.said = append(s.said, u)
	s.mu.Unlock()
	return u
}

// say speaks an utterance, and lets its words arrive later.
func (s *talkRun) say(m moment) {
	if s.muted {
		s.after(m.Voice)
		return
	}
	u, id := s.utter(m), s.d.content.newID()
	if call, asked := s.asked(); asked != 0 {
		u.overAsking = call.ID
	}
	words := sayings[m.Words]
	if u.tag != "" {
		words = strings.ReplaceAll(words, "word%03d", u.tag)
	}
	pos := func() int64 { return s.clock.Now().Milliseconds() * 48 }
	s.world.port.Post(csm.SpeechStarted{Epoch: 1, Utterance: id, Pos: pos()})
	s.after(m.Voice / 2)
	if m.Gap > 0 {
		s.world.port.Post(csm.SpeechPaused{Epoch: 1, Utterance: id, Pos: pos()})
		s.after(m.Gap)
		s.world.port.Post(csm.SpeechResumed{Epoch: 1, Utterance: id, Pos: pos()})
	}
	s.after(m.Voice - m.Voice/2)
	s.mu.Lock()
	u.ended = s.clock.Now()
	s.mu.Unlock()
	s.world.port.Post(csm.SpeechStopped{Epoch: 1, Utterance: id, Pos: pos()})
	if m.Fate == "never" {
		return
	}
	s.clock.AfterFunc(time.Duration(m.Late)*time.Millisecond, func() {
		s.mu.Lock()
		u.known = true
		if call, known := s.callOf(u.overAsking); known && u.Words == "wait" && u.Fate != "lost" && call.Destructive != nil {
			s.heardNow(u.overAsking) // the user understood enough to hold it
		}
		if u.Words == "stop" && u.Fate != "lost" {
			s.drop()
		}
		s.mu.Unlock()
		if m.Fate == "lost" {
			s.world.port.Post(csm.RecognitionLost{Epoch: 1, Utterance: id, Code: csm.CodeRecognitionFailed})
			return
		}
		said := Certain(words)
		switch m.Fate {
		case "doubted":
			for i := range said.Probs {
				said.Probs[i] = 0.1
			}
		case "unvoiced":
			said.Unvoiced = true
		}
		s.world.port.Post(s.world.port.Heard(1, id, said))
	})
}

func (s *talkRun) callOf(name string) (toolCall, bool) {
	return s.d.content.call(s.d.content.callNamed(name))
}

// write types a message.
func (s *talkRun) write(m moment) {
	m.Words = "message"
	u := s.utter(m)
	u.typed, u.known, u.ended = true, true, u.begun
	_ = s.d.SendText(strings.ReplaceAll(sayings["message"], "word%03d", u.tag), func(r csm.Reply, _ protocol.Snapshot) { u.refused = r.Code != "" })
}

// check checks that each utterance had one visible outcome.
func (s *talkRun) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.said {
		lost := u.Fate == "lost" || u.Fate == "never"
		switch {
		case !lost && u.tag == "", u.refused:
		case !lost && u.Fate == "doubted" && u.over: // a doubtful sound over an answer is taken for a cough
		case !lost && u.Words == "but" && u.overAsking != "": // the question sounds again, or was asked often enough
		case s.wasSent(u), s.wasDropped(u), s.wasTold(u):
		case lost:
			s.fault("nothing says that the utterance begun at %v was lost: %v", u.begun, u.moment)
		default:
			s.fault("the words of %s, begun at %v, went nowhere: %v", u.tag, u.begun, u.moment)
		}
	}
}

// wasSent reports whether the assistant answered the words, or knows them at the end.
func (s *talkRun) wasSent(u *uttered) bool {
	if u.tag == "" || len(s.requests) == 0 {
		return false
	}
	if slices.ContainsFunc(s.requests, func(r *scheduledRequest) bool { return r.answered && strings.Contains(r.words, u.tag) }) {
		return true
	}
	return slices.ContainsFunc(s.requests[len(s.requests)-1].Messages, func(m copilot.Message) bool {
		return m.Role == copilot.RoleUser && strings.Contains(m.Content, u.tag)
	})
}

// wasTold reports whether the user was told that the words were lost, and takes that note.
func (s *talkRun) wasTold(u *uttered) bool {
	at := slices.IndexFunc(s.told, func(n note) bool {
		return n.at >= u.ended && !n.taken && (slices.Contains(losses[u.Fate], n.what) || u.overAsking != "" && (n.what == "asks "+u.overAsking || n.what == string(csm.CodeNotUnderstood)))
	})
	if at >= 0 {
		s.told[at].taken = true
	}
	return at >= 0
}

// losses are the codes that tell of words that are lost.
var losses = map[string][]string{
	"sure": {string(csm.CodeQueueFull)}, "lost": {string(csm.CodeRecognitionFailed)}, "never": {string(csm.CodeRecognitionTimeout), string(csm.CodeUtteranceLost)},
	"doubted": {string(csm.CodeNotUnderstood), string(csm.CodeQueueFull)}, "unvoiced": {string(csm.CodeNotUnderstood), string(csm.CodeQueueFull)},
}

// wasDropped reports whether the user stopped everything before the words had an outcome.
func (s *talkRun) wasDropped(u *uttered) bool {
	return slices.ContainsFunc(s.dropped, func(d drop) bool {
		return d.at >= u.begun && (d.waiting || d.at <= u.ended+10*time.Second)
	})
}

// run plays a talk and returns what was wrong.
func (t talk) run() []string {
	s := newTalkRun(t)
	s.play()
	s.check()
	s.d.Post(csm.UserStop{})
	s.after(10000)
	if err := s.d.Close(); err != nil {
		s.fault("%v", err)
	}
	return s.wrong
}

// shorten leaves out moments while the talk still goes wrong.
func (t talk) shorten(wrong func(talk) bool) talk {
	for i := 0; i < len(t.Moments); {
		if less := (talk{slices.Delete(slices.Clone(t.Moments), i, i+1), t.Replies}); wrong(less) {
			t = less
		} else {
			i++
		}
	}
	return t
}

var schedules = flag.Int("schedules", 500, "number of schedules of TestMoreSchedules")

// Whatever is said, lost or late: no tool runs without consent, no utterance vanishes without a
// word, and none is sent twice.
func TestSchedules(t *testing.T) { playTalks(t, 0, 100) }

// The same with more schedules.
//
//test:long
func TestMoreSchedules(t *testing.T) { playTalks(t, 100, *schedules) }

// playTalks plays the talks of some seeds. Of one that goes wrong it prints the shortest form.
func playTalks(t *testing.T, from, to int) {
	run := func(of talk) (wrong []string) {
		synctest.Test(t, func(*testing.T) { wrong = of.run() })
		return wrong
	}
	for seed := from; seed < to; seed++ {
		of := drawTalk(uint64(seed))
		if len(run(of)) > 0 {
			of = of.shorten(func(less talk) bool { return len(run(less)) > 0 })
			t.Errorf("seed %d: %s\nin\n%v", seed, strings.Join(run(of), "\n"), of)
		}
	}
}
