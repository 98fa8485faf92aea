package localrealtime

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/endturn"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// Bounds of a call.
const (
	connectTimeout = 15 * time.Second // from the answer to session.created
	inboxSize      = 256
	// maxUnsent is how many bytes of events may wait for a client that does
	// not read; then the call ends.
	maxUnsent = 8 << 20
)

// call is one conversation with one client. Fields below "run" belong to the
// goroutine of run; the others are set before it starts.
type call struct {
	id      string
	srv     *Server
	log     zerolog.Logger
	link    transport
	ctx     context.Context // done when the call is over
	hangUp  context.CancelFunc
	done    chan struct{} // closed when nothing of the call is left
	workers sync.WaitGroup
	inbox   chan func()
	opened  chan struct{} // closed with session.created
	expires time.Time

	detector    vad.Detector // of listen; nil before it is loaded and when it failed for good
	silent      int          // windows of digital silence in a row; of listen
	inputRate   atomic.Int64 // of audio in events, Hz
	recognition *recognition
	speaker     *speaker
	voices      []string // nil when there is no synthesiser

	// run
	state       machine.State // what the call is at; step assigns it
	executors   [machine.NumActions]func(*call, machine.Action, *news)
	raised      []happening // events that actions caused
	session     session
	items       conversation
	turns       turns
	said        string                      // the item of the last turn that was committed
	transcripts map[string]*transcriptState // that are awaited, by item
	responses   map[uint32]*response        // that are not over
	idle        *time.Timer                 // runs while the user is waited for
	idleFrom    int64

	listener  endturn.Listener // nil where there is none
	listening bool             // it is busy
}

// newCall makes a call with its engines, over a transport.
func (s *Server) newCall(session session, connect func(*call) (transport, error)) (*call, error) {
	c := &call{
		id: newID("rtc"), srv: s,
		done: make(chan struct{}), inbox: make(chan func(), inboxSize),
		opened:      make(chan struct{}),
		session:     session,
		expires:     time.Now().Add(s.cfg.SessionLimit),
		items:       conversation{id: newID("conv")},
		state:       machine.New(s.settings(session)),
		executors:   executors(),
		transcripts: make(map[string]*transcriptState),
		responses:   make(map[uint32]*response),
		idle:        stoppedTimer(),
		turns:       turns{stall: stoppedTimer()},
	}
	c.session.ExpiresAt = c.expires.Unix()
	c.inputRate.Store(int64(session.Audio.Input.Format.Rate))
	c.log = s.cfg.Log.With().Str("call", c.id).Logger()
	c.ctx, c.hangUp = context.WithCancel(context.Background())
	c.recognition = newRecognition(s.recognizers, s.cfg.Words, func(t transcript) { c.post(func() { c.onTranscript(t) }) })
	if s.cfg.Listener != nil {
		c.listener = s.cfg.Listener()
	}
	synth, err := s.cfg.Synthesizer()
	if err != nil {
		// The caller hears why when it wants something said.
		c.log.Warn().Err(err).Msg("speech synthesiser cannot start")
		synth = brokenSynthesizer{err}
	}
	c.voices = synth.Voices()
	c.speaker = newSpeaker(c, synth)
	if c.link, err = connect(c); err == nil {
		err = c.checkVoice(string(session.Audio.Output.Voice), "session.audio.output.voice")
	}
	if err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

// stoppedTimer is a timer that only fires after Reset.
func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// run owns the state of the call until it is over, and then takes it apart.
func (c *call) run() {
	defer close(c.done)
	defer c.srv.forget(c)
	defer c.release()
	c.link.start()
	c.workers.Go(func() { c.recognition.run(c.ctx) })
	c.workers.Go(c.speaker.generate)
	c.configure(true)
	connect := time.NewTimer(connectTimeout)
	defer connect.Stop()
	limit := time.NewTimer(time.Until(c.expires))
	defer limit.Stop()
	for c.state.Link != machine.Torn {
		select {
		case f := <-c.inbox:
			f()
		case <-c.turns.stall.C:
			c.onStall()
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

// settings are what the tables look at of a session.
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

// configure has the tables know the session; detection says that turns are to be detected
// otherwise.
func (c *call) configure(detection bool) {
	c.take(machine.Event{Kind: machine.Configure, OK: detection, Settings: c.srv.settings(c.session)}, news{})
}

// release ends everything that the call holds. It waits for the workers, so it
// must not run on one of them.
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
		if err := c.speaker.synth.Close(); err != nil {
			c.log.Warn().Err(err).Msg("closing the synthesiser")
		}
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
	if err := c.srv.detectors.put(c.detector); err != nil {
		c.log.Warn().Err(err).Msg("closing the voice detector")
	}
}

// post hands f to run. It waits while run is busy, and reports false when the
// call is over. Only goroutines that run never waits for may use it.
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

// send puts an event on its way. A client that does not read is hung up on.
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

// fail ends the call because of a fault of the server.
func (c *call) fail(what string, err error) {
	c.log.Error().Err(err).Msg(what)
	c.take(machine.Event{Kind: machine.Fault}, news{why: serverError(fmt.Errorf("%s: %w", what, err))})
}

// hangUpWhenSent hangs up when the caller has all events, or after a second.
func (c *call) hangUpWhenSent() {
	time.AfterFunc(time.Second, c.hangUp)
	c.link.whenSent(c.hangUp)
}

// happened takes an event that comes with nothing.
func (c *call) happened(k machine.Kind) { c.take(machine.Event{Kind: k}, news{}) }

// scaled is a time of audio at the server's speed.
func (c *call) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) / c.srv.cfg.Speed)
}

// brokenSynthesizer stands in for one that could not be made: each answer
// fails with the reason.
type brokenSynthesizer struct{ err error }

func (b brokenSynthesizer) SetRate(float64) {}

func (b brokenSynthesizer) Speak(context.Context, string, string, func([]int16, int) error) error {
	return b.err
}
func (brokenSynthesizer) Voices() []string { return nil }
func (brokenSynthesizer) Close() error     { return nil }
