//go:build cgo

package localrealtime

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
)

// goldenLive has one event of each Live API form that the server sends.
// internal/official parses them with the types of the public client library.
const goldenLive = "testdata/live.jsonl"

// liveSamples returns events of each form, with members filled in.
func liveSamples() []any {
	head := func(kind string) liveHead { return liveHead{Type: kind, EventID: "event_1"} }
	answer := func(kind string) liveHead { return liveHead{kind, "event_1", "mine"} }
	delta := "hello"
	s := liveSession{
		ID: "rtc_1", ExpiresAt: 1_800_000_000, Model: "gpt-live-1", Status: "active", Instructions: "Say it.",
		Delegation: liveDelegation{"client", new(int64(5000))}, Audio: liveAudio{Format: &audioFormat{"audio/pcm", 24000}},
	}
	s.Audio.Output.Voice = "marin"
	delegated := liveDelegationEvent{liveHead: head("session.delegation.created"), OffsetMs: 2100}
	delegated.Delegation.ID, delegated.Delegation.Type, delegated.Delegation.Target = "dlg_1", "delegation", "client"
	return []any{
		liveSessionEvent{liveHead: head("session.started"), Session: s},
		liveSessionEvent{liveHead: answer("session.updated"), Session: s},
		liveSessionEvent{liveHead: answer("session.closed"), Session: s, Reason: "close_requested", Usage: &liveUsage{2.5}},
		liveSessionEvent{liveHead: head("session.closed"), Session: s, Reason: "expired", Usage: &liveUsage{2.5}},
		liveSpanEvent{head("session.input_transcript.delta"), &delta, 1200, 1600},
		liveSpanEvent{head("session.output_transcript.delta"), &delta, 1200, 1600},
		liveSpanEvent{answer("session.commentary.appended"), nil, 1600, 1600},
		liveSpanEvent{answer("session.thinking.appended"), nil, 1600, 1600},
		liveSpanEvent{answer("session.instructions.appended"), nil, 1600, 1600},
		liveSpanEvent{head("session.commentary.appended"), nil, 1600, 1600},
		delegated,
		liveUsageEvent{head("session.usage.updated"), liveUsage{2.5}},
		liveAudioEvent{"session.output_audio.delta", "AAAA"},
		liveErrorEvent{answer("error"), liveError{"invalid_request_error", "invalid_value", "no", "content", "mine"}},
		liveErrorEvent{head("error"), liveError{Type: "server_error", Code: "server_error", Message: "no"}},
	}
}

// live connects to a Live session over WebRTC.
func (h *harness) live(t *testing.T) *peer {
	t.Helper()
	p, offer := newPeer(t)
	p.live = true
	body, err := json.Marshal(map[string]any{
		"session":   map[string]any{"model": "gpt-live-1", "delegation": map[string]any{"type": "client", "acknowledgement_delay_ms": 5000}},
		"transport": map[string]string{"type": "webrtc", "sdp": offer},
	})
	if err != nil {
		t.Fatal(err)
	}
	res, answer := h.do(t, http.MethodPost, "/v1/live/sessions", testKey, "application/json", strings.NewReader(string(body)))
	var made struct {
		Session   struct{ ID string }
		Transport struct{ Type, SDP string }
	}
	if err := json.Unmarshal(answer, &made); err != nil || res.StatusCode != http.StatusCreated || made.Transport.Type != "webrtc" {
		t.Fatalf("%s: %s", res.Status, answer)
	}
	p.location, p.server = "/v1/live/sessions/"+made.Session.ID, h
	p.accept(made.Transport.SDP)
	if s := p.next("session.started").Session; s.ID != made.Session.ID || s.ExpiresAt == 0 {
		t.Errorf("started %+v", s)
	}
	return p
}

// heardLive returns the user's words from the events.
func heardLive(all []event) (words string) {
	for _, e := range all {
		if e.Type == "session.input_transcript.delta" {
			words += e.Delta
		}
	}
	return words
}

