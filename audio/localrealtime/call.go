package localrealtime

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/pion/webrtc/v4"
	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/endturn"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// Bounds of a call.
const (
	connectTimeout = 15 * time.Second // from the answer to the open data channel
	gatherTimeout  = 5 * time.Second
	inboxSize      = 256
	// maxUnsent is how many bytes of events may wait for a client that does
	// not read; then the call ends.
	maxUnsent = 8 << 20
)

// eventChannel is the label of the data channel of events.
const eventChannel = "oai-events"

// call is one conversation with one peer. Fields below "run" belong to the
// goroutine of run; the others are set before it starts.
type call struct {
	id      string
	srv     *Server
	log     zerolog.Logger
	pc      *webrtc.PeerConnection
	ctx     context.Context // done when the call is over
	hangUp  context.CancelFunc
	done    chan struct{} // closed when nothing of the call is left
	workers sync.WaitGroup
	inbox   chan func()
	track   chan *webrtc.TrackRemote
	opened  chan struct{} // closed with session.created
	expires time.Time

	detector    vad.Detector // of listen; nil before it is loaded and when it failed for good
	silent      int          // windows of digital silence in a row; of listen
	recognition *recognition
	speaker     *speaker
	voices      []string // nil when there is no synthesiser

	// run
	channel     *webrtc.DataChannel // nil until it is open
	session     session
	items       conversation
	turns       turns
	transcripts map[string]*transcriptState
	responses   []*response // not over yet, oldest first
	idle        *time.Timer
	idleFrom    int64
	answered    bool // something was said since the last idle timeout

	listener  endturn.Listener // nil where there is none
	listening bool             // it is busy
}

// answer takes an offer and makes a call of it. It fails with a
// *protocolError when the offer is at fault.
func (s *Server) answer(ctx context.Context, offer string, session session) (*call, string, error) {
	c, err := s.newCall(session)
	if err != nil {
		return nil, "", err
	}
	if err := s.adopt(c); err != nil {
		c.release()
		return nil, "", err
	}
	go c.run()
	answer, err := c.negotiate(ctx, offer)
	if err != nil {
		c.hangUp()
		<-c.done
		return nil, "", err
	}
	return c, answer, nil
}

// newCall makes a call with its engines and its peer connection.
func (s *Server) newCall(session session) (*call, error) {
	c := &call{
		id: newID("rtc"), srv: s,
		done: make(chan struct{}), inbox: make(chan func(), inboxSize),
		track: make(chan *webrtc.TrackRemote, 1), opened: make(chan struct{}),
		session:     session,
		expires:     time.Now().Add(s.cfg.SessionLimit),
		items:       conversation{id: newID("conv")},
		transcripts: make(map[string]*transcriptState),
		idle:        stoppedTimer(),
		turns:       turns{stall: stoppedTimer()},
	}
	c.session.ExpiresAt = c.expires.Unix()
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
	if c.speaker, err = newSpeaker(c, synth); err == nil {
		err = c.connect()
	}
	if err == nil {
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

// connect makes the peer connection and ties it to the call.
func (c *call) connect() error {
	pc, err := c.srv.api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return fmt.Errorf("make a peer connection: %w", err)
	}
	c.pc = pc
	sender, err := pc.AddTrack(c.speaker.track)
	if err != nil {
		return fmt.Errorf("add the audio track: %w", err)
	}
	c.workers.Go(func() {
		// RTCP must be read for the interceptors to see it.
		buf := make([]byte, 1500)
		for {
			if _, _, err := sender.Read(buf); err != nil {
				return
			}
		}
	})
	pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		select {
		case c.track <- t:
		default: // one voice is enough
		}
	})
	pc.OnDataChannel(func(d *webrtc.DataChannel) {
		if d.Label() != eventChannel {
			return
		}
		d.OnOpen(func() { c.post(func() { c.onOpen(d) }) })
		d.OnMessage(func(m webrtc.DataChannelMessage) {
			c.post(func() {
				c.onOpen(d) // pion does not promise that OnOpen comes first
				c.onClientEvent(m.Data)
			})
		})
		d.OnClose(c.hangUp)
	})
	pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		if s == webrtc.PeerConnectionStateFailed || s == webrtc.PeerConnectionStateClosed {
			c.hangUp()
		}
	})
	return nil
}

