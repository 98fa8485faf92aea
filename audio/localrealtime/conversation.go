package localrealtime

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
)

// maxItems bounds the conversation; the oldest items are dropped first.
const maxItems = 1000

// conversation is the list of items, oldest first. Only call.run touches it.
type conversation struct {
	id      string
	items   []item
	summary summary
}

// last returns the id of the last item, or nil.
func (v *conversation) last() *string {
	if len(v.items) == 0 {
		return nil
	}
	return &v.items[len(v.items)-1].ID
}

func (v *conversation) find(id string) int {
	return slices.IndexFunc(v.items, func(i item) bool { return i.ID == id })
}

// previous returns the id of the item before index i, or nil.
func (v *conversation) previous(i int) *string {
	if i <= 0 {
		return nil
	}
	id := v.items[i-1].ID
	return &id
}

// insert inserts an item at index i and drops the oldest items over the limit.
func (v *conversation) insert(i int, it item) {
	v.items = slices.Insert(v.items, i, it)
	if len(v.items) > maxItems {
		v.items = slices.Delete(v.items, 0, 1)
	}
}

// transcribe stores the transcript in a user's item, if it still exists.
func (v *conversation) transcribe(id, text string) {
	if i := v.find(id); i >= 0 {
		v.items[i].Content = []part{{Type: "input_audio", Transcript: &text}}
	}
}

// addItem appends a complete item and announces it.
func (c *call) addItem(it item) {
	previous := c.items.last()
	c.items.insert(len(c.items.items), it)
	c.send(itemEvent{"conversation.item.added", newID("event"), previous, it})
	c.send(itemEvent{"conversation.item.done", newID("event"), previous, it})
	c.grown()
}

// onItemCreate handles conversation.item.create for text messages, function calls and
// function outputs.
func (c *call) onItemCreate(ev clientEvent) {
	var in conversationIn
	if err := decode(ev.Item, &in, "item."); err != nil {
		c.refuse(ev, err)
		return
	}
	it, err := in.item("item.")
	if err != nil {
		c.refuse(ev, err)
		return
	}
	if it.ID == "" {
		it.ID = newID("item")
	}
	if c.items.find(it.ID) >= 0 {
		c.refuse(ev, invalidf("item_create_duplicate_id", "item.id", "an item with this id is already in the conversation"))
		return
	}
	at := len(c.items.items)
	switch ev.PreviousItemID {
	case "":
	case "root":
		at = 0
	default:
		if at = c.items.find(ev.PreviousItemID) + 1; at == 0 {
			c.refuse(ev, invalidf("item_not_found", "previous_item_id", "previous_item_id names no item of this conversation"))
			return
		}
	}
	previous := c.items.previous(at)
	c.items.insert(at, it)
	c.send(itemEvent{"conversation.item.added", newID("event"), previous, it})
	c.send(itemEvent{"conversation.item.done", newID("event"), previous, it})
	c.grown()
}

// item validates a client's item and converts it to the server's form.
func (in conversationIn) item(path string) (item, error) {
	it := item{ID: in.ID, Type: in.Type, Status: "completed"}
	switch in.Type {
	case itemMessage:
		return in.message(it, path)
	case itemFunctionCall:
		it.CallID, it.Name, it.Arguments = in.CallID, in.Name, in.Arguments
		if it.Name == "" {
			return item{}, invalidf("missing_required_parameter", path+"name", "%sname is missing", path)
		}
	case itemFunctionOutput:
		it.CallID, it.Output = in.CallID, in.Output
	default:
		return item{}, invalidf("invalid_value", path+"type", "%stype must be message, function_call or function_call_output", path)
	}
	if it.CallID == "" {
		return item{}, invalidf("missing_required_parameter", path+"call_id", "%scall_id is missing", path)
	}
	return it, nil
}

// message fills in a text message.
func (in conversationIn) message(it item, path string) (item, error) {
	if !slices.Contains([]string{"user", "assistant", "system"}, in.Role) {
		return item{}, invalidf("invalid_value", path+"role", "%srole must be user, assistant or system", path)
	}
	it.Role, it.Content = in.Role, []part{}
	kind := "input_text"
	if in.Role == "assistant" {
		kind = "output_text"
	}
	for _, p := range in.Content {
		switch p.Type {
		case "input_text", "output_text", "text":
			it.Content = append(it.Content, part{Type: kind, Text: p.Text})
		case "input_audio", "output_audio":
			if p.Transcript == "" {
				return item{}, invalidf("invalid_value", path+"content.transcript", "%scontent is audio without a transcript: speech to be recognised comes by input_audio_buffer.append or by RTP", path)
			}
			it.Content = append(it.Content, part{Type: p.Type, Transcript: &p.Transcript})
		default:
			return item{}, invalidf("invalid_value", path+"content.type", "%scontent must be text: audio comes by input_audio_buffer.append or by RTP", path)
		}
	}
	return it, nil
}

// spoken returns the text of a message. System messages are instructions and have no
// spoken text.
func (it item) spoken() string {
	if it.Role == "system" {
		return ""
	}
	var texts []string
	for _, p := range it.Content {
		if t := strings.TrimSpace(p.text()); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "\n")
}

// withItem calls f with the index of the item that the event names, or rejects the
// event.
func (c *call) withItem(ev clientEvent, f func(i int)) {
	i := c.items.find(ev.ItemID)
	if i < 0 {
		c.refuse(ev, invalidf("item_not_found", "item_id", "item_id names no item of this conversation"))
		return
	}
	f(i)
}

