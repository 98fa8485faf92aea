package headless

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Reasons why a statement is invalid in the current state.
var (
	errSilent    = errors.New("the user does not speak; vad.start comes first")
	errNoWords   = errors.New("no words are awaited; vad.start comes first")
	errSpeaks    = errors.New("the user speaks already; vad.end comes first")
	errUnasked   = errors.New("no request is live; it is the client that answers where it has capabilities.copilot")
	errNoSegment = errors.New("nothing is to be spoken")
	errIdle      = errors.New("there is no conversation; await conversation/start comes first")
	errUnwanted  = errors.New("it was not asked for")
	errNoSearch  = errors.New("no tools are being looked for")
	errNoCall    = errors.New("no tool runs; the client runs those of its own assistant")
	errNoLoad    = errors.New("no model is being loaded")
	errNoWake    = errors.New("the wake phrase is not listened for: it is off, muted, or a conversation runs")
	errNoSummary = errors.New("no summary is asked for")
)

// play executes a statement. Ids come from the live state.
func (w *World) play(st statement) error {
	if st.verb == "auto" {
		w.auto[st.name] = auto{off: st.off, delay: st.delay}
		if st.name == "speech" {
			w.length, w.voice.ByHand = st.hold, st.off || st.noEnd
		}
		return nil
	}
	if st.verb == "wake" {
		if !w.mic.listensForPhrase() {
			return errNoWake
		}
		w.port.Post(csm.UserStart{})
		return nil
	}
	if w.state().Instance == 0 {
		return errIdle
	}
	switch st.verb {
	case "say", "vad.start", "vad.pause", "vad.resume", "vad.end", "stt.partial", "stt.final", "stt.failed":
		return w.hear(st)
	case "copilot.delta", "copilot.done", "copilot.failed", "copilot.tool":
		return w.answer(st)
	case "tts.bufferReady", "tts.played", "tts.drained", "tts.flushed", "tts.failed":
		return w.speak(st)
	}
	if e, ok := endings[st.verb]; ok {
		return w.ending(st, e.of, e.how)
	}
	if code, ok := faults[st.verb]; ok {
		w.port.Faulty(code)
		return nil
	}
	w.fact(st)
	return nil
}

// endings maps the statements that end a request to the effect that started it.
var endings = map[string]struct {
	of  string
	how world.Outcome
}{
	"session.ready": {of: "ActivateSession"}, "session.failed": {"ActivateSession", world.Failed}, "session.closed": {of: "DeactivateSession"},
	"audio.primed": {of: "OpenAudio"}, "audio.failed": {"OpenAudio", world.Failed}, "audio.ready": {of: "StartCapture"}, "audio.closed": {of: "CloseAudio"},
	"conn.ready": {of: "OpenConnection"}, "conn.failed": {"OpenConnection", world.Failed}, "conn.closed": {of: "CloseConnection"},
	"tools.found": {of: "SearchTools"}, "tools.failed": {"SearchTools", world.Failed},
	"tool.done": {of: "CallTool"}, "tool.failed": {"CallTool", world.Failed},
	"model.progress": {of: "LoadModel"}, "model.ready": {of: "LoadModel"}, "model.failed": {"LoadModel", world.Failed},
	"summary.done": {of: "Summarise"}, "summary.failed": {"Summarise", world.Failed},
}

// devices are the names of the devices in scripts.
var devices = map[string]csm.Device{"": csm.BothDevices, "microphone": csm.Microphone, "speaker": csm.Speaker}

// faults are what the microphone may be found to have.
var faults = map[string]protocol.ErrorCode{
	"microphone.muted": protocol.CodeMicrophoneMuted, "microphone.silent": protocol.CodeMicrophoneSilent,
	"microphone.clips": protocol.CodeMicrophoneClips, "microphone.quiet": protocol.CodeMicrophoneQuiet, "microphone.works": "",
}

func (w *World) ending(st statement, of string, how world.Outcome) error {
	r := w.asked[of]
	if r == nil {
		return cmp.Or(errands[of], errUnwanted)
	}
	if load, ok := r.Effect.(csm.LoadModel); ok && st.verb == "model.progress" {
		w.port.Post(csm.ModelProgress{Load: load.Load, Percent: st.share})
		return nil
	}
	w.end(r, how, st.code, st.text)
	return nil
}

