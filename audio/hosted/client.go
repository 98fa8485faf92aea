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

// Timeouts and retry delays of a service.
const (
	defaultStall = 10 * time.Second // maximum time without a sign of life
	attempts     = 3
	backoff      = 200 * time.Millisecond // before the second attempt; doubled for each later one
	maxWait      = 3 * time.Second        // longest delay between two attempts that a service may request
)

// Config configures access to a service.
type Config struct {
	Provider provider.Row
	// BaseURL is the address of the service; "" means the provider's own.
	BaseURL string
	Model   string
	// Credentials is called once per request. Its result is not retained.
	Credentials func(ctx context.Context) (realtime.Credential, error)
	HTTPClient  *http.Client  // http.DefaultClient when nil
	Stall       time.Duration // how long the service may be silent; if zero, 10 s for a voice and 20 s for transcription
	Log         zerolog.Logger
}

// client sends requests to a service.
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
	// Following a redirect would send the key to another host.
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{cfg: cfg, base: base, http: &c}, nil
}

// retry makes attempts until one succeeds, a failure is not retryable, or ctx is done.
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

// errStalled is the cause of a request that was abandoned.
var errStalled = errors.New("no sign of life in time")

// post sends a request and passes the response to read. Each part of the response must
// arrive in time.
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

// request creates a request with the user's key, which is not retained.
func (c *client) request(ctx context.Context, path, contentType string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, &realtime.Error{Code: realtime.CodeConnectionFailed, Message: "the request cannot be made; check the base URL"}
	}
	req.Header.Set("Content-Type", contentType)
	return req, c.authorize(ctx, req.Header)
}

// authorize adds the user's key to a header.
func (c *client) authorize(ctx context.Context, h http.Header) error {
	if c.cfg.Credentials == nil {
		return nil
	}
	key, err := c.cfg.Credentials(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || key.Value == "" && !c.cfg.Provider.Anonymous {
		return &realtime.Error{Code: realtime.CodeCredentialsMissing, Err: err, Message: "there is no key; set one for this provider"}
	}
	c.cfg.Provider.Authorize(h, key.Value, key.Kind == realtime.EntraToken)
	return nil
}

// watched is a response body with a stall timeout. A truncated response is an error
// rather than a short result.
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

// failed returns why a request failed, without its URL or the service's response.
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

// broken is the error for a response that violates the protocol.
func broken(step, what string) error {
	return &realtime.Error{Code: realtime.CodeProtocolError, Message: step + ": " + what + "; check the model and the base URL"}
}
