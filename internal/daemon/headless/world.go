package headless

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// World implements daemon.World on virtual time. It belongs to the goroutine
// that drives the stage.
type World struct {
	port  daemon.Port
	clock *dispatch.Virtual
	state func() csm.State
	// settle has the core take what was posted, and with it what that brings about.
	settle func()
	auto   map[string]auto
	voice  world.Speaker
	length time.Duration // of a segment
	asked  map[string]*request

	utterances []utterance // whose words are awaited, oldest first
	request    uint64      // that the script answers; 0 for none
	round      int         // of request
	mic        microphone
}

// request is the last effect of its name that asks for something.
type request struct{ csm.Effect }

// byItself says under which name what an effect asks for is done by itself.
var byItself = map[string]string{
	"ActivateSession": "session", "OpenAudio": "audio", "StartCapture": "capture", "OpenConnection": "connection",
	"DeactivateSession": "close", "CloseAudio": "close", "CloseConnection": "close",
	"SearchTools": "tools", "CallTool": "tool", "LoadModel": "model", "Summarise": "summary",
}

// defaultSegment is how long a spoken segment is, unless the script says
// otherwise.
const defaultSegment = time.Second

// auto is how something is done by itself.
type auto struct {
	off   bool
	delay time.Duration
}

// utterance is something that the user says.
type utterance struct {
	id   uint64
	open bool
}

func newWorld(port daemon.Port, clock *dispatch.Virtual) *World {
	w := &World{port: port, clock: clock, auto: map[string]auto{}, asked: map[string]*request{}, length: defaultSegment}
	w.port.Post = func(e csm.Event) {
		w.mic.posted(port, e)
		port.Post(e)
	}
	w.voice = world.Speaker{
		Clock: clock, Post: w.port.Post, Length: func(csm.Speak) time.Duration { return w.length },
		Sounds: func(on bool) { port.Output(daemon.Output{Silent: !on, Pos: w.position()}) },
	}
	return w
}

// Execute implements daemon.World.
func (w *World) Execute(e csm.Effect) {
	w.voice.Take(e)
	switch e := e.(type) {
	case csm.ActivateSession:
		w.utterances, w.request = nil, 0
		for name := range errands {
			delete(w.asked, name)
		}
	case csm.OpenAudio:
		w.mic.set(w.port, func(m *microphone) { m.busy = true })
	case csm.PublishState:
		if e.To == csm.PhaseIdle {
			w.mic.set(w.port, func(m *microphone) { m.busy = false })
		}
	case csm.OpenConnection:
		if !e.Successor {
			w.utterances = nil
		}
	case csm.CommitInput:
		w.endUtterance()
	case csm.ClearInput:
		w.dropOpen()
	case csm.Speak:
		w.later("speech", func() { w.voice.Buffer(e) })
	case csm.Flush:
		// Nobody waits for the answer but an interruption.
		if flushed, ok := w.voice.Flush(e); ok && w.state().Phase() == csm.PhaseInterrupted {
			w.later("flush", func() { w.port.Post(flushed) })
		}
	case csm.SendCopilot:
		w.request, w.round = e.Request, e.Round
		w.port.Post(world.Reaction(e))
	case csm.CancelCopilot:
		if w.request == e.Request {
			w.endAnswer(csm.CopilotDone{Request: e.Request, Round: w.round, Cancelled: true})
		}
	case csm.CancelSummary: // its answer is not wanted any more
		delete(w.asked, "Summarise")
	default:
		if asked, ok := world.Stops(e); ok {
			w.end(w.asked[asked], world.Cancelled, "", "")
		}
	}
	if name, ok := byItself[csm.NameOf(e)]; ok {
		r := &request{e}
		w.asked[csm.NameOf(e)] = r
		w.later(name, func() { w.end(r, world.Done, "", results[name]) })
	}
}

// results are the texts that come of what is done by itself.
var results = map[string]string{"tool": "done"}

