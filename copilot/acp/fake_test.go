package acp

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeAgent is an agent scripted by a test. Separate tests with real agents verify their
// behaviour.
type fakeAgent struct {
	out    io.Writer
	answer func(f *fakeAgent, prompt string) (stop string) // handles session/prompt
	loads  bool
	closes bool   // supports session/close
	mute   string // a method that it does not answer
	modes  string // session modes as JSON
	offers string // further session fields as JSON
	lists  string // earlier sessions as JSON; "" if unsupported
	name   string // program name
	info   string // what it says that it is, as JSON; "" for its name
	prints string // what it prints before it reads a message
	signIn bool   // session/new requires a sign-in

	mu        sync.Mutex
	next      int
	session   string
	waiting   map[string]chan string // outcomes of permission requests, by id
	cancelled chan struct{}          // closed when the current prompt is cancelled
	calls     []string               // methods, in order
	chosen    []string               // what was set or loaded, in order
	closed    []string               // sessions that were closed, in order
	offered   int                    // version of the protocol
	text      string                 // last prompt
	prompt    json.RawMessage        // id of the last prompt
	gone      chan struct{}
	left      bool // the client disconnected
}

func newFakeAgent(answer func(*fakeAgent, string) string) *fakeAgent {
	return &fakeAgent{answer: answer, session: "s1", waiting: map[string]chan string{}, gone: make(chan struct{})}
}

// pipe runs the agent in this process.
func (f *fakeAgent) pipe() *process {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	f.out = outW
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.serve(inR)
	}()
	end := sync.OnceFunc(func() {
		close(f.gone)
		_ = outW.Close()
		_ = inR.CloseWithError(io.ErrClosedPipe)
		<-ended
	})
	return &process{Reader: outR, WriteCloser: inW, end: end}
}

// die ends the agent like a crash.
func (f *fakeAgent) die() { _ = f.out.(*io.PipeWriter).CloseWithError(io.EOF) }

func (f *fakeAgent) send(v string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _ = io.WriteString(f.out, v+"\n")
}

func (f *fakeAgent) update(v string) {
	f.mu.Lock()
	session := f.session
	f.mu.Unlock()
	f.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":` + quoted(session) + `,"update":` + v + `}}`)
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func (f *fakeAgent) say(text string) {
	f.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + quoted(text) + `}}`)
}

// fail answers the current prompt with an error.
func (f *fakeAgent) fail(message string) {
	f.mu.Lock()
	id := string(f.prompt)
	f.mu.Unlock()
	f.send(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32603,"message":` + quoted(message) + `}}`)
}

func (f *fakeAgent) tool(id, status, output string) {
	f.update(`{"sessionUpdate":"tool_call_update","toolCallId":` + quoted(id) + `,"status":` + quoted(status) + `,"rawOutput":{"formatted_output":` + quoted(output) + `}}`)
}

const codexOptions = `[{"optionId":"approved","name":"Yes, proceed","kind":"allow_once"},` +
	`{"optionId":"approved-execpolicy-amendment","name":"Yes, and don't ask again","kind":"allow_always"},` +
	`{"optionId":"abort","name":"No, and tell Codex what to do differently","kind":"reject_once"}]`

// ask requests permission to run a command, and returns the outcome: an option's id or
// "cancelled".
func (f *fakeAgent) ask(call, command string) <-chan string {
	return f.askWith(call, `{"command":["/bin/bash","-lc",`+quoted(command)+`],"cwd":"/w","parsed_cmd":[{"cmd":`+quoted(command)+`}]}`, codexOptions)
}

func (f *fakeAgent) askWith(call, input, options string) <-chan string {
	f.mu.Lock()
	f.next++
	id := fmt.Sprintf("perm-%d", f.next)
	answer := make(chan string, 2) // room to detect a second answer
	f.waiting[id] = answer
	if f.left {
		answer <- "gone"
	}
	f.mu.Unlock()
	f.send(`{"jsonrpc":"2.0","id":` + quoted(id) + `,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":` + quoted(call) +
		`,"kind":"execute","status":"pending","title":"Do something nice","rawInput":` + input + `},"options":` + options + `}}`)
	return answer
}

// pause waits, and reports whether the prompt was cancelled meanwhile.
func (f *fakeAgent) pause(d time.Duration) bool {
	f.mu.Lock()
	cancelled := f.cancelled
	f.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-cancelled:
		return true
	case <-f.gone:
		return true
	case <-t.C:
		return false
	}
}

func (f *fakeAgent) methods() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.calls, " ")
}

// prompted returns the text of the last prompt.
func (f *fakeAgent) prompted() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text
}

type fakeMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	} `json:"result"`
	Params struct {
		SessionID string `json:"sessionId"`
		Version   int    `json:"protocolVersion"`
		ModeID    string `json:"modeId"`
		ModelID   string `json:"modelId"`
		ConfigID  string `json:"configId"`
		Value     string `json:"value"`
		Prompt    []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	} `json:"params"`
}

// serve reads the client's messages.
func (f *fakeAgent) serve(in io.Reader) {
	lines := bufio.NewReader(in)
	defer f.abandon()
	_, _ = io.WriteString(f.out, f.prints)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		var m fakeMessage
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			panic("the client sent no message: " + line)
		}
		f.take(m)
	}
}

func (f *fakeAgent) choose(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.chosen = append(f.chosen, what)
}

// choices returns what the client set or loaded.
func (f *fakeAgent) choices() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.chosen, " ")
}

// abandon ends all waits for an answer.
func (f *fakeAgent) abandon() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = true
	for _, answer := range f.waiting {
		select {
		case answer <- "gone":
		default:
		}
	}
}

// introduction returns the response to initialize.
func (f *fakeAgent) introduction() string {
	var supports []string
	if f.lists != "" {
		supports = append(supports, `"list":{}`)
	}
	if f.closes {
		supports = append(supports, `"close":{}`)
	}
	info := cmp.Or(f.info, `{"name":`+quoted(f.name)+`,"version":"1"}`)
	return fmt.Sprintf(`{"protocolVersion":1,"agentInfo":%s,"agentCapabilities":{"loadSession":%v,"sessionCapabilities":{%s}},"authMethods":[]}`, info, f.loads, strings.Join(supports, ","))
}

func (f *fakeAgent) take(m fakeMessage) {
	f.mu.Lock()
	if m.Method != "" {
		f.calls = append(f.calls, m.Method)
	}
	f.mu.Unlock()
	reply := func(result string) {
		if m.Method != "" && m.Method == f.mute {
			return
		}
		go f.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
	}
	switch m.Method {
	case "":
		var id string
		_ = json.Unmarshal(m.ID, &id)
		f.mu.Lock()
		answer := f.waiting[id]
		f.mu.Unlock()
		if o := m.Result.Outcome; m.Result.Action != "" {
			content := string(m.Result.Content)
			if content == "" {
				content = "null"
			}
			answer <- m.Result.Action + " " + content
		} else if o.Outcome == "selected" {
			answer <- o.OptionID
		} else {
			answer <- o.Outcome
		}
	case "initialize":
		f.offered = m.Params.Version
		reply(f.introduction())
	case "session/list":
		reply(`{"sessions":` + f.lists + `}`)
	case "session/set_mode", "session/set_model", "session/set_config_option":
		f.choose(m.Params.ModeID + m.Params.ModelID + strings.TrimLeft(m.Params.ConfigID+"="+m.Params.Value, "="))
		reply(`{"configOptions":[]}`)
	case "session/new", "session/load":
		if m.Method == "session/load" {
			f.choose(m.Params.SessionID)
			f.mu.Lock()
			f.session = m.Params.SessionID
			f.mu.Unlock()
		}
		switch {
		case f.offers != "":
			reply(`{"sessionId":"s1",` + f.offers + `}`)
		case f.signIn:
			go f.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32000,"message":"Authentication required"}}`)
		case f.modes != "":
			reply(`{"sessionId":"s1","modes":` + f.modes + `}`)
		default:
			reply(`{"sessionId":"s1"}`)
		}
	case "session/prompt":
		f.mu.Lock()
		f.cancelled = make(chan struct{})
		f.text, f.prompt = m.Params.Prompt[0].Text, m.ID
		f.mu.Unlock()
		go func() {
			if stop := f.answer(f, m.Params.Prompt[0].Text); stop != "" {
				reply(`{"stopReason":` + quoted(stop) + `}`)
			}
		}()
	case "session/close":
		f.closed = append(f.closed, m.Params.SessionID)
		reply(`{}`)
	case "session/cancel":
		f.mu.Lock()
		close(f.cancelled)
		f.mu.Unlock()
	default:
		reply(`{}`)
	}
}

// TestMain runs as an agent if a test started this program as one.
func TestMain(m *testing.M) {
	if os.Getenv("AGENTVOICE_FAKE_AGENT") != "" {
		f := newFakeAgent(fakeProcess)
		f.out = os.Stdout
		f.serve(os.Stdin)
		select {} // like codex-acp, it ignores the end of its input
	}
	os.Exit(m.Run())
}
