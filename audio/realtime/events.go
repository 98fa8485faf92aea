package realtime

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// maxItems limits the items with a stored partial transcript, so that a service that
// never finishes items cannot exhaust memory.
const maxItems = 64

// cancelTooLate is the service's reply to a response.cancel that crossed with
// response.done. It is harmless.
const cancelTooLate = "response_cancel_not_active"

// commitEmpty is the service's reply to an input_audio_buffer.commit of less than 100
// ms of audio: nothing was said, or the service had already committed the audio by
// itself.
const commitEmpty = "input_audio_buffer_commit_empty"

// Codes of LocalAI. It names no item in them: the words of a turn are refused right after they were
// sent, and turns are transcribed one by one.
const (
	turnDiscarded       = "transcription_discarded" // what sounded like speech was none
	transcriptionFailed = "transcription_failed"
	speakerRefused      = "speaker_not_authorized"
)

// spokenFailures are LocalAI's codes of a response that broke off, which no response.done follows.
var spokenFailures = []string{"tts_error", "prediction_failed", "inference_failed"}

// sessionExpired announces that the service is about to close the session.
const sessionExpired = "session_expired"

// onEvent handles one event. Events that cannot be parsed or lack required members are
// counted and ignored; so are unknown types, which the protocol allows.
func (l *loop) onEvent(data []byte, now time.Time) {
	if l.live != nil {
		l.onLive(data, now)
		return
	}
	if e, ok := decode(data); !ok || !l.dispatch(e, now) {
		l.count.malformed.Add(1)
	}
}

// decode parses an event. A member of an unexpected type counts as absent, because
// different events use the same name for different things.
func decode(data []byte) (e serverEvent, ok bool) {
	err := json.Unmarshal(data, &e)
	var mistyped *json.UnmarshalTypeError
	return e, e.Type != "" && (err == nil || errors.As(err, &mistyped))
}

func (l *loop) dispatch(e serverEvent, now time.Time) (ok bool) {
	switch e.Type {
	case "session.created", "session.updated":
		l.onSession(e, now)
	case "error":
		l.onError(e.Error, now)
	case "input_audio_buffer.speech_started":
		if l.unnamed && e.ItemID == "" {
			e.ItemID = l.turns.begin()
		}
		if e.ItemID == "" {
			return false
		}
		l.handler.SpeechStarted(e.ItemID, position(e.AudioStartMs))
	case "input_audio_buffer.speech_stopped":
		if l.unnamed && e.ItemID == "" {
			e.ItemID = l.turns.open
		}
		if e.ItemID == "" {
			return false
		}
		l.handler.SpeechStopped(e.ItemID, position(e.AudioEndMs))
	case "input_audio_buffer.committed":
		return l.committed(e.ItemID)
	case "conversation.item.input_audio_transcription.delta",
		"conversation.item.input_audio_transcription.settled",
		"conversation.item.input_audio_transcription.completed",
		"conversation.item.input_audio_transcription.failed":
		return l.onTranscription(e)
	default:
		return l.onResponse(e, now)
	}
	return true
}

// commit ends an utterance. The service answers commits in order.
func (l *loop) commit(utterance uint64, end int64, found bool) {
	if l.cfg.TurnDetection.Type == NoDetection {
		if l.commits = append(l.commits, utterance); len(l.commits) > maxItems {
			l.commits = l.commits[1:]
		}
	}
	l.input(inputCommit(utterance, end, found, l.cfg.Extensions))
}

// input sends an event about the audio that was sent before it. While the network is down that audio
// is late too, so the event waits, unless it names the audio.
func (l *loop) input(e clientEvent) {
	if !l.cfg.Extensions && (l.path.underWay() || len(l.late) > 0) {
		l.late = append(l.late, e)
		return
	}
	l.post(e)
}

// lateAfter is how long after an outage the audio of it has been sent again.
const lateAfter = 500 * time.Millisecond

// sendLate sends what waited for the network, and the audio that comes before it.
func (l *loop) sendLate(now time.Time) {
	switch {
	case len(l.late) == 0:
	case l.path.underWay():
		l.lateAt = time.Time{}
	case l.lateAt.IsZero():
		l.lateAt = now.Add(lateAfter)
	case !now.Before(l.lateAt):
		for _, e := range l.late {
			l.post(e)
		}
		l.late, l.lateAt = nil, time.Time{}
	}
}

// committed handles the item of the oldest commit without an answer.
func (l *loop) committed(item string) bool {
	if item == "" {
		return false
	}
	l.turns.commit(item)
	if len(l.commits) > 0 {
		utterance := l.commits[0]
		l.commits = l.commits[1:]
		l.handler.InputCommitted(utterance, item)
	}
	return true
}

