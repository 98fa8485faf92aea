package headless

import (
	"errors"
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Why a statement makes no sense where it stands.
var (
	errSilent    = errors.New("the user does not speak; vad.start comes first")
	errNoWords   = errors.New("no words are awaited; vad.start comes first")
	errSpeaks    = errors.New("the user speaks already; vad.end comes first")
	errUnasked   = errors.New("no request is live; it is the client that answers where it has capabilities.copilot")
	errNoSegment = errors.New("nothing is to be spoken")
	errIdle      = errors.New("there is no conversation; await conversation/start comes first")
	errNoConn    = errors.New("there is no connection")
	errNoSearch  = errors.New("no tools are being looked for")
	errNoCall    = errors.New("no tool runs; the client runs those of its own assistant")
	errNoLoad    = errors.New("no model is being loaded")
	errNoWake    = errors.New("the wake phrase is not listened for: it is off, muted, or a conversation runs")
	errNoSummary = errors.New("no summary is asked for")
)

// play has what a statement says happen. Ids are those of the live state.
func (w *World) play(st statement) error {
	if st.verb == "auto" {
		w.auto[st.name] = auto{off: st.off, delay: st.delay}
		if st.name == "speech" {
			w.voice.length, w.voice.byHand = st.hold, st.off || st.noEnd
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
	case "tools.found", "tools.failed", "tool.done", "tool.failed", "model.progress", "model.ready", "model.failed", "summary.done", "summary.failed":
		return w.errand(st)
	case "tts.bufferReady", "tts.played", "tts.drained", "tts.flushed", "tts.failed":
		return w.speak(st)
	case "conn.ready", "conn.lost", "conn.failed", "conn.closed":
		return w.connect(st)
	}
	instance := w.state().Instance
	w.port.Post(map[string]csm.Event{
		"session.ready":    csm.SessionReady{Instance: instance},
		"session.failed":   csm.SessionFailed{Instance: instance, Code: st.code},
		"session.expiring": csm.SessionExpiring{Instance: instance},
		"session.renewal":  csm.SessionRenewal{Instance: instance},
		"session.renewed":  csm.SessionRenewed{Instance: instance},
		"session.closed":   csm.SessionClosed{Instance: instance},
		"audio.primed":     csm.AudioPrimed{Instance: instance},
		"audio.ready":      csm.AudioReady{Instance: instance},
		"audio.failed":     csm.AudioFailed{Instance: instance, Code: st.code},
		"audio.closed":     csm.AudioClosed{Instance: instance},
		"device.lost":      csm.AudioLost{Instance: instance},
		"device.restored":  csm.AudioRestored{Instance: instance},
	}[st.verb])
	return nil
}

// hear is the user's voice and what is understood of it.
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
		// Of what is being spoken, else of what was spoken last.
		w.port.Post(w.port.HeardPartly(w.epoch(), w.utterances[len(w.utterances)-1].id, st.text))
		return nil
	case "stt.final":
		w.port.Post(w.port.Heard(w.epoch(), oldest, st.text, 1))
	case "stt.failed":
		w.port.Post(csm.RecognitionLost{Epoch: w.epoch(), Utterance: oldest, Code: st.code})
	}
	w.utterances = w.utterances[1:]
	return nil
}

// answer is the assistant's answer.
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

// errand is what comes of a search, a call, a load or a summary.
func (w *World) errand(st statement) error {
	switch {
	case w.search.Request == 0 && (st.verb == "tools.found" || st.verb == "tools.failed"):
		return errNoSearch
	case w.call == 0 && (st.verb == "tool.done" || st.verb == "tool.failed"):
		return errNoCall
	case w.load == 0 && (st.verb == "model.progress" || st.verb == "model.ready" || st.verb == "model.failed"):
		return errNoLoad
	case w.summary.Job == 0 && (st.verb == "summary.done" || st.verb == "summary.failed"):
		return errNoSummary
	}
	switch st.verb {
	case "tools.found":
		w.searched(w.search, csm.ToolSearchDone{Tools: 1})
	case "tools.failed":
		w.searched(w.search, csm.ToolSearchDone{Code: st.code})
	case "tool.done":
		w.called(w.call, st.text, csm.ToolDone{})
	case "tool.failed":
		w.called(w.call, "", csm.ToolDone{Code: st.code})
	case "model.progress":
		w.port.Post(csm.ModelProgress{Load: w.load, Percent: st.share})
	case "model.ready":
		w.loaded(w.load, csm.ModelLoaded{Load: w.load})
	case "model.failed":
		w.loaded(w.load, csm.ModelFailed{Load: w.load, Code: st.code})
	case "summary.done":
		w.summarised(w.summary, st.text, csm.Summarised{Job: w.summary.Job})
	case "summary.failed":
		w.summarised(w.summary, "", csm.Summarised{Job: w.summary.Job, Code: st.code})
	}
	return nil
}

// speak is the assistant's voice.
func (w *World) speak(st statement) error {
	v := &w.voice
	switch st.verb {
	case "tts.flushed":
		w.port.Post(csm.SpeechFlushed{Gen: v.gen - min(v.gen, 1)})
		return nil
	case "tts.bufferReady":
		for _, s := range v.queue {
			if !s.buffered {
				v.buffer(s)
				return nil
			}
		}
		return errNoSegment
	}
	if len(v.queue) == 0 {
		return errNoSegment
	}
	switch st.verb {
	case "tts.played":
		v.played()
	case "tts.drained":
		last := v.queue[len(v.queue)-1]
		v.queue, v.playing = nil, false
		w.port.Post(csm.SpeechDrained{Gen: last.gen, Seq: last.seq})
	case "tts.failed":
		first := v.queue[0]
		v.queue = v.queue[1:]
		w.port.Post(csm.SpeechFailed{Gen: first.gen, Seq: first.seq, Code: st.code})
	}
	return nil
}

// connect is the connection to the service.
func (w *World) connect(st statement) error {
	epoch := w.epoch()
	if epoch == 0 {
		return errNoConn
	}
	switch st.verb {
	case "conn.ready":
		w.port.Post(csm.ConnReady{Epoch: w.dialled})
	case "conn.lost":
		w.port.Post(csm.ConnLost{Epoch: epoch, Code: csm.CodeConnectionLost})
	case "conn.failed":
		w.port.Post(csm.ConnFailed{Epoch: w.dialled, Code: st.code})
	case "conn.closed":
		w.port.Post(w.closing)
	}
	return nil
}
