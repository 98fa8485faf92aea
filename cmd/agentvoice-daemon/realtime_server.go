package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// noAgent is the --agent value of a server that generates no answers.
const noAgent = "none"

// serverFlags are the flags of realtime-server.
type serverFlags struct {
	assistantFlags
	addr         string
	allowRemote  bool
	keyFile      string
	tlsCert      string
	tlsKey       string
	origins      []string
	maxSessions  int
	sessionLimit time.Duration
	remember     int
	logLevel     string
}

func newRealtimeServer() *cobra.Command {
	var f serverFlags
	cmd := &cobra.Command{
		Use:   "realtime-server --api-key-file FILE",
		Short: "Serve the OpenAI Realtime protocol with local speech engines",
		Long: `Serve the OpenAI Realtime protocol over WebSocket and WebRTC. Recognition and voice run on
this machine, and the assistant selected by --agent answers. docs/realtime-server.md lists
what is supported. With --agent none the server only transcribes, and speaks the text in
response.create verbatim.

The server listens on loopback unless --allow-remote is given. Keys must not cross a network
unencrypted, and some clients require TLS: use --tls-cert and --tls-key, or a TLS proxy.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	fs := cmd.Flags()
	f.register(fs)
	fs.Lookup("agent").Usage = "assistant: offline, openai for an OpenAI-compatible chat endpoint, or none"
	fs.StringVar(&f.addr, "addr", "127.0.0.1:8790", "listen address; port 0 picks a free port")
	fs.BoolVar(&f.allowRemote, "allow-remote", false, "allow signalling and media on non-loopback addresses")
	fs.StringVar(&f.keyFile, "api-key-file", "", "file with the key that clients must send; created with a new key if missing (env "+envOther+")")
	fs.StringVar(&f.tlsCert, "tls-cert", "", "PEM file with the certificate chain for https and wss; requires --tls-key")
	fs.StringVar(&f.tlsKey, "tls-key", "", "PEM file with the private key of --tls-cert")
	fs.StringArrayVar(&f.origins, "allow-origin", nil, "allowed origin of web pages, such as http://localhost:3000 (repeatable)")
	fs.IntVar(&f.maxSessions, "max-sessions", localrealtime.DefaultMaxCalls, "maximum number of concurrent sessions")
	fs.DurationVar(&f.sessionLimit, "session-limit", localrealtime.DefaultSessionLimit, "maximum duration of a session")
	fs.IntVar(&f.remember, "remember", localrealtime.DefaultRemember, "characters of a conversation that the model gets verbatim; older turns are summarised")
	fs.StringVar(&f.logLevel, "log-level", "warn", "trace, debug, info, warn, error or disabled")
	return cmd
}

// check returns an error for the first invalid flag.
func (f *serverFlags) check() error {
	switch {
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return errors.New("--tls-cert and --tls-key require each other; set both, or neither for plain HTTP")
	case f.maxSessions < 1:
		return fmt.Errorf("--max-sessions %d: use a number above 0", f.maxSessions)
	case f.remember < minRemember:
		return fmt.Errorf("--remember %d: use at least %d characters, so that the model keeps the latest turns", f.remember, minRemember)
	case f.sessionLimit < time.Second:
		return fmt.Errorf("--session-limit %v: use a duration of at least 1s, such as 60m", f.sessionLimit)
	}
	if _, port, err := net.SplitHostPort(f.addr); err != nil || port == "" {
		return fmt.Errorf("--addr %s: use host:port, such as 127.0.0.1:8790", f.addr)
	}
	for _, o := range f.origins {
		if u, err := url.Parse(o); err != nil || u.Scheme == "" || u.Host == "" || o != u.Scheme+"://"+u.Host {
			return fmt.Errorf("--allow-origin %s: use a scheme and a host, such as http://localhost:3000", o)
		}
	}
	return nil
}

func (f *serverFlags) run(ctx context.Context, out io.Writer) error {
	if err := f.check(); err != nil {
		return misuse{err}
	}
	log, err := (&sharedFlags{logLevel: f.logLevel}).logger()
	if err != nil {
		return err
	}
	a, err := f.answers()
	if err != nil {
		return err
	}
	secure, err := f.tls()
	if err != nil {
		return err
	}
	key, made, err := serverKey(f.keyFile)
	if err != nil {
		return err
	}
	warn := func(what string) func(error) {
		return func(err error) { log.Warn().Err(err).Msg(what + " failed; using the fallback engine") }
	}
	cfg, err := localEngines(log, live.SpeechChoice{Engine: protocol.VoiceAuto, Persist: true}, speechReports{
		warn("recognition"), warn("voice"), warn("end-of-turn model"), warn("voice detector"), func(string, string) {}, // clients name the language
		func(took time.Duration) {
			log.Warn().Dur("firstMs", took).Msg("the voice is too slow on this machine; Flite speaks")
		},
	})
	if err != nil {
		return err
	}
	cfg = f.answering(cfg, a)
	cfg.APIKey, cfg.Log, cfg.AllowRemote, cfg.Origins = key, log, f.allowRemote, f.origins
	cfg.MaxCalls, cfg.SessionLimit = f.maxSessions, f.sessionLimit
	s, err := localrealtime.New(cfg)
	if err != nil {
		return err
	}
	return errors.Join(f.serve(ctx, s, secure, made, out), s.Close())
}

// tls returns nil for plain HTTP.
func (f *serverFlags) tls() (*tls.Config, error) {
	if f.tlsCert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("cannot load the certificate: %w; check --tls-cert and --tls-key", withoutPath(err))
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// serve answers clients until ctx is done.
func (f *serverFlags) serve(ctx context.Context, s *localrealtime.Server, secure *tls.Config, keyMade bool, out io.Writer) error {
	ln, err := s.Listen(f.addr)
	if err != nil {
		return err
	}
	scheme := "http"
	if secure != nil {
		// WebSocket connections start as HTTP/1.1.
		secure.NextProtos = []string{"http/1.1"}
		scheme, ln = "https", tls.NewListener(ln, secure)
	}
	if err := s.Ready(); err != nil {
		return errors.Join(err, ln.Close())
	}
	if keyMade {
		_, _ = fmt.Fprintf(out, "created a key in %s\n", f.keyFile)
	}
	_, _ = fmt.Fprintf(out, "listening on %s://%s/v1\n", scheme, ln.Addr())
	return s.Serve(ctx, ln)
}

// answers returns the adapter that answers clients, nil for --agent none.
func (f *serverFlags) answers() (copilot.Adapter, error) {
	switch {
	case f.agent == noAgent:
		return nil, nil
	case strings.HasPrefix(f.agent, "acp:"):
		return nil, misuse{fmt.Errorf("--agent %s: coding agents are not supported here, since they work for one user in one folder; use offline, openai or none", f.agent)}
	}
	return f.adapter()
}

// answering adds the adapter that answers to the configuration, unless it is nil.
func (f *serverFlags) answering(cfg localrealtime.Config, a copilot.Adapter) localrealtime.Config {
	if a != nil {
		cfg.Model = chatModel{a}
		cfg.Segmenter = func() localrealtime.Segmenter { return segmenter{spoken.New(spoken.Options{})} }
	}
	if can, ok := a.(copilot.Summariser); ok {
		cfg.Remember = f.remember
		cfg.Summarise = func(ctx context.Context, said []localrealtime.Message) (string, error) {
			messages, _ := messagesOf(said)
			text, err := can.Summarise(ctx, messages)
			return text, plain(err)
		}
	}
	return cfg
}

// minRemember is a few minutes of conversation, in characters.
const minRemember = 2000

// minServerKey is the minimum key length in characters, to prevent guessing.
const minServerKey = 16

// serverKey reads the server's key, or creates the key file if it does not exist.
func serverKey(file string) (key string, made bool, err error) {
	if file == "" {
		if key = os.Getenv(envOther); key == "" {
			return "", false, misuse{errors.New("no key for clients; pass --api-key-file or set " + envOther)}
		}
		return key, false, checkServerKey(key, envOther)
	}
	b, err := readNamed(file)
	if errors.Is(err, fs.ErrNotExist) {
		key = "sk-" + rand.Text()
		if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
			return "", false, fmt.Errorf("cannot create the key file; check --api-key-file: %w", errors.Unwrap(err))
		}
		return key, true, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("cannot read the key file; check --api-key-file: %w", errors.Unwrap(err))
	}
	key = strings.TrimSpace(string(b))
	return key, false, checkServerKey(key, "the key file")
}

func checkServerKey(key, where string) error {
	if len(key) < minServerKey || strings.ContainsAny(key, " \t\r\n") {
		return misuse{fmt.Errorf("the key in %s must be a single word of at least %d characters", where, minServerKey)}
	}
	return nil
}

// chatModel answers the clients of the realtime server with an adapter.
type chatModel struct{ adapter copilot.Adapter }

// Answer implements localrealtime.Model.
func (m chatModel) Answer(ctx context.Context, p localrealtime.Prompt, text func(string), call func(localrealtime.FunctionCall)) error {
	r := copilot.Request{
		ID: p.ID, Attempt: 1, Instructions: p.Instructions, ToolChoice: p.ToolChoice, MaxTokens: p.MaxTokens,
		Wants: func(c copilot.ToolCall) {
			call(localrealtime.FunctionCall{ID: c.ID, Name: c.Name, Arguments: string(c.Input)})
		},
		Used: func(u copilot.Usage) { p.Used(localrealtime.Usage{Input: u.Input, Output: u.Output}) },
	}
	for _, t := range p.Tools {
		r.Tools = append(r.Tools, copilot.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters})
	}
	var system string
	r.Messages, system = messagesOf(p.Messages)
	r.Instructions = strings.TrimSpace(r.Instructions + system)
	err := m.adapter.Send(ctx, r, text)
	if cut := (*copilot.Error)(nil); errors.As(err, &cut) && cut.Code == copilot.CutByLength {
		return nil // clients limit the length of a response
	}
	return plain(err)
}

// messagesOf returns the messages of a conversation, and separately the system
// messages.
func messagesOf(said []localrealtime.Message) (messages []copilot.Message, system string) {
	for _, m := range said {
		switch {
		case m.Call != nil:
			c := &copilot.ToolCall{ID: m.Call.ID, Name: m.Call.Name, Input: json.RawMessage(m.Call.Arguments)}
			messages = append(messages, copilot.Message{Role: copilot.RoleTool, Content: m.Text, Call: c, Status: copilot.CallCompleted})
		case m.Role == "system":
			system += "\n\n" + m.Text
		default:
			messages = append(messages, copilot.Message{Role: copilot.Role(m.Role), Content: m.Text})
		}
	}
	return messages, system
}

// plain returns the error that clients are shown.
func plain(err error) error {
	if failed := (*copilot.Error)(nil); errors.As(err, &failed) {
		return errors.New(failed.Message)
	}
	return err
}

// segmenter splits an answer into spoken segments, as the daemon does.
type segmenter struct{ chunker *spoken.Chunker }

// Push implements localrealtime.Segmenter.
func (s segmenter) Push(text string) []string { return textsOf(s.chunker.Push(text)) }

// Flush implements localrealtime.Segmenter.
func (s segmenter) Flush() []string { return textsOf(s.chunker.Flush()) }

func textsOf(segments []spoken.Segment) []string {
	texts := make([]string, 0, len(segments))
	for _, s := range segments {
		texts = append(texts, s.Text)
	}
	return texts
}
