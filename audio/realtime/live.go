package realtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
)

// A Live session recognises speech, speaks and owns the turns. It delegates what the
// user said to the client; the delegation does not contain the words, which arrive as
// fragments that belong to no turn. It speaks what the client appends, in its own
// words. Nothing can be cancelled.
//
// live translates this to the equivalent Realtime events, so that both use the same
// loop: the words up to a delegation become an input item, and a segment becomes a
// response that is done as soon as it is accepted, because the service does not
// announce its end. Silence ends it. Like speech, live is a plain state machine: no
// clock, no goroutine, no network.

// Timeouts of live.
const (
	// lateWords is how long to wait for fragments that arrive after their delegation.
	lateWords = 200 * time.Millisecond
	// undelegated is how long to wait for a delegation after words. Without one, the
	// words are passed on anyway: the user said them, and the service may have taken
	// them for a remark. It is also how long to wait for words after a commit before
	// the input counts as empty.
	undelegated = 4 * time.Second
	// acknowledge is when the service may say by itself that it is working; such speech
	// is not played.
	acknowledge = 5 * time.Second
)

// livePause is the silence that ends a segment. It is longer than for verbatim reading,
// because a service that speaks freely pauses longer.
const livePause = 700 * time.Millisecond

// A free service speaks consecutive segments without a break. At a pause, or at the RTP
// marker, the next one begins if enough audio was received for the text of the previous
// one, estimated with livePace, a fast speech rate in samples per character.
const (
	liveTurnOver = 150 * time.Millisecond
	livePace     = audio.SampleRate / 25
	// liveFollows is the timeout for the first sound of a segment after the previous
	// one. Without a sound, the service spoke both together.
	liveFollows = 3 * time.Second
)

// liveFirstSound is the timeout for the first sound of a segment after it was accepted.
const liveFirstSound = 10 * time.Second

// maxCommentary limits one append, in characters: the reference allows 500 tokens,
// which is about 2000 characters of English but 500 of Japanese.
const maxCommentary = 500

// liveInstructions tells the service to leave the answers to the client.
const liveInstructions = "You are the voice of another assistant. Delegate everything that the user says to the client, " +
	"at once and every time: questions, orders, single words such as yes, no or stop. Never answer by yourself, and say nothing " +
	"while you wait. When commentary comes, say it aloud exactly as it is written, word for word, in its own language, and nothing else. " +
	"Stop speaking when the user speaks."

// isLive reports whether a service uses the Live API.
func isLive(of Dialect) bool {
	row, ok := provider.Of(string(of))
	return ok && row.Session != nil && row.Session.Live
}

// wantedLive returns the session that the client requests.
func wantedLive(cfg Config) liveSession {
	s := liveSession{
		Model: cfg.Model, Instructions: liveInstructions,
		Delegation: liveDelegation{Type: "client", AcknowledgementDelayMs: acknowledge.Milliseconds()},
	}
	if cfg.Language != "" {
		s.Instructions += " The user speaks the language with the code " + cfg.Language + "."
	}
	if cfg.TranscriptionPrompt != "" {
		s.Instructions += " Names and terms that the user may say: " + cfg.TranscriptionPrompt
	}
	if cfg.Voice != "" {
		s.Audio = &liveAudio{}
		s.Audio.Output.Voice = cfg.Voice
	}
	return s
}

// liveItem is what the user says, until it is passed on.
type liveItem struct {
	id         string
	text       string
	to         int64 // end, in ms of the session
	delegated  bool
	offset     int64 // of the delegation, in ms; later words belong to the next item
	handOnWhen time.Time
}

type live struct {
	items   int
	open    *liveItem
	commit  string // event id of a commit that waits for words
	giveUp  time.Time
	seconds float64 // session duration, as reported
	closed  bool    // the service ended the session
	early   int64   // offset of a delegation that arrived before its words

	// unanswered is a delegation without an answer so far, or "".
	unanswered string
	turn       string // the last answered turn, and the delegation that it answers
	answers    string

	out []serverEvent // translated events, handled as if the service had sent them
	say []liveAppend  // to be sent
}

// received handles an event of the service.
func (v *live) received(e liveEvent, now time.Time) (known bool) {
	switch e.Type {
	case "session.started":
		s := serverEvent{Type: "session.updated"}
		s.Session.ExpiresAt = e.Session.ExpiresAt
		v.emit(s)
	case "session.closed":
		if v.closed = e.Reason != "expired"; !v.closed {
			v.emit(serverEvent{Type: "error", Error: serviceError{Code: sessionExpired}})
		}
	case "session.input_transcript.delta":
		v.words(e, now)
	case "session.delegation.created":
		return v.delegated(e, now)
	case "session.commentary.appended":
		return v.accepted(e.ClientEventID)
	case "session.usage.updated":
		v.used(e.Usage.Seconds)
	case "error":
		id := cmp.Or(e.Error.ClientEventID, e.ClientEventID)
		v.emit(serverEvent{Type: "error", Error: serviceError{Type: e.Error.Type, Code: e.Error.Code, Param: e.Error.Param, EventID: id}})
	}
	return true
}

