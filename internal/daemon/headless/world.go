package headless

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
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
	voice  voice

	utterances []utterance // whose words are awaited, oldest first
	request    uint64      // that the script answers; 0 for none
	round      int         // of request
	call       uint64      // of a tool, that runs; 0 for none
	search     csm.SearchTools
	load       uint32         // of a model; 0 for none
	summary    csm.Summarise  // that is asked for; its Job is 0 for none
	dialled    uint32         // the latest epoch
	closing    csm.ConnClosed // what the latest hang-up is answered with
	mic        microphone
}

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
	w := &World{port: port, clock: clock, auto: map[string]auto{}}
	w.port.Post = func(e csm.Event) {
		w.mic.posted(port, e)
		port.Post(e)
	}
	w.voice = voice{clock: clock, post: w.port.Post, output: port.Output, length: defaultSegment}
	return w
}

// Execute implements daemon.World.
func (w *World) Execute(e csm.Effect) {
	switch e := e.(type) {
	case csm.ActivateSession:
		w.utterances, w.request, w.call, w.load = nil, 0, 0, 0
		w.search, w.summary = csm.SearchTools{}, csm.Summarise{}
		w.do("session", csm.SessionReady{Instance: e.Instance})
	case csm.DeactivateSession:
		w.do("close", csm.SessionClosed{Instance: e.Instance})
	case csm.OpenAudio:
		w.mic.set(w.port, func(m *microphone) { m.busy = true })
		w.do("audio", csm.AudioPrimed{Instance: e.Instance})
	case csm.StartCapture:
		w.do("capture", csm.AudioReady{Instance: e.Instance})
	case csm.CloseAudio:
		w.do("close", csm.AudioClosed{Instance: e.Instance})
	case csm.PublishState:
		if e.To == csm.PhaseIdle {
			w.mic.set(w.port, func(m *microphone) { m.busy = false })
		}
	case csm.OpenConnection:
		if !e.Successor {
			w.utterances = nil
		}
		w.dialled = e.Epoch
		w.do("connection", csm.ConnReady{Epoch: e.Epoch})
	case csm.CloseConnection:
		w.closing = csm.ConnClosed{Instance: e.Instance, Epoch: e.Epoch}
		w.do("close", w.closing)
	case csm.CommitInput:
		w.endUtterance()
	case csm.ClearInput:
		w.dropOpen()
	case csm.Speak:
		w.voice.speak(e, w.auto["speech"])
	case csm.StartPlayback:
		w.voice.start(e.Gen)
	case csm.PausePlayback:
		w.voice.pause(e.Gen)
	case csm.ResumePlayback:
		w.voice.resume(e.Gen)
	case csm.Flush:
		// Nobody waits for the answer but an interruption.
		if flushed, ok := w.voice.flush(e.Gen); ok && w.state().Phase() == csm.PhaseInterrupted {
			w.do("flush", flushed)
		}
	default:
		w.assist(e)
	}
}

// assist carries out what is the assistant's, where no client answers: the script
// does.
func (w *World) assist(e csm.Effect) {
	switch e := e.(type) {
	case csm.SendCopilot:
		w.request, w.round = e.Request, e.Round
		w.port.Post(csm.CopilotSent{Request: e.Request, Round: e.Round, Attempt: 1})
	case csm.CancelCopilot:
		if w.request == e.Request {
			w.endAnswer(csm.CopilotDone{Request: e.Request, Round: w.round, Cancelled: true})
		}
	case csm.SearchTools:
		w.search = e
		w.later("tools", func() { w.searched(e, csm.ToolSearchDone{Tools: 1}) })
	case csm.CancelSearch:
		if w.search.Request == e.Request {
			w.searched(w.search, csm.ToolSearchDone{Cancelled: true})
		}
	case csm.CallTool:
		w.call = e.ToolCall
		w.later("tool", func() { w.called(e.ToolCall, "done", csm.ToolDone{}) })
	case csm.CancelTool:
		w.called(e.ToolCall, "", csm.ToolDone{Cancelled: true})
	case csm.LoadModel:
		w.load = e.Load
		w.later("model", func() { w.loaded(e.Load, csm.ModelLoaded{Load: e.Load}) })
	case csm.Summarise:
		w.summary = e
		w.later("summary", func() { w.summarised(e, "", csm.Summarised{Job: e.Job}) })
	case csm.CancelSummary:
		if w.summary.Job == e.Job {
			w.summary = csm.Summarise{}
		}
	default: // news, and what needs no answer
	}
}

// Each of these ends one errand, and nothing that is over already.
func (w *World) searched(of csm.SearchTools, done csm.ToolSearchDone) {
	if w.search == of && of.Request != 0 {
		w.search = csm.SearchTools{}
		done.Request, done.Round = of.Request, of.Round
		w.port.Post(done)
	}
}

func (w *World) called(call uint64, result string, done csm.ToolDone) {
	if w.call == call && call != 0 {
		w.call = 0
		w.port.ToolResult(call, result)
		done.ToolCall = call
		w.port.Post(done)
	}
}

func (w *World) loaded(load uint32, done csm.Event) {
	if w.load == load && load != 0 {
		w.load = 0
		w.port.Post(done)
	}
}

func (w *World) summarised(of csm.Summarise, text string, done csm.Summarised) {
	if w.summary.Job == of.Job && of.Job != 0 {
		w.summary = csm.Summarise{}
		if done.Code == "" {
			w.port.Summary(of, text)
		}
		w.port.Post(done)
	}
}

// do posts what comes of an effect, unless that is the script's.
func (w *World) do(name string, e csm.Event) { w.later(name, func() { w.port.Post(e) }) }

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
	return int64(w.clock.Now() / (time.Second / audio.SampleRate))
}

func (w *World) beginUtterance() {
	id := w.port.NewUtterance()
	w.utterances = append(w.utterances, utterance{id: id, open: true})
	w.port.Post(csm.SpeechStarted{Epoch: w.epoch(), Utterance: id, Pos: w.position()})
}

// saidIn is how long an utterance is that is told of at once.
const saidIn = time.Second

// stopVoice ends the open utterance, which was longer than the clock tells by
// so much.
func (w *World) stopVoice(longer time.Duration) {
	u := w.openUtterance()
	u.open = false
	w.port.Post(csm.SpeechStopped{Epoch: w.epoch(), Utterance: u.id, Pos: w.position() + samples(longer)})
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
