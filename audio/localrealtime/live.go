package localrealtime

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
)

// A Live session is a call that uses the events of the Live API: the server listens,
// speaks and detects the end of a turn, and the client answers. The server delegates
// each turn with recognised words to the client once, and speaks what the client
// appends as commentary. Speech cannot be cancelled by the client; the server stops
// speaking when the user begins to speak.
//
// The underlying call uses the Realtime protocol. live translates its events to the
// Live API, and client events to operations of the call.

// The only client event that carries audio.
const liveAppend = "session.input_audio.append"

// maxCommentary limits the length of one append, in characters: 500 tokens.
const maxCommentary = 2000

// live is the Live side of a call. Only call.run uses it.
type live struct {
	call   *call
	config liveConfig
	write  func(event []byte) error // to the client

	from  int64  // ms: position up to which the user's words were sent
	words string // of the turn, as already sent
}

// newLive creates the Live side of a call. write sends an event to the client.
func newLive(c *call, config liveConfig, write func([]byte) error) *live {
	return &live{call: c, config: config, write: write}
}

// sessionOf returns the session underneath a Live session: semantic turn detection, and
// no answers by the server.
func (s *Server) sessionOf(config json.RawMessage) (session, liveConfig, error) {
	var in liveConfig
	if len(config) > 0 {
		if err := decode(config, &in, "session."); err != nil {
			return session{}, in, err
		}
	}
	switch d := in.Delegation; {
	case in.Model == "":
		return session{}, in, invalidf("missing_required_parameter", "session.model", "session.model is missing; any name is taken")
	case d == nil:
		in.Delegation = &liveDelegation{Type: "client"}
	case d.Type != "client":
		return session{}, in, invalidf("invalid_value", "session.delegation.type", "session.delegation.type must be \"client\": this server makes no answers of its own in a Live session")
	}
	update := map[string]any{
		"model": in.Model, "instructions": in.Instructions,
		"audio": map[string]any{
			"input":  map[string]any{"transcription": map[string]any{}, "turn_detection": map[string]any{"type": "semantic_vad", "create_response": false}},
			"output": map[string]any{"voice": string(in.Audio.Output.Voice)},
		},
	}
	if f := in.Audio.Format; f != nil {
		for _, direction := range []string{"input", "output"} {
			update["audio"].(map[string]any)[direction].(map[string]any)["format"] = f
		}
	}
	b, err := json.Marshal(update)
	if err != nil {
		return session{}, in, err
	}
	made, err := newSession(false, b)
	return made, in, err
}

// head returns the head of an event that answers the client event with the given id,
// which may be empty.
func (l *live) head(kind, answers string) liveHead { return liveHead{kind, newID("event"), answers} }

// now returns the session time, in ms of the user's audio.
func (l *live) now() int64 { return msOf(l.call.turns.pos) }

// send writes an event.
func (l *live) send(event any) error {
	data, err := json.Marshal(event)
	if err != nil {
		return err
	}
	return l.write(data)
}

// session returns the session as shown to the client.
func (l *live) session() liveSession {
	c := l.call
	s := liveSession{
		ID: c.id, ExpiresAt: c.expires.Unix(), Model: c.session.Model, Status: "active",
		Instructions: c.session.Instructions, Delegation: *l.config.Delegation,
		Audio: liveAudio{Format: l.config.Audio.Format},
	}
	s.Audio.Output.Voice = string(c.session.Audio.Output.Voice)
	return s
}

func (l *live) usage() liveUsage { return liveUsage{Seconds: float64(l.now()) / 1000} }

// translate sends the Live API's equivalent of a call event. Most events have no
// equivalent.
func (l *live) translate(event []byte) error {
	var e struct {
		Type         string         `json:"type"`
		Delta        string         `json:"delta"`
		Transcript   string         `json:"transcript"`
		AudioStartMs int64          `json:"audio_start_ms"`
		Error        *protocolError `json:"error"`
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return err
	}
	switch e.Type {
	case "session.created":
		return l.send(liveSessionEvent{liveHead: l.head("session.started", ""), Session: l.session()})
	case "input_audio_buffer.speech_started":
		l.from, l.words = e.AudioStartMs, ""
	case "conversation.item.input_audio_transcription.delta":
		return l.heard(e.Delta)
	case "conversation.item.input_audio_transcription.completed":
		return l.delegate(e.Transcript)
	case "response.output_audio_transcript.delta":
		return l.send(l.span("session.output_transcript.delta", "", &e.Delta, l.now()))
	case "response.output_audio.delta":
		return l.send(liveAudioEvent{"session.output_audio.delta", e.Delta})
	case "conversation.item.input_audio_transcription.failed", "error":
		return l.fail(e.Error)
	}
	return nil
}

