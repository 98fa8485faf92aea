package localrealtime

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a response.create.
const (
	maxResponses    = 64    // that wait to be generated
	maxSpokenChars  = 16000 // a quarter of an hour of speech
	maxMetadata     = 16    // pairs, of the public API
	maxMetadataKey  = 64    // characters
	maxMetadataText = 512   // characters
)

// Reasons of a cancelled response.
const (
	reasonClientCancelled = "client_cancelled"
	reasonTurnDetected    = "turn_detected"
)

// response is one text to speak. Fields below "run" belong to call.run.
type response struct {
	id, item string
	text     string
	voice    string
	speed    float64
	metadata map[string]string
	// inConversation: the answer becomes an item of the conversation.
	inConversation bool

	ctx    context.Context // done when generation has to stop
	cancel context.CancelFunc
	// audible is closed when the first packet is about to be sent.
	audible chan struct{}
	// dead: no packet of it may be sent any more. Guarded by speaker.mu.
	dead bool

	// run
	begun   bool // its item was added
	done    bool // response.done was sent
	playing bool // output_audio_buffer.started was sent, and no end of it
	silent  bool // no packet of it will come any more
}

// onResponseCreate queues a text to speak.
func (c *call) onResponseCreate(ev clientEvent) {
	var in responseCreate
	if len(ev.Response) > 0 {
		if err := strictDecode(ev.Response, &in, "response."); err != nil {
			c.refuse(ev, err)
			return
		}
	}
	r, err := c.newResponse(in)
	if err != nil {
		c.refuse(ev, err)
		return
	}
	select {
	case c.speaker.queue <- r:
	default:
		r.cancel()
		c.refuse(ev, invalidf("too_many_responses", "", "%d responses wait to be spoken; cancel some or wait", maxResponses))
		return
	}
	c.stopIdle()
	c.responses = append(c.responses, r)
	c.send(responseEvent{"response.created", newID("event"), c.object(r, "in_progress", nil)})
}

// newResponse checks what the client asks for.
func (c *call) newResponse(in responseCreate) (*response, error) {
	if in.Conversation != "" && in.Conversation != "none" && in.Conversation != "auto" {
		return nil, invalidf("invalid_value", "response.conversation", "response.conversation must be none or auto")
	}
	if m := in.OutputModalities; m != nil && !slices.Equal(m, []string{"audio"}) {
		return nil, invalidf("invalid_value", "response.output_modalities", "response.output_modalities must be [\"audio\"]: this server has no text model")
	}
	if err := checkMetadata(in.Metadata); err != nil {
		return nil, err
	}
	voice := string(in.Audio.Output.Voice)
	if err := c.checkVoice(voice, "response.audio.output.voice"); err != nil {
		return nil, err
	}
	if voice == "" {
		voice = string(c.session.Audio.Output.Voice)
	}
	text, err := c.spokenInput(in.Input)
	if err != nil {
		return nil, err
	}
	r := &response{
		id: newID("resp"), item: newID("item"), text: text, voice: voice, speed: c.session.Audio.Output.Speed, metadata: in.Metadata,
		inConversation: in.Conversation != "none", audible: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancel(c.ctx)
	return r, nil
}

// spokenInput is the text of the input items.
func (c *call) spokenInput(input []conversationIn) (string, error) {
	var texts []string
	for _, in := range input {
		if in.Type == "item_reference" {
			i := c.items.find(in.ID)
			if i < 0 {
				return "", invalidf("item_not_found", "response.input.id", "response.input refers to an item that is not in this conversation")
			}
			texts = append(texts, c.items.items[i].spoken())
			continue
		}
		it, err := in.message("response.input.")
		if err != nil {
			return "", err
		}
		texts = append(texts, it.spoken())
	}
	text := strings.TrimSpace(strings.Join(texts, "\n"))
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "", invalidf("missing_required_parameter", "response.input", "response.input holds no text: this server has no model, and speaks what it is given")
	case n > maxSpokenChars:
		return "", invalidf("string_above_max_length", "response.input", "the text to speak has %d characters; at most %d are taken", n, maxSpokenChars)
	}
	return text, nil
}

func checkMetadata(m map[string]string) error {
	if len(m) > maxMetadata {
		return invalidf("invalid_value", "response.metadata", "response.metadata has more than %d pairs", maxMetadata)
	}
	for k, v := range m {
		if utf8.RuneCountInString(k) > maxMetadataKey || utf8.RuneCountInString(v) > maxMetadataText {
			return invalidf("invalid_value", "response.metadata", "a key or value of response.metadata is too long: at most %d and %d characters", maxMetadataKey, maxMetadataText)
		}
	}
	return nil
}

// checkVoice accepts the engine's voices and the names of the public API.
func (c *call) checkVoice(name, param string) error {
	if name == "" || c.voices == nil || slices.Contains(c.voices, name) || slices.Contains(openAIVoices, name) {
		return nil
	}
	return invalidf("invalid_value", param, "unknown voice; the voices here are %s", strings.Join(c.voices, ", "))
}

// engineVoice is the engine's name for a voice, empty for its default.
func (c *call) engineVoice(name string) string {
	if slices.Contains(c.voices, name) {
		return name
	}
	return ""
}

// onBegun: generation has begun.
func (c *call) onBegun(r *response) {
	if r.done {
		return
	}
	r.begun = true
	it := r.message("in_progress", nil)
	c.send(outputItemEvent{"response.output_item.added", newID("event"), r.id, 0, it})
	if r.inConversation {
		previous := c.items.last()
		c.items.insert(len(c.items.items), it)
		c.send(itemEvent{"conversation.item.added", newID("event"), previous, it})
	}
	empty := ""
	c.send(contentPartEvent{"response.content_part.added", newID("event"), r.id, r.item, 0, 0, part{Type: "audio", Transcript: &empty}})
	c.send(outputAudioEvent{Type: "response.output_audio_transcript.delta", EventID: newID("event"), ResponseID: r.id, ItemID: r.item, Delta: &r.text})
}

