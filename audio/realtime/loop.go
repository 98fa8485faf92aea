package realtime

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v4"
	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// disconnectedFor is how long ICE may be disconnected before the call counts
// as lost (the protocol, section 3).
const disconnectedFor = 2 * time.Second

// inboxSize is how much the network may deliver ahead of the loop.
const inboxSize = 256

// command is what a method of the Client asks of the loop.
type command func(l *loop, now time.Time)

// loop owns the state of the call. It is the only goroutine that calls the
// Handler and sends events.
type loop struct {
	cfg      Config
	log      zerolog.Logger
	handler  Handler
	link     transport
	result   chan<- error // of the dial, once: nil when the session stands
	stop     context.CancelFunc
	canceled *atomic.Int64
	count    *counters
	expiry   *expiry

	speech  speech
	voice   voice
	partial map[string]string // transcripts that are not final, by item
	live    *live             // nil where the service is not reached by the Live API

	ready          bool             // the session stands
	updates        int              // of the session, that are not answered
	included       bool             // the last of them asks for probabilities
	dead           bool             // nothing more is to be done
	disconnectedAt time.Time        // zero while ICE is connected
	outage         func(pathChange) // has the uplink wait for the path
}

func (l *loop) run(ctx context.Context, inbox <-chan message, wake <-chan struct{}, commands func() []command) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
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
		}
		l.tick(time.Now())
	}
}

func (l *loop) deadline() time.Time {
	at := l.speech.deadline()
	if t := l.voice.deadline(); t.Before(at) && !l.speech.unclaimed() {
		at = t
	}
	if l.live != nil && l.live.deadline().Before(at) {
		at = l.live.deadline()
	}
	if !l.disconnectedAt.IsZero() {
		if t := l.disconnectedAt.Add(disconnectedFor); t.Before(at) {
			at = t
		}
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
		l.voice.push(sound{packet: m.packet}, now)
		l.speech.bound = l.voice.bound()
	case msgICE:
		l.onICE(m.ice, now)
	case msgGone:
		l.gone(m)
	}
	l.perform()
}

// gone ends the call because its connection is closed. Why is worth telling while
// dialling; a call that stood is dialled again, and is told then.
func (l *loop) gone(m message) {
	err := &Error{Code: CodeConnectionLost, Retryable: true, Message: "the service closed the connection; connect again", Unheard: m.unheard}
	if m.err != nil && !l.ready {
		err = m.err
	} else if m.err != nil {
		err.Message, err.Err = m.err.Message, m.err.Err
	}
	l.fail(err)
}

func (l *loop) onICE(state webrtc.ICEConnectionState, now time.Time) {
	switch state {
	case webrtc.ICEConnectionStateDisconnected:
		l.disconnectedAt = now
		// A busy machine notices late, and what the service has it drops.
		l.outage(pathChange{since: now.Add(-3 * pathSilence)})
	case webrtc.ICEConnectionStateConnected, webrtc.ICEConnectionStateCompleted:
		if l.disconnectedAt.IsZero() {
			return
		}
		if l.speech.underWay() { // what the service said meanwhile is lost, and is said again over a new call
			l.pathLost("audio of the service was lost on the network; connect again", now)
			return
		}
		l.disconnectedAt = time.Time{}
		l.outage(pathChange{up: true})
	case webrtc.ICEConnectionStateFailed:
		l.pathLost("the network path to the service failed; connect again", now)
	}
}

// pathLost ends the call because nothing came over the network path for some time.
func (l *loop) pathLost(message string, now time.Time) {
	unheard := pathSilence + pathCheck
	if !l.disconnectedAt.IsZero() {
		unheard += now.Sub(l.disconnectedAt)
	}
	l.fail(&Error{Code: CodeConnectionLost, Retryable: true, Message: message, Unheard: unheard})
}

// tick does what time made due.
func (l *loop) tick(now time.Time) {
	if !l.disconnectedAt.IsZero() && now.Sub(l.disconnectedAt) >= disconnectedFor {
		l.pathLost("no answer from the service for too long; connect again", now)
	}
	if l.dead {
		return
	}
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

// play hands audio to whom it is for, as voice.drain has it.
func (l *loop) play(now time.Time) func(chunk) (audio.SegmentID, bool) {
	return func(c chunk) (seg audio.SegmentID, heard bool) {
		seg, heard = l.speech.audio(c, now)
		l.perform() // the end of the segment before comes first
		if heard = heard && l.wanted(seg); heard && len(c.pcm) > 0 {
			l.handler.SpeechAudio(seg, c.pcm)
		}
		return seg, heard
	}
}

// settle ends the dial: the session stands.
func (l *loop) settle() {
	if !l.ready {
		l.ready = true
		l.result <- nil
	}
}

// fail ends the call: the dial gets the error, or the Handler once.
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

// wanted reports whether the Handler may hear of the segment. CancelSpeech
// counts at once, even before its command gets here.
func (l *loop) wanted(id audio.SegmentID) bool { return int64(id.Gen) > l.canceled.Load() }

// perform carries out what the speech queue decided, until it wants no more.
func (l *loop) perform() {
	for actions := l.speech.take(); len(actions) > 0 && !l.dead; actions = l.speech.take() {
		for _, a := range actions {
			l.act(a)
		}
	}
}

func (l *loop) act(a action) {
	switch a.kind {
	case actCreate:
		if !l.post(responseCreate(a.seg)) {
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
		if l.wanted(a.seg.ID) {
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
			l.handler.SpeechMismatch(a.seg.ID)
		}
	}
}

// post sends an event. A failure is logged: a broken channel is reported by
// its closing.
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
