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

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/endturn"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/stt"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/tts"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// DefaultMaxCalls bounds the engines in memory; a conversation uses one call, two
// while it renews its connection.
const DefaultMaxCalls = 16

// Rates of requests, a second and at once, of all clients together.
const (
	requestRate, requestBurst   = 20, 60
	wrongKeyRate, wrongKeyBurst = 1, 10
)

// reportEvery is the time between two RTCP reports: the least that RFC 3550, section 6.2,
// recommends.
const reportEvery = 5 * time.Second

// DefaultSessionLimit is that of the public API. It also bounds what a call
// accumulates, such as the items of its conversation.
const DefaultSessionLimit = 60 * time.Minute

// DefaultKeepEngines is for how long after the last call its engines stay in memory.
const DefaultKeepEngines = 2 * time.Minute

// Config is what a Server is made of. Recognizer, Synthesizer, Detector and
// APIKey are needed.
type Config struct {
	Recognizer  stt.Factory
	Synthesizer tts.Factory
	Detector    func() (vad.Detector, error)
	// Listener makes what judges the end of a turn by sound, for sessions with
	// semantic_vad; nil leaves it to the words.
	Listener func() endturn.Listener
	// Words are those that the user is likely to say, for recognisers that take them
	// (stt.WordTaker). They are asked for with each utterance; nil stands for none.
	Words func() []string
	// Model answers the user; nil makes a server that transcribes, and speaks verbatim.
	Model Model
	// Segmenter makes what cuts an answer of Model for the voice. It is needed with Model.
	Segmenter func() Segmenter
	// Summarise puts the beginning of a conversation into few words, which the Model is
	// given in its place. nil leaves out what is too long.
	Summarise func(context.Context, []Message) (string, error)
	// Remember is how many characters of a conversation the Model is given as they were
	// said before Summarise is asked. Zero stands for DefaultRemember.
	Remember int
	// APIKey is the key that client_secrets and calls take.
	APIKey string
	// Speed is the pace of the audio that is sent and of all waiting on audio,
	// as a multiple of real time. Zero stands for 1.
	Speed float64
	Log   zerolog.Logger
	// SessionLimit is how long a call may last. Each session announces its end as
	// expires_at. Zero stands for DefaultSessionLimit.
	SessionLimit time.Duration
	// KeepEngines is for how long after the last call the engines stay in memory. Zero
	// stands for DefaultKeepEngines.
	KeepEngines time.Duration
	// EnginesFreed, if set, is called after an engine was closed for that.
	EnginesFreed func()
	// MaxCalls bounds the calls at one time. Zero stands for DefaultMaxCalls.
	MaxCalls int
	// Origins are those of web pages that may use the server, such as
	// http://localhost:3000. Requests of other pages are refused.
	Origins []string
	// AllowRemote lets the server listen, and exchange media, on addresses
	// other than loopback.
	AllowRemote bool
	// WrapPacketConn, when set, wraps the socket that carries all media, so
	// that tests can lose and delay packets.
	WrapPacketConn func(net.PacketConn) net.PacketConn
}

// Server is the embedded realtime server. Its methods are safe for concurrent
// use.
type Server struct {
	cfg         Config
	api         *webrtc.API
	mux         ice.UDPMux
	secrets     *secretStore
	recognizers *pool[stt.Recognizer]
	detectors   *pool[vad.Detector]
	requests    *rate.Limiter
	wrongKeys   *rate.Limiter

	mu     sync.Mutex
	calls  map[string]*call
	closed bool
	wg     sync.WaitGroup // one for each call
}

// New makes a Server that holds a media socket. Engines are loaded by Ready, or for
// the first call. It fails when the configuration is incomplete or a socket cannot be
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
		recognizers: newPool[stt.Recognizer](cfg.Recognizer, cfg.KeepEngines, cfg.EnginesFreed),
		detectors:   newPool[vad.Detector](cfg.Detector, cfg.KeepEngines, cfg.EnginesFreed),
		requests:    rate.NewLimiter(requestRate, requestBurst),
		wrongKeys:   rate.NewLimiter(wrongKeyRate, wrongKeyBurst),
		calls:       make(map[string]*call),
	}
	if err := s.listenMedia(); err != nil {
		return nil, err
	}
	return s, nil
}

// listenMedia opens the one UDP socket of the server and builds the WebRTC
// stack on it.
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
	// pion's own log names addresses and goes to stderr; failures that matter
	// come back as connection states and errors.
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
	// A path that is silent for 1 s counts as disconnected: before stallSlack ends a
	// turn. A caller reconnects after 2 s more (protocol, section 3); a peer that was
	// silent for 6 s more is gone. The caller's own checks come more often than these.
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

// opusCapability is Opus as RFC 7587 registers it: always 48 kHz and two
// channels in the description, whatever is coded.
var opusCapability = webrtc.RTPCodecCapability{
	MimeType: webrtc.MimeTypeOpus, ClockRate: rtpRate, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1",
}

// Listen opens a TCP listener for Serve. Without AllowRemote it refuses an
// address that is not loopback.
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

// Serve answers HTTP on ln until ctx is done (it then returns nil) or ln fails.
// It closes ln. Calls outlive it: they end with Close.
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

// Ready loads a recogniser and a detector for the next call, and waits for them. Its
// error says which engine is missing, and what installs it.
func (s *Server) Ready() error {
	detectors := make(chan error, 1)
	go func() { detectors <- s.detectors.ready() }()
	return errors.Join(s.recognizers.ready(), <-detectors)
}

// Loading says whether engines are being loaded. Close waits for them.
func (s *Server) Loading() bool { return s.recognizers.loading() || s.detectors.loading() }

// Calls is the number of calls that are connecting or connected.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// HangUpAll ends every call, as a service that goes away does, and returns when
// all are gone. New calls are answered again.
func (s *Server) HangUpAll() {
	for _, c := range s.liveCalls() {
		c.hangUp()
		<-c.done
	}
}

// Close hangs up every call, closes the engines and the media socket, and
// returns when no goroutine of the server is left. It is safe to call twice.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
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

// errBusy and errClosed refuse a call.
var (
	errBusy   = errors.New("too many calls; hang one up first")
	errClosed = errors.New("the server is closing")
)

// admits says why there can be no other call, or nil.
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

// adopt takes a call in, before it starts.
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

// forget is the last act of a call.
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
