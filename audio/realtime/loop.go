package realtime

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// inboxSize is how many messages the network may queue ahead of the loop.
const inboxSize = 256

// command is a request from a method of the Client to the loop.
type command func(l *loop, now time.Time)

// loop owns the state of the call. It is the only goroutine that calls the
// Handler and sends events.
type loop struct {
	cfg      Config
	log      zerolog.Logger
	handler  Handler
	link     transport
	result   chan<- error // of the dial, sent once; nil after the session is established
	stop     context.CancelFunc
	canceled *atomic.Int64
	count    *counters
	expiry   *expiry
	metered  *metered

	speech  speech
	voice   voice
	partial map[string]string // transcripts that are not final, by item
	turns   turns
	unnamed bool          // provider.Session.Unnamed
	late    []clientEvent // see input
	lateAt  time.Time     // when it is sent; zero while the network is down
	commits []uint64      // utterances whose commit the service has not answered; see Handler.InputCommitted
	live    *live         // nil unless the service uses the Live API

	ready    bool   // the session is established
	updates  int    // unanswered session updates
	included bool   // the last update requests probabilities
	rejected string // code of the error that it was answered with
	dead     bool   // the call is over
	path     outage
	outage   func(pathChange) // makes the uplink wait for the path
}

func (l *loop) run(ctx context.Context, inbox <-chan message, wake <-chan struct{}, commands func() []command) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	defer l.path.silence.Stop()
	for !l.dead {
		timer.Reset(time.Until(l.deadline()))
		select {
		case <-ctx.Done():
			return
		case m := <-inbox:
			l.take(m, time.Now())
		case <-wake:
			for _, do := range commands() {
				do(l, time.Now())
				l.perform()
			}
		case <-timer.C:
		case <-l.path.silence.C():
			l.onSilence(time.Now())
		}
		l.tick(time.Now())
	}
}

func (l *loop) deadline() time.Time {
	at := l.speech.deadline()
	if t := l.voice.deadline(); t.Before(at) && !l.speech.unclaimed() {
		at = t
	}
	if !l.lateAt.IsZero() && l.lateAt.Before(at) {
		at = l.lateAt
	}
	if l.live != nil && l.live.deadline().Before(at) {
		at = l.live.deadline()
	}
	return at
}

// take handles one message of the network.
func (l *loop) take(m message, now time.Time) {
	switch m.kind {
	case msgOpen:
		l.included = l.live == nil
		updates := sessionUpdates(l.cfg, true)
		l.updates = len(updates)
		for _, u := range updates {
			l.post(u)
		}
	case msgEvent:
		l.onEvent(m.event, now)
	case msgPacket:
		l.onPacket(m.packet, now)
		l.voice.push(sound{packet: m.packet}, now)
		l.speech.bound = l.voice.bound()
	case msgICE:
		l.onICE(m.ice, now)
	case msgGone:
		l.gone(m)
	}
	l.perform()
}

// gone ends the call because its connection was closed. The reason matters only while
// dialling; after an established call breaks, the caller redials and gets the reason
// then.
func (l *loop) gone(m message) {
	err := &Error{Code: CodeConnectionLost, Retryable: true, Message: "the service closed the connection; connect again", Unheard: m.unheard}
	if m.err != nil && !l.ready {
		err = m.err
	} else if l.rejected != "" && !l.ready {
		err = protocolError("session.update: refused (%s)", l.rejected)
	} else if m.err != nil {
		err.Message, err.Err = m.err.Message, m.err.Err
	}
	l.fail(err)
}

// tick handles expired timers.
func (l *loop) tick(now time.Time) {
	if l.dead {
		return
	}
	l.sendLate(now)
	if !l.speech.unclaimed() {
		l.voice.drain(now, l.play(now))
	}
	l.speech.settle(now)
	if l.live != nil {
		l.live.due(now)
		l.settleLive(now)
	}
	l.perform()
	l.voice.publish(l.count)
}

// play returns the function that voice.drain uses to deliver audio to the right
// segment.
func (l *loop) play(now time.Time) func(chunk) (audio.SegmentID, bool) {
	return func(c chunk) (seg audio.SegmentID, heard bool) {
		seg, heard = l.speech.audio(c, now)
		l.perform() // the end of the previous segment comes first
		if heard = heard && l.wanted(seg); heard && len(c.pcm) > 0 {
			l.handler.SpeechAudio(seg, c.pcm)
		}
		return seg, heard
	}
}

// settle completes the dial: the session is established.
func (l *loop) settle() {
	if !l.ready {
		l.ready = true
		l.result <- nil
	}
}

// fail ends the call: the dial returns the error, or the Handler gets it once.
func (l *loop) fail(err *Error) {
	if l.dead {
		return
	}
	l.dead = true
	if !l.ready {
		l.result <- err
		l.stop()
		return
	}
	l.stop()
	l.log.Warn().Str("code", err.Code).Msg("the realtime connection is lost")
	l.handler.Lost(err.Code, err)
}

// wanted reports whether the Handler may receive events of the segment. CancelSpeech
// takes effect immediately, even before its command arrives here.
func (l *loop) wanted(id audio.SegmentID) bool { return int64(id.Gen) > l.canceled.Load() }

// perform runs the actions of the speech queue until there are none left.
func (l *loop) perform() {
	for actions := l.speech.take(); len(actions) > 0 && !l.dead; actions = l.speech.take() {
		for _, a := range actions {
			if l.act(a); l.dead {
				return
			}
		}
	}
}

func (l *loop) act(a action) {
	switch a.kind {
	case actCreate:
		voice := ""
		if l.cfg.Speaker != nil {
			voice = l.cfg.Speaker()
		}
		if !l.post(responseCreate(a.seg, voice)) {
			l.speech.refused(a.seg.ID, CodeSpeechNotPosted, time.Now())
		}
	case actSpeed:
		l.post(speedUpdate(a.seg.speed()))
	case actCancel:
		l.post(responseCancel(a.id))
	case actClear:
		l.voice.drop()
		l.link.clear(l.post)
	case actEnded:
		if l.path.up { // its end may be missing
			l.pathLost(lostAudio, time.Now())
		} else if l.wanted(a.seg.ID) {
			l.handler.SpeechEnded(a.seg.ID)
		}
	case actFailed:
		if l.wanted(a.seg.ID) {
			l.handler.SpeechFailed(a.seg.ID, a.code)
		}
	case actUnsolicited:
		l.count.unsolicited.Add(1)
		l.log.Info().Msg("the service answered by itself; its response is cancelled")
	case actMismatch:
		l.count.mismatches.Add(1)
		if l.wanted(a.seg.ID) {
			l.handler.SpeechMismatch(a.seg.ID, a.right)
		}
	}
}

// post sends an event. A failure is only logged, because a broken channel is reported
// when it closes.
func (l *loop) post(event clientEvent) bool {
	if l.live != nil {
		now := time.Now()
		l.live.sent(event, now)
		l.settleLive(now)
		return true
	}
	return l.write(event)
}

func (l *loop) write(event any) bool {
	b, err := json.Marshal(event)
	if err == nil {
		err = l.link.send(b)
	}
	if err != nil {
		l.log.Debug().Err(err).Msg("an event was not sent")
	}
	return err == nil
}