func (v *live) emit(e serverEvent) { v.out = append(v.out, e) }

// words appends to what the user says.
func (v *live) words(e liveEvent, now time.Time) {
	if v.open != nil && v.open.delegated && e.StartMs >= v.open.offset {
		v.handOn()
	}
	if v.open == nil {
		v.items++
		v.open = &liveItem{id: fmt.Sprintf("live_%d", v.items), delegated: e.StartMs < v.early, offset: v.early}
		v.early = 0
		v.emit(serverEvent{Type: "input_audio_buffer.speech_started", ItemID: v.open.id, AudioStartMs: e.StartMs})
	}
	it := v.open
	it.text, it.to = it.text+e.Delta, max(it.to, e.EndMs)
	v.emit(serverEvent{Type: "conversation.item.input_audio_transcription.delta", ItemID: it.id, Delta: e.Delta})
	wait := undelegated
	if it.delegated {
		wait = lateWords
	}
	v.commit = ""
	it.handOnWhen = now.Add(wait)
}

// delegated handles a delegation: the user's turn is over.
func (v *live) delegated(e liveEvent, now time.Time) bool {
	if e.Delegation.ID == "" {
		return false
	}
	if v.unanswered != "" { // the conversation continued without an answer to it
		v.append("session.thinking.append", "nothing_"+v.unanswered, v.unanswered, "The client took care of this. Say nothing about it.")
	}
	v.unanswered = e.Delegation.ID
	if v.open == nil {
		v.early = e.OffsetMs
		return true
	}
	v.open.delegated, v.open.offset, v.open.handOnWhen = true, e.OffsetMs, now.Add(lateWords)
	return true
}

// handOn ends the user's input item, once.
func (v *live) handOn() {
	it := v.open
	v.open = nil
	v.emit(serverEvent{Type: "input_audio_buffer.speech_stopped", ItemID: it.id, AudioEndMs: it.to})
	v.emit(serverEvent{Type: "conversation.item.input_audio_transcription.completed", ItemID: it.id, Transcript: strings.TrimSpace(it.text)})
}

// accepted handles the confirmation that the service will speak a segment.
func (v *live) accepted(event string) bool {
	seg, ok := segmentOfEvent(event)
	if !ok {
		return event != "" // a further piece of a segment
	}
	r := response{ID: event, Status: "completed", Metadata: map[string]string{
		metaGeneration: strconv.FormatUint(uint64(seg.Gen), 10), metaSegment: strconv.FormatUint(uint64(seg.Seq), 10),
	}}
	v.emit(serverEvent{Type: "response.created", Response: r})
	v.emit(serverEvent{Type: "response.done", Response: r})
	return true
}

// used records the session duration.
func (v *live) used(seconds float64) {
	if more := seconds - v.seconds; more > 0 {
		v.seconds = seconds
		v.emit(serverEvent{Type: liveUsed, Usage: &usage{Seconds: more}})
	}
}

// liveUsed is the type of an event that reports only usage.
const liveUsed = "live.used"

// sent translates an event that the loop sends. Events without a Live equivalent are
// dropped: a session cannot be changed after its start, and responses cannot be
// cancelled.
func (v *live) sent(e clientEvent, now time.Time) {
	switch e.Type {
	case "response.create":
		v.speak(e)
	case "input_audio_buffer.commit":
		if v.open == nil { // else the service's delegation will end the turn
			v.commit, v.giveUp = e.EventID, now.Add(undelegated)
		}
	case "input_audio_buffer.clear":
		v.open, v.commit = nil, ""
	case "output_audio_buffer.clear": // only a request, which the service may ignore
		v.append("session.thinking.append", "interrupted", v.answers, "The user interrupted. Do not say the rest of the commentary so far.")
	}
}

// noTurn is the turn of text outside the conversation.
const noTurn = "0"

// speak sends a segment as part of the answer to a delegation: each turn of the
// conversation answers the latest unanswered delegation.
func (v *live) speak(e clientEvent) {
	if turn := e.Response.Metadata[metaTurn]; turn != v.turn && turn != noTurn {
		v.turn, v.answers, v.unanswered = turn, v.unanswered, ""
	}
	v.append("session.commentary.append", e.EventID, v.answers, e.Response.Input[0].Content[0].Text)
}

