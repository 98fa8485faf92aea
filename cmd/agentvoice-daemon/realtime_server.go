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
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// noAgent is the --agent of a server that makes no answers of its own.
const noAgent = "none"

// serverFlags are those of realtime-server.
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
	logLevel     string
}

func newRealtimeServer() *cobra.Command {
	var f serverFlags
	cmd := &cobra.Command{
		Use:   "realtime-server --api-key-file FILE",
		Short: "Serve the OpenAI Realtime protocol with the speech engines of this machine",
		Long: `Serve the OpenAI Realtime protocol over WebSocket and WebRTC: recognition and voice run on
this machine, and the assistant of --agent answers. Any client of the protocol can connect;
docs/realtime-server.md says what is supported. With --agent none the server transcribes,
and speaks the text in response.create verbatim.

The server listens on this machine only, unless --allow-remote is given. Some clients connect
by TLS only, and the key must not cross a network in the clear: give --tls-cert and --tls-key,
or put a proxy with TLS in front of the server.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	fs := cmd.Flags()
	f.register(fs)
	fs.Lookup("agent").Usage = "who answers: offline, openai for any OpenAI-compatible chat endpoint, or none"
	fs.StringVar(&f.addr, "addr", "127.0.0.1:8790", "address to listen on; port 0 picks a free one")
	fs.BoolVar(&f.allowRemote, "allow-remote", false, "listen, and exchange media, on addresses other than loopback")
	fs.StringVar(&f.keyFile, "api-key-file", "", "file with the key that clients have to send; made with a new key if it does not exist. Else "+envOther)
	fs.StringVar(&f.tlsCert, "tls-cert", "", "PEM file with the certificate for https and wss, followed by those that signed it; needs --tls-key")
	fs.StringVar(&f.tlsKey, "tls-key", "", "PEM file with the private key of --tls-cert")
	fs.StringArrayVar(&f.origins, "allow-origin", nil, "origin of web pages that may use the server, such as http://localhost:3000; may be given more than once")
	fs.IntVar(&f.maxSessions, "max-sessions", localrealtime.DefaultMaxCalls, "sessions at one time")
	fs.DurationVar(&f.sessionLimit, "session-limit", localrealtime.DefaultSessionLimit, "how long a session may last")
	fs.StringVar(&f.logLevel, "log-level", "warn", "trace, debug, info, warn, error or disabled")
	return cmd
}

// check finds the first flag that cannot be.
func (f *serverFlags) check() error {
	switch {
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return errors.New("--tls-cert and --tls-key belong together: give both, or neither for plain HTTP")
	case f.maxSessions < 1:
		return fmt.Errorf("--max-sessions %d: give a number above 0", f.maxSessions)
	case f.sessionLimit < time.Second:
		return fmt.Errorf("--session-limit %v: give a time of at least 1s, such as 60m", f.sessionLimit)
	}
	for _, o := range f.origins {
		if u, err := url.Parse(o); err != nil || u.Scheme == "" || u.Host == "" || o != u.Scheme+"://"+u.Host {
			return fmt.Errorf("--allow-origin %s: give a scheme and a host, such as http://localhost:3000", o)
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
	model, err := f.answers()
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
		return func(err error) { log.Warn().Err(err).Msg(what + " failed; another engine takes over") }
	}
	cfg, err := localEngines(log, warn("recognition"), warn("the voice"), warn("the end-of-turn model"))
	if err != nil {
		return err
	}
	cfg.Model, cfg.Segmenter = model, func() localrealtime.Segmenter { return segmenter{spoken.New(spoken.Options{})} }
	cfg.APIKey, cfg.Log, cfg.AllowRemote, cfg.Origins = key, log, f.allowRemote, f.origins
	cfg.MaxCalls, cfg.SessionLimit = f.maxSessions, f.sessionLimit
	s, err := localrealtime.New(cfg)
	if err != nil {
		return err
	}
	return errors.Join(f.serve(ctx, s, secure, made, out), s.Close())
}

// tls is nil for plain HTTP.
func (f *serverFlags) tls() (*tls.Config, error) {
	if f.tlsCert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("the certificate cannot be used; check --tls-cert and --tls-key: %w", err)
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
		// A WebSocket begins as HTTP/1.1.
		secure.NextProtos = []string{"http/1.1"}
		scheme, ln = "https", tls.NewListener(ln, secure)
	}
	if err := s.Ready(); err != nil {
		return errors.Join(err, ln.Close())
	}
	if keyMade {
		_, _ = fmt.Fprintf(out, "made a key in %s\n", f.keyFile)
	}
	_, _ = fmt.Fprintf(out, "listening on %s://%s/v1\n", scheme, ln.Addr())
	return s.Serve(ctx, ln)
}

// answers is who answers; nil for --agent none.
func (f *serverFlags) answers() (localrealtime.Model, error) {
	switch {
	case f.agent == noAgent:
		return nil, nil
	case strings.HasPrefix(f.agent, "acp:"):
		return nil, misuse{fmt.Errorf("--agent %s: a coding agent works for one user in one folder; use offline, openai or none", f.agent)}
	}
	a, err := f.adapter()
	if err != nil {
		return nil, err
	}
	return chatModel{a}, nil
}

// minServerKey keeps a key from being guessed, in characters.
const minServerKey = 16

// serverKey reads the key of the server, or makes one in a file that does not exist.
func serverKey(file string) (key string, made bool, err error) {
	if file == "" {
		if key = os.Getenv(envOther); key == "" {
			return "", false, misuse{errors.New("clients need a key: give --api-key-file, or set " + envOther)}
		}
		return key, false, checkServerKey(key, envOther)
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		key = "sk-" + rand.Text()
		if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
			return "", false, fmt.Errorf("a key cannot be made in the key file; check --api-key-file: %w", errors.Unwrap(err))
		}
		return key, true, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("the key file cannot be read; check --api-key-file: %w", errors.Unwrap(err))
	}
	key = strings.TrimSpace(string(b))
	return key, false, checkServerKey(key, "the file of --api-key-file")
}

func checkServerKey(key, where string) error {
	if len(key) < minServerKey || strings.ContainsAny(key, " \t\r\n") {
		return misuse{fmt.Errorf("the key in %s must be one word of at least %d characters", where, minServerKey)}
	}
	return nil
}

// chatModel answers the clients of the realtime server.
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
	for _, said := range p.Messages {
		switch {
		case said.Call != nil:
			c := &copilot.ToolCall{ID: said.Call.ID, Name: said.Call.Name, Input: json.RawMessage(said.Call.Arguments)}
			r.Messages = append(r.Messages, copilot.Message{Role: copilot.RoleTool, Content: said.Text, Call: c, Status: copilot.CallCompleted})
		case said.Role == "system":
			r.Instructions = strings.TrimSpace(r.Instructions + "\n\n" + said.Text)
		default:
			r.Messages = append(r.Messages, copilot.Message{Role: copilot.Role(said.Role), Content: said.Text})
		}
	}
	err := m.adapter.Send(ctx, r, text)
	if failed := (*copilot.Error)(nil); errors.As(err, &failed) {
		return errors.New(failed.Message)
	}
	return err
}

// segmenter cuts an answer as the daemon does.
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
