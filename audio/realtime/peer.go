package realtime

import (
	"context"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/report"
	"github.com/pion/logging"
	"github.com/pion/webrtc/v4"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
)

const (
	eventChannel = "oai-events"
	// Some services send whole utterances in one event. Events are read whole, so the
	// receive window must fit them.
	maxEvent      = 16 << 20
	receiveWindow = 2 * maxEvent
)

// pathSilence is how long the network path may be silent before pion reports it as
// disconnected; see outage. pathCheck is the interval of connectivity checks: after an
// outage of 2 s, both sides detect in time that the path works again. pathTime is how
// long ICE may look for a path. pathFailure is how much silence pion does not recover
// from. It exceeds every outage that a call survives, because pion cannot tell whether
// this process was late.
const (
	pathSilence = time.Second
	pathCheck   = 300 * time.Millisecond
	pathTime    = 4 * time.Second
	pathFailure = 30 * time.Second
)

// lastEvents is how long the last events of a closed connection may take to be read.
const lastEvents = 500 * time.Millisecond

// reportEvery is the RTCP report interval: the minimum recommended by RFC 3550, section
// 6.2.
const reportEvery = 5 * time.Second

// peer is the WebRTC side of a call: one data channel and one Opus track in each
// direction.
type peer struct {
	pc      *webrtc.PeerConnection
	channel *webrtc.DataChannel
	track   *webrtc.TrackLocalStaticRTP
	mux     ice.UDPMux // set only with WrapPacketConn
	readers sync.WaitGroup
	enc     *opus.Encoder
	down    *downlink

	connected, opened <-chan struct{}
}

var opusCapability = webrtc.RTPCodecCapability{
	MimeType: webrtc.MimeTypeOpus, ClockRate: audio.SampleRate,
	Channels:    2, // required by RFC 7587, section 7, even for mono
	SDPFmtpLine: "minptime=10;useinbandfec=1",
}

// newPeer creates a peer connection that delivers messages to post, which may block.
// Nothing is sent before connect.
func newPeer(cfg Config, post func(message)) (p *peer, err error) {
	p = &peer{}
	if p.enc, err = opus.NewEncoder(opus.Config{FEC: true}); err != nil {
		return nil, err
	}
	if p.down, err = newDownlink(); err != nil {
		return nil, err
	}
	if err := p.set(cfg); err != nil {
		_ = p.close()
		return nil, err
	}
	p.listen(post)
	return p, nil
}

func (p *peer) set(cfg Config) error {
	api, err := p.api(cfg)
	if err != nil {
		return err
	}
	var relays webrtc.Configuration
	if len(cfg.TURN.URLs) > 0 {
		relays.ICEServers = []webrtc.ICEServer{{URLs: cfg.TURN.URLs, Username: cfg.TURN.Username, Credential: cfg.TURN.Password.Value}}
	}
	if p.pc, err = api.NewPeerConnection(relays); err != nil {
		return err
	}
	if p.track, err = webrtc.NewTrackLocalStaticRTP(opusCapability, "audio", "microphone"); err != nil {
		return err
	}
	sender, err := p.pc.AddTrack(p.track)
	if err != nil {
		return err
	}
	p.readers.Go(func() { // the interceptors process RTCP while it is read
		for buf := make([]byte, 1500); ; {
			if _, _, err := sender.Read(buf); err != nil {
				return
			}
		}
	})
	p.channel, err = p.pc.CreateDataChannel(eventChannel, nil)
	return err
}

// api configures pion: Opus only, and the network according to cfg.
func (p *peer) api(cfg Config) (*webrtc.API, error) {
	media := &webrtc.MediaEngine{}
	codec := webrtc.RTPCodecParameters{RTPCodecCapability: opusCapability, PayloadType: 111}
	if err := media.RegisterCodec(codec, webrtc.RTPCodecTypeAudio); err != nil {
		return nil, err
	}
	interceptors := &interceptor.Registry{}
	reports, sent := report.ReceiverInterval(reportEvery), report.SenderInterval(reportEvery)
	if err := webrtc.ConfigureRTCPReportsWithOptions(interceptors, []report.ReceiverOption{reports}, sent); err != nil {
		return nil, err
	}
	quiet := logging.NewDefaultLoggerFactory()
	quiet.DefaultLogLevel = logging.LogLevelDisabled // relevant failures arrive as states
	settings := webrtc.SettingEngine{LoggerFactory: quiet}
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.SetSCTPMaxMessageSize(maxEvent)
	settings.SetSCTPMaxReceiveBufferSize(receiveWindow)
	// TCP is for networks that block UDP: services offer passive candidates, such as
	// TCP 443, but ICE prefers any working UDP path.
	settings.SetNetworkTypes([]webrtc.NetworkType{
		webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6, webrtc.NetworkTypeTCP4, webrtc.NetworkTypeTCP6,
	})
	if cfg.Loopback {
		settings.SetIncludeLoopbackCandidate(true)
		settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeTCP4})
		settings.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	}
	settings.SetICETimeouts(pathSilence, pathFailure, pathCheck)
	if d := newProxyDialer(cfg); d != nil {
		settings.SetICEProxyDialer(d)
	}
	if cfg.WrapPacketConn != nil {
		address := ":0"
		if cfg.Loopback {
			address = "127.0.0.1:0"
		}
		conn, err := net.ListenPacket("udp4", address)
		if err != nil {
			return nil, err
		}
		p.mux = webrtc.NewICEUDPMux(quiet.NewLogger("mux"), cfg.WrapPacketConn(conn))
		settings.SetICEUDPMux(p.mux)
	}
	return webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(media),
		webrtc.WithInterceptorRegistry(interceptors)), nil
}