// append adds text to the session, in pieces of the permitted size. The first has the
// id of the event.
func (v *live) append(kind, event, delegation, text string) {
	a := liveAppend{Type: kind}
	if delegation != "" {
		a.DelegationID = &delegation
	}
	for i, p := range inPieces(text, maxCommentary) {
		a.EventID, a.Content = event, p
		if i > 0 {
			a.EventID = fmt.Sprintf("part_%d_of_%s", i+1, event)
		}
		v.say = append(v.say, a)
	}
}

// inPieces cuts a text into pieces of at most most characters, at spaces where
// possible.
func inPieces(text string, most int) (pieces []string) {
	rest := []rune(text)
	for len(rest) > most {
		at := most
		for at > most/2 && rest[at] != ' ' {
			at--
		}
		if rest[at] != ' ' {
			at = most
		}
		pieces, rest = append(pieces, string(rest[:at])), []rune(strings.TrimLeft(string(rest[at:]), " "))
	}
	return append(pieces, string(rest))
}

// due handles expired timeouts.
func (v *live) due(now time.Time) {
	if v.open != nil && !now.Before(v.open.handOnWhen) {
		v.handOn()
	}
	if v.commit != "" && !now.Before(v.giveUp) {
		v.emit(serverEvent{Type: "error", Error: serviceError{Code: commitEmpty, EventID: v.commit}})
		v.commit = ""
	}
}

// deadline returns when due must be called next.
func (v *live) deadline() time.Time {
	at := farAway
	if v.open != nil {
		at = v.open.handOnWhen
	}
	if v.commit != "" && v.giveUp.Before(at) {
		at = v.giveUp
	}
	return at
}

// turnOverAtPause begins the audio of the next segment of a free service.
func (s *speech) turnOverAtPause(c chunk) {
	if c.silent {
		s.pause += audio.Duration(int64(len(c.pcm)))
		return
	}
	begins := c.marker || s.pause >= liveTurnOver
	s.pause = 0
	h := s.live[0]
	if begins && h.started && len(s.live) > 1 && h.samples >= utf8.RuneCountInString(h.Text)*livePace {
		if !h.dropped {
			s.emit(action{kind: actEnded, seg: h.Segment})
		}
		s.live = s.live[1:]
		h = s.live[0]
	}
	h.started = true // the confirmation may arrive after the first sound
}

// onLive handles an event of a Live session.
func (l *loop) onLive(data []byte, now time.Time) {
	var e liveEvent
	err := json.Unmarshal(data, &e)
	var mistyped *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &mistyped) || e.Type == "" || !l.live.received(e, now) {
		l.count.malformed.Add(1)
	}
	l.settleLive(now)
}

// settleLive performs what the Live side decided.
func (l *loop) settleLive(now time.Time) {
	for len(l.live.out) > 0 || len(l.live.say) > 0 {
		say, out := l.live.say, l.live.out
		l.live.say, l.live.out = nil, nil
		for _, a := range say {
			l.write(a)
		}
		for _, e := range out {
			if e.Type == liveUsed {
				if !l.metered.reported(l.live.seconds) {
					l.used(false, e.Usage)
				}
				continue
			}
			l.dispatch(e, now)
		}
	}
	if l.live.closed {
		l.fail(&Error{Code: CodeConnectionLost, Retryable: true, Message: "the service closed the session; connect again"})
	}
}

// callLive sends the offer with the requested session, and returns the service's SDP.
func (s *signaller) callLive(ctx context.Context, offer string) (string, error) {
	body, err := json.Marshal(liveCall{Session: wantedLive(s.cfg), Transport: liveTransport{Type: "webrtc", SDP: offer}})
	if err != nil {
		return "", protocolError("sessions: the request cannot be written")
	}
	_, answer, err := s.post(ctx, "sessions", "/live/sessions", s.header("application/json"), body, http.StatusCreated, http.StatusOK)
	if err != nil {
		return "", err
	}
	s.metered.open(s.cfg.Meter)
	var made struct {
		Session struct {
			ID string `json:"id"`
		} `json:"session"`
		Transport liveTransport `json:"transport"`
	}
	if json.Unmarshal(answer, &made) != nil || !strings.HasPrefix(made.Transport.SDP, "v=0") {
		return "", protocolError("sessions: the answer holds no SDP")
	}
	if callIDPattern.MatchString(made.Session.ID) {
		s.callID = made.Session.ID
	}
	return made.Transport.SDP, nil
}
