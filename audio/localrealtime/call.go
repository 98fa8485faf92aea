package localrealtime

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
	"github.com/agentvoice/agentvoice-daemon/audio/turns/sound"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// Limits of a call.
const (
	connectTimeout = 15 * time.Second // from the answer to session.created
	inboxSize      = 256
	// maxUnsent is how many bytes of events may queue for a client that does not read
	// before the call ends.
	maxUnsent = 8 << 20
)

// call is one conversation with one client. The fields below "run" belong to the
// goroutine of run; the others are set before it starts.
type call struct {
	id      string
	srv     *Server
	log     zerolog.Logger
	link    transport
	ctx     context.Context // done when the call is over
	hangUp  context.CancelFunc
	done    chan struct{} // closed when all resources of the call are released
	workers sync.WaitGroup
	inbox   chan func()
	opened  chan struct{} // closed when session.created is sent
	expires time.Time
	// restChanged has a value after the server's calls began or stopped to rest.
	restChanged chan struct{}

	detector    vad.Detector // used by listen; nil until loaded, and after a permanent failure
	silent      int          // consecutive windows of digital silence; used by listen
	inputRate   atomic.Int64 // of audio in events, in Hz
	recognition *recognition
	speaker     *speaker
	voices      []string // nil without a synthesiser

	// run
	state       machine.State // state of the tables; only step assigns it
	executors   [machine.NumActions]func(*call, machine.Action, *news)
	raised      []happening // events raised by actions
	session     session
	items       conversation
	turns       turnState
	said        string                      // the item of the last committed turn
	transcripts map[string]*transcriptState // pending transcripts, by item
	responses   map[uint32]*response        // not yet over
	idle        *time.Timer                 // runs while the call waits for the user
	idleFrom    int64

	listener  sound.Listener // nil if unavailable, or at rest
	listening bool           // listener is busy
}