// listen registers pion's callbacks, which call post.
func (p *peer) listen(post func(message)) {
	connected, opened := make(chan struct{}), make(chan struct{})
	p.connected, p.opened = connected, opened
	onceConnected := sync.OnceFunc(func() { close(connected) })
	p.pc.OnICEConnectionStateChange(func(s webrtc.ICEConnectionState) {
		if s == webrtc.ICEConnectionStateConnected || s == webrtc.ICEConnectionStateCompleted {
			onceConnected()
		}
		post(message{kind: msgICE, ice: s})
	})
	p.pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		switch s {
		case webrtc.PeerConnectionStateFailed:
			post(message{kind: msgGone})
		case webrtc.PeerConnectionStateClosed: // the channel's end comes behind its last events, if it was open
			time.AfterFunc(lastEvents, func() { post(message{kind: msgGone}) })
		}
	})
	p.channel.OnOpen(func() {
		close(opened)
		post(message{kind: msgOpen})
	})
	p.channel.OnMessage(func(m webrtc.DataChannelMessage) { post(message{kind: msgEvent, event: m.Data}) })
	p.channel.OnClose(func() { post(message{kind: msgGone}) })
	p.pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		if !strings.EqualFold(t.Codec().MimeType, webrtc.MimeTypeOpus) {
			return
		}
		for {
			packet, _, err := t.ReadRTP()
			if err != nil {
				return
			}
			post(message{kind: msgPacket, packet: packet})
		}
	})
}

// connect implements transport.
func (p *peer) connect(ctx context.Context, s *signaller) (step string, err error) {
	if err := s.ephemeral(ctx); err != nil {
		return "client_secrets", err
	}
	s.lap(&s.took.Key)
	offer, err := p.offer(ctx)
	if err != nil {
		return stepOffer, err
	}
	answer, err := s.call(ctx, offer)
	if err != nil {
		return stepCalls, err
	}
	s.answered()
	if err := p.accept(answer); err != nil {
		return stepCalls, protocolError("calls: answer SDP does not match the offer")
	}
	ctx, cancel := s.patience(ctx)
	defer cancel()
	noPath, stop := audio.WithTimeout(ctx, pathTime)
	defer stop()
	for _, w := range []struct {
		step      string
		up, never <-chan struct{}
		time      *time.Duration
	}{
		{stepPath, p.connected, noPath.Done(), &s.took.ICE},
		{stepChannel, p.opened, nil, &s.took.Channel},
	} {
		select {
		case <-w.up:
			s.lap(w.time)
		case <-ctx.Done():
			return w.step, ctx.Err()
		case <-w.never:
			if ctx.Err() != nil {
				return w.step, ctx.Err()
			}
			return w.step, &Error{Code: CodeConnectionLost, Retryable: true, Message: "no network path to the service works; connect again"}
		}
	}
	return "", nil
}

// send implements transport.
func (p *peer) send(event []byte) error { return p.channel.SendText(string(event)) }

// carry implements transport.
func (p *peer) carry(ctx context.Context, u *uplink) { u.run(ctx, p.enc, p.track.WriteRTP) }

// voice implements transport.
func (p *peer) voice() voice { return p.down }

// clear implements transport. The service sends at playback pace, so its buffer may
// hold more.
func (p *peer) clear(post func(clientEvent) bool) { post(outputClear) }

// offer returns the SDP with all candidates, because the services do not support
// trickle ICE.
func (p *peer) offer(ctx context.Context) (string, error) {
	offer, err := p.pc.CreateOffer(nil)
	if err != nil {
		return "", err
	}
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(offer); err != nil {
		return "", err
	}
	select {
	case <-gathered:
		return p.pc.LocalDescription().SDP, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (p *peer) accept(sdp string) error {
	return p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: sdp})
}

// path implements transport.
func (p *peer) path() string {
	pair, err := p.pc.SCTP().Transport().ICETransport().GetSelectedCandidatePair()
	switch {
	case err != nil || pair == nil:
		return ""
	case pair.Local.Typ == webrtc.ICECandidateTypeRelay:
		return PathRelay
	case pair.Local.Protocol == webrtc.ICEProtocolTCP:
		return PathTCP
	default:
		return PathUDP
	}
}

// close implements transport.
func (p *peer) close() (err error) {
	if p.pc != nil {
		err = p.pc.GracefulClose()
	}
	if p.mux != nil {
		_ = p.mux.Close()
	}
	p.readers.Wait()
	return err
}
