package realtime

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	oai "github.com/openai/openai-go/v3/realtime"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// maxItems bounds the items whose partial transcript is kept; a service that
// never finishes one must not grow the daemon.
const maxItems = 64

// cancelTooLate is the service's answer to a response.cancel that crossed with
// the response.done on the way: nothing is wrong.
const cancelTooLate = "response_cancel_not_active"

// commitEmpty is the service's answer to an input_audio_buffer.commit of less than
// 100 ms of audio: nothing was said, or the service committed it by itself first.
const commitEmpty = "input_audio_buffer_commit_empty"

// sessionExpired is the service's word that it is about to close the session.
const sessionExpired = "session_expired"

// decode reads a server event as the given type of the public reference.
func decode[T any](data []byte) (v T, ok bool) {
	return v, json.Unmarshal(data, &v) == nil
}

// onEvent takes one event of the data channel. One that cannot be read, or
// lacks what it is about, is counted and ignored; so are unknown types, which
// the protocol allows.
func (l *loop) onEvent(data []byte, now time.Time) {
	var head struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(data, &head) != nil || head.Type == "" || !l.dispatch(head.Type, data, now) {
		l.count.malformed.Add(1)
	}
}

func (l *loop) dispatch(kind string, data []byte, now time.Time) (ok bool) {
	switch kind {
	case "session.created", "session.updated":
		l.onSession(kind, data, now)
		return true
	case "error":
		return l.onError(data, now)
	case "input_audio_buffer.speech_started":
		e, ok := decode[oai.InputAudioBufferSpeechStartedEvent](data)
		if ok = ok && e.ItemID != ""; ok {
			l.handler.SpeechStarted(e.ItemID, position(e.AudioStartMs))
		}
		return ok
	case "input_audio_buffer.speech_stopped":
		e, ok := decode[oai.InputAudioBufferSpeechStoppedEvent](data)
		if ok = ok && e.ItemID != ""; ok {
			l.handler.SpeechStopped(e.ItemID, position(e.AudioEndMs))
		}
		return ok
	case "conversation.item.input_audio_transcription.delta",
		"conversation.item.input_audio_transcription.completed",
		"conversation.item.input_audio_transcription.failed":
		return l.onTranscription(kind, data)
	default:
		return l.onResponse(kind, data, now)
	}
}

// onTranscription takes what the user said.
func (l *loop) onTranscription(kind string, data []byte) bool {
	switch kind {
	case "conversation.item.input_audio_transcription.delta":
		e, ok := decode[oai.ConversationItemInputAudioTranscriptionDeltaEvent](data)
		if !ok || e.ItemID == "" {
			return false
		}
		if len(l.partial) >= maxItems {
			clear(l.partial)
		}
		l.partial[e.ItemID] += e.Delta
		l.handler.PartialTranscript(e.ItemID, l.partial[e.ItemID])
	case "conversation.item.input_audio_transcription.completed":
		e, ok := decode[oai.ConversationItemInputAudioTranscriptionCompletedEvent](data)
		if !ok || e.ItemID == "" {
			return false
		}
		delete(l.partial, e.ItemID)
		l.handler.FinalTranscript(e.ItemID, e.Transcript, confidence(e.Logprobs))
	default:
		e, ok := decode[oai.ConversationItemInputAudioTranscriptionFailedEvent](data)
		if !ok || e.ItemID == "" {
			return false
		}
		delete(l.partial, e.ItemID)
		l.handler.TranscriptFailed(e.ItemID, safeCode(e.Error.Code, safeCode(e.Error.Type, "transcriptionFailed")))
	}
	return true
}

// confidence is the mean probability of what a transcript is made of, 1 where the
// service gives none.
func confidence(of []oai.LogProbProperties) float64 {
	if len(of) == 0 {
		return 1
	}
	var sum float64
	for _, p := range of {
		sum += min(math.Exp(p.Logprob), 1)
	}
	return sum / float64(len(of))
}

// onResponse takes what concerns the speech of the service.
func (l *loop) onResponse(kind string, data []byte, now time.Time) bool {
	switch kind {
	case "response.created":
		e, ok := decode[oai.ResponseCreatedEvent](data)
		if !ok || e.Response.ID == "" {
			return false
		}
		l.speech.created(e.Response.ID, e.Response.Metadata, now)
	case "response.done":
		e, ok := decode[oai.ResponseDoneEvent](data)
		if !ok || e.Response.ID == "" {
			return false
		}
		l.speech.done(e.Response.ID, doneCode(e.Response), now)
	case "response.output_audio_transcript.done":
		e, ok := decode[oai.ResponseAudioTranscriptDoneEvent](data)
		if !ok || e.ResponseID == "" {
			return false
		}
		l.speech.transcript(e.ResponseID, e.Transcript, now)
	case "output_audio_buffer.started":
		l.speech.announce()
	case "output_audio_buffer.stopped":
		e, ok := decode[oai.RealtimeServerEventOutputAudioBufferStopped](data)
		if !ok {
			return false
		}
		l.speech.stopped(e.ResponseID, now)
	case "output_audio_buffer.cleared":
		l.speech.cleared(now)
	}
	return true
}

// onError maps an error event: about the session update while dialling, about
// a segment, or about something nobody waits for.
func (l *loop) onError(data []byte, now time.Time) bool {
	e, ok := decode[oai.RealtimeErrorEvent](data)
	if !ok {
		return false
	}
	if e.Error.Code == cancelTooLate {
		return true
	}
	if utterance := uint64(0); e.Error.Code == commitEmpty {
		if _, err := fmt.Sscanf(e.Error.EventID, commitEventFormat, &utterance); err == nil {
			l.handler.InputEmpty(utterance)
		}
		return true
	}
	if e.Error.Code == sessionExpired {
		l.fail(&Error{Code: CodeSessionExpired, Retryable: true, Message: "the session reached the maximum duration of the service; connect again"})
		return true
	}
	l.count.serviceErrors.Add(1)
	code := safeCode(e.Error.Code, safeCode(e.Error.Type, "unknown"))
	l.log.Warn().Str("code", code).Msg("the realtime service reported an error")
	if !l.ready && (e.Error.EventID == sessionEventID || e.Error.EventID == "") {
		if l.included && (e.Error.Param == "" || strings.HasPrefix(e.Error.Param, "session.include")) {
			l.included = false
			updates := sessionUpdates(l.cfg, false)
			return l.post(updates[len(updates)-1])
		}
		l.fail(protocolError("session.update: refused (%s)", code))
		return true
	}
	if seg, ok := segmentOfEvent(e.Error.EventID); ok {
		l.speech.refused(seg, code, now)
	}
	return true
}

// doneCode is empty for a completed response, else why it was not.
func doneCode(r oai.RealtimeResponse) string {
	switch r.Status {
	case oai.RealtimeResponseStatusCompleted, "":
		return ""
	case oai.RealtimeResponseStatusCancelled:
		return CodeSpeechCutShort
	}
	// The reference has an object here, the library's type a string.
	var details struct {
		Reason string `json:"reason"`
		Error  struct {
			Code string `json:"code"`
			Type string `json:"type"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(r.JSON.StatusDetails.Raw()), &details) // absent is fine
	return safeCode(details.Error.Code, safeCode(details.Error.Type, safeCode(details.Reason, CodeSpeechCutShort)))
}

func position(ms int64) int64 {
	return max(0, audio.Samples(time.Duration(ms)*time.Millisecond))
}
