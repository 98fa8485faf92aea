package localrealtime

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
)

// Limits of a response.create.
const (
	maxResponses    = 64    // waiting for generation
	maxSpokenChars  = 16000 // 15 minutes of speech
	maxMetadata     = 16    // pairs, as in the public API
	maxMetadataKey  = 64    // characters
	maxMetadataText = 512   // characters
)

// Reasons for a cancelled response.
const (
	reasonClientCancelled = "client_cancelled"
	reasonTurnDetected    = "turn_detected"
)

// response is one answer: either a text to speak verbatim, or an answer of the Model.
// The fields below "run" belong to call.run; the others are set before the speaker gets
// the response.
type response struct {
	number   uint32 // in call.state, which holds the state of the answer
	id, item string
	voice    string
	speed    float64
	rate     int // of audio in events, in Hz
	metadata map[string]string
	// inConversation reports whether the answer becomes an item of the conversation.
	inConversation bool
	// verbatim is the text to speak; "" if the Model answers prompt.
	verbatim string
	prompt   Prompt

	ctx    context.Context // done when generation must stop
	cancel context.CancelFunc

	// run
	ask    responseCreate
	input  []item // input of ask, which replaces the conversation
	text   string // spoken so far, including the current piece
	speaks string // the current piece, whose audio is being synthesised
	marks  []mark // end positions of the other pieces
	output []item // completed items
	calls  []item // function calls
	usage  usage
}

// onResponseCreate queues an answer.
func (c *call) onResponseCreate(ev clientEvent) {
	if c.session.Type == listening {
		c.refuse(ev, invalidf("invalid_value", "type", "a session of type transcription does not answer: begin one of type realtime"))
		return
	}
	var in responseCreate
	if len(ev.Response) > 0 {
		if err := decode(ev.Response, &in, "response."); err != nil {
			c.refuse(ev, err)
			return
		}
	}
	r, err := c.newResponse(in)
	if err != nil {
		c.refuse(ev, err)
		return
	}
	switch c.take(machine.Event{Kind: machine.Create, Apart: !r.inConversation}, news{response: r}) {
	case machine.Busy:
		c.refuse(ev, invalidf("conversation_already_has_active_response", "", "the conversation already has an active response in progress; wait for its response.done, or cancel it"))
	case machine.Full:
		c.refuse(ev, tooManyResponses())
	}
}

func tooManyResponses() *protocolError {
	return invalidf("too_many_responses", "", "%d responses wait to be spoken; cancel some or wait", maxResponses)
}

// tellCreated announces a response, created by the client or by the server itself.
func (c *call) tellCreated(a machine.Action, n *news) {
	r := n.response
	if r == nil {
		r = c.ownResponse()
	}
	r.number = a.ID
	r.ctx, r.cancel = context.WithCancel(c.ctx)
	c.responses[a.ID] = r
	c.send(responseEvent{"response.created", newID("event"), c.object(r, "in_progress", nil)})
}

// generate passes a response to the speaker.
func (c *call) generate(r *response) {
	if r.verbatim == "" {
		r.prompt = c.prompt(r)
		r.prompt.Used = func(u Usage) {
			c.post(func() { r.usage = usage{u.Input + u.Output, u.Input, u.Output} })
		}
	}
	c.speaker.queue <- r // the speaker has no other response, so this does not block
}

// ownResponse returns an answer with the session's settings.
func (c *call) ownResponse() *response {
	return &response{
		id: newID("resp"), item: newID("item"), voice: string(c.session.Audio.Output.Voice), speed: c.session.Audio.Output.Speed,
		rate: c.session.Audio.Output.Format.Rate, inConversation: true,
	}
}

// newResponse validates a response that the client requests.
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
	r := c.ownResponse()
	r.ask, r.metadata, r.inConversation = in, in.Metadata, in.Conversation != "none"
	r.voice = cmp.Or(voice, r.voice)
	var err error
	if r.input, err = c.inputItems(in.Input); err == nil && !c.session.answers {
		r.verbatim, err = spokenInput(r.input)
	}
	return r, err
}

// inputItems returns the items of a response's input.
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

// spokenInput returns the text of the input items, which a server without a Model
// speaks.
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

// engineVoice returns the engine's name for a voice; "" for its default.
func (c *call) engineVoice(name string) string {
	if slices.Contains(c.voices, name) {
		return name
	}
	return ""
}

// onAnswer processes an event of a response from the goroutine that generates or plays
// it.
func (c *call) onAnswer(k machine.Kind, r *response, n news) {
	c.take(machine.Event{Kind: k, ID: r.number, OK: n.generated.err == nil}, n)
}