// onStarted: the first packet of r is about to be sent.
func (c *call) onStarted(r *response) {
	if r.silent {
		return
	}
	r.playing = true
	c.send(outputBufferEvent{Type: "output_audio_buffer.started", EventID: newID("event"), ResponseID: r.id})
}

// onGenerated: all audio of r is made, or err says why not.
func (c *call) onGenerated(r *response, err error) {
	if err == nil {
		c.finish(r, "completed", nil)
		return
	}
	c.log.Warn().Err(err).Msg("synthesis failed")
	c.finish(r, "failed", &statusDetails{Type: "failed", Error: &protocolError{Type: "server_error", Code: "synthesis_failed", Message: "the speech synthesiser failed: " + err.Error()}})
}

// onStopped: the last packet of r was sent, or there was none.
func (c *call) onStopped(r *response) {
	if r.silent {
		return
	}
	if r.playing {
		r.playing = false
		c.send(outputBufferEvent{Type: "output_audio_buffer.stopped", EventID: newID("event"), ResponseID: r.id})
	}
	r.silent = true
	c.retire(r)
}

// finish sends every done event that r still owes, once.
func (c *call) finish(r *response, status string, details *statusDetails) {
	if r.done {
		return
	}
	r.done = true
	r.cancel()
	itemStatus := "completed"
	if status != "completed" {
		itemStatus = "incomplete"
	}
	if r.begun {
		it := r.message(itemStatus, &r.text)
		c.send(outputAudioEvent{Type: "response.output_audio.done", EventID: newID("event"), ResponseID: r.id, ItemID: r.item})
		c.send(outputAudioEvent{Type: "response.output_audio_transcript.done", EventID: newID("event"), ResponseID: r.id, ItemID: r.item, Transcript: &r.text})
		c.send(contentPartEvent{"response.content_part.done", newID("event"), r.id, r.item, 0, 0, part{Type: "audio", Transcript: &r.text}})
		if i := c.items.find(r.item); r.inConversation && i >= 0 {
			c.items.items[i] = it
			c.send(itemEvent{"conversation.item.done", newID("event"), c.items.previous(i), it})
		}
		c.send(outputItemEvent{"response.output_item.done", newID("event"), r.id, 0, it})
	}
	c.send(responseEvent{"response.done", newID("event"), c.object(r, status, details)})
	c.retire(r)
}

// retire forgets a response that owes nothing any more.
func (c *call) retire(r *response) {
	if !r.done || !r.silent {
		return
	}
	c.responses = slices.DeleteFunc(c.responses, func(o *response) bool { return o == r })
	c.answered = true
	c.armIdle()
}

// onResponseCancel stops the generation of the response that is named, or of
// the oldest. What was generated is still played, as in the public API, unless
// output_audio_buffer.clear follows.
func (c *call) onResponseCancel(ev clientEvent) {
	for _, r := range c.responses {
		if !r.done && (ev.ResponseID == "" || ev.ResponseID == r.id) {
			c.finish(r, "cancelled", &statusDetails{Type: "cancelled", Reason: reasonClientCancelled})
			return
		}
	}
	c.refuse(ev, invalidf("response_cancel_not_active", "response_id", "cancellation failed: no such response is in progress"))
}

// onOutputClear silences everything that was asked for so far: what is still
// in progress would make no sense without its beginning, so it is cancelled.
func (c *call) onOutputClear() {
	if !c.silence(func(*response) bool { return true }, reasonClientCancelled) {
		c.send(outputBufferEvent{Type: "output_audio_buffer.cleared", EventID: newID("event")})
	}
}

// silence cancels the responses that match and stops their audio at once. It
// reports whether one of them was playing.
func (c *call) silence(match func(*response) bool, reason string) (played bool) {
	for _, r := range slices.Clone(c.responses) {
		if !match(r) {
			continue
		}
		c.speaker.kill(r)
		c.finish(r, "cancelled", &statusDetails{Type: "cancelled", Reason: reason})
		if r.playing {
			r.playing, played = false, true
			c.send(outputBufferEvent{Type: "output_audio_buffer.cleared", EventID: newID("event"), ResponseID: r.id})
		}
		r.silent = true
		c.retire(r)
	}
	return played
}

// message is the item of r.
func (r *response) message(status string, transcript *string) item {
	it := item{ID: r.item, Object: "realtime.item", Type: "message", Status: status, Role: "assistant", Content: []part{}}
	if transcript != nil {
		it.Content = append(it.Content, part{Type: "output_audio", Transcript: transcript})
	}
	return it
}

// object is r as the client sees it.
func (c *call) object(r *response, status string, details *statusDetails) responseObject {
	o := responseObject{
		ID: r.id, Object: "realtime.response", Status: status, StatusDetails: details, Output: []item{},
		OutputModalities: []string{"audio"}, MaxOutputTokens: "inf", Metadata: r.metadata,
	}
	o.Audio.Output.Format, o.Audio.Output.Voice = c.session.Audio.Output.Format, r.voice
	if r.inConversation {
		o.ConversationID = &c.items.id
	}
	if status == "in_progress" {
		return o
	}
	o.Usage = &usage{}
	if r.begun {
		itemStatus := "completed"
		if status != "completed" {
			itemStatus = "incomplete"
		}
		o.Output = append(o.Output, r.message(itemStatus, &r.text))
	}
	return o
}
