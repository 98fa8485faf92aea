package localrealtime

import (
	"cmp"
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

// response is one answer: a text to speak verbatim, or one of the Model. Fields below
// "run" belong to call.run; the others are set before the speaker gets it.
type response struct {
	id, item string
	voice    string
	speed    float64
	rate     int // of audio in events, Hz
	metadata map[string]string
	// inConversation: the answer becomes an item of the conversation.
	inConversation bool
	// verbatim is the text to speak; "" for an answer of the Model to prompt.
	verbatim string
	prompt   Prompt

	ctx    context.Context // done when generation has to stop
	cancel context.CancelFunc

	// run
	ask     responseCreate
	input   []item // of ask, instead of the conversation
	turn    string // the item that it answers; "" where the client asked for it
	text    string // that was spoken, or is being spoken
	speaks  string // the piece of it whose audio is being made
	marks   []mark // of the other pieces
	calls   []item // of functions
	usage   usage
	begun   bool // its item was added
	done    bool // response.done was sent
	playing bool // output_audio_buffer.started was sent, and no end of it
	silent  bool // no audio of it will come any more
}

// onResponseCreate queues an answer.
func (c *call) onResponseCreate(ev clientEvent) {
	var in responseCreate
	if len(ev.Response) > 0 {
		if err := decode(ev.Response, &in, "response."); err != nil {
			c.refuse(ev, err)
			return
		}
	}
	r, err := c.newResponse(in)
	if err == nil {
		err = c.admit(r)
	}
	if err == nil {
		err = c.queue(r)
	}
	if err != nil {
		c.refuse(ev, err)
	}
}

// admit refuses a second answer of the Model in the conversation, as the public API does.
func (c *call) admit(r *response) error {
	for _, o := range c.responses {
		if c.srv.cfg.Model != nil && r.inConversation && o.inConversation && !o.done {
			return invalidf("conversation_already_has_active_response", "", "the conversation already has an active response in progress: %s; wait for its response.done, or cancel it", o.id)
		}
	}
	return nil
}

// queue announces a response, and hands it to the speaker when its turn comes.
func (c *call) queue(r *response) error {
	if len(c.responses) >= maxResponses {
		return invalidf("too_many_responses", "", "%d responses wait to be spoken; cancel some or wait", maxResponses)
	}
	r.ctx, r.cancel = context.WithCancel(c.ctx)
	c.stopIdle()
	c.responses = append(c.responses, r)
	c.waiting = append(c.waiting, r)
	c.send(responseEvent{"response.created", newID("event"), c.object(r, "in_progress", nil)})
	c.pump()
	return nil
}

// pump hands the speaker what does not have to wait. The Model answers when the user's
// words are known, and the answer before it is.
func (c *call) pump() {
	for len(c.waiting) > 0 {
		r := c.waiting[0]
		if r.verbatim == "" && !r.done {
			if c.transcribing() || c.generating(r) {
				return
			}
			r.prompt = c.prompt(r)
			r.prompt.Used = func(u Usage) {
				c.post(func() { r.usage = usage{u.Input + u.Output, u.Input, u.Output} })
			}
		}
		select {
		case c.speaker.queue <- r: // it has room for maxResponses
		default:
			return
		}
		c.waiting = c.waiting[1:]
		if i := c.items.find(r.turn); !r.done && i >= 0 && c.items.items[i].remembered() == nothingUnderstood {
			c.finish(r, "completed", nil)
		}
	}
}

// generating says whether a response before r is not done.
func (c *call) generating(r *response) bool {
	for _, o := range c.responses {
		if o == r {
			return false
		}
		if !o.done {
			return true
		}
	}
	return false
}

// newResponse checks what the client asks for.
func (c *call) newResponse(in responseCreate) (*response, error) {
	if in.Conversation != "" && in.Conversation != "none" && in.Conversation != "auto" {
		return nil, invalidf("invalid_value", "response.conversation", "response.conversation must be none or auto")
	}
	if m := in.OutputModalities; m != nil && !slices.Equal(m, []string{"audio"}) {
		return nil, invalidf("invalid_value", "response.output_modalities", "response.output_modalities must be [\"audio\"]: this server speaks its answers")
	}
	if err := checkMetadata(in.Metadata); err != nil {
		return nil, err
	}
	if _, err := toolsOf(in.Tools, "response.tools"); err != nil {
		return nil, err
	}
	voice := string(in.Audio.Output.Voice)
	if err := c.checkVoice(voice, "response.audio.output.voice"); err != nil {
		return nil, err
	}
	if voice == "" {
		voice = string(c.session.Audio.Output.Voice)
	}
	r := &response{
		id: newID("resp"), item: newID("item"), ask: in, voice: voice, speed: c.session.Audio.Output.Speed, metadata: in.Metadata,
		rate: c.session.Audio.Output.Format.Rate, inConversation: in.Conversation != "none",
	}
	var err error
	if r.input, err = c.inputItems(in.Input); err == nil && c.srv.cfg.Model == nil {
		r.verbatim, err = spokenInput(r.input)
	}
	return r, err
}

// inputItems are the items of a response's input.
func (c *call) inputItems(input []conversationIn) (items []item, err error) {
	for _, in := range input {
		if in.Type == "item_reference" {
			i := c.items.find(in.ID)
			if i < 0 {
				return nil, invalidf("item_not_found", "response.input.id", "response.input refers to an item that is not in this conversation")
			}
			items = append(items, c.items.items[i])
			continue
		}
		it, err := in.item("response.input.")
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, nil
}

// spokenInput is the text of the input items, which a server without a Model speaks.
func spokenInput(items []item) (string, error) {
	var texts []string
	for _, it := range items {
		if it.Type != itemMessage {
			return "", invalidf("invalid_value", "response.input.type", "response.input.type must be \"message\": this server has no model, and speaks what it is given")
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

// onSegment: a piece of the answer is about to be spoken.
func (c *call) onSegment(r *response, text string) {
	if r.done {
		return
	}
	c.begin(r)
	if r.text != "" {
		text = " " + text
	}
	r.text += text
	r.speaks = text
	c.send(outputAudioEvent{Type: "response.output_audio_transcript.delta", EventID: newID("event"), ResponseID: r.id, ItemID: r.item, Delta: &text})
}

// begin announces the message of an answer, once.
func (c *call) begin(r *response) {
	if r.begun {
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
}

// onAudio: a piece of the audio is made, for a client that gets it in events.
func (c *call) onAudio(r *response, base64 string) {
	if !r.done {
		c.send(outputAudioEvent{Type: "response.output_audio.delta", EventID: newID("event"), ResponseID: r.id, ItemID: r.item, Delta: &base64})
	}
}

// onSpoken: the audio of a piece of the answer is made, up to endMs.
func (c *call) onSpoken(r *response, text string, endMs int64) {
	if !r.done {
		r.marks, r.speaks = append(r.marks, mark{text, endMs}), ""
	}
}

// msPerWord is a slow pace of speech, so that too little counts as heard.
const msPerWord = 400

// closeMarks guesses the end of a piece whose audio will not be made, by the pace of those
// before it.
func (r *response) closeMarks() {
	if r.speaks == "" {
		return
	}
	begin, pace := int64(0), int64(msPerWord)
	if n := len(r.marks); n > 0 {
		words := 0
		for _, m := range r.marks {
			words += len(strings.Fields(m.text))
		}
		begin = r.marks[n-1].endMs
		pace = begin / int64(max(words, 1))
	}
	r.marks = append(r.marks, mark{r.speaks, begin + pace*int64(len(strings.Fields(r.speaks)))})
	r.speaks = ""
}

// onStarted: the first packet of r is about to be sent.
func (c *call) onStarted(r *response) {
	if r.silent {
		return
	}
	r.playing = true
	c.send(outputBufferEvent{Type: "output_audio_buffer.started", EventID: newID("event"), ResponseID: r.id})
}

// generated is the end of an answer.
type generated struct {
	written string // by the Model
	calls   []FunctionCall
	err     error
	what    string // failed, for err
}

// onGenerated: all audio of r is made, or g.err says why not.
func (c *call) onGenerated(r *response, g generated) {
	if r.done {
		return
	}
	if g.err != nil {
		c.log.Warn().Err(g.err).Msg(g.what + " failed")
		c.finish(r, "failed", &statusDetails{Type: "failed", Error: &protocolError{Type: "server_error", Code: g.what + "_failed", Message: g.what + " failed: " + g.err.Error()}})
		return
	}
	for _, f := range g.calls {
		r.calls = append(r.calls, item{ID: newID("item"), Type: itemFunctionCall, Status: "completed", CallID: cmp.Or(f.ID, newID("call")), Name: f.Name, Arguments: cmp.Or(f.Arguments, "{}")})
	}
	if i := c.items.find(r.item); i >= 0 && !c.items.items[i].truncated {
		c.items.items[i].written = g.written
	}
	c.finish(r, "completed", nil)
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
	r.closeMarks()
	if r.begun {
		it := r.message(itemStatus(status), &r.text)
		c.send(outputAudioEvent{Type: "response.output_audio.done", EventID: newID("event"), ResponseID: r.id, ItemID: r.item})
		c.send(outputAudioEvent{Type: "response.output_audio_transcript.done", EventID: newID("event"), ResponseID: r.id, ItemID: r.item, Transcript: &r.text})
		c.send(contentPartEvent{"response.content_part.done", newID("event"), r.id, r.item, 0, 0, part{Type: "audio", Transcript: &r.text}})
		if i := c.items.find(r.item); r.inConversation && i >= 0 {
			if was := c.items.items[i]; was.truncated {
				it.Content, it.written, it.truncated = was.Content, was.written, true
			} else {
				it.written = was.written
			}
			c.items.items[i] = it
			c.send(itemEvent{"conversation.item.done", newID("event"), c.items.previous(i), it})
		}
		c.send(outputItemEvent{"response.output_item.done", newID("event"), r.id, 0, it})
	}
	for i, f := range r.calls {
		c.sendCall(r, f, i)
	}
	c.send(responseEvent{"response.done", newID("event"), c.object(r, status, details)})
	c.retire(r)
	c.pump()
}

// sendCall sends a call of a function, whole.
func (c *call) sendCall(r *response, f item, index int) {
	if r.begun {
		index++
	}
	begun := f
	begun.Status, begun.Arguments = "in_progress", ""
	c.send(outputItemEvent{"response.output_item.added", newID("event"), r.id, index, begun})
	previous := c.items.last()
	if r.inConversation {
		c.items.insert(len(c.items.items), f)
		c.send(itemEvent{"conversation.item.added", newID("event"), previous, begun})
	}
	e := functionArgumentsEvent{Type: "response.function_call_arguments.delta", EventID: newID("event"), ResponseID: r.id, ItemID: f.ID, OutputIndex: index, CallID: f.CallID, Delta: f.Arguments}
	c.send(e)
	e.Type, e.EventID, e.Delta, e.Name, e.Arguments = "response.function_call_arguments.done", newID("event"), "", f.Name, f.Arguments
	c.send(e)
	if r.inConversation {
		c.send(itemEvent{"conversation.item.done", newID("event"), previous, f})
	}
	c.send(outputItemEvent{"response.output_item.done", newID("event"), r.id, index, f})
}

// itemStatus is that of the message of a response.
func itemStatus(response string) string {
	if response == "completed" {
		return "completed"
	}
	return "incomplete"
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
		c.link.kill(r)
		r.cancel()
		c.finish(r, "cancelled", &statusDetails{Type: "cancelled", Reason: reason})
		if r.playing {
			r.playing, played = false, true
			c.send(outputBufferEvent{Type: "output_audio_buffer.cleared", EventID: newID("event"), ResponseID: r.id})
		}
		r.silent = true
		c.retire(r)
		if ms, known := c.link.played(r); known && r.verbatim == "" && reason == reasonTurnDetected {
			if i := c.items.find(r.item); i >= 0 {
				c.truncate(&c.items.items[i], ms)
			}
		}
	}
	return played
}

// message is the item of r.
func (r *response) message(status string, transcript *string) item {
	it := item{ID: r.item, Type: itemMessage, Status: status, Role: "assistant", Content: []part{}, marks: r.marks}
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
	o.Usage = &r.usage
	if r.begun {
		o.Output = append(o.Output, r.message(itemStatus(status), &r.text))
	}
	o.Output = append(o.Output, r.calls...)
	return o
}