// announce starts the message of an answer.
func (c *call) announce(r *response) {
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

// say is called when a piece of the answer is about to be spoken.
func (c *call) say(r *response, text string) {
	if r.text != "" {
		text = " " + text
	}
	r.text += text
	r.speaks = text
	c.send(outputAudioEvent{Type: "response.output_audio_transcript.delta", EventID: newID("event"), ResponseID: r.id, ItemID: r.item, Delta: &text})
}

// tellAudio sends a piece of audio to a client that receives audio in events.
func (c *call) tellAudio(r *response, base64 string) {
	c.send(outputAudioEvent{Type: "response.output_audio.delta", EventID: newID("event"), ResponseID: r.id, ItemID: r.item, Delta: &base64})
}

// mark records that a piece of the answer is synthesised and ends at endMs.
func (r *response) mark(text string, endMs int64) {
	r.marks, r.speaks = append(r.marks, mark{text, endMs}), ""
}

// msPerWord is a slow speech rate, so that the estimate of heard words is low rather
// than high.
const msPerWord = 400

// closeMarks estimates the end of a piece that will not be synthesised, from the speech
// rate of the preceding pieces.
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

// generated is the outcome of generating an answer.
type generated struct {
	written string // by the Model
	calls   []FunctionCall
	err     error
	what    string // what failed with err
}

// keep stores the Model's text and function calls.
func (c *call) keep(r *response, g generated) {
	for _, f := range g.calls {
		r.calls = append(r.calls, item{ID: newID("item"), Type: itemFunctionCall, Status: "completed", CallID: cmp.Or(f.ID, newID("call")), Name: f.Name, Arguments: cmp.Or(f.Arguments, "{}")})
	}
	if i := c.items.find(r.item); i >= 0 && !c.items.items[i].truncated {
		c.items.items[i].written = g.written
	}
}

// closeItem sends the done events of an answer's message.
func (c *call) closeItem(r *response, end machine.End) {
	r.closeMarks()
	it := r.message(itemStatus(end), &r.text)
	c.send(outputAudioEvent{Type: "response.output_audio.done", EventID: newID("event"), ResponseID: r.id, ItemID: r.item})
	c.send(outputAudioEvent{Type: "response.output_audio_transcript.done", EventID: newID("event"), ResponseID: r.id, ItemID: r.item, Transcript: &r.text})
	c.send(contentPartEvent{"response.content_part.done", newID("event"), r.id, r.item, 0, 0, part{Type: "audio", Transcript: &r.text}})
	r.output = append(r.output, it)
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

// finish sends the function calls and then response.done.
func (c *call) finish(r *response, end machine.End, g generated) {
	r.cancel()
	status, details := "completed", (*statusDetails)(nil)
	switch end {
	case machine.Failed:
		c.log.Warn().Err(g.err).Msg(g.what + " failed")
		status = "failed"
		details = &statusDetails{Type: status, Error: &protocolError{Type: "server_error", Code: g.what + "_failed", Message: g.what + " failed: " + g.err.Error()}}
	case machine.Cancelled:
		status, details = "cancelled", &statusDetails{Type: "cancelled", Reason: reasonClientCancelled}
	case machine.Interrupted:
		status, details = "cancelled", &statusDetails{Type: "cancelled", Reason: reasonTurnDetected}
	}
	for _, f := range r.calls {
		c.sendCall(r, f, len(r.output))
		r.output = append(r.output, f)
	}
	c.send(responseEvent{"response.done", newID("event"), c.object(r, status, details)})
	c.grown()
}

// sendCall sends a complete function call.
func (c *call) sendCall(r *response, f item, index int) {
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

// itemStatus returns the status of a response's message.
func itemStatus(end machine.End) string {
	if end == machine.Completed {
		return "completed"
	}
	return "incomplete"
}

// onResponseCancel stops the generation of the named response, or of the oldest. As in
// the public API, audio already generated still plays unless output_audio_buffer.clear
// follows.
func (c *call) onResponseCancel(ev clientEvent) {
	e := machine.Event{Kind: machine.Cancel}
	for _, r := range c.responses {
		if r.id == ev.ResponseID {
			e.ID = r.number
		}
	}
	if ev.ResponseID != "" && e.ID == 0 || c.take(e, news{}) == machine.NotActive {
		c.refuse(ev, invalidf("response_cancel_not_active", "response_id", "Cancellation failed: no active response found"))
	}
}

// truncateToHeard truncates an interrupted answer of the Model, if the server knows how
// much of it was played.
func (c *call) truncateToHeard(r *response) {
	if ms, known := c.link.played(r); known {
		if i := c.items.find(r.item); i >= 0 {
			c.truncate(&c.items.items[i], ms)
		}
	}
}

// message returns the item of r.
func (r *response) message(status string, transcript *string) item {
	it := item{ID: r.item, Type: itemMessage, Status: status, Role: "assistant", Content: []part{}, marks: r.marks}
	if transcript != nil {
		it.Content = append(it.Content, part{Type: "output_audio", Transcript: transcript})
	}
	return it
}

// object returns r as shown to the client.
func (c *call) object(r *response, status string, details *statusDetails) responseObject {
	o := responseObject{
		ID: r.id, Object: "realtime.response", Status: status, StatusDetails: details, Output: []item{},
		OutputModalities: []string{"audio"}, MaxOutputTokens: "inf", Metadata: r.metadata,
	}
	o.Audio.Output.Format, o.Audio.Output.Voice = audioFormat{"audio/pcm", r.rate}, r.voice
	if r.inConversation {
		o.ConversationID = &c.items.id
	}
	if status == "in_progress" {
		return o
	}
	o.Usage = &r.usage
	o.Output = append(o.Output, r.output...)
	return o
}