// fact executes a spontaneous event of the devices or the service.
func (w *World) fact(st statement) {
	instance := w.state().Instance
	w.port.Post(map[string]csm.Event{
		"session.expiring": csm.SessionExpiring{Instance: instance},
		"session.renewal":  csm.SessionRenewal{Instance: instance},
		"session.renewed":  csm.SessionRenewed{Instance: instance},
		"device.lost":      csm.AudioLost{Instance: instance, Device: devices[st.name]},
		"device.restored":  csm.AudioRestored{Instance: instance, Device: devices[st.name]},
		"conn.lost":        csm.ConnLost{Epoch: w.epoch(), Code: csm.CodeConnectionLost},
	}[st.verb])
}

// hear executes a statement about the user's voice or its transcript.
func (w *World) hear(st statement) error {
	switch st.verb {
	case "say":
		if err := w.hear(statement{verb: "vad.start"}); err != nil {
			return err
		}
		w.settle()
		w.stopVoice(saidIn)
		w.settle()
		return w.hear(statement{verb: "stt.final", text: st.text})
	case "vad.start":
		if w.openUtterance() != nil {
			return errSpeaks
		}
		w.beginUtterance()
		return nil
	case "vad.pause", "vad.resume", "vad.end":
		u := w.openUtterance()
		if u == nil {
			return errSilent
		}
		if st.verb == "vad.pause" {
			w.port.Post(csm.SpeechPaused{Epoch: w.epoch(), Utterance: u.id, Pos: w.position()})
			return nil
		}
		if st.verb == "vad.resume" {
			w.port.Post(csm.SpeechResumed{Epoch: w.epoch(), Utterance: u.id, Pos: w.position()})
			return nil
		}
		w.stopVoice(0)
		return nil
	}
	if len(w.utterances) == 0 {
		return errNoWords
	}
	oldest := w.utterances[0].id
	switch st.verb {
	case "stt.partial":
		// Applies to the utterance in progress, or else to the last one.
		w.port.Post(w.port.HeardPartly(w.epoch(), w.utterances[len(w.utterances)-1].id, st.text))
		return nil
	case "stt.final":
		w.port.Post(w.port.Heard(w.epoch(), oldest, daemon.Certain(st.text)))
	case "stt.failed":
		w.port.Post(csm.RecognitionLost{Epoch: w.epoch(), Utterance: oldest, Code: st.code})
	}
	w.utterances = w.utterances[1:]
	return nil
}

// answer executes a statement about the assistant's answer.
func (w *World) answer(st statement) error {
	if w.request == 0 {
		return errUnasked
	}
	switch st.verb {
	case "copilot.delta":
		w.port.Answer(w.request, w.round, st.text, false)
	case "copilot.tool":
		call := copilot.ToolCall{ID: fmt.Sprintf("script-%d", st.line), Name: st.name, Input: []byte(st.text)}
		if st.tame {
			call.Destructive = new(bool)
		}
		w.port.Post(w.port.ToolCall(w.request, w.round, call))
	case "copilot.done":
		w.endAnswer(csm.CopilotDone{Request: w.request, Round: w.round})
	case "copilot.failed":
		w.endAnswer(csm.CopilotDone{Request: w.request, Round: w.round, Code: st.code})
	}
	return nil
}

// speak executes a statement about the assistant's voice.
func (w *World) speak(st statement) error {
	v, ok := &w.voice, true
	var f csm.Speak
	switch st.verb {
	case "tts.flushed":
		w.port.Post(csm.SpeechFlushed{Gen: v.Generation() - min(v.Generation(), 1)})
	case "tts.bufferReady":
		if f, ok = v.Unbuffered(); ok {
			v.Buffer(f)
		}
	case "tts.played":
		ok = v.Played()
	case "tts.drained":
		if f, ok = v.Drain(); ok {
			w.port.Post(csm.SpeechDrained{Gen: f.Gen, Seq: f.Segment.Seq})
		}
	case "tts.failed":
		if f, ok = v.Drop(); ok {
			w.port.Post(csm.SpeechFailed{Gen: f.Gen, Seq: f.Segment.Seq, Code: st.code})
		}
	}
	if !ok {
		return errNoSegment
	}
	return nil
}