// errands are what is asked for that ends once.
var errands = map[string]error{"SearchTools": errNoSearch, "CallTool": errNoCall, "LoadModel": errNoLoad, "Summarise": errNoSummary}

// end has a request end, with a code where it fails and with the text that a tool or
// a summary gives. An errand that is over does not end again.
func (w *World) end(r *request, how world.Outcome, code csm.Code, text string) {
	if r == nil {
		return
	}
	name := csm.NameOf(r)
	if _, once := errands[name]; once {
		if w.asked[name] != r {
			return
		}
		delete(w.asked, name)
	}
	e := world.Ending(r.Effect, how)
	if code != "" {
		e = world.WithCode(e, code)
	}
	switch f := r.Effect.(type) {
	case csm.CallTool:
		w.port.ToolResult(f.ToolCall, text)
	case csm.Summarise:
		if how == world.Done {
			w.port.Summary(f, text)
		}
	default:
	}
	w.port.Post(e)
}

// later does what comes of an effect after its delay, unless that is the script's.
func (w *World) later(name string, f func()) {
	switch a := w.auto[name]; {
	case a.off:
	case a.delay == 0:
		f()
	default:
		w.clock.AfterFunc(a.delay, f)
	}
}

// Configure implements daemon.World.
func (w *World) Configure(s protocol.Settings) {
	w.mic.set(w.port, func(m *microphone) { m.wake = s.Wake.Enabled })
}

// Close implements daemon.World: there is nothing to release.
func (*World) Close() error { return nil }

// PressToTalk begins an utterance by hand.
func (w *World) PressToTalk() error {
	w.beginUtterance()
	return nil
}

// Mute implements daemon.World. What the script says is heard all the same, but
// the wake phrase is not.
func (w *World) Mute(muted bool) { w.mic.set(w.port, func(m *microphone) { m.muted = muted }) }

// Devices lists a microphone and a loudspeaker that are not there.
func (*World) Devices(protocol.Settings) (protocol.DevicesResult, error) {
	device := func(name string) protocol.List[protocol.Device] {
		return protocol.List[protocol.Device]{{ID: name, Name: name, Default: true, Selected: true, Channels: 1, SampleRate: audio.SampleRate}}
	}
	return protocol.DevicesResult{Inputs: device("headless-microphone"), Outputs: device("headless-loudspeaker")}, nil
}

// epoch is that of the connection, whatever it does.
func (w *World) epoch() uint32 { return connection.Epoch(w.state().Conn) }

// position is the captured position now.
func (w *World) position() int64 {
	return audio.Samples(w.clock.Now())
}

func (w *World) beginUtterance() {
	id := w.port.NewUtterance()
	w.utterances = append(w.utterances, utterance{id: id, open: true})
	w.port.Post(csm.SpeechStarted{Epoch: w.epoch(), Utterance: id, Pos: w.position()})
}

// saidIn is the length of an utterance that is reported at once.
const saidIn = time.Second

// stopVoice ends the open utterance, which was longer than the clock tells by
// so much.
func (w *World) stopVoice(longer time.Duration) {
	u := w.openUtterance()
	u.open = false
	w.port.Post(csm.SpeechStopped{Epoch: w.epoch(), Utterance: u.id, Pos: w.position() + audio.Samples(longer)})
}

// openUtterance is the one that is being spoken.
func (w *World) openUtterance() *utterance {
	if n := len(w.utterances); n > 0 && w.utterances[n-1].open {
		return &w.utterances[n-1]
	}
	return nil
}

func (w *World) endUtterance() {
	if u := w.openUtterance(); u != nil {
		u.open = false
	}
}

func (w *World) dropOpen() {
	if w.openUtterance() != nil {
		w.utterances = w.utterances[:len(w.utterances)-1]
	}
}

// endAnswer ends what the script answers.
func (w *World) endAnswer(done csm.CopilotDone) {
	w.port.Answer(done.Request, done.Round, "", true)
	w.port.Post(done)
	w.request = 0
}
