package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hosted"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/heap"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// service is the endpoint to connect to: a provider with a credential, or the embedded
// server.
type service struct {
	w   *World
	q   *daemon.Queue
	ctx context.Context
	end context.CancelFunc
	// giveUp ends an activation that still waits for a key. Only Execute uses it.
	giveUp context.CancelFunc

	watch sync.WaitGroup // of engines that are loading

	replaced atomic.Bool // the user was told that another engine does the recognition
	// turnEndLost: the user was told that the end-of-turn model failed.
	turnEndLost atomic.Bool
	// detectorLost: the user was told that the voice detector failed.
	detectorLost atomic.Bool
	// foreign: the user was told that the recogniser does not know their language.
	foreign   atomic.Bool
	announced string // last announcement of missing capabilities; used by the queue only
	// networks are those known to block media.
	networks realtime.Networks

	mu      sync.Mutex
	local   *localServer
	clients clients
}

// localServer is the embedded server, while it runs.
type localServer struct {
	server *localrealtime.Server
	base   string
	key    string
	served chan error
	err    error // why it is not running
	ears   ears
	voice  SpeechChoice
	// transcriber is the recogniser behind it; nil if the local engines are used.
	transcriber *hosted.Transcriber
}

func newService(w *World) *service {
	s := &service{w: w, q: w.queue("the session"), clients: clients{}}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.giveUp = func() {}
	return s
}

func (s *service) activate(instance uint32) {
	ctx, giveUp := context.WithCancel(s.ctx)
	s.giveUp = giveUp
	s.q.Do(func() {
		defer giveUp()
		set := s.w.port.Settings()
		for _, p := range []protocol.Provider{set.Hears(), set.Speaks()} {
			if p == protocol.ProviderLocal {
				continue
			}
			if _, err := s.credential(ctx, p); ctx.Err() != nil {
				return
			} else if err != nil {
				s.fail(instance, credentialCode(err), err)
				return
			}
		}
		if set.SessionWith() == protocol.ProviderLocal {
			if err := s.startLocal(set); err != nil {
				s.fail(instance, csm.CodeEngineMissing, err)
				return
			}
			s.local.server.Suspend(false) // the last conversation may have ended while it was suspended
			s.watchEngines(instance)
		}
		s.announce(set)
		s.w.port.Post(csm.SessionReady{Instance: instance})
	})
}

// credentialCode returns the core's code for a missing credential. A service may refuse
// one for a reason that the core does not know.
func credentialCode(err error) csm.Code {
	var e *realtime.Error
	switch {
	case !errors.As(err, &e):
		return csm.CodeCredentialsMissing
	case slices.Contains(csm.Codes, csm.Code(e.Code)):
		return csm.Code(e.Code)
	default:
		return csm.CodeSessionFailed
	}
}

// watchEngines ends the session if an engine of the embedded server turns out to be
// missing. The engines load while the conversation is already being prepared.
func (s *service) watchEngines(instance uint32) {
	ready, server := make(chan error, 1), s.local.server
	go func() { ready <- server.Ready() }()
	s.watch.Go(func() {
		select {
		case err := <-ready:
			if err != nil {
				s.fail(instance, csm.CodeEngineMissing, err)
			}
		case <-s.ctx.Done():
		}
	})
}

func (s *service) fail(instance uint32, code csm.Code, err error) {
	s.w.cfg.Log.Error().Str("code", string(code)).Err(err).Msg("the session cannot be activated")
	s.w.port.Fail(csm.SessionFailed{Instance: instance, Code: code}, err.Error())
}

func (s *service) deactivate(instance uint32) {
	s.giveUp()
	s.q.Do(func() { s.w.port.Post(csm.SessionClosed{Instance: instance}) })
}

// suspend lets the embedded server free its models while the conversation is suspended.
func (s *service) suspend(suspended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.local != nil && s.local.server != nil {
		s.local.server.Suspend(suspended)
	}
}

// credential returns the secret of a provider.
func (s *service) credential(ctx context.Context, p protocol.Provider) (realtime.Credential, error) {
	if p == protocol.ProviderLocal {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.local == nil || s.local.err != nil {
			return realtime.Credential{}, errors.New("the embedded server does not run")
		}
		return realtime.Credential{Value: s.local.key, Kind: realtime.APIKey}, nil
	}
	if s.w.cfg.Credentials == nil {
		return realtime.Credential{}, fmt.Errorf("there is no key for provider %s", p)
	}
	return s.w.cfg.Credentials(ctx, p)
}

