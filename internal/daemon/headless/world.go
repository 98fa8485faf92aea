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

// World implements daemon.World on virtual time. It belongs to the goroutine that
// drives the stage.
type World struct {
	port  daemon.Port
	clock *dispatch.Virtual
	state func() csm.State
	// settle makes the core process the posted events and everything that they cause.
	settle func()
	auto   map[string]auto
	voice  world.Speaker
	length time.Duration // of a segment
	asked  map[string]*request

	utterances []utterance // awaiting words, oldest first
	request    uint64      // that the script answers, or 0
	round      int         // of request
	mic        microphone
}

// request is the latest effect of its name that expects an answer.
type request struct{ csm.Effect }

// byItself maps effects to the name of their automatic completion.
var byItself = map[string]string{
	"ActivateSession": "session", "OpenAudio": "audio", "StartCapture": "capture", "OpenConnection": "connection",
	"DeactivateSession": "close", "CloseAudio": "close", "CloseConnection": "close",
	"SearchTools": "tools", "CallTool": "tool", "LoadModel": "model", "Summarise": "summary",
}

// defaultSegment is the length of a spoken segment, unless the script overrides it.
const defaultSegment = time.Second

// auto is the setting of an automatic completion.
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
		// Only an interruption waits for the reply.
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
	case csm.CancelSummary: // its answer is no longer wanted
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

// results are the texts of automatic completions.
var results = map[string]string{"tool": "done"}

// errands are requests that end exactly once.
var errands = map[string]error{"SearchTools": errNoSearch, "CallTool": errNoCall, "LoadModel": errNoLoad, "Summarise": errNoSummary}

// end completes a request: with a code if it fails, and with the text of a tool or a
// summary. A request that is over does not end again.
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

// later completes an effect after its delay, unless the script completes it.
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

// Close implements daemon.World. There is nothing to release.
func (*World) Close() error { return nil }

// PressToTalk begins an utterance manually.
func (w *World) PressToTalk() error {
	w.beginUtterance()
	return nil
}

// Mute implements daemon.World. Speech from the script is still heard, but the wake
// phrase is not.
func (w *World) Mute(muted bool) { w.mic.set(w.port, func(m *microphone) { m.muted = muted }) }

// Devices lists a fake microphone and speaker.
func (*World) Devices(protocol.Settings) (protocol.DevicesResult, error) {
	device := func(name string) protocol.List[protocol.Device] {
		return protocol.List[protocol.Device]{{ID: name, Name: name, Default: true, Selected: true, Channels: 1, SampleRate: audio.SampleRate}}
	}
	return protocol.DevicesResult{Inputs: device("headless-microphone"), Outputs: device("headless-loudspeaker")}, nil
}

// epoch returns the epoch of the connection in any of its states.
func (w *World) epoch() uint32 { return connection.Epoch(w.state().Conn) }

// position returns the current captured position.
func (w *World) position() int64 {
	return audio.Samples(w.clock.Now())
}

func (w *World) beginUtterance() {
	id := w.port.NewUtterance()
	w.utterances = append(w.utterances, utterance{id: id, open: true})
	w.port.Post(csm.SpeechStarted{Epoch: w.epoch(), Utterance: id, Pos: w.position()})
}

// saidIn is the length of an utterance that is reported all at once.
const saidIn = time.Second

// stopVoice ends the open utterance. longer is added to the length measured by the
// clock.
func (w *World) stopVoice(longer time.Duration) {
	u := w.openUtterance()
	u.open = false
	w.port.Post(csm.SpeechStopped{Epoch: w.epoch(), Utterance: u.id, Pos: w.position() + audio.Samples(longer)})
}

// openUtterance returns the utterance in progress.
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

// endAnswer ends the answer of the script.
func (w *World) endAnswer(done csm.CopilotDone) {
	w.port.Answer(done.Request, done.Round, "", true)
	w.port.Post(done)
	w.request = 0
}
