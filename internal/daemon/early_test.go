package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// chat is a fake chat service on virtual time. Its answer to "words" is "Reply N to
// words.", in two pieces; N counts requests.
type chat struct {
	clock *dispatch.Virtual
	first time.Duration    // until the first piece
	ends  time.Duration    // until a cancelled request has ended
	fails func(n int) bool // before the first piece
	cuts  func(n int) bool // after it

	mu      sync.Mutex
	asked   []string // the words of each request
	ids     []string
	open    int
	overlap bool // two requests were open at once
	ended   int  // requests that ended early
}

func (*chat) Name() string                      { return "chat" }
func (*chat) MaySpeculate(copilot.Request) bool { return true }
func (c *chat) sleep(ctx context.Context, d time.Duration) bool {
	woken := make(chan struct{})
	defer c.clock.AfterFunc(d, func() { close(woken) })()
	select {
	case <-woken:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *chat) Send(ctx context.Context, r copilot.Request, emit func(string)) error {
	words := r.Messages[len(r.Messages)-1].Content
	c.mu.Lock()
	c.asked, c.ids = append(c.asked, words), append(c.ids, r.ID)
	n := len(c.asked)
	c.open++
	c.overlap = c.overlap || c.open > 1
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open--
	}()
	cancelled := func() error {
		c.sleep(context.Background(), c.ends)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended++
		return ctx.Err()
	}
	if !c.sleep(ctx, c.first) {
		return cancelled()
	}
	if c.fails != nil && c.fails(n) {
		return &copilot.Error{Code: string(csm.CodeCopilotUnavailable), Retryable: true}
	}
	emit(fmt.Sprintf("Reply %d ", n))
	if !c.sleep(ctx, 100*time.Millisecond) {
		return cancelled()
	}
	if c.cuts != nil && c.cuts(n) {
		return &copilot.Error{Code: string(csm.CodeCopilotFailed)}
	}
	emit("to " + words + ".")
	if r.Used != nil {
		r.Used(copilot.Usage{Provider: "compatible", Input: int64(n)})
	}
	return nil
}

func (c *chat) log() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
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

// ledger is a Recorder that keeps usage only.
type ledger struct {
	spent bool
	used  []int64
}

func (*ledger) Open(protocol.Settings, func(protocol.ErrorCode, string), func()) {}
func (*ledger) Configure(protocol.Settings)                                      {}
func (*ledger) Session(protocol.SessionParams, time.Time)                        {}
func (l *ledger) Used(u usage.Use, _ time.Time)                                  { l.used = append(l.used, u.TextIn) }
func (l *ledger) Spent() bool                                                    { return l.spent }
func (*ledger) Close() error                                                     { return nil }

// guess is a conversation with a chat service in which requests are sent early. It must
// run in a synctest bubble.
type guess struct {
	t      *testing.T
	d      *Daemon
	clock  *dispatch.Virtual
	chat   *chat
	world  *stillWorld
	ledger *ledger
	shown  bytes.Buffer // notifications and log lines
	done   map[uint64]int
	sent   map[uint64]string // words by request
	first  []time.Duration   // from the end of the voice to the first words of each answer
	quiet  time.Duration
	last   uint64 // utterance
}

func newGuess(t *testing.T, adapter func(*chat) copilot.Adapter, change func(*protocol.Settings)) *guess {
	t.Helper()
	set := protocol.DefaultSettings()
	set.Speculation = true
	if change != nil {
		change(&set)
	}
	g := &guess{t: t, clock: &dispatch.Virtual{}, ledger: &ledger{}, done: map[uint64]int{}, sent: map[uint64]string{}}
	g.chat = &chat{clock: g.clock, first: 400 * time.Millisecond, ends: 30 * time.Millisecond}
	var a copilot.Adapter = g.chat
	if adapter != nil {
		a = adapter(g.chat)
	}
	g.d = New(Config{
		Clock: g.clock, Settings: set, Verify: true, Log: zerolog.New(&g.shown), Adapter: a, Record: g.ledger,
		Notify: func(_ string, params any) { _ = json.NewEncoder(&g.shown).Encode(params) },
		World: func(p Port) World {
			g.world = &stillWorld{port: p, voice: world.Speaker{
				Clock: g.clock, Post: p.Post, Length: func(csm.Speak) time.Duration { return time.Second },
			}}
			return g.world
		},
	})
	post := g.d.assistant.post
	var mu sync.Mutex
	g.d.assistant.post = func(e csm.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e := e.(type) {
		case csm.CopilotSent:
			now := g.d.State().Current
			g.sent[e.Request] = g.d.content.words(now.Utterance, now.More)
		case csm.CopilotDelta:
			if len(g.first) < len(g.sent) {
				g.first = append(g.first, g.clock.Now()-g.quiet)
			}
		case csm.CopilotDone:
			g.done[e.Request]++
			if answer := g.d.content.answer(e.Request, -1); e.Code == "" && !e.Cancelled && !strings.HasSuffix(answer, " to "+g.sent[e.Request]+".") {
				t.Errorf("the answer to %q is %q", g.sent[e.Request], answer)
			}
		default:
		}
		post(e)
	}
	g.d.Post(csm.UserStart{})
	g.after(0)
	return g
}