// dialConfig returns the dial configuration of the service that the settings name, for a call with a
// judge, or nil.
func (s *service) dialConfig(set protocol.Settings, j *judge) (realtime.Config, error) {
	of := set.SessionWith()
	row, _ := provider.Of(string(of))
	cfg := realtime.Config{
		Dialect: realtime.Dialect(of), BaseURL: set.HearingEndpoint(), Model: set.Model,
		TurnDetection: turnDetection(set, j), SessionLimit: set.Session.Max, Log: s.w.cfg.Log,
		Networks:    &s.networks,
		Credentials: func(ctx context.Context) (realtime.Credential, error) { return s.credential(ctx, of) },
	}
	if _, voice, _ := voiceWire(set); voice.Wire == provider.Realtime && of != protocol.ProviderLocal {
		cfg.Voice = set.Voice.Name // a session rejects unknown names
	}
	if of == protocol.ProviderLocal {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.local == nil || s.local.err != nil {
			return cfg, errors.New("the embedded server does not run")
		}
		cfg.BaseURL, cfg.Loopback, cfg.Extensions = s.local.base, true, true
		cfg.Speaker = func() string { return s.w.speaker(set.Voice.Name) }
	} else {
		var err error
		if cfg.TURN, err = s.relays(set); err != nil {
			return cfg, err
		}
		cfg.HTTPClient, cfg.Proxy = s.httpClient(set), proxyOf(set)
	}
	if row.Session != nil {
		cfg.Model = cmp.Or(cfg.Model, row.Session.Model)
		if row.Session.Transcribes { // its models load before the session is announced
			cfg.ConnectTimeout = set.Conversation.StartTimeout
		}
	}
	if row.Deployments {
		cfg.Model = set.Deployment
	}
	cfg.Listens = listens(set) && cfg.TurnDetection.Type == realtime.NoDetection
	recognises(&cfg, set)
	cfg.Used = func(u realtime.Usage) { s.used(set, cfg.Model, cfg.TranscriptionModel, u) }
	cfg.Meter = func() realtime.Meter { return s.opened(set, cfg.Model) }
	if s.w.cfg.Instrument != nil {
		s.w.cfg.Instrument(&cfg)
	}
	return cfg, nil
}

// recognises says how the session recognises: with which model, and what that takes.
func recognises(cfg *realtime.Config, set protocol.Settings) {
	row, hearing := hearingIn(set, cfg.Listens)
	inSession := hearing.Wire == provider.Realtime && row.Session != nil
	if inSession {
		cfg.TranscriptionModel = hearing.Model
	}
	if row.Name == provider.Local {
		cfg.TranscriptionModel = set.Transcription.Model
	}
	cfg.NoLogprobs = inSession && !hearing.Logprobs
	if hearing.Vocabulary == provider.Keywords {
		cfg.Keywords = keywords(vocabulary(set))
	} else if hearing.Vocabulary != "" {
		cfg.TranscriptionPrompt = vocabulary(set)
	}
	if inSession && row.Session.Noise {
		cfg.NoiseReduction = map[string]string{
			protocol.NoiseReductionNear: realtime.NearField, protocol.NoiseReductionFar: realtime.FarField,
		}[set.Hearing.NoiseReduction]
	}
	language := protocol.BaseLanguage(set.Transcription.Language)
	if hearing.Languages && language != "" {
		cfg.Languages = []string{language}
	} else {
		cfg.Language = language
	}
}

// turnDetection returns what the service is told: how it ends the turns of a call without a judge, and
// of voices that the judge does not know. A pipeline knows whether its models hear the end of a turn:
// LocalAI would wait 4 to 8 s of silence for one that does not, and before 4.5.6 hears nothing with
// semantic_vad.
func turnDetection(set protocol.Settings, j *judge) realtime.TurnDetection {
	d := set.TurnDetection
	row, _ := provider.Of(string(set.SessionWith()))
	pipeline := row.Session != nil && row.Session.Transcribes
	switch {
	case d.Mode == protocol.TurnPushToTalk, j != nil && !j.settles:
		return realtime.TurnDetection{Type: realtime.NoDetection}
	case pipeline && d.Mode == protocol.TurnAutomatic:
		return realtime.TurnDetection{Type: realtime.ServiceDetection}
	case pipeline && d.Mode == protocol.TurnPatient:
		return realtime.TurnDetection{Type: realtime.ServerVAD, Threshold: d.Threshold, PrefixPadding: d.PrefixPadding, Silence: pauses(d).Unclear}
	case d.Mode == protocol.TurnAutomatic:
		return realtime.TurnDetection{Type: realtime.SemanticVAD, Eagerness: d.Eagerness}
	case d.Mode == protocol.TurnPatient:
		return realtime.TurnDetection{Type: realtime.SemanticVAD, Eagerness: protocol.EagernessLow}
	default: // with a phrase, pauses separate utterances and do not end a turn: the core does
		return realtime.TurnDetection{Type: realtime.ServerVAD, Threshold: d.Threshold, PrefixPadding: d.PrefixPadding, Silence: d.Silence}
	}
}

