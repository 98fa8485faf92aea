package realtime

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// TestAzureNeedsATranscriptionDeployment: azure identifies models only by the name of a
// deployment, which has no default.
func TestAzureNeedsATranscriptionDeployment(t *testing.T) {
	f := newFakeService(t)
	cfg := f.config(Azure)
	cfg.TranscriptionModel = ""
	_, err := Dial(t.Context(), cfg, newRecorder())
	var e *Error
	if !errors.As(err, &e) || e.Retryable || !strings.Contains(e.Message, "deployment") {
		t.Errorf("got %v", err)
	}
	if n := len(f.seen()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

// TestLocalAIVoiceIsSetBeforeItHears: localai accepts a voice only in a realtime
// session, so the voice is set first; the call is established when the second update is
// answered.
func TestLocalAIVoiceIsSetBeforeItHears(t *testing.T) {
	f := newFakeService(t)
	connect(t, f, settings(f.config(LocalAI)))
	for _, want := range []string{`{"type":"realtime","audio":{"output":{"voice":"marin"}}}`, transcriptionWant} {
		b, _ := json.Marshal(receive(t, f.session, "session.update")["session"])
		jsonEqual(t, "session.update", b, want)
	}
}

// TestExtensions: what only the embedded server reports is requested if it is wanted, and passed
// on: the text at a pause, how well a sound fits the expected answers, and joined transcripts.
func TestExtensions(t *testing.T) {
	f := newFakeService(t)
	cfg := f.config(OpenAI)
	cfg.Extensions = true
	_, r := connect(t, f, cfg)
	include, _ := json.Marshal(receive(t, f.session, "session.update")["session"].(map[string]any)["include"])
	if want := `["` + includeLogprobs + `","` + includeSettled + `","` + includeAnswer + `","` + includeJoined + `"]`; string(include) != want {
		t.Errorf("the session includes %s, want %s", include, want)
	}
	for event, want := range map[string]string{
		`"type":"conversation.item.input_audio_transcription.settled","item_id":"i","transcript":"so far"`:                                                                      `settled i "so far"`,
		`"type":"conversation.item.input_audio_transcription.completed","item_id":"i","transcript":"Stompin.","answer":{"phrase":"Stop.","lead":6.5,"behind":2}`:                `final i "Stompin." {Phrase:Stop. Lead:6.5 Behind:2}`,
		`"type":"conversation.item.input_audio_transcription.settled","item_id":"j","transcript":"Stompin.","answer":{"phrase":"Stop.","lead":6.5,"behind":2}`:                  `settled j "Stompin." {Phrase:Stop. Lead:6.5 Behind:2}`,
		`"type":"conversation.item.input_audio_transcription.completed","item_id":"j","transcript":"Failing.","joined":{"transcript":"Which tests are failing?","items":["i"]}`: `final j "Failing." joined to [i]: "Which tests are failing?"`,
	} {
		f.emit("{" + event + "}")
		if got := receive(t, r.calls, "a call"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestServiceWithoutLogprobs: if a service does not support probabilities of a
// transcript, the client repeats the request without them.
func TestServiceWithoutLogprobs(t *testing.T) {
	f := newFakeService(t)
	f.mute = true
	go func() {
		first := <-f.session
		f.emit(`{"type":"error","event_id":"e","error":{"type":"invalid_request_error","code":"unknown_parameter","message":"no","param":"session.include","event_id":"session"}}`)
		second := <-f.session
		if _, ok := first["session"].(map[string]any)["include"]; !ok {
			t.Error("the first session includes no probabilities")
		}
		if include, ok := second["session"].(map[string]any)["include"]; ok {
			t.Errorf("the second session includes %v", include)
		}
		f.emit(`{"type":"session.updated","session":{"type":"realtime"}}`)
	}()
	c, _ := connect(t, f, f.config(OpenAI))
	if n := c.Stats().ServiceErrors; n != 1 {
		t.Errorf("%d errors are counted", n)
	}
}
