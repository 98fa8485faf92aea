package localrealtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/report"
	"github.com/pion/logging"
	"github.com/pion/webrtc/v4"
	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/turns/sound"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
)

// DefaultMaxCalls bounds the engines in memory. A conversation uses one call, or two
// while it renews its connection.
const DefaultMaxCalls = 16

// Request rate limits of all clients together: requests per second and burst.
const (
	requestRate, requestBurst   = 20, 60
	wrongKeyRate, wrongKeyBurst = 1, 10
)

// reportEvery is the RTCP report interval: the minimum recommended by RFC 3550, section
// 6.2.
const reportEvery = 5 * time.Second

// DefaultSessionLimit is the limit of the public API. It also bounds what a call
// accumulates, such as conversation items.
const DefaultSessionLimit = 60 * time.Minute

// DefaultKeepEngines is how long engines stay in memory after the last call, and in a
// suspended conversation.
const DefaultKeepEngines = 2 * time.Minute

// Config configures a Server. Recognizer, Synthesizer, Detector and APIKey are
// required.
type Config struct {
	Recognizer  hearing.Factory
	Synthesizer voice.Factory
	Detector    func() (vad.Detector, error)
	// Listener returns the model that judges the end of a turn by sound, for sessions
	// with semantic_vad. If nil, only the words decide.
	Listener func() sound.Listener
	// Words returns words that the user is likely to say, for recognisers that support
	// them (hearing.WordTaker). It is called for each utterance and may be nil.
	Words func() []string
	// Expected returns the short answers that the user may give, in groups of one meaning, for
	// recognisers that compare sounds with them (hearing.AnswerTaker). It is called for each
	// utterance and may be nil.
	Expected func() [][]string
	// Unfinished reports whether more words must follow those before a pause, because alone they
	// mean nothing in this state of the conversation. Then the turn ends only after a pause as
	// long as for a sentence that stops in the middle. It is called often, and may be nil.
	Unfinished func(words string) bool
	// GoesOn reports whether a voice that begins now may continue the utterance before it. Then a
	// recogniser that is a hearing.Joiner recognises both as one, too. It may be nil.
	GoesOn func() bool
	// Model answers the user. If nil, the server only transcribes and speaks verbatim
	// text.
	Model Model
	// Segmenter creates the segmenter that splits the Model's answer for speech. It is
	// required with Model.
	Segmenter func() Segmenter
	// Summarise summarises the beginning of a conversation; the Model gets the summary
	// instead. If nil, the part that exceeds the limit is left out.
	Summarise func(context.Context, []Message) (string, error)
	// Remember is the number of characters of verbatim conversation that the Model gets
	// before Summarise is called. Zero means DefaultRemember.
	Remember int
	// APIKey is the key that clients must present.
	APIKey string
	// Speed is the pace of sent audio and of all audio timers, as a multiple of real
	// time. Zero means 1.
	Speed float64
	Log   zerolog.Logger
	// SessionLimit is the maximum duration of a call. Each session announces its end as
	// expires_at. Zero means DefaultSessionLimit.
	SessionLimit time.Duration
	// KeepEngines is how long engines stay in memory after the last call, and after
	// Suspend. Zero means DefaultKeepEngines.
	KeepEngines time.Duration
	// EnginesFreed, if set, is called after an unused engine was closed.
	EnginesFreed func()
	// MaxCalls limits the number of concurrent calls. Zero means DefaultMaxCalls.
	MaxCalls int
	// Origins lists the web origins that may use the server, such as
	// http://localhost:3000. Requests from other pages are rejected.
	Origins []string
	// AllowRemote allows the server to listen, and exchange media, on addresses other
	// than loopback.
	AllowRemote bool
	// WrapPacketConn, if set, wraps the socket that carries all media, so that tests
	// can drop and delay packets.
	WrapPacketConn func(net.PacketConn) net.PacketConn
}

// Server is the embedded realtime server. Its methods are safe for concurrent
// use.
type Server struct {
	cfg         Config
	api         *webrtc.API
	mux         ice.UDPMux
	secrets     *secretStore
	recognizers *pool[hearing.Recognizer]
	detectors   *pool[vad.Detector]
	requests    *rate.Limiter
	wrongKeys   *rate.Limiter
	stallSlack  time.Duration // see the constants; tests change them before the first call
	pingEvery   time.Duration

	mu     sync.Mutex
	calls  map[string]*call
	closed bool
	rest   rest
	wg     sync.WaitGroup // one for each call
}

