//go:build cgo

package localrealtime

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// modelFunc is a scripted Model.
type modelFunc func(ctx context.Context, p Prompt, text func(string), call func(FunctionCall)) error

func (f modelFunc) Answer(ctx context.Context, p Prompt, text func(string), call func(FunctionCall)) error {
	return f(ctx, p, text, call)
}

// sentences splits at full stops.
type sentences struct{ rest string }

func (s *sentences) Push(text string) (whole []string) {
	s.rest += text
	for {
		i := strings.Index(s.rest, ".")
		if i < 0 {
			return whole
		}
		whole, s.rest = append(whole, s.rest[:i+1]), s.rest[i+1:]
	}
}
func (s *sentences) Flush() []string { return []string{s.rest} }

// answering configures a server with a model.
func answering(m modelFunc) func(*Config) {
	return func(c *Config) {
		c.Model, c.Segmenter = m, func() Segmenter { return &sentences{} }
	}
}

// echo answers with the user's last words.
func echo(_ context.Context, p Prompt, text func(string), _ func(FunctionCall)) error {
	last := "nothing"
	if n := len(p.Messages); n > 0 {
		last = p.Messages[n-1].Text
	}
	text("You said " + last + ".")
	p.Used(Usage{Input: 7, Output: 5})
	return nil
}

// connect opens a WebSocket with additional headers.
func (h *harness) connect(t *testing.T, key string, more http.Header, protocols ...string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	header := more.Clone()
	if header == nil {
		header = http.Header{}
	}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	return websocket.Dial(t.Context(), h.web.URL+"/v1/realtime?model=mine", &websocket.DialOptions{HTTPHeader: header, Subprotocols: protocols})
}

// socket returns a client over WebSocket, after session.created.
func (h *harness) socket(t *testing.T) *peer {
	t.Helper()
	conn, _, err := h.connect(t, testKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	return greeted(t, conn)
}

func greeted(t *testing.T, conn *websocket.Conn) *peer {
	t.Helper()
	p := reading(t, conn)
	if s := p.next("session.created").Session; s.Model != "mine" {
		t.Errorf("the session's model is %q", s.Model)
	}
	return p
}

// reading returns a client over WebSocket.
func reading(t *testing.T, conn *websocket.Conn) *peer {
	t.Helper()
	return readInto(conn, &peer{t: t, ws: conn})
}

// readInto reads the events of a connection into a peer.
func readInto(conn *websocket.Conn, p *peer) *peer {
	p.t.Helper()
	conn.SetReadLimit(1 << 20)
	p.events = make(chan event, 10000)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(p.events)
		for {
			_, data, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			p.onMessage(data)
		}
	})
	p.t.Cleanup(func() { _ = conn.CloseNow(); reading.Wait() })
	return p
}

// at24 converts pcm at listenRate to the audio of an event.
func at24(t *testing.T, pcm []int16) []byte {
	t.Helper()
	up, err := audio.NewResampler(listenRate, 24000)
	if err != nil {
		t.Fatal(err)
	}
	return bytesOf(up.Flush(up.Process(nil, pcm)))
}

// appendAudio sends pcm at listenRate in events of 100 ms.
func (p *peer) appendAudio(pcm []int16) {
	p.t.Helper()
	for piece := range slices.Chunk(at24(p.t, pcm), 4800) {
		p.send(map[string]any{"type": "input_audio_buffer.append", "audio": base64.StdEncoding.EncodeToString(piece)})
	}
}

func (p *peer) typeText(text string) {
	p.t.Helper()
	p.send(map[string]any{"type": "conversation.item.create", "item": map[string]any{
		"type": "message", "role": "user", "content": []any{map[string]string{"type": "input_text", "text": text}},
	}})
	p.next("conversation.item.added")
	p.next("conversation.item.done")
}

