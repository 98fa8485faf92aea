package acp

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/reasoning"
)

// Time limits.
const (
	startLimit    = time.Minute            // from starting the process to an open session
	wordsLimit    = 5 * time.Second        // from words of the agent to its first message or further words
	firstSilence  = 30 * time.Second       // from sending the prompt to the first message
	silence       = 90 * time.Second       // between two messages
	toolSilence   = 10 * time.Minute       // between two messages while the agent runs a tool
	cancelLimit   = 3 * time.Second        // from cancelling a prompt to its end
	heartbeat     = 5 * time.Second        // between two empty pieces that report progress
	tailQuiet     = 200 * time.Millisecond // after the end of a prompt, how long no text has come for the answer to be over
	tailLimit     = time.Second            // from the end of a prompt to the end of its answer
	gather        = 100 * time.Millisecond // how long a round waits for further permission requests
	describeLimit = 2 * time.Second        // how long a round waits for the update about a call that needs permission
	closeLimit    = time.Second            // for closing a session
	overlap       = time.Second            // from another permission request to the end of a call that it blocks
)

// maxAnswer limits the size of one answer, in bytes.
const maxAnswer = 8 << 20

// ToolLimit is the timeout of a tool call: builds and tests take minutes.
const ToolLimit = 30 * time.Minute

// MaxRounds limits the rounds of one request. Each tool that needs permission takes a
// round, and an agent's task may need many.
const MaxRounds = 100

// Options configures the adapter.
type Options struct {
	// Command is the agent's command line, or the name of a known agent.
	Command string
	// Dir is the agent's working directory. It defaults to the current directory.
	Dir string
	// Withheld names environment variables that the agent does not get, such as those with the
	// keys of a voice service. A known agent gets those that it signs in with.
	Withheld []string
	// Instruction is sent with the first prompt of a session. The default asks for
	// answers that can be spoken.
	Instruction string

	start func() (*process, error) // for tests
}

// defaultInstruction asks for answers that can be spoken.
const defaultInstruction = "This is a spoken conversation: your answers are read aloud, and the user's words come from speech recognition, so expect misheard names. " +
	"Answer in one to three short sentences of plain prose. Say the most important thing first. No headings, tables, emoji or links. " +
	"Do not spell out code or diffs; say what you changed. The user approves each command by voice, so run one step at a time."

// Adapter implements copilot.Adapter and copilot.Caller. It is safe for concurrent
// use.
type Adapter struct {
	opts    Options
	name    string
	sending chan struct{} // semaphore: held by Send until it returns
	models  reasoning.Source

	mu      sync.Mutex
	agent   *agent // the running agent, or nil
	session string // of the last running agent
	mode    string // chosen by the user, if it is an asking mode; restored when the agent restarts
	warned  bool   // the user was warned that the agent may act without asking, or chose such a mode
	prompt  *prompt
	said    string // the agent's last answer
	calls   uint64 // counts permission requests and questions
	closed  bool
}

var (
	_ copilot.Adapter = (*Adapter)(nil)
	_ copilot.Caller  = (*Adapter)(nil)
	_ copilot.Ender   = (*Adapter)(nil)
	_ copilot.Worker  = (*Adapter)(nil)
	_ copilot.Agent   = (*Adapter)(nil)
	_ copilot.Lister  = (*Adapter)(nil)
)

// New returns an adapter. The agent starts with the first question.
func New(o Options) (*Adapter, error) {
	if o.Dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("find the current folder: %w", err)
		}
		o.Dir = dir
	}
	if o.Instruction == "" {
		o.Instruction = defaultInstruction
	}
	if o.start == nil {
		o.start = func() (*process, error) {
			command, err := Find(o.Command)
			if err != nil {
				return nil, err
			}
			return startProcess(command, o.Dir, o.Withheld)
		}
	}
	return &Adapter{opts: o, name: "acp:" + o.Command, sending: make(chan struct{}, 1)}, nil
}

// Name returns "acp:" followed by the command.
func (a *Adapter) Name() string { return a.name }

// Title implements copilot.Titled.
func (a *Adapter) Title() string { return Title(a.opts.Command) }

// ToolLimit implements copilot.Worker.
func (*Adapter) ToolLimit() time.Duration { return ToolLimit }

// MaxRounds implements copilot.Worker.
func (*Adapter) MaxRounds() int { return MaxRounds }

// Close closes the session and terminates the agent and every process that it started.
func (a *Adapter) Close() error {
	a.mu.Lock()
	g := a.agent
	a.agent, a.closed = nil, true
	session := acpsdk.SessionId(a.session)
	a.mu.Unlock()
	if g != nil {
		g.closeSession(context.Background(), session)
		g.stop()
	}
	return nil
}

// Send implements copilot.Adapter.
func (a *Adapter) Send(ctx context.Context, r copilot.Request, emit func(text string)) error {
	select {
	case a.sending <- struct{}{}:
		defer func() { <-a.sending }()
	case <-ctx.Done():
		return ctx.Err()
	}
	p := a.continued(r)
	if p == nil {
		begun, err := awaitAlive(ctx, emit, func(ctx context.Context) (*prompt, error) { return a.begin(ctx, r) })
		if ctx.Err() != nil {
			if begun != nil {
				a.cancel(begun)
			}
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		p = begun
	}
	err := a.listen(ctx, p, r, emit)
	if ctx.Err() != nil {
		a.cancel(p)
		return ctx.Err()
	}
	return err
}

// awaitAlive runs f and emits an empty text every heartbeat. f must return soon after ctx
// is done.
func awaitAlive(ctx context.Context, emit func(string), f func(context.Context) (*prompt, error)) (p *prompt, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p, err = f(ctx)
	}()
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return p, err
		case <-tick.C:
			if ctx.Err() == nil {
				emit("")
			}
		}
	}
}