// settle makes everything happen that is due now.
func (g *guess) settle() {
	for {
		synctest.Wait()
		if g.d.Idle() {
			return
		}
		g.d.Drain()
	}
}

func (g *guess) after(ms int) { g.clock.Advance(time.Duration(ms)*time.Millisecond, g.settle) }

func (g *guess) post(e csm.Event) {
	g.d.Post(e)
	g.settle()
}

func (g *guess) pos() int64 { return g.clock.Now().Milliseconds() * 48 }

func (g *guess) begin() {
	g.last = g.d.content.newID()
	g.post(csm.SpeechStarted{Epoch: 1, Utterance: g.last, Pos: g.pos()})
	g.after(500)
}

func (g *guess) partial(words string) { g.post(g.d.heardPartly(1, g.last, words)) }

func (g *guess) pause() {
	g.quiet = g.clock.Now()
	g.post(csm.SpeechPaused{Epoch: 1, Utterance: g.last, Pos: g.pos()})
}

func (g *guess) resume() { g.post(csm.SpeechResumed{Epoch: 1, Utterance: g.last, Pos: g.pos()}) }

// final ends the utterance.
func (g *guess) final(words string) {
	g.post(csm.SpeechStopped{Epoch: 1, Utterance: g.last, Pos: g.pos()})
	g.post(g.d.heard(1, g.last, Certain(words)))
}

// end closes the daemon and checks what must be true of every conversation.
func (g *guess) end() {
	g.t.Helper()
	g.after(20000)
	g.d.Post(csm.UserStop{})
	g.after(10000)
	if err := g.d.Close(); err != nil {
		g.t.Error(err)
	}
	if g.chat.overlap {
		g.t.Error("two requests were open at the service at once")
	}
	if bytes.Contains(g.shown.Bytes(), []byte(csm.CodeInvariantViolation)) {
		g.t.Error("an invariant was violated")
	}
	for request := range g.sent {
		if g.done[request] != 1 {
			g.t.Errorf("request %d ended %d times", request, g.done[request])
		}
	}
	outside := g.shown.String() + strings.Join(g.world.spoke, "\n")
	for i, words := range g.chat.asked {
		real := false
		for _, w := range g.sent {
			real = real || w == words
		}
		if reply := fmt.Sprintf("Reply %d ", i+1); !real && strings.Contains(outside, reply) {
			g.t.Errorf("%q, the hidden answer to %q, was shown", reply, words)
		}
	}
}

// answered reports whether the words were answered aloud, by the request with number n.
func (g *guess) answered(n int, words string) bool {
	return strings.Contains(strings.Join(g.world.spoke, " "), fmt.Sprintf("Reply %d to %s.", n, words))
}

// The request for the words before the pause is sent during the pause, and its answer is
// delivered when the final words are the same.
func TestSpeculationIsAdopted(t *testing.T) {
	for name, c := range map[string]struct {
		off     bool
		first   time.Duration // from the end of the voice to the first words
		request string        // id
	}{
		"off": {true, 1100 * time.Millisecond, "req-1"},
		"on":  {false, 700 * time.Millisecond, "early-"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGuess(t, nil, func(s *protocol.Settings) { s.Speculation = !c.off })
				g.begin()
				g.partial("what is a mutex")
				g.pause()
				g.after(650)
				if strings.Contains(g.shown.String(), "Reply") {
					t.Error("the answer is shown before the final words")
				}
				g.after(50)
				g.final("what is a mutex")
				g.after(5000)
				if len(g.chat.log()) != 1 || !strings.HasPrefix(g.chat.ids[0], c.request) || !g.answered(1, "what is a mutex") {
					t.Errorf("requests %q with ids %q; spoken %q", g.chat.asked, g.chat.ids, g.world.spoke)
				}
				if len(g.first) != 1 || g.first[0] != c.first {
					t.Errorf("first words after %v, want %v", g.first, c.first)
				}
				if !slices.Equal(g.ledger.used, []int64{1}) {
					t.Errorf("usage %v", g.ledger.used)
				}
				// The next prompt holds the answer as it was heard.
				g.begin()
				g.partial("and a semaphore")
				g.pause()
				g.after(700)
				g.final("and a semaphore")
				g.after(5000)
				if len(g.chat.log()) != 2 || !g.answered(2, "and a semaphore") {
					t.Errorf("requests %q; spoken %q", g.chat.asked, g.world.spoke)
				}
				g.end()
			})
		})
	}
}

