package localrealtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
)

// eventChannel is the label of the data channel for events.
const eventChannel = "oai-events"

// gatherTimeout limits ICE candidate gathering.
const gatherTimeout = 5 * time.Second

// errUnread ends a call whose client does not read its events.
var errUnread = errors.New("the client does not read its events")

// peerConnection is the transport over WebRTC: a data channel and one Opus track in
// each direction.
type peerConnection struct {
	*rtpSpeech
	call    *call
	pc      *webrtc.PeerConnection
	track   chan *webrtc.TrackRemote
	channel *webrtc.DataChannel // owned by call.run; nil until open
	live    *live               // nil for a call of the Realtime protocol
}

// away implements transport.
func (p *peerConnection) away() bool {
	return p.pc.ICEConnectionState() == webrtc.ICEConnectionStateDisconnected
}

// answer creates a call from an offer. It fails with a *protocolError if the offer is
// invalid. as configures a Live session; it is nil for the Realtime protocol.
func (s *Server) answer(ctx context.Context, offer string, session session, as *liveConfig) (*call, string, error) {
	var p *peerConnection
	c, err := s.newCall(session, func(c *call) (_ transport, err error) {
		if p, err = newPeerConnection(c); err != nil {
			return nil, err
		}
		if as != nil {
			p.live = newLive(c, *as, p.write)
		}
		return p, nil
	})
	if err != nil {
		return nil, "", err
	}
	if err := s.adopt(c); err != nil {
		c.release()
		return nil, "", err
	}
	go c.run()
	answer, err := p.negotiate(ctx, offer)
	if err != nil {
		c.hangUp()
		<-c.done
		return nil, "", err
	}
	return c, answer, nil
}

// newPeerConnection creates the peer connection of a call.
func newPeerConnection(c *call) (*peerConnection, error) {
	speech, err := newRTPSpeech(c)
	if err != nil {
		return nil, err
	}
	pc, err := c.srv.api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, fmt.Errorf("make a peer connection: %w", err)
	}
	p := &peerConnection{rtpSpeech: speech, call: c, pc: pc, track: make(chan *webrtc.TrackRemote, 1)}
	sender, err := pc.AddTrack(speech.track)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("add the audio track: %w", err), pc.Close())
	}
	c.workers.Go(func() {
		// The interceptors process RTCP only while it is read.
		buf := make([]byte, 1500)
		for {
			if _, _, err := sender.Read(buf); err != nil {
				return
			}
		}
	})
	pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		select {
		case p.track <- t:
		default: // only one audio track is used
		}
	})
	pc.OnDataChannel(func(d *webrtc.DataChannel) {
		if d.Label() != eventChannel {
			return
		}
		d.OnOpen(func() { c.post(func() { p.open(d) }) })
		d.OnMessage(func(m webrtc.DataChannelMessage) {
			c.post(func() {
				p.open(d) // pion does not guarantee that OnOpen fires first
				if p.live != nil {
					p.live.receive(m.Data)
				} else {
					c.onClientEvent(m.Data)
				}
			})
		})
		d.OnClose(c.hangUp)
	})
	pc.OnICEConnectionStateChange(func(s webrtc.ICEConnectionState) {
		if s == webrtc.ICEConnectionStateConnected {
			c.post(func() { c.happened(machine.Heard) }) // audio sent during the outage is on its way
		}
	})
	pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		if s == webrtc.PeerConnectionStateFailed || s == webrtc.PeerConnectionStateClosed {
			c.hangUp()
		}
	})
	return p, nil
}

// open accepts the first data channel for events.
func (p *peerConnection) open(d *webrtc.DataChannel) {
	if p.channel == nil {
		p.channel = d
		p.call.happened(machine.Opened)
	}
}

// start implements transport.
func (p *peerConnection) start() {
	p.call.workers.Go(func() { p.call.listen(p.track) })
	p.call.workers.Go(p.pace)
}

// send implements transport.
func (p *peerConnection) send(event []byte) error {
	if p.live != nil {
		return p.live.translate(event)
	}
	return p.write(event)
}

func (p *peerConnection) write(event []byte) error {
	if err := p.channel.SendText(string(event)); err != nil {
		return err
	}
	if p.channel.BufferedAmount() > maxUnsent {
		return errUnread
	}
	return nil
}

// whenSent implements transport.
func (p *peerConnection) whenSent(f func()) {
	p.channel.OnBufferedAmountLow(f) // the default threshold is 0
	if p.channel.BufferedAmount() == 0 {
		f()
	}
}

// close implements transport.
func (p *peerConnection) close() error { return p.pc.GracefulClose() }

// negotiate answers the offer with all candidates included.
func (p *peerConnection) negotiate(ctx context.Context, offer string) (string, error) {
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", invalidf("invalid_offer", "sdp", "the SDP offer is refused: %v", err)
	}
	answer, err := p.pc.CreateAnswer(nil)
	if err != nil {
		return "", invalidf("invalid_offer", "sdp", "the SDP offer cannot be answered: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, gatherTimeout)
	defer cancel()
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(answer); err != nil {
		return "", fmt.Errorf("set the answer: %w", err)
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return "", fmt.Errorf("gather candidates: %w", ctx.Err())
	case <-p.call.ctx.Done():
		return "", errClosed
	}
	return p.pc.LocalDescription().SDP, nil
}