// New creates a Server and opens its media socket. Engines are loaded by Ready or for
// the first call. New fails if the configuration is incomplete or the socket cannot be
// opened.
func New(cfg Config) (*Server, error) {
	switch {
	case cfg.Recognizer == nil || cfg.Synthesizer == nil || cfg.Detector == nil:
		return nil, errors.New("realtime server: a recogniser, a synthesiser or a voice detector is missing from the configuration")
	case cfg.APIKey == "":
		return nil, errors.New("realtime server: no API key; make one for the process")
	case cfg.Model != nil && cfg.Segmenter == nil:
		return nil, errors.New("realtime server: a model needs a segmenter in the configuration")
	case cfg.Remember < 0:
		return nil, fmt.Errorf("realtime server: %d characters cannot be remembered; leave it out for %d", cfg.Remember, DefaultRemember)
	case cfg.MaxCalls < 0:
		return nil, fmt.Errorf("realtime server: %d calls at one time are not possible; leave it out for %d", cfg.MaxCalls, DefaultMaxCalls)
	case cfg.Speed < 0:
		return nil, fmt.Errorf("realtime server: speed %v is negative; use 1 for real time", cfg.Speed)
	case cfg.SessionLimit < 0:
		return nil, fmt.Errorf("realtime server: session limit %v is negative; leave it out for %v", cfg.SessionLimit, DefaultSessionLimit)
	case cfg.KeepEngines < 0:
		return nil, fmt.Errorf("realtime server: engines cannot be kept for %v; leave it out for %v", cfg.KeepEngines, DefaultKeepEngines)
	}
	if cfg.KeepEngines == 0 {
		cfg.KeepEngines = DefaultKeepEngines
	}
	if cfg.EnginesFreed == nil {
		cfg.EnginesFreed = func() {}
	}
	if cfg.Speed == 0 {
		cfg.Speed = 1
	}
	if cfg.Remember == 0 {
		cfg.Remember = DefaultRemember
	}
	if cfg.MaxCalls == 0 {
		cfg.MaxCalls = DefaultMaxCalls
	}
	if cfg.SessionLimit == 0 {
		cfg.SessionLimit = DefaultSessionLimit
	}
	s := &Server{
		cfg:         cfg,
		secrets:     newSecretStore(time.Now),
		recognizers: newPool[hearing.Recognizer](cfg.Recognizer, cfg.KeepEngines, cfg.EnginesFreed),
		detectors:   newPool[vad.Detector](cfg.Detector, cfg.KeepEngines, cfg.EnginesFreed),
		requests:    rate.NewLimiter(requestRate, requestBurst),
		wrongKeys:   rate.NewLimiter(wrongKeyRate, wrongKeyBurst),
		stallSlack:  stallSlack,
		pingEvery:   pingEvery,
		calls:       make(map[string]*call),
	}
	if err := s.listenMedia(); err != nil {
		return nil, err
	}
	return s, nil
}

// listenMedia opens the server's UDP socket and builds the WebRTC stack on it.
func (s *Server) listenMedia() error {
	addr := "127.0.0.1:0"
	if s.cfg.AllowRemote {
		addr = "0.0.0.0:0"
	}
	conn, err := net.ListenPacket("udp4", addr)
	if err != nil {
		return fmt.Errorf("realtime server: open the media socket on %s: %w", addr, err)
	}
	if s.cfg.WrapPacketConn != nil {
		conn = s.cfg.WrapPacketConn(conn)
	}
	// pion's log contains addresses and goes to stderr, so it is discarded. Failures
	// that matter are reported as connection states and errors.
	quiet := &logging.DefaultLoggerFactory{Writer: io.Discard}
	s.mux = webrtc.NewICEUDPMux(quiet.NewLogger("ice"), conn)

	var se webrtc.SettingEngine
	se.LoggerFactory = quiet
	se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	se.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	se.SetIncludeLoopbackCandidate(true)
	if !s.cfg.AllowRemote {
		se.SetIPFilter(net.IP.IsLoopback)
	}
	// A path without traffic for 1 s counts as disconnected, which is before stallSlack
	// ends a turn. The caller reconnects after 2 s more (protocol, section 3); a peer
	// without traffic for another 6 s has failed. The caller's own checks are more
	// frequent than these.
	se.SetICETimeouts(time.Second, 6*time.Second, 2*time.Second)
	se.SetSCTPMaxMessageSize(maxEventBytes)
	se.SetICEUDPMux(s.mux)

	var me webrtc.MediaEngine
	if err := me.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: opusCapability, PayloadType: 111}, webrtc.RTPCodecTypeAudio); err != nil {
		return errors.Join(fmt.Errorf("realtime server: register Opus: %w", err), s.mux.Close())
	}
	var ir interceptor.Registry
	reports, sent := report.ReceiverInterval(reportEvery), report.SenderInterval(reportEvery)
	if err := webrtc.ConfigureRTCPReportsWithOptions(&ir, []report.ReceiverOption{reports}, sent); err != nil {
		return errors.Join(fmt.Errorf("realtime server: configure RTCP: %w", err), s.mux.Close())
	}
	s.api = webrtc.NewAPI(webrtc.WithSettingEngine(se), webrtc.WithMediaEngine(&me), webrtc.WithInterceptorRegistry(&ir))
	return nil
}