// paused leads to a pause in which the early request is open.
func (g *guess) paused() {
	g.begin()
	g.partial("what is a mutex")
	g.pause()
	g.after(450)
}

// thrownAway are ways to the given requests, of which the last is answered.
var thrownAway = map[string]struct {
	happen func(g *guess)
	asked  []string
	ended  int // requests that were cancelled
}{
	"words are added after the pause": {func(g *guess) {
		g.paused()
		g.resume()
		g.after(200)
		g.partial("what is a mutex in go")
		g.pause()
		g.after(300)
		g.final("what is a mutex in go")
	}, []string{"what is a mutex", "what is a mutex in go"}, 1},
	"the final words differ":   {func(g *guess) { g.paused(); g.final("what is a mutual") }, []string{"what is a mutex", "what is a mutual"}, 1},
	"the final words are none": {func(g *guess) { g.paused(); g.final("") }, []string{"what is a mutex"}, 1},
	"recognition fails": {func(g *guess) {
		g.paused()
		g.post(csm.RecognitionLost{Epoch: 1, Utterance: g.last, Code: csm.CodeRecognitionFailed})
	}, []string{"what is a mutex"}, 1},
	"the user interrupts":              {func(g *guess) { g.paused(); g.post(csm.UserInterrupt{}); g.final("stop") }, []string{"what is a mutex"}, 1},
	"the conversation ends":            {func(g *guess) { g.paused(); g.post(csm.UserStop{}) }, []string{"what is a mutex"}, 1},
	"the user pauses the conversation": {func(g *guess) { g.paused(); g.post(csm.Suspend{Reason: csm.SuspendUser}) }, []string{"what is a mutex"}, 1},
	"the microphone is muted":          {func(g *guess) { g.paused(); g.d.Mute(protocol.MuteParams{Muted: true}); g.settle() }, []string{"what is a mutex"}, 1},
	"the settings change": {func(g *guess) {
		g.paused()
		set := g.d.Settings()
		set.Speculation = false
		g.d.Configure(set)
		g.settle()
		g.after(1000)
		g.final("what is a mutex")
	}, []string{"what is a mutex", "what is a mutex"}, 1},
	"text is typed instead": {func(g *guess) {
		g.paused()
		if err := g.d.SendText("hello", func(csm.Reply, protocol.Snapshot) {}); err != nil {
			g.t.Error(err)
		}
		g.settle()
	}, []string{"what is a mutex", "hello"}, 1},
	"it failed": {func(g *guess) {
		g.chat.fails = func(n int) bool { return n == 1 }
		g.paused()
		g.after(300)
		g.final("what is a mutex")
	}, []string{"what is a mutex", "what is a mutex"}, 0},
	"it fails after its first words, hidden": {func(g *guess) {
		g.chat.cuts = func(n int) bool { return n == 1 }
		g.paused()
		g.after(400)
		g.final("what is a mutex")
	}, []string{"what is a mutex", "what is a mutex"}, 0},
	"it fails once it is adopted": {func(g *guess) {
		g.chat.fails = func(n int) bool { return n == 1 }
		g.paused()
		g.final("what is a mutex")
	}, []string{"what is a mutex", "what is a mutex"}, 0},
	"the words are a command": {func(g *guess) {
		g.begin()
		g.partial("mute the microphone")
		g.pause()
		g.after(450)
	}, nil, 0},
	"the budget is used up": {func(g *guess) {
		g.ledger.spent = true
		g.paused()
		g.final("what is a mutex")
	}, []string{"what is a mutex"}, 0},
	"the voice does not pause": {func(g *guess) {
		g.begin()
		g.partial("what is a mutex")
		g.after(1000)
		g.final("what is a mutex")
	}, []string{"what is a mutex"}, 0},
	"a phrase ends the turn": {func(g *guess) {
		set := g.d.Settings()
		set.TurnDetection.Mode = protocol.TurnPhrase
		g.post(csm.UserStop{})
		g.d.Configure(set)
		g.post(csm.UserStart{})
		g.paused()
	}, nil, 0},
}