// startLocal starts the embedded server with the recogniser that the settings select,
// unless it already runs with it. It runs on the service's queue.
func (s *service) startLocal(set protocol.Settings) error {
	s.mu.Lock()
	running := s.local
	s.mu.Unlock()
	if running != nil && running.err == nil {
		if running.ears == earsOf(set) && running.voice == s.choice(set) {
			return nil
		}
		closeLater := func(server *localrealtime.Server) { replaced.Go(func() { _ = server.Close() }) }
		if err := stopLocal(running, closeLater); err != nil {
			s.w.cfg.Log.Warn().Err(err).Msg("the embedded server did not stop cleanly")
		}
	}
	l := &localServer{key: "local-" + rand.Text(), served: make(chan error, 1), ears: earsOf(set), voice: s.choice(set)}
	l.err = s.serve(l, set)
	s.mu.Lock()
	s.local = l
	s.mu.Unlock()
	return l.err
}

func (s *service) serve(l *localServer, set protocol.Settings) error {
	if s.w.cfg.Engines == nil {
		return errors.New("this build has no local engines")
	}
	cfg, err := s.w.cfg.Engines(l.voice)
	if err != nil {
		return err
	}
	if l.ears.provider != protocol.ProviderLocal {
		if l.transcriber, err = s.newTranscriber(l.ears, cfg.Recognizer); err != nil {
			return err
		}
		cfg.Recognizer = l.transcriber.Recognizer
	}
	cfg.Synthesizer = s.w.voice.speakers.of(cfg.Synthesizer)
	cfg.APIKey, cfg.Speed, cfg.Log = l.key, s.w.cfg.Speed, s.w.cfg.Log
	cfg.Words, cfg.Expected = s.w.port.Names, s.w.port.Expected
	cfg.Unfinished, cfg.GoesOn = s.w.port.Unfinished, s.w.port.GoesOn
	cfg.KeepEngines, cfg.EnginesFreed = s.w.cfg.KeepModels, heap.Return
	if l.server, err = localrealtime.New(cfg); err != nil {
		return err
	}
	ln, err := l.server.Listen("127.0.0.1:0")
	if err != nil {
		err = errors.Join(err, l.server.Close())
		l.server = nil
		return err
	}
	l.base = "http://" + net.JoinHostPort("127.0.0.1", fmt.Sprint(ln.Addr().(*net.TCPAddr).Port))
	go func() { l.served <- l.server.Serve(s.ctx, ln) }()
	return nil
}

// replaced tracks servers that close in the background, once their engines are loaded. Only
// tests wait for them.
var replaced sync.WaitGroup

// left has the servers whose engines were loading when their daemon closed. A process that
// exits leaves them to the operating system: unloading a library during an exit can crash.
// Tests close them.
var left struct {
	sync.Mutex
	servers []*localrealtime.Server
}

func (s *service) shut() error {
	s.end()
	s.q.Close()
	s.watch.Wait()
	s.clients.close()
	if s.local == nil {
		return nil
	}
	return stopLocal(s.local, func(server *localrealtime.Server) {
		left.Lock()
		defer left.Unlock()
		left.servers = append(left.servers, server)
	})
}

// stopLocal closes a server, unless its engines are loading: that cannot be interrupted, and
// loading decides what becomes of it.
func stopLocal(l *localServer, loading func(*localrealtime.Server)) error {
	if l.transcriber != nil {
		l.transcriber.Cancel()
	}
	switch {
	case l.server == nil:
		return nil
	case l.server.Loading():
		loading(l.server)
		return nil
	}
	err := l.server.Close()
	select {
	case served := <-l.served:
		return errors.Join(err, served)
	case <-time.After(2 * time.Second):
		return errors.Join(err, errors.New("the embedded server does not stop"))
	}
}