// negotiate answers the offer with all candidates in it.
func (c *call) negotiate(ctx context.Context, offer string) (string, error) {
	if err := c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", invalidf("invalid_offer", "sdp", "the SDP offer is refused: %v", err)
	}
	answer, err := c.pc.CreateAnswer(nil)
	if err != nil {
		return "", invalidf("invalid_offer", "sdp", "the SDP offer cannot be answered: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, gatherTimeout)
	defer cancel()
	gathered := webrtc.GatheringCompletePromise(c.pc)
	if err := c.pc.SetLocalDescription(answer); err != nil {
		return "", fmt.Errorf("set the answer: %w", err)
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return "", fmt.Errorf("gather candidates: %w", ctx.Err())
	case <-c.ctx.Done():
		return "", errClosed
	}
	return c.pc.LocalDescription().SDP, nil
}

// run owns the state of the call until it is over, and then takes it apart.
func (c *call) run() {
	defer close(c.done)
	defer c.srv.forget(c)
	defer c.release()
	c.workers.Go(c.listen)
	c.workers.Go(func() { c.recognition.run(c.ctx) })
	c.workers.Go(c.speaker.generate)
	c.workers.Go(c.speaker.pace)
	c.configureTurns()
	connect := time.NewTimer(connectTimeout)
	defer connect.Stop()
	limit := time.NewTimer(time.Until(c.expires))
	defer limit.Stop()
	for {
		select {
		case f := <-c.inbox:
			f()
		case <-c.turns.stall.C:
			c.onStall()
		case <-c.idle.C:
			c.onIdle()
		case <-connect.C:
			if c.channel == nil {
				c.log.Info().Msg("caller did not connect; hanging up")
				return
			}
		case <-limit.C:
			c.log.Info().Msg("session limit reached; hanging up")
			c.end(sessionExpired(c.srv.cfg.SessionLimit))
		case <-c.ctx.Done():
			return
		}
	}
}

// release ends everything that the call holds. It waits for the workers, so it
// must not run on one of them.
func (c *call) release() {
	c.hangUp()
	c.idle.Stop()
	c.turns.stall.Stop()
	if c.pc != nil {
		if err := c.pc.GracefulClose(); err != nil {
			c.log.Debug().Err(err).Msg("closing the peer connection")
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

// onOpen greets the caller.
func (c *call) onOpen(d *webrtc.DataChannel) {
	if c.channel != nil {
		return
	}
	c.channel = d
	c.send(sessionEvent{"session.created", newID("event"), c.session})
	close(c.opened)
}

// send puts an event on the data channel. A caller that does not read is hung
// up on.
func (c *call) send(event any) {
	data, err := json.Marshal(event)
	if err != nil {
		c.log.Error().Err(err).Type("event", event).Msg("encode an event")
		return
	}
	if c.channel == nil {
		return
	}
	if err := c.channel.SendText(string(data)); err != nil || c.channel.BufferedAmount() > maxUnsent {
		c.log.Info().Err(err).Msg("caller does not take events; hanging up")
		c.hangUp()
	}
}

// fail ends the call because of a fault of the server.
func (c *call) fail(what string, err error) {
	c.log.Error().Err(err).Msg(what)
	c.end(serverError(fmt.Errorf("%s: %w", what, err)))
}

// end sends an error event and hangs up when the caller has it, or after a
// second.
func (c *call) end(why *protocolError) {
	c.send(errorEvent{"error", newID("event"), why})
	if c.channel == nil {
		c.hangUp()
		return
	}
	time.AfterFunc(time.Second, c.hangUp)
	c.channel.OnBufferedAmountLow(c.hangUp) // the default threshold is 0
	if c.channel.BufferedAmount() == 0 {
		c.hangUp()
	}
}

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