func TestSpeculationIsThrownAway(t *testing.T) {
	for name, c := range thrownAway {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGuess(t, nil, nil)
				c.happen(g)
				g.after(5000)
				if !slices.Equal(g.chat.log(), c.asked) || g.chat.ended != c.ended {
					t.Errorf("requests %q, of which %d were cancelled; want %q and %d", g.chat.asked, g.chat.ended, c.asked, c.ended)
				}
				if n := len(g.sent); n > 1 || n == 1 && !g.answered(len(c.asked), c.asked[len(c.asked)-1]) {
					t.Errorf("%d requests of the core; spoken %q", n, g.world.spoke)
				}
				g.end()
			})
		})
	}
}

// At most three requests are sent early for one utterance, also if the microphone is muted in
// between; the words of the next utterance can be sent early again.
func TestSpeculationIsLimitedPerUtterance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuess(t, nil, nil)
		hesitate := func() (words string) {
			g.begin()
			words = "why is it"
			for range 6 {
				words += " so"
				g.partial(words)
				g.pause()
				g.after(300)
				g.resume()
				g.d.Mute(protocol.MuteParams{Muted: true})
				g.d.Mute(protocol.MuteParams{})
			}
			return words
		}
		g.final(hesitate())
		g.after(5000)
		want := []string{"why is it so", "why is it so so", "why is it so so so", "why is it so so so so so so"}
		if !slices.Equal(g.chat.log(), want) {
			t.Errorf("requests %q, want %q", g.chat.asked, want)
		}
		g.final(hesitate())
		g.after(5000)
		if asked := g.chat.log(); !slices.Equal(asked, append(want, want...)) {
			t.Errorf("requests %q, want each twice", asked)
		}
		g.end()
	})
}

// The usage of an answer that was complete when it was thrown away is recorded.
func TestUsageOfAThrownAwayAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuess(t, nil, nil)
		g.begin()
		g.partial("what is a mutex")
		g.pause()
		g.after(1000)
		if len(g.ledger.used) != 0 {
			t.Errorf("usage %v before it is known whose turn it is", g.ledger.used)
		}
		g.final("what is a mutual")
		g.after(5000)
		if !slices.Equal(g.ledger.used, []int64{1, 2}) {
			t.Errorf("usage %v, want that of both requests", g.ledger.used)
		}
		g.end()
	})
}

// caller is a chat service that runs tools; plainChat one that cannot be asked early.
type (
	caller    struct{ *chat }
	plainChat struct{ copilot.Adapter }
)

func (caller) CallTool(context.Context, context.Context, copilot.ToolCall) (string, error) {
	return "", nil
}

// Assistants with tools, and those that do not allow it, are asked once the words are
// final.
func TestNoSpeculationWithTools(t *testing.T) {
	for name, adapter := range map[string]func(*chat) copilot.Adapter{
		"tools":       func(c *chat) copilot.Adapter { return caller{c} },
		"not allowed": func(c *chat) copilot.Adapter { return plainChat{c} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGuess(t, adapter, nil)
				g.d.OfferTools([]copilot.Tool{{Name: "runTests"}})
				g.begin()
				g.partial("what is a mutex")
				g.pause()
				g.after(1000)
				if n := len(g.chat.log()); n != 0 {
					t.Errorf("%d early requests", n)
				}
				g.final("what is a mutex")
				g.after(5000)
				if !g.answered(1, "what is a mutex") {
					t.Errorf("spoken %q", g.world.spoke)
				}
				g.end()
			})
		})
	}
}

// Words that the recogniser reports as settled are sent at once, and the partial words
// that follow late change nothing.
func TestSettledWordsAreSentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuess(t, nil, nil)
		g.begin()
		g.partial("what is")
		g.pause()
		g.d.heardSettled(1, g.last, Transcript{Text: "what is a mutex"})
		g.d.heardSettled(1, g.last+1, Transcript{Text: "of another utterance"})
		g.d.heardSettled(1, g.last, Transcript{Answer: &Answer{"Yes.", 1, 9}}) // a sound without a text
		g.after(0)
		if !slices.Equal(g.chat.log(), []string{"what is a mutex"}) {
			t.Errorf("requests %q", g.chat.asked)
		}
		g.partial("what is a")
		g.after(300)
		g.final("what is a mutex")
		g.after(5000)
		if len(g.chat.log()) != 1 || !g.answered(1, "what is a mutex") {
			t.Errorf("requests %q; spoken %q", g.chat.asked, g.world.spoke)
		}
		g.end()
	})
}