// audioMs returns the length of the audio in the deltas, at 24 kHz.
func audioMs(t *testing.T, all []event) (ms int) {
	t.Helper()
	for _, e := range all {
		if e.Type == "response.output_audio.delta" {
			b, err := base64.StdEncoding.DecodeString(e.Delta)
			if err != nil {
				t.Fatal(err)
			}
			ms += len(b) / 48
		}
	}
	return ms
}

// once removes repeated events.
func once(all []event) []event {
	return slices.CompactFunc(slices.Clone(all), func(a, b event) bool { return a.Type == b.Type })
}

// spokenEvents are the events of a model's answer over WebSocket.
var spokenEvents = []string{
	"response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
	"response.output_audio_transcript.delta", "response.output_audio.delta", "response.output_audio.done", "response.output_audio_transcript.done",
	"response.content_part.done", "conversation.item.done", "response.output_item.done", "response.done",
}

// A turn of appended audio is detected, transcribed and answered with audio.
func TestSocketTurn(t *testing.T) {
	h := start(t, answering(echo))
	p := h.socket(t)
	p.sendJSON(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"transcription":{"model":"whisper-1"}}}}}`)
	if td := p.next("session.updated").Session.Audio.Input.TurnDetection; !td.creates() || !td.InterruptResponse {
		t.Errorf("a server with a model does not answer by itself: %+v", td)
	}
	for range 2 {
		p.appendAudio(slices.Concat(quiet(600), tone(800, listenRate), quiet(700)))
		all, _ := withoutDeltas(p.until("response.done"))
		wantTypes(t, once(all), slices.Concat(turnEvents[:5], spokenEvents[:1], turnEvents[5:], spokenEvents[1:])...)
		done := all[len(all)-1]
		said := all[slices.IndexFunc(all, func(e event) bool { return e.Type == turnEvents[5] })].Transcript
		if done.Response.Status != "completed" || done.Response.Usage.TotalTokens != 12 || said == "" {
			t.Errorf("done %+v, heard %q", done.Response, said)
		}
		if got, want := audioMs(t, all), fakeWordTime*(2+len(strings.Fields(said))); got < want || got > want+10 {
			t.Errorf("%d ms of audio, want %d", got, want)
		}
	}
}

// The model gets the transcript even if the client did not request it.
func TestSocketTurnWithoutTranscription(t *testing.T) {
	h := start(t, answering(echo))
	p := h.socket(t)
	p.appendAudio(slices.Concat(quiet(600), tone(800, listenRate), quiet(700)))
	all := p.until("response.done")
	for _, e := range all {
		if strings.Contains(e.Type, "transcription") {
			t.Errorf("%s was not asked for", e.Type)
		}
		if e.Type == "response.output_audio_transcript.done" && !strings.HasPrefix(e.Transcript, "You said one two") {
			t.Errorf("the answer is %q", e.Transcript)
		}
	}
}

// A manual turn is sample-exact: it contains exactly the appended audio.
func TestSocketManualTurn(t *testing.T) {
	h := start(t, answering(echo))
	p := h.socket(t)
	p.sendJSON(`{"type":"session.update","session":{"audio":{"input":{"transcription":{},"turn_detection":null}}}}`)
	p.next("session.updated")
	p.appendAudio(tone(100, listenRate))
	p.sendJSON(`{"type":"input_audio_buffer.commit"}`)
	all, _ := withoutDeltas(p.until("conversation.item.input_audio_transcription.completed"))
	wantTypes(t, all, turnEvents[2:]...)
	p.appendAudio(tone(99, listenRate))
	p.sendJSON(`{"type":"input_audio_buffer.commit"}`)
	if e := p.next("error"); e.Error.Code != "input_audio_buffer_commit_empty" {
		t.Errorf("99 ms: %+v", e.Error)
	}
	p.sendJSON(`{"type":"input_audio_buffer.clear"}`)
	p.next("input_audio_buffer.cleared")
	p.sendJSON(`{"type":"input_audio_buffer.commit"}`)
	if e := p.next("error"); e.Error.Code != "input_audio_buffer_commit_empty" {
		t.Errorf("after a clear: %+v", e.Error)
	}
}

// A typed text is answered on request, one request at a time.
func TestSocketText(t *testing.T) {
	h := start(t, answering(echo))
	p := h.socket(t)
	p.typeText("hello")
	p.sendJSON(`{"type":"response.create","response":{"metadata":{"n":"1"}}}`)
	all := p.until("response.done")
	wantTypes(t, once(all), spokenEvents...)
	if r := all[0].Response; r.Metadata["n"] != "1" || all[len(all)-1].Response.ID != r.ID {
		t.Errorf("not one response: %+v", all)
	}
	if got := audioMs(t, all); got < 3*fakeWordTime || got > 3*fakeWordTime+10 {
		t.Errorf("%d ms of audio", got)
	}
	// The input of a response replaces the conversation.
	p.sendJSON(`{"type":"response.create","response":{"conversation":"none","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"aside"}]}]}}`)
	all = p.until("response.done")
	if i := slices.IndexFunc(all, func(e event) bool { return e.Type == "response.output_audio_transcript.done" }); all[i].Transcript != "You said aside." {
		t.Errorf("answered %q", all[i].Transcript)
	}
}

// A failing model fails its response, and the next one is answered.
func TestSocketModelFails(t *testing.T) {
	fail := true
	h := start(t, answering(func(ctx context.Context, p Prompt, text func(string), call func(FunctionCall)) error {
		if fail {
			fail = false
			return errors.New("the service cannot be reached")
		}
		return echo(ctx, p, text, call)
	}))
	p := h.socket(t)
	p.typeText("hello")
	for _, status := range []string{"failed", "completed"} {
		p.sendJSON(`{"type":"response.create"}`)
		all := p.until("response.done")
		r := all[len(all)-1].Response
		if r.Status != status || status == "failed" && !strings.Contains(r.StatusDetails.Error.Message, "cannot be reached") {
			t.Errorf("want %s: %+v", status, r)
		}
	}
}

// A function call ends its response; the conversation continues with its output and
// another response.create.
func TestSocketFunctionCall(t *testing.T) {
	prompts := make(chan Prompt, 2)
	h := start(t, answering(func(_ context.Context, p Prompt, text func(string), call func(FunctionCall)) error {
		prompts <- p
		if last := p.Messages[len(p.Messages)-1]; last.Call != nil {
			text("It is " + last.Text + ".")
			return nil
		}
		text("Let me look.")
		call(FunctionCall{ID: "call_7", Name: "weather", Arguments: `{"city":"Rome"}`})
		return nil
	}))
	p := h.socket(t)
	p.sendJSON(`{"type":"session.update","session":{"instructions":"Be brief.","tools":[{"type":"function","name":"weather","description":"d","parameters":{"type":"object"}}],"tool_choice":"required"}}`)
	p.next("session.updated")
	p.typeText("Rome?")
	p.sendJSON(`{"type":"response.create"}`)
	all := p.until("response.done")
	asked := <-prompts
	if asked.Instructions != "Be brief." || len(asked.Tools) != 1 || asked.Tools[0].Name != "weather" || asked.ToolChoice != "required" {
		t.Errorf("the prompt is %+v", asked)
	}
	wantTypes(t, all[len(all)-7:], "response.output_item.added", "conversation.item.added", "response.function_call_arguments.delta",
		"response.function_call_arguments.done", "conversation.item.done", "response.output_item.done", "response.done")
	done := all[len(all)-4]
	if done.CallID != "call_7" || done.Name != "weather" || done.Arguments != `{"city":"Rome"}` {
		t.Errorf("the call is %+v", done)
	}
	if out := all[len(all)-1].Response.Output; len(out) != 2 || out[0].Type != itemMessage || out[1].Type != itemFunctionCall {
		t.Errorf("the output is %+v", out)
	}
	p.sendJSON(`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"call_7","output":"sunny"}}`)
	p.next("conversation.item.added")
	p.next("conversation.item.done")
	p.sendJSON(`{"type":"response.create"}`)
	all = p.until("response.done")
	if i := slices.IndexFunc(all, func(e event) bool { return e.Type == "response.output_audio_transcript.done" }); all[i].Transcript != "It is sunny." {
		t.Errorf("answered %q", all[i].Transcript)
	}
	want := []string{"user:Rome?", "assistant:Let me look.", ":sunny"}
	var got []string
	for _, m := range (<-prompts).Messages {
		got = append(got, m.Role+":"+m.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the second prompt is %q, want %q", got, want)
	}
}

// A response is cancelled while the model is working, and the model remembers the part
// that the client reports as heard.
func TestSocketCancelAndTruncate(t *testing.T) {
	prompts := make(chan Prompt, 2)
	stopped := make(chan error, 1)
	h := start(t, answering(func(ctx context.Context, p Prompt, text func(string), _ func(FunctionCall)) error {
		prompts <- p
		if len(p.Messages) > 1 {
			text("Fine.")
			return nil
		}
		text("One two three four. Five six seven eight.")
		<-ctx.Done()
		stopped <- ctx.Err()
		return ctx.Err()
	}))
	p := h.socket(t)
	p.typeText("count")
	p.sendJSON(`{"type":"response.create"}`)
	p.until("response.output_audio_transcript.delta")
	p.until("response.output_audio_transcript.delta") // the first sentence was spoken
	p.sendJSON(`{"type":"response.create","event_id":"second"}`)
	all := p.until("error")
	if e := all[len(all)-1].Error; e.Code != "conversation_already_has_active_response" || e.EventID != "second" {
		t.Errorf("a second response: %+v", e)
	}
	p.sendJSON(`{"type":"response.cancel"}`)
	all = p.until("response.done")
	r := all[len(all)-1].Response
	if r.Status != "cancelled" || r.StatusDetails.Reason != reasonClientCancelled || len(r.Output) != 1 {
		t.Fatalf("cancelled: %+v", r)
	}
	if err := <-stopped; err == nil {
		t.Error("the model works on")
	}
	// Each word takes 60 ms, so six were heard completely.
	p.send(map[string]any{"type": "conversation.item.truncate", "item_id": r.Output[0].ID, "content_index": 0, "audio_end_ms": 6*fakeWordTime + 20})
	if e := p.until("conversation.item.truncated"); e[len(e)-1].AudioEndMs != 6*fakeWordTime+20 {
		t.Errorf("truncated: %+v", e)
	}
	p.typeText("go on")
	p.sendJSON(`{"type":"response.create"}`)
	p.until("response.done")
	<-prompts
	if heard := (<-prompts).Messages[1].Text; heard != "One two three four. Five six" {
		t.Errorf("the model remembers %q", heard)
	}
}

// Invalid events get an error that names them, and unknown fields are accepted.
func TestSocketBadEvents(t *testing.T) {
	h := start(t, answering(echo))
	p := h.socket(t)
	for _, c := range []struct{ event, code, param string }{
		{`{"type":"no.such.event"}`, "invalid_value", "type"},
		{`no json`, "invalid_json", ""},
		{`{"type":"input_audio_buffer.append","audio":"!"}`, "invalid_value", "audio"},
		{`{"type":"input_audio_buffer.append","audio":"AAAA"}`, "invalid_value", "audio"}, // 3 bytes
		{`{"type":"session.update","session":{"audio":{"input":{"format":{"type":"audio/pcm","rate":5}}}}}`, "invalid_value", "session.audio.input.format.rate"},
		{`{"type":"session.update","session":{"tools":[{"type":"mcp"}]}}`, "invalid_value", "session.tools.type"},
		{`{"type":"response.create","response":{"tools":[{"type":"function"}]}}`, "missing_required_parameter", "response.tools.name"},
		{`{"type":"conversation.item.create","item":{"type":"function_call_output","output":"x"}}`, "missing_required_parameter", "item.call_id"},
		{`{"type":"response.cancel"}`, "response_cancel_not_active", "response_id"},
	} {
		p.sendJSON(c.event)
		if e := p.next("error").Error; e.Code != c.code || e.Param != c.param {
			t.Errorf("%s: got %+v", c.event, e)
		}
	}
	if err := p.ws.Write(t.Context(), websocket.MessageBinary, []byte{0, 0}); err != nil {
		t.Fatal(err)
	}
	p.next("error")
	p.sendJSON(`{"type":"session.update","colour":"red","session":{"colour":"red"}}`)
	p.next("session.updated")
}

// An event over the limit ends only its own session.
func TestSocketTooLarge(t *testing.T) {
	h := start(t, answering(echo))
	p, other := h.socket(t), h.socket(t)
	big := bytes.Repeat([]byte{'A'}, maxSocketEventBytes+1)
	_ = p.ws.Write(t.Context(), websocket.MessageText, big) // the server may close before the message is complete
	select {
	case e, open := <-p.events:
		if open {
			t.Errorf("got %+v", e)
		}
	case <-time.After(patience):
		t.Fatal("the session goes on")
	}
	other.typeText("hello")
}

// Keys and origins are checked before a session is created.
func TestSocketKeysAndOrigins(t *testing.T) {
	h := start(t, answering(echo), func(c *Config) { c.Origins = []string{"http://app.example"} })
	for name, c := range map[string]struct {
		key, origin string
		status      int
		code        string
	}{
		"no key":         {"", "", 401, "invalid_api_key"},
		"wrong key":      {"wrong", "", 401, "invalid_api_key"},
		"foreign origin": {testKey, "http://evil.example", 403, "origin_not_allowed"},
		"own origin":     {testKey, h.web.URL, 403, "origin_not_allowed"},
		"no origin":      {testKey, "null", 403, "origin_not_allowed"},
	} {
		header := http.Header{}
		if c.origin != "" {
			header.Set("Origin", c.origin)
		}
		_, res, err := h.connect(t, c.key, header)
		if err == nil || res == nil || res.StatusCode != c.status {
			t.Errorf("%s: %v, %v", name, res, err)
			continue
		}
		var body struct{ Error struct{ Code string } }
		if err := json.NewDecoder(res.Body).Decode(&body); err != nil || body.Error.Code != c.code {
			t.Errorf("%s: %+v, %v", name, body, err)
		}
	}
	if n := h.Calls(); n != 0 {
		t.Errorf("%d sessions were made", n)
	}
	conn, _, err := h.connect(t, "", http.Header{"Origin": {"http://app.example"}}, "realtime", keyProtocol+testKey)
	if err != nil {
		t.Fatal(err)
	}
	if got := conn.Subprotocol(); got != socketProtocol {
		t.Errorf("subprotocol %q", got)
	}
	greeted(t, conn)
}

// An ephemeral key carries its session.
func TestSocketEphemeralKey(t *testing.T) {
	h := start(t, answering(echo))
	_, body := h.do(t, http.MethodPost, "/v1/realtime/client_secrets", testKey, "application/json", strings.NewReader(`{"session":{"type":"realtime","audio":{"output":{"speed":1.5}}}}`))
	var secret struct{ Value string }
	if err := json.Unmarshal(body, &secret); err != nil {
		t.Fatal(err)
	}
	conn, _, err := h.connect(t, secret.Value, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := greeted(t, conn)
	p.sendJSON(`{"type":"session.update","session":{}}`)
	if speed := p.next("session.updated").Session.Audio.Output.Speed; speed != 1.5 {
		t.Errorf("speed %v", speed)
	}
}

// A page from an allowed origin can make calls: browsers send a preflight request
// first.
func TestPreflight(t *testing.T) {
	h := start(t, func(c *Config) { c.Origins = []string{"http://app.example"} })
	for origin, want := range map[string]int{"http://app.example": 204, "http://evil.example": 403} {
		req, err := http.NewRequest(http.MethodOptions, h.web.URL+"/v1/realtime/calls", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", origin)
		req.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
		res, err := h.web.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		allowed := res.Header.Get("Access-Control-Allow-Origin") == origin && res.Header.Get("Access-Control-Allow-Headers") != ""
		if res.StatusCode != want || allowed != (want == 204) {
			t.Errorf("%s: %s, %v", origin, res.Status, res.Header)
		}
	}
}

// Wrong keys are rate limited, so that a key cannot be guessed.
func TestWrongKeysAreLimited(t *testing.T) {
	h := start(t)
	for i := range wrongKeyBurst + 1 {
		res, _ := h.do(t, http.MethodGet, "/v1/models", "wrong", "", nil)
		if want := map[bool]int{true: 401, false: 429}[i < wrongKeyBurst]; res.StatusCode != want {
			t.Errorf("request %d: %s, want %d", i, res.Status, want)
		}
	}
	if res, _ := h.do(t, http.MethodGet, "/v1/models", testKey, "", nil); res.StatusCode != 200 {
		t.Errorf("the right key: %s", res.Status)
	}
}

// Many clients talk at once, each in its own conversation; one more is rejected.
func TestSocketManyClients(t *testing.T) {
	const clients = 8
	h := start(t, answering(echo), func(c *Config) { c.MaxCalls = clients })
	var peers []*peer
	for range clients {
		peers = append(peers, h.socket(t))
	}
	if _, res, err := h.connect(t, testKey, nil); err == nil || res == nil || res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
		t.Errorf("one more: %v, %v", res, err)
	}
	for i, p := range peers {
		p.typeText(fmt.Sprint("client ", i))
		p.sendJSON(`{"type":"response.create"}`)
	}
	for i, p := range peers {
		all := p.until("response.done")
		if j := slices.IndexFunc(all, func(e event) bool { return e.Type == "response.output_audio_transcript.done" }); all[j].Transcript != fmt.Sprintf("You said client %d.", i) {
			t.Errorf("client %d was told %q", i, all[j].Transcript)
		}
	}
}

// Over WebRTC the server knows how much of an interrupted answer was heard.
func TestCallIsInterrupted(t *testing.T) {
	prompts := make(chan Prompt, 4)
	h := start(t, answering(func(_ context.Context, p Prompt, text func(string), _ func(FunctionCall)) error {
		prompts <- p
		text(strings.Repeat("one two three four. ", 50)) // 12 s
		return nil
	}), func(c *Config) { c.Speed = 1 })
	p := h.call(t, `{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad","silence_duration_ms":200}}}}`)
	p.send(map[string]any{"type": "conversation.item.create", "item": map[string]any{"type": "message", "role": "user", "content": []any{map[string]string{"type": "input_text", "text": "talk"}}}})
	p.sendJSON(`{"type":"response.create"}`)
	p.until("output_audio_buffer.started")
	p.heard(25) // 500 ms
	p.say(slices.Concat(tone(500, listenRate), quiet(400)), 20*time.Millisecond)
	all := p.until("conversation.item.truncated")
	at := all[len(all)-1].AudioEndMs
	// It is where the user began to speak, and no later than what has arrived since.
	if received := int64(20 * (25 + len(p.packets))); at < 300 || at > received {
		t.Errorf("truncated at %d ms, and %d ms have arrived", at, received)
	}
	p.until("response.created")
	<-prompts
	if heard := len(strings.Fields((<-prompts).Messages[1].Text)); heard < int(at)/fakeWordTime-1 || heard > int(at)/fakeWordTime {
		t.Errorf("the model remembers %d words of %d ms", heard, at)
	}
}