// A turn of the user is delegated once, preceded by its words; the answer is spoken
// verbatim; the user's voice interrupts it, and later commentary is spoken again.
func TestLiveDelegatesATurnAndSpeaksTheAnswer(t *testing.T) {
	h := start(t)
	p := h.live(t)
	const pace = 2 * time.Millisecond
	p.say(append(tone(600, listenRate), make([]int16, 3*listenRate)...), pace)
	turn := p.until("session.delegation.created")
	if words := heardLive(turn); !strings.HasPrefix(words, "one two") {
		t.Errorf("heard %q", words)
	}
	d := turn[len(turn)-1]
	if d.Delegation.ID == "" || d.Delegation.Target != "client" {
		t.Errorf("delegated %+v", d)
	}
	if usage := p.next("session.usage.updated"); usage.EventID == "" {
		t.Errorf("%+v", usage)
	}

	p.send(map[string]any{"type": "session.commentary.append", "delegation_id": d.Delegation.ID, "content": "five words are said here", "event_id": "mine"})
	if e := p.next("session.commentary.appended"); e.ClientEventID != "mine" || e.EndMs < e.StartMs {
		t.Errorf("%+v", e)
	}
	if e := p.next("session.output_transcript.delta"); e.Delta != "five words are said here" {
		t.Errorf("spoken %+v", e)
	}
	p.heard(5 * fakeWordTime / 20)

	p.send(map[string]any{"type": "session.commentary.append", "delegation_id": d.Delegation.ID, "content": "on and on wait"}) // it waits until interrupted
	p.until("session.output_transcript.delta")
	p.say(append(tone(600, listenRate), make([]int16, 3*listenRate)...), pace)
	if again := p.until("session.delegation.created"); again[len(again)-1].Delegation.ID == d.Delegation.ID {
		t.Error("the second turn has the delegation of the first")
	}
	p.until("session.usage.updated")
	p.send(map[string]any{"type": "session.commentary.append", "delegation_id": nil, "content": "back again"})
	if all := p.until("session.output_transcript.delta"); all[len(all)-1].Delta != "back again" {
		t.Errorf("spoken %+v", all[len(all)-1])
	}
}

// Every client event gets one reply, and an invalid one gets the reason.
func TestLiveAnswersEachEventOfTheClient(t *testing.T) {
	h := start(t)
	p := h.live(t)
	for _, c := range []struct{ event, answer, code string }{
		{`{"type":"session.thinking.append","delegation_id":null,"content":"two of three files are read","event_id":"e"}`, "session.thinking.appended", ""},
		{`{"type":"session.instructions.append","delegation_id":null,"content":"be brief","event_id":"e"}`, "session.instructions.appended", ""},
		{`{"type":"session.update","session":{"delegation":{"type":"client","acknowledgement_delay_ms":100}},"event_id":"e"}`, "session.updated", ""},
		{`{"type":"session.update","session":{"delegation":{"type":"responses"}},"event_id":"e"}`, "error", "invalid_value"},
		{`{"type":"session.commentary.append","delegation_id":null,"content":"","event_id":"e"}`, "error", "invalid_value"},
		{`{"type":"session.commentary.append","delegation_id":null,"content":"` + strings.Repeat("x", 2001) + `","event_id":"e"}`, "error", "invalid_value"},
		{`{"type":"session.start","session":{"model":"m"},"event_id":"e"}`, "error", "invalid_value"},
		{`{"type":"session.input_audio.append","audio":"AAAA","event_id":"e"}`, "error", "unsupported_event"},
		{`{"type":"response.create","event_id":"e"}`, "error", "unsupported_event"},
	} {
		p.sendJSON(c.event)
		if e := p.next(c.answer); e.ClientEventID != "e" || e.Error.Code != c.code {
			t.Errorf("%s is answered with %+v", c.event, e)
		}
	}
	p.sendJSON(`no json`)
	if e := p.next("error"); e.Error.Code != "invalid_json" {
		t.Errorf("%+v", e)
	}
	p.sendJSON(`{"type":"session.close","event_id":"e"}`)
	if e := p.next("session.closed"); e.Reason != "close_requested" || e.ClientEventID != "e" {
		t.Errorf("%+v", e)
	}
}

// A session that reaches its limit is closed with the reason.
func TestLiveSessionExpires(t *testing.T) {
	h := start(t)
	p := h.live(t)
	c := h.callOf(p)
	c.post(func() { c.take(machine.Event{Kind: machine.Expired}, news{why: sessionExpired(time.Hour)}) })
	if e := p.next("session.closed"); e.Reason != "expired" {
		t.Errorf("%+v", e)
	}
}