// opusCapability is Opus as registered by RFC 7587: SDP always declares 48 kHz and two
// channels, whatever is encoded.
var opusCapability = webrtc.RTPCodecCapability{
	MimeType: webrtc.MimeTypeOpus, ClockRate: rtpRate, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1",
}

// Listen opens a TCP listener for Serve. Without AllowRemote it rejects addresses other
// than loopback.
func (s *Server) Listen(addr string) (net.Listener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("realtime server: listen on %s: %w", addr, err)
	}
	if tcp, ok := ln.Addr().(*net.TCPAddr); !s.cfg.AllowRemote && (!ok || !tcp.IP.IsLoopback()) {
		return nil, errors.Join(fmt.Errorf("realtime server: %s is not a loopback address; use 127.0.0.1 or allow remote callers", addr), ln.Close())
	}
	return ln, nil
}

// Serve serves HTTP on ln until ctx is done (it returns nil) or ln fails, and closes
// ln. Calls continue until Close.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	h := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	stop := context.AfterFunc(ctx, func() { _ = h.Close() })
	defer stop()
	if err := h.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("realtime server: serve %s: %w", ln.Addr(), err)
	}
	return nil
}

// Ready loads a recogniser and a detector for the next call and waits for them. Its
// error names the missing engine and how to install it.
func (s *Server) Ready() error {
	detectors := make(chan error, 1)
	go func() { detectors <- s.detectors.ready() }()
	return errors.Join(s.recognizers.ready(), <-detectors)
}

// Loading reports whether engines are being loaded. Close waits for them.
func (s *Server) Loading() bool { return s.recognizers.loading() || s.detectors.loading() }

// Calls returns the number of calls that are connecting or connected.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// HangUpAll ends all calls, like a service that shuts down, and waits until they are
// gone. New calls are accepted again afterwards.
func (s *Server) HangUpAll() {
	for _, c := range s.liveCalls() {
		c.hangUp()
		<-c.done
	}
}

// Close hangs up all calls, closes the engines and the media socket, and waits for all
// goroutines of the server. It is safe to call twice.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	if s.rest.timer != nil {
		s.rest.timer.Stop()
	}
	s.mu.Unlock()
	for _, c := range s.liveCalls() {
		c.hangUp()
	}
	s.wg.Wait()
	if !first {
		return nil
	}
	return errors.Join(s.mux.Close(), s.recognizers.close(), s.detectors.close())
}

func (s *Server) liveCalls() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := make([]*call, 0, len(s.calls))
	for _, c := range s.calls {
		live = append(live, c)
	}
	return live
}

// errBusy and errClosed reject a call.
var (
	errBusy   = errors.New("too many calls; hang one up first")
	errClosed = errors.New("the server is closing")
)

// admits returns the reason why another call is not possible, or nil.
func (s *Server) admits() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.admitsLocked()
}

func (s *Server) admitsLocked() error {
	switch {
	case s.closed:
		return errClosed
	case len(s.calls) >= s.cfg.MaxCalls:
		return errBusy
	}
	return nil
}

// adopt registers a call before it starts.
func (s *Server) adopt(c *call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admitsLocked(); err != nil {
		return err
	}
	s.calls[c.id] = c
	s.wg.Add(1)
	s.recognizers.use()
	s.detectors.use()
	return nil
}

// forget unregisters a call at its end.
func (s *Server) forget(c *call) {
	s.recognizers.release()
	s.detectors.release()
	s.mu.Lock()
	delete(s.calls, c.id)
	s.mu.Unlock()
	s.wg.Done()
}

func (s *Server) call(id string) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[id]
}