func (c *call) onItemRetrieve(ev clientEvent) {
	c.withItem(ev, func(i int) {
		c.send(retrievedEvent{"conversation.item.retrieved", newID("event"), c.items.items[i]})
	})
}

func (c *call) onItemDelete(ev clientEvent) {
	c.withItem(ev, func(i int) {
		it := c.items.items[i]
		c.items.items = slices.Delete(c.items.items, i, i+1)
		c.changed(it)
		c.send(itemDeletedEvent{"conversation.item.deleted", newID("event"), ev.ItemID})
	})
}

// onItemTruncate removes the part of an answer that was not heard, as in the public
// API.
func (c *call) onItemTruncate(ev clientEvent) {
	c.withItem(ev, func(i int) {
		it := &c.items.items[i]
		switch {
		case it.Role != "assistant":
			c.refuse(ev, invalidf("invalid_value", "item_id", "only items of the assistant can be truncated"))
			return
		case ev.AudioEndMs < 0:
			c.refuse(ev, invalidf("invalid_value", "audio_end_ms", "audio_end_ms must not be negative"))
			return
		}
		c.truncate(it, ev.AudioEndMs)
	})
}

// truncate keeps only the heard part of an answer in the conversation.
func (c *call) truncate(it *item, ms int64) {
	marks := it.marks
	for _, r := range c.responses {
		if r.item == it.ID {
			marks = r.marks
		}
	}
	heard := heardText(marks, ms)
	it.truncated = true
	it.Content = []part{{Type: "output_audio", Transcript: &heard}}
	if it.written = heard; heard == "" && len(marks) > 0 {
		it.written = nothingHeard
	}
	c.changed(*it)
	c.send(itemTruncatedEvent{"conversation.item.truncated", newID("event"), it.ID, 0, ms})
}

// nothingHeard is the text that a Model sees for an answer that was interrupted before
// its first word.
const nothingHeard = "(interrupted before a word was heard)"

// heardText returns the part of an answer heard until ms: all pieces that finished, and
// whole words of the next piece in proportion to its time.
func heardText(marks []mark, ms int64) string {
	var heard []string
	begin := int64(0)
	for _, m := range marks {
		words := strings.Fields(m.text)
		if m.endMs > ms {
			n := int64(len(words)) * max(ms-begin, 0) / max(m.endMs-begin, 1)
			heard = append(heard, words[:n]...)
			break
		}
		heard, begin = append(heard, words...), m.endMs
	}
	return strings.Join(heard, " ")
}

// onClientEvent handles one message of the data channel.
func (c *call) onClientEvent(data []byte) {
	var ev clientEvent
	if err := json.Unmarshal(data, &ev); err != nil {
		c.refuse(ev, decodeError(err, ""))
		return
	}
	c.onEvent(ev)
}

// onEvent handles one client event.
func (c *call) onEvent(ev clientEvent) {
	defer c.settle()
	switch ev.Type {
	case "session.update":
		c.onSessionUpdate(ev)
	case "input_audio_buffer.commit":
		c.onCommit(ev)
	case "input_audio_buffer.hold":
		c.onHold(ev)
	case "input_audio_buffer.clear":
		c.commitAwaited(true) // what is cleared was said after it
		c.happened(machine.Clear)
	case "input_audio_buffer.append":
		c.refuse(ev, invalidf("unsupported_event", "type", "this call hears by RTP: send audio on its track, not in events"))
	case "conversation.item.create":
		c.onItemCreate(ev)
	case "conversation.item.retrieve":
		c.onItemRetrieve(ev)
	case "conversation.item.delete":
		c.onItemDelete(ev)
	case "conversation.item.truncate":
		c.onItemTruncate(ev)
	case "response.create":
		c.onResponseCreate(ev)
	case "response.cancel":
		c.onResponseCancel(ev)
	case "output_audio_buffer.clear":
		c.happened(machine.ClearOutput)
	default:
		c.refuse(ev, invalidf("invalid_value", "type", "unknown event type; see the events that clients send in the realtime API"))
	}
}

// onSessionUpdate merges a configuration and applies it atomically.
func (c *call) onSessionUpdate(ev clientEvent) {
	if len(ev.Session) == 0 {
		c.refuse(ev, invalidf("missing_required_parameter", "session", "session.update has no session"))
		return
	}
	next, err := c.session.updated(ev.Session)
	if err == nil && next.Type != c.session.Type {
		err = invalidf("invalid_value", "session.type", "session.type cannot change in a call: begin another one, over a WebSocket with ?intent=transcription for a session that recognises only")
	}
	if err == nil {
		err = c.checkVoice(string(next.Audio.Output.Voice), "session.audio.output.voice")
	}
	if err != nil {
		c.refuse(ev, err)
		return
	}
	before := c.session.Audio.Input.TurnDetection
	c.session = next
	c.inputRate.Store(int64(next.Audio.Input.Format.Rate))
	c.configure(!before.equal(next.Audio.Input.TurnDetection))
	c.send(sessionEvent{"session.updated", newID("event"), c.session})
}

// refuse sends an error event that names the client's event.
func (c *call) refuse(ev clientEvent, err error) {
	e := *serverError(err)
	if ev.EventID != "" {
		e.EventID = &ev.EventID
	}
	c.send(errorEvent{"error", newID("event"), &e})
}
