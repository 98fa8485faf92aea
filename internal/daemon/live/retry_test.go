//go:build cgo

package live

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// refusing is a service that refuses every request and records the times.
type refusing struct {
	*httptest.Server
	mu    sync.Mutex
	asked []time.Time
}

func refuse(t *testing.T, status int, retryAfter, body string) *refusing {
	r := &refusing{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		r.mu.Lock()
		r.asked = append(r.asked, time.Now())
		r.mu.Unlock()
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		r.Close()
	})
	return r
}

func (r *refusing) times() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// dialTo starts a conversation with the service, which may take as long as limit. Only the
// link has a limit, because the clock of the core stands still.
func dialTo(t *testing.T, r *refusing, limit time.Duration) *talk {
	t.Helper()
	change := func(s *protocol.Settings) {
		s.Provider, s.Endpoint = protocol.ProviderOpenAI, r.URL
		s.Conversation.StartTimeout = limit
	}
	tk := idleTalk(t, change, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return &mouth{}, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{pace: 1}, nil }, Speed: 1,
		Credentials: func(context.Context, protocol.Provider) (realtime.Credential, error) {
			return realtime.Credential{Value: "sk-users", Kind: realtime.APIKey}, nil
		},
	})
	tk.clock.hold()
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing)
	return tk
}

// A service that asks for a delay is not dialled earlier.
//
//test:long
func TestRetryAfterIsHonoured(t *testing.T) {
	r := refuse(t, http.StatusTooManyRequests, "1", `{"error":{"code":"rate_limit_exceeded"}}`)
	tk := dialTo(t, r, 6*time.Second)
	tk.want(protocol.StateFaulted)
	times := r.times()
	if len(times) < 2 {
		t.Fatalf("asked %d times, want again after the pause", len(times))
	}
	for i := 1; i < len(times); i++ {
		if gap := times[i].Sub(times[i-1]); gap < 950*time.Millisecond {
			t.Errorf("asked again after %v, though the service wants 1 s", gap.Round(time.Millisecond))
		}
	}
}

// A delay longer than the conversation's start timeout is not waited for: the user is
// told at once.
func TestRetryAfterBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	r := refuse(t, http.StatusTooManyRequests, "3600", `{"error":{"code":"rate_limit_exceeded"}}`)
	tk := dialTo(t, r, 2*patience)
	tk.want(protocol.StateFaulted)
	if n := len(r.times()); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
	tk.told("error", func() bool { return len(tk.errors) > 0 }) // after the state
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if len(tk.errors) != 1 || tk.errors[0].Code != protocol.CodeRateLimited {
		t.Errorf("the user is told %+v", tk.errors)
	}
}

// A conversation that ends while the editor has not answered for the key gives the request
// up. Otherwise it would end at a deadline, and the next one would wait as well.
func TestEndDoesNotWaitForAKey(t *testing.T) {
	asked, gaveUp := make(chan struct{}, 1), make(chan struct{})
	tk := idleTalk(t, func(s *protocol.Settings) { s.Provider = protocol.ProviderOpenAI }, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return &mouth{}, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{pace: 1}, nil }, Speed: 1,
		Credentials: func(ctx context.Context, _ protocol.Provider) (realtime.Credential, error) {
			asked <- struct{}{}
			<-ctx.Done()
			close(gaveUp)
			return realtime.Credential{}, ctx.Err()
		},
	})
	tk.d.Post(csm.UserStart{})
	<-asked
	tk.d.Post(csm.UserStop{})
	select {
	case <-gaveUp:
	case <-time.After(patience):
		t.Fatal("the key is still awaited")
	}
	tk.want(protocol.StateTerminating, protocol.StateIdle)
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if len(tk.errors) > 0 {
		t.Errorf("the user is told %+v", tk.errors)
	}
}

// A failure that only the user can fix is fatal at once and has its specific code: the
// remediation, the end, and nothing of the key (AC-006, SEC-003).
func TestRefusalsThatRetryingCannotHelp(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		code   string
		want   protocol.ErrorCode
	}{
		"quota":  {http.StatusTooManyRequests, "insufficient_quota", protocol.CodeQuotaExceeded},
		"region": {http.StatusForbidden, "unsupported_country_region_territory", protocol.CodeRegionUnsupported},
		"model":  {http.StatusForbidden, "model_not_found", protocol.CodeModelUnavailable},
		"other":  {http.StatusForbidden, "forbidden", protocol.CodeAccessDenied},
		"key":    {http.StatusUnauthorized, "invalid_api_key", protocol.CodeAuthentication},
		"base":   {http.StatusNotFound, "", protocol.CodeCallRejected},
	} {
		t.Run(name, func(t *testing.T) {
			r := refuse(t, c.status, "", `{"error":{"code":"`+c.code+`","message":"Incorrect API key provided: sk-users."}}`)
			tk := dialTo(t, r, patience)
			tk.want(protocol.StateFaulted, protocol.StateTerminating, protocol.StateIdle)
			if n := len(r.times()); n != 1 {
				t.Errorf("asked %d times, want once", n)
			}
			tk.mu.Lock()
			defer tk.mu.Unlock()
			if len(tk.errors) != 1 || tk.errors[0].Code != c.want || tk.errors[0].Retryable {
				t.Fatalf("the user is told %+v, want %s", tk.errors, c.want)
			}
			// AC-006: "emits remediation guidance"; SEC-003: "without exposing credential details".
			told := tk.errors[0]
			if want := c.want.Spec().Remediation(protocol.English); told.Remediation != want || want == "" {
				t.Errorf("the user is told to do %q, want %q", told.Remediation, want)
			}
			if all := fmt.Sprintf("%+v %+v", tk.errors, tk.notes); strings.Contains(all, "sk-users") {
				t.Errorf("the key is in what the user is told: %s", all)
			}
		})
	}
}

// Every failure of a dial is known to the core and has text on the wire.
func TestEveryDialFailureHasItsWords(t *testing.T) {
	for _, code := range []string{
		realtime.CodeAuthentication, realtime.CodeCredentialsMissing, realtime.CodeConnectionFailed, realtime.CodeConnectTimeout,
		realtime.CodeRateLimited, realtime.CodeConnectionLost, realtime.CodeSessionExpired, realtime.CodeProtocolError,
		realtime.CodeQuotaExceeded, realtime.CodeRegionUnsupported, realtime.CodeAccessDenied, realtime.CodeModelUnavailable, realtime.CodePipelineFailed, realtime.CodeCallRejected,
	} {
		if !slices.Contains(csm.Codes, csm.Code(code)) || !protocol.ErrorCode(code).Known() {
			t.Errorf("%s is unknown to the core or the wire", code)
		}
	}
}
