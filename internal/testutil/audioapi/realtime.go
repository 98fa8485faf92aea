package audioapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
)

// realtime serves vLLM's /v1/realtime, according to its public reference: session.update validates the model, a
// commit begins the recognition of what is appended, mono 16-bit PCM at 16 kHz, and the final commit ends it. Words
// are sent as soon as the engine has them.
func (s *Server) realtime(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	d := &dictation{server: s, conn: conn, ctx: r.Context(), path: r.URL.Path}
	err = d.send(map[string]any{"type": "session.created", "id": "sess-1", "created": 1})
	for err == nil {
		err = d.next()
	}
	var refused refusal
	if errors.As(err, &refused) {
		_ = d.send(map[string]any{"type": "error", "error": refused.Error(), "code": "processing_error"})
		_ = conn.Close(websocket.StatusNormalClosure, "")
	}
}

// refusal is a violation of the reference.
type refusal string

func (r refusal) Error() string { return string(r) }

// dictation is one connection.
type dictation struct {
	server *Server
	conn   *websocket.Conn
	ctx    context.Context
	path   string
	model  *string
	engine hearing.Recognizer
	sent   string
}

func (d *dictation) send(event map[string]any) error { return wsjson.Write(d.ctx, d.conn, event) }

// next handles one event.
func (d *dictation) next() error {
	_, b, err := d.conn.Read(d.ctx)
	if err != nil {
		return err
	}
	var e struct {
		Type  string  `json:"type"`
		Model *string `json:"model"`
		Final *bool   `json:"final"`
		Audio *string `json:"audio"`
	}
	strict := json.NewDecoder(bytes.NewReader(b))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&e); err != nil {
		return refusal("an event is not as the reference has it")
	}
	switch {
	case e.Type == "session.update" && e.Model != nil:
		d.model = e.Model
	case e.Type == "input_audio_buffer.commit" && d.model == nil:
		return refusal("the model is not validated")
	case e.Type == "input_audio_buffer.commit" && e.Final != nil && *e.Final:
		return d.finish()
	case e.Type == "input_audio_buffer.commit":
		if d.engine, err = d.server.Recognizer(); err != nil {
			return err
		}
		return d.engine.Start()
	case e.Type == "input_audio_buffer.append" && e.Audio != nil && d.engine != nil:
		return d.append(*e.Audio)
	default:
		return refusal(fmt.Sprintf("unexpected event %s", e.Type))
	}
	return nil
}

func (d *dictation) append(encoded string) error {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(raw) == 0 || len(raw)%2 != 0 {
		return refusal("the audio is not PCM16 in base64")
	}
	pcm := make([]int16, len(raw)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	if err := d.engine.Write(pcm); err != nil {
		return err
	}
	return d.grow(d.engine.Partial())
}

// grow sends the words that are new.
func (d *dictation) grow(text string) error {
	delta, ok := strings.CutPrefix(text, d.sent)
	if !ok || delta == "" {
		return nil
	}
	d.sent = text
	return d.send(map[string]any{"type": "transcription.delta", "delta": delta})
}

func (d *dictation) finish() error {
	if d.engine == nil {
		return refusal("nothing was begun")
	}
	result, err := d.engine.Finish()
	if err == nil {
		err = d.grow(result.Text)
	}
	if err != nil {
		return err
	}
	d.server.note(Request{Path: d.path, Fields: map[string]string{"model": *d.model}, Text: result.Text})
	d.sent = ""
	return errors.Join(d.engine.Close(), d.send(map[string]any{
		"type": "transcription.done", "text": result.Text, "usage": map[string]int{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	}))
}