// continued returns the open prompt of an earlier round of r. It rejects the permissions
// that the user did not grant.
func (a *Adapter) continued(r copilot.Request) *prompt {
	a.mu.Lock()
	p := a.prompt
	if r.Round == 0 || p == nil || p.request != r.ID || p.cancelled {
		a.mu.Unlock()
		return nil
	}
	rejected := p.takeAsked()
	a.mu.Unlock()
	for _, k := range rejected {
		if !k.reject() {
			a.cancel(p) // the agent offers no option to reject only this call
		}
	}
	return p
}

// begin sends the question of r once the previous prompt has ended.
func (a *Adapter) begin(ctx context.Context, r copilot.Request) (*prompt, error) {
	if r.Round > 0 {
		return nil, ended() // the agent that served the earlier rounds has exited
	}
	a.mu.Lock()
	last := a.prompt
	if last != nil && last.answer(r) {
		a.said = ""
		a.mu.Unlock()
		return last, nil
	}
	a.mu.Unlock()
	if last != nil {
		a.cancel(last)
		select {
		case <-last.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	g, err := a.running(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.useModel(ctx, g, r.Model); err != nil {
		return nil, err
	}
	a.mu.Lock()
	text := a.question(r, g.fresh)
	p := newPrompt(g, r, a.models.New(cmp.Or(g.offer.model, r.Model)))
	a.prompt, a.said, g.fresh = p, "", false
	if a.mustWarn(g) {
		p.queue = append(p.queue, piece{unasked: true})
	}
	a.mu.Unlock()
	g.ask(a, p, text)
	return p, nil
}

// running returns the agent with an open session, starting it if necessary. The caller
// holds sending.
func (a *Adapter) running(ctx context.Context) (*agent, error) {
	a.mu.Lock()
	g, session, mode, closed := a.agent, a.session, a.mode, a.closed
	a.mu.Unlock()
	if closed {
		return nil, ended()
	}
	if g != nil {
		select {
		case <-g.conn.DisconnectNotify():
			g.stop()
		default:
			return g, nil
		}
	}
	g, err := a.launch(ctx, session, mode)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		go g.stop()
		return nil, ended()
	}
	a.agent, a.session = g, string(g.session)
	return g, nil
}

// End implements copilot.Ender: the caller no longer needs the request's result. A prompt
// that waits for the user's answer stays open, because the next request brings that
// answer.
func (a *Adapter) End(requestID string) {
	a.mu.Lock()
	p := a.prompt
	over := p != nil && p.request == requestID && p.question() == nil
	a.mu.Unlock()
	if over {
		a.cancel(p)
	}
}

// cancel cancels the prompt, answers its pending permission requests, and terminates the
// agent if it does not stop in time. It does not block.
func (a *Adapter) cancel(p *prompt) {
	a.mu.Lock()
	if p.cancelled || p.isOver() {
		a.mu.Unlock()
		return
	}
	p.cancelled = true
	p.queue = nil
	close(p.dropped)
	asks, ended := p.takeAsks(), p.ended
	a.mu.Unlock()
	p.stir()
	if ended { // the agent waits for the next prompt
		return
	}
	go func() {
		p.agent.cancelPrompt()
		for _, k := range asks {
			k.dismiss()
		}
		late := time.NewTimer(cancelLimit)
		defer late.Stop()
		select {
		case <-p.over:
		case <-late.C:
			p.agent.stop()
		}
	}()
}

// question returns the prompt text for r. An agent without knowledge of the conversation
// first gets the history, and the instruction follows the user's words, because agents
// name a session after the first words of its prompt. After an interruption, the prompt
// says how much of the last answer the user heard.
func (a *Adapter) question(r copilot.Request, fresh bool) string {
	said := r.Messages
	var words string
	if n := len(said); n > 0 && said[n-1].Role == copilot.RoleUser {
		words, said = said[n-1].Noted(), said[:n-1]
	}
	var b strings.Builder
	if fresh {
		if len(said) > 0 {
			b.WriteString("[What was said before, as far as the user heard it]\n")
			for _, m := range said {
				fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Noted())
			}
			b.WriteString("[End of what was said before]\n\n")
		}
		return b.String() + words + "\n\n[" + a.opts.Instruction + "]"
	}
	if call := refused(said); call != nil && call.Question != "" {
		b.WriteString("[The user's answer to your question follows.]\n\n")
	} else if call != nil {
		b.WriteString("[The user did not allow the last call. It was not run.]\n\n")
	} else if heard, cut := heardOf(said, a.said); cut {
		b.WriteString("[The user interrupted your last answer")
		if heard != "" {
			fmt.Fprintf(&b, ", and heard only: %q", heard)
		}
		b.WriteString("]\n\n")
	}
	return b.String() + words
}

// refused returns the rejected call that directly precedes the user's words, or nil. The
// words then say what to do instead, or answer the call's question.
func refused(messages []copilot.Message) *copilot.ToolCall {
	for _, m := range slices.Backward(messages) {
		if m.Role != copilot.RoleTool {
			break
		}
		if m.Status == copilot.CallRejected {
			return m.Call
		}
	}
	return nil
}

// heardOf returns what the user heard of the last answer, and whether the answer was cut
// off.
func heardOf(messages []copilot.Message, whole string) (heard string, cut bool) {
	for i := len(messages) - 1; i >= 0 && messages[i].Role != copilot.RoleUser; i-- {
		if messages[i].Role == copilot.RoleAssistant {
			heard = messages[i].Content + heard
		}
	}
	return heard, len(strings.Join(strings.Fields(heard), " "))+len("...") < len(strings.Join(strings.Fields(whole), " "))
}
