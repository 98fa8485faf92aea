package hosted

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
)

// How long a service may take.
const (
	defaultStall = 10 * time.Second // between two signs of life
	attempts     = 3
	backoff      = 200 * time.Millisecond // before the second attempt; doubled for each after it
	maxWait      = 3 * time.Second        // that a service may ask for between two attempts
)

// Config is how to reach a service.
type Config struct {
	Provider provider.Row
	// BaseURL is where the service is; "" is the provider's own.
	BaseURL string
	Model   string
	// Credentials is asked once a request. What it gives is used and not kept.
	Credentials func(ctx context.Context) (realtime.Credential, error)
	HTTPClient  *http.Client  // http.DefaultClient when nil
	Stall       time.Duration // how long the service may be silent; 10 s for a voice and 20 s for ears when zero
	Log         zerolog.Logger
}

// client makes requests to a service.
type client struct {
	cfg  Config
	base string
	http *http.Client
}

func newClient(cfg Config) (*client, error) {
	base, problem := cfg.Provider.Base(cfg.BaseURL)
	if problem != "" {
		return nil, &realtime.Error{Code: realtime.CodeConnectionFailed, Message: problem}
	}
	if cfg.Stall <= 0 {
		cfg.Stall = defaultStall
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = http.DefaultClient
	}
	c := *cfg.HTTPClient
	// A redirect would carry the key to another place.
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{cfg: cfg, base: base, http: &c}, nil
}

// retry makes attempts until one succeeds, none may follow, or ctx is done.
func (c *client) retry(ctx context.Context, try func(ctx context.Context) (again bool, err error)) error {
	for attempt := 1; ; attempt++ {
		again, err := try(ctx)
		var e *realtime.Error
		if err == nil || ctx.Err() != nil || !again || attempt == attempts || !errors.As(err, &e) || !e.Retryable || e.RetryAfter > maxWait {
			return err
		}
		c.cfg.Log.Debug().Str("code", e.Code).Int("attempt", attempt).Msg("a request failed and is tried again")
		t := time.NewTimer(max(backoff<<(attempt-1), e.RetryAfter))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}

// errStalled is the cause of a request that was given up.
var errStalled = errors.New("no sign of life in time")

// post sends a request and has read take the answer, whose parts have to come in time.
func (c *client) post(ctx context.Context, step, path, contentType string, body []byte, read func(*http.Response) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watchdog := time.AfterFunc(c.cfg.Stall, func() { stop(errStalled) })
	defer watchdog.Stop()
	req, err := c.request(ctx, path, contentType, body)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return failed(ctx, step, err)
	}
	defer res.Body.Close()
	watchdog.Stop()
	res.Body = &watched{res.Body, watchdog, c.cfg.Stall}
	if res.StatusCode != http.StatusOK {
		return realtime.Refusal(step, res, req.Header)
	}
	return failed(ctx, step, read(res))
}

// request makes a request with the user's key, which is not kept.
func (c *client) request(ctx context.Context, path, contentType string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, &realtime.Error{Code: realtime.CodeConnectionFailed, Message: "the request cannot be made; check the base URL"}
	}
	req.Header.Set("Content-Type", contentType)
	if c.cfg.Credentials == nil {
		return req, nil
	}
	key, err := c.cfg.Credentials(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || key.Value == "" && !c.cfg.Provider.Anonymous {
		return nil, &realtime.Error{Code: realtime.CodeCredentialsMissing, Err: err, Message: "there is no key; set one for this provider"}
	}
	c.cfg.Provider.Authorize(req.Header, key.Value, key.Kind == realtime.EntraToken)
	return req, nil
}

// watched is a body whose reader must not wait for long. An answer that breaks off is
// an error, and no short one.
type watched struct {
	io.ReadCloser
	watchdog *time.Timer
	stall    time.Duration
}

func (w *watched) Read(b []byte) (n int, err error) {
	w.watchdog.Reset(w.stall)
	n, err = w.ReadCloser.Read(b)
	w.watchdog.Stop() // the caller may take its time
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = &realtime.Error{Code: realtime.CodeConnectionLost, Retryable: true, Message: "the answer broke off; check the network"}
	}
	return n, err
}

// failed is why a request failed, without its URL or what the service said.
func failed(ctx context.Context, step string, err error) error {
	var known *realtime.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(context.Cause(ctx), errStalled):
		return &realtime.Error{Code: realtime.CodeSpeechTimeout, Retryable: true, Message: step + ": the service does not answer in time; check the network"}
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return &realtime.Error{Code: realtime.CodeConnectionFailed, Retryable: true, Err: err, Message: step + ": the service cannot be reached; check the base URL and the network"}
	}
}

// broken is an answer that is not the protocol.
func broken(step, what string) error {
	return &realtime.Error{Code: realtime.CodeProtocolError, Message: step + ": " + what + "; check the model and the base URL"}
}