// onTranscription handles transcripts of the user.
func (l *loop) onTranscription(e serverEvent) bool {
	if e.ItemID == "" {
		return false
	}
	item := l.turns.of(e.ItemID)
	switch e.Type {
	case "conversation.item.input_audio_transcription.delta":
		if len(l.partial) >= maxItems {
			clear(l.partial)
		}
		l.partial[item] += e.Delta
		l.handler.PartialTranscript(item, l.partial[item])
	case "conversation.item.input_audio_transcription.settled":
		if h, ok := l.handler.(SettledHandler); ok {
			h.SettledTranscript(item, Settled{Transcript{Text: e.Transcript, Answer: e.Answer}, position(e.AudioEndMs), e.Stop, e.Complete})
		}
	case "conversation.item.input_audio_transcription.completed":
		l.finished(e.ItemID)
		l.used(true, e.Usage)
		l.handler.FinalTranscript(item, Transcript{e.Transcript, WordProbs(e.Transcript, e.Logprobs), e.Answer, e.Joined})
	default:
		l.finished(e.ItemID)
		if e.Error.Type == turnDiscarded {
			l.handler.FinalTranscript(item, Transcript{})
			break
		}
		l.handler.TranscriptFailed(item, safeCode(e.Error.Code, safeCode(e.Error.Type, "transcriptionFailed")))
	}
	return true
}

// finished forgets what was heard of an item so far.
func (l *loop) finished(item string) { delete(l.partial, l.turns.finish(item)) }

// onResponse handles events about the service's speech.
func (l *loop) onResponse(e serverEvent, now time.Time) bool {
	switch e.Type {
	case "response.created":
		if e.Response.ID == "" {
			return false
		}
		l.speech.created(e.Response.ID, e.Response.Metadata, now)
	case "response.done":
		if e.Response.ID == "" {
			return false
		}
		l.used(false, e.Response.Usage)
		if l.speech.done(e.Response.ID, doneCode(e.Response), now) {
			l.voice.push(sound{response: e.Response.ID, ends: true}, now)
		}
	case "response.output_audio.delta":
		return l.speech.find(e.ResponseID) == nil || l.voice.push(sound{response: e.ResponseID, delta: e.Delta}, now)
	case "response.output_audio_transcript.delta":
		l.speech.alive(e.ResponseID, now)
		l.speech.saying(e.ResponseID, e.Delta, now)
	case "response.output_audio_transcript.done":
		if e.ResponseID == "" {
			return false
		}
		l.speech.transcript(e.ResponseID, e.Transcript, now)
	case "output_audio_buffer.started":
		l.speech.announce()
	case "output_audio_buffer.stopped":
		l.speech.stopped(e.ResponseID, now)
	case "output_audio_buffer.cleared":
		l.speech.cleared(now)
	}
	return true
}

// onError maps an error event: it concerns the session update while dialling, a
// segment, or nothing that is pending.
func (l *loop) onError(e serviceError, now time.Time) {
	if e.Code == cancelTooLate {
		return
	}
	utterance, ok := utteranceOfEvent(e.EventID)
	if !ok && e.Code == commitEmpty && len(l.commits) > 0 {
		utterance, ok = l.commits[0], true // the service does not name it
	}
	if ok {
		l.commits = slices.DeleteFunc(l.commits, func(u uint64) bool { return u == utterance })
		l.handler.InputEmpty(utterance)
	}
	if e.Code == commitEmpty {
		return
	}
	if e.Code == sessionExpired {
		l.fail(&Error{Code: CodeSessionExpired, Retryable: true, Message: "the session reached the maximum duration of the service; connect again"})
		return
	}
	if e.Code == speakerRefused {
		l.refused()
		return
	}
	l.count.serviceErrors.Add(1)
	code := safeCode(e.Code, safeCode(e.Type, "unknown"))
	l.log.Warn().Str("code", code).Msg("the realtime service reported an error")
	if !l.ready && (e.EventID == sessionEventID || e.EventID == "") {
		if known := refusals[code]; known != "" {
			l.fail(&Error{Code: known, Message: "session: the service reported " + code + "; " + remedy(known)})
			return
		}
		if l.included && (e.Param == "" || strings.HasPrefix(e.Param, "session.include")) {
			l.included, l.rejected = false, code
			updates := sessionUpdates(l.cfg, false)
			l.post(updates[len(updates)-1])
			return
		}
		l.fail(protocolError("session.update: refused (%s)", code))
		return
	}
	seg, ok := segmentOfEvent(e.EventID)
	switch {
	case ok:
		l.speech.refused(seg, code, now)
	case l.unnamed && code == transcriptionFailed:
		turn := l.turns.fail()
		delete(l.partial, turn)
		l.handler.TranscriptFailed(turn, code)
	case l.unnamed && slices.Contains(spokenFailures, code):
		l.speech.broke(code, now)
	}
}

// refused handles that the service does not accept the speaker of the turn that it transcribed last.
func (l *loop) refused() {
	l.log.Info().Msg("the service does not accept the speaker")
	if h, ok := l.handler.(SpeakerHandler); ok {
		h.SpeakerRefused(l.turns.last)
	}
}

// doneCode returns "" for a completed response, else why it did not complete.
func doneCode(r response) string {
	switch r.Status {
	case "completed", "":
		return ""
	case "cancelled":
		return CodeSpeechCutShort
	}
	var details struct {
		Reason string `json:"reason"`
		Error  struct {
			Code string `json:"code"`
			Type string `json:"type"`
		} `json:"error"`
	}
	_ = json.Unmarshal(r.StatusDetails, &details) // may be absent
	return safeCode(details.Error.Code, safeCode(details.Error.Type, safeCode(details.Reason, CodeSpeechCutShort)))
}

func position(ms int64) int64 {
	return max(0, audio.Samples(time.Duration(ms)*time.Millisecond))
}