func (l *live) span(kind, answers string, delta *string, from int64) liveSpanEvent {
	now := l.now()
	return liveSpanEvent{l.head(kind, answers), delta, min(from, now), now}
}

// heard sends new words of the user.
func (l *live) heard(words string) error {
	if words == "" {
		return nil
	}
	from := l.from
	l.from, l.words = l.now(), l.words+words
	return l.send(l.span("session.input_transcript.delta", "", &words, from))
}

// delegate ends a turn of the user: it sends the remaining words and asks the client to
// answer. Words already sent are not retracted if the final transcript differs.
func (l *live) delegate(transcript string) error {
	all, sent := strings.Fields(transcript), len(strings.Fields(l.words))
	rest := strings.Join(all[min(sent, len(all)):], " ")
	if rest != "" && sent > 0 {
		rest = " " + rest
	}
	if err := l.heard(rest); err != nil || l.words == "" {
		return err
	}
	l.words = ""
	e := liveDelegationEvent{liveHead: l.head("session.delegation.created", ""), OffsetMs: l.now()}
	e.Delegation.ID, e.Delegation.Type, e.Delegation.Target = newID("dlg"), "delegation", "client"
	if err := l.send(e); err != nil {
		return err
	}
	return l.send(liveUsageEvent{l.head("session.usage.updated", ""), l.usage()})
}

// fail sends an error. The end of the session is not an error in the Live API.
func (l *live) fail(why *protocolError) error {
	if why.Code == codeSessionExpired {
		return l.closed("expired", "")
	}
	e := liveErrorEvent{liveHead: l.head("error", ""), Error: liveError{Type: why.Type, Code: why.Code, Message: why.Message}}
	if why.Param != nil {
		e.Error.Param = *why.Param
	}
	if why.EventID != nil {
		e.Error.ClientEventID, e.ClientEventID = *why.EventID, *why.EventID
	}
	return l.send(e)
}

func (l *live) closed(reason, answers string) error {
	usage := l.usage()
	return l.send(liveSessionEvent{liveHead: l.head("session.closed", answers), Session: l.session(), Reason: reason, Usage: &usage})
}

// receive handles a client event.
func (l *live) receive(data []byte) {
	c := l.call
	var ev liveClientEvent
	err := error(nil)
	if e := json.Unmarshal(data, &ev); e != nil {
		err = decodeError(e, "")
	} else {
		err = l.take(ev)
	}
	if err != nil {
		c.refuse(clientEvent{EventID: ev.EventID}, err)
	}
}

func (l *live) take(ev liveClientEvent) error {
	switch ev.Type {
	case "session.commentary.append", "session.thinking.append", "session.instructions.append":
		if n := utf8.RuneCountInString(ev.Content); n == 0 || n > maxCommentary {
			return invalidf("invalid_value", "content", "content has %d characters; it must have 1 to %d", n, maxCommentary)
		}
		if ev.Type == "session.commentary.append" {
			if err := l.speak(ev.Content); err != nil {
				return err
			}
		}
		return l.send(l.span(strings.TrimSuffix(ev.Type, "append")+"appended", ev.EventID, nil, l.now()))
	case "session.update":
		var in liveConfig
		if err := decode(ev.Session, &in, "session."); err != nil {
			return err
		}
		if d := in.Delegation; d != nil {
			if d.Type != "client" {
				return invalidf("invalid_value", "session.delegation.type", "session.delegation.type cannot change from \"client\"")
			}
			l.config.Delegation = d
		}
		return l.send(liveSessionEvent{liveHead: l.head("session.updated", ev.EventID), Session: l.session()})
	case "session.close":
		err := l.closed("close_requested", ev.EventID)
		l.call.hangUpWhenSent()
		return err
	case liveAppend:
		return invalidf("unsupported_event", "type", "this session hears by RTP: send audio on its track, not in events")
	case "session.start":
		return invalidf("invalid_value", "type", "the session has started")
	default:
		return invalidf("unsupported_event", "type", "this server does not take events of this type in a Live session")
	}
}

// speak speaks a text verbatim. The user's voice interrupts it.
func (l *live) speak(text string) error {
	in := conversationIn{Type: itemMessage, Role: "user"}
	in.Content = append(in.Content, struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Transcript string `json:"transcript"`
	}{Type: "input_text", Text: text})
	r, err := l.call.newResponse(responseCreate{Input: []conversationIn{in}})
	if err != nil {
		return err
	}
	if l.call.take(machine.Event{Kind: machine.Create}, news{response: r}) == machine.Full {
		return tooManyResponses()
	}
	return nil
}