// Unsupported Live sessions are rejected before they start.
func TestLiveRefusesWhatItCannotBe(t *testing.T) {
	h := start(t)
	_, offer := newPeer(t)
	sdp, _ := json.Marshal(offer)
	for _, c := range []struct {
		body, code string
		status     int
	}{
		{`{"session":{},"transport":{"type":"webrtc","sdp":` + string(sdp) + `}}`, "missing_required_parameter", http.StatusBadRequest},
		{`{"session":{"model":"m","delegation":{"type":"responses"}},"transport":{"type":"webrtc","sdp":` + string(sdp) + `}}`, "invalid_value", http.StatusBadRequest},
		{`{"session":{"model":"m"},"transport":{"type":"sip","sdp":` + string(sdp) + `}}`, "invalid_value", http.StatusBadRequest},
		{`{"session":{"model":"m"},"transport":{"type":"webrtc","sdp":"v=0"}}`, "invalid_offer", http.StatusBadRequest},
		{`no json`, "invalid_json", http.StatusBadRequest},
	} {
		if status, code := h.post(t, "/v1/live/sessions", testKey, "application/json", c.body); status != c.status || code != c.code {
			t.Errorf("%s: %d %s", c.body[:min(len(c.body), 60)], status, code)
		}
	}
	if status, code := h.post(t, "/v1/live/sessions", "wrong", "application/json", `{}`); status != http.StatusUnauthorized || code != "invalid_api_key" {
		t.Errorf("a wrong key: %d %s", status, code)
	}
}

// liveSocket opens a WebSocket of the Live API and sends the first event.
func (h *harness) liveSocket(t *testing.T, first string) *peer {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), h.web.URL+"/v1/live/sessions", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + testKey}}})
	if err != nil {
		t.Fatal(err)
	}
	p := readInto(conn, &peer{t: t, ws: conn, live: true})
	p.sendJSON(first)
	return p
}

// Over WebSocket everything is an event. This also holds with a Model, which a Live
// session does not use.
func TestLiveOverWebSocket(t *testing.T) {
	h := start(t, answering(func(_ context.Context, _ Prompt, _ func(string), _ func(FunctionCall)) error {
		t.Error("the model was asked")
		return nil
	}))
	p := h.liveSocket(t, `{"type":"session.start","session":{"model":"gpt-live-1","audio":{"format":{"type":"audio/pcm","rate":16000},"output":{"voice":"marin"}}}}`)
	p.next("session.started")
	for piece := range slices.Chunk(append(tone(600, 16000), make([]int16, 3*16000)...), 1600) {
		p.send(map[string]any{"type": "session.input_audio.append", "audio": base64.StdEncoding.EncodeToString(bytesOf(piece))})
	}
	turn := p.until("session.delegation.created")
	if words := heardLive(turn); !strings.HasPrefix(words, "one two three") {
		t.Errorf("heard %q", words)
	}
	p.next("session.usage.updated")
	p.send(map[string]any{"type": "session.commentary.append", "delegation_id": turn[len(turn)-1].Delegation.ID, "content": "five words are said here"})
	ms := 0
	for ms < 5*fakeWordTime-10 {
		for _, e := range p.until("session.output_audio.delta") {
			if e.Type == "session.output_audio.delta" {
				b, err := base64.StdEncoding.DecodeString(e.Delta)
				if err != nil {
					t.Fatal(err)
				}
				ms += len(b) / 2 / 16
			}
		}
	}
	p.sendJSON(`{"type":"session.close"}`)
	p.until("session.closed")
}

// The first event over WebSocket configures the session.
func TestLiveOverWebSocketBeginsWithItsStart(t *testing.T) {
	h := start(t)
	for _, c := range []struct{ first, code string }{
		{`{"type":"session.commentary.append","delegation_id":null,"content":"hello"}`, "invalid_value"},
		{`{"type":"session.start","session":{"model":""}}`, "missing_required_parameter"},
		{`{"type":"session.start","session":{"model":"m","audio":{"output":{"voice":"nobody"}}}}`, "invalid_value"},
		{`no json`, "invalid_json"},
	} {
		if e := h.liveSocket(t, c.first).next("error"); e.Error.Code != c.code {
			t.Errorf("%s is answered with %+v", c.first, e.Error)
		}
	}
}