// newCall creates a call with its engines over a transport.
func (s *Server) newCall(session session, connect func(*call) (transport, error)) (*call, error) {
	c := &call{
		id: newID("rtc"), srv: s,
		done: make(chan struct{}), inbox: make(chan func(), inboxSize),
		opened:      make(chan struct{}),
		restChanged: make(chan struct{}, 1),
		session:     session,
		expires:     time.Now().Add(s.cfg.SessionLimit),
		items:       conversation{id: newID("conv")},
		state:       machine.New(s.settings(session)),
		executors:   executors(),
		transcripts: make(map[string]*transcriptState),
		responses:   make(map[uint32]*response),
		idle:        stoppedTimer(),
	}
	c.session.ExpiresAt = c.expires.Unix()
	c.inputRate.Store(int64(session.Audio.Input.Format.Rate))
	c.log = s.cfg.Log.With().Str("call", c.id).Logger()
	c.ctx, c.hangUp = context.WithCancel(context.Background())
	c.recognition = newRecognition(s.recognizers, s.cfg.Words, s.cfg.Expected, func(t transcript) { c.post(func() { c.onTranscript(t) }) })
	c.recognition.joins = s.cfg.GoesOn != nil
	if s.cfg.Listener != nil {
		c.listener = s.cfg.Listener()
	}
	c.speaker = newSpeaker(c)
	c.voices = c.speaker.synth.Voices()
	var err error
	if c.link, err = connect(c); err == nil {
		err = c.checkVoice(string(session.Audio.Output.Voice), "session.audio.output.voice")
	}
	if err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

// stoppedTimer returns a timer that fires only after Reset.
func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// run owns the state of the call until it is over, and then releases its resources.
func (c *call) run() {
	defer close(c.done)
	defer c.srv.forget(c)
	defer c.release()
	c.link.start()
	c.workers.Go(func() { c.recognition.run(c.ctx) })
	c.workers.Go(c.speaker.generate)
	c.configure(true)
	c.adaptToRest()
	connect := time.NewTimer(connectTimeout)
	defer connect.Stop()
	limit := time.NewTimer(time.Until(c.expires))
	defer limit.Stop()
	for c.state.Link != machine.Torn {
		select {
		case f := <-c.inbox:
			f()
		case <-c.restChanged:
			c.adaptToRest()
		case <-c.turns.stall.C():
			if c.turns.stall.Expired() {
				c.onStall()
			}
		case <-c.idle.C:
			c.take(machine.Event{Kind: machine.IdleTimeout}, news{pos: c.idleFrom})
		case <-connect.C:
			if c.take(machine.Event{Kind: machine.ConnectTimeout}, news{}) == machine.Taken {
				c.log.Info().Msg("caller did not connect; hanging up")
			}
		case <-limit.C:
			c.log.Info().Msg("session limit reached; hanging up")
			c.take(machine.Event{Kind: machine.Expired}, news{why: sessionExpired(c.srv.cfg.SessionLimit)})
		case <-c.ctx.Done():
			c.happened(machine.HungUp)
		}
	}
}

// settings returns the parts of a session that the tables use.
func (s *Server) settings(of session) machine.Settings {
	in := of.Audio.Input
	m := machine.Settings{
		Interrupt: in.TurnDetection != nil && in.TurnDetection.InterruptResponse, Create: in.TurnDetection.creates(),
		Idle: in.TurnDetection.idleTimeout() > 0, Transcribe: in.Transcription != nil, Model: of.answers, Answers: maxResponses,
	}
	if s.cfg.Summarise != nil {
		m.Remember = s.cfg.Remember
	}
	return m
}

// configure passes the session to the tables; detection reports whether turn detection
// changed.
func (c *call) configure(detection bool) {
	c.take(machine.Event{Kind: machine.Configure, OK: detection, Settings: c.srv.settings(c.session)}, news{})
}

// release closes everything that the call holds. It waits for the workers, so it must
// not run on one of them.
func (c *call) release() {
	c.hangUp()
	c.idle.Stop()
	c.turns.stall.Stop()
	if c.link != nil {
		if err := c.link.close(); err != nil {
			c.log.Debug().Err(err).Msg("closing the connection")
		}
	}
	c.workers.Wait()
	if c.speaker != nil {
		c.speaker.close()
	}
	if c.listener != nil {
		if err := c.listener.Close(); err != nil {
			c.log.Warn().Err(err).Msg("closing the end-of-turn model")
		}
	}
	if c.detector == nil {
		return
	}
	c.detector.Reset()
	done := c.srv.detectors.put
	if vad.Replaced(c.detector) {
		done = c.srv.detectors.discard // the next call tries the first choice again
	}
	if err := done(c.detector); err != nil {
		c.log.Warn().Err(err).Msg("closing the voice detector")
	}
}

// post runs f on the goroutine of run. It blocks while run is busy and returns false
// when the call is over. A goroutine that run waits for must not use it.
func (c *call) post(f func()) bool {
	select {
	case c.inbox <- f:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// greet sends the first event of the call.
func (c *call) greet() {
	c.send(sessionEvent{"session.created", newID("event"), c.session})
	close(c.opened)
}

// send queues an event for the client, and hangs up if the client does not read.
func (c *call) send(event any) {
	if !c.state.Link.Carries() {
		return
	}
	data, err := json.Marshal(event)
	if err != nil {
		c.log.Error().Err(err).Type("event", event).Msg("encode an event")
		return
	}
	if err := c.link.send(data); err != nil {
		c.log.Info().Err(err).Msg("client does not take events; hanging up")
		c.hangUp()
	}
}

// fail ends the call because of an internal error.
func (c *call) fail(what string, err error) {
	c.log.Error().Err(err).Msg(what)
	c.take(machine.Event{Kind: machine.Fault}, news{why: serverError(fmt.Errorf("%s: %w", what, err))})
}

// hangUpWhenSent hangs up when all events are sent, or after a second.
func (c *call) hangUpWhenSent() {
	time.AfterFunc(time.Second, c.hangUp)
	c.link.whenSent(c.hangUp)
}

// happened processes an event without data.
func (c *call) happened(k machine.Kind) { c.take(machine.Event{Kind: k}, news{}) }

// scaled converts a duration of audio to wall-clock time at the server's speed.
func (c *call) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) / c.srv.cfg.Speed)
}

// brokenSynthesizer replaces a synthesizer that could not be created: each answer fails
// with the reason.
type brokenSynthesizer struct{ err error }

func (b brokenSynthesizer) SetRate(float64) {}

func (b brokenSynthesizer) Speak(context.Context, string, string, func([]int16, int) error) error {
	return b.err
}
func (brokenSynthesizer) Voices() []string { return nil }
func (brokenSynthesizer) Close() error     { return nil }
