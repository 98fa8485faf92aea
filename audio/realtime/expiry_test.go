package realtime

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestSessionExpiry checks that a session ends when the service announces it, by the
// service's clock, else at its documented limit, else at the configured one.
func TestSessionExpiry(t *testing.T) {
	in := func(d time.Duration) func(now time.Time) string {
		return func(now time.Time) string { return fmt.Sprintf(`{"expires_at":%d}`, now.Add(d).Unix()) }
	}
	is := func(session string) func(time.Time) string { return func(time.Time) string { return session } }
	for name, c := range map[string]struct {
		dialect Dialect
		limit   time.Duration // configured
		skew    time.Duration // of the service's clock
		session func(now time.Time) string
		want    time.Duration // relative to now; 0 if unknown
	}{
		"announced":                  {OpenAI, 0, 0, in(20 * time.Minute), 20 * time.Minute},
		"announced by another clock": {OpenAI, 0, 4 * time.Hour, in(4*time.Hour + 20*time.Minute), 20 * time.Minute},
		"announced is over":          {OpenAI, 0, 0, in(-time.Minute), time.Hour},
		"announced in milliseconds":  {Azure, 0, 0, func(now time.Time) string { return fmt.Sprintf(`{"expires_at":%d}`, now.Add(time.Minute).UnixMilli()) }, 30 * time.Minute},
		"not a number":               {OpenAI, 0, 0, is(`{"expires_at":"soon"}`), time.Hour},
		"openai says nothing":        {OpenAI, time.Minute, 0, is(`{"expires_at":0}`), time.Hour},
		"azure says nothing":         {Azure, 0, 0, is(`{}`), 30 * time.Minute},
		"configured":                 {LocalAI, 45 * time.Minute, 0, is(`{}`), 45 * time.Minute},
		"unknown":                    {LocalAI, 0, 0, is(`{}`), 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeService(t)
			begin := time.Now()
			f.updated = c.session(begin)
			f.http = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
				w.Header().Set("Date", time.Now().Add(c.skew).UTC().Format(http.TimeFormat))
				return false
			}
			cfg := f.config(c.dialect)
			cfg.SessionLimit = c.limit
			client, _ := connect(t, f, cfg)
			at, ok := client.Expires()
			if ok != (c.want > 0) {
				t.Fatalf("expires at %v, %v", at, ok)
			}
			// The service's clock and expires_at have whole seconds.
			if earliest, latest := begin.Add(c.want-2*time.Second), time.Now().Add(c.want+2*time.Second); ok && (at.Before(earliest) || at.After(latest)) {
				t.Errorf("expires at %v, want between %v and %v", at, earliest, latest)
			}
		})
	}
}

// TestSessionExpired checks that if the service gives a reason for ending the session,
// the handler gets it instead of a lost connection.
func TestSessionExpired(t *testing.T) {
	f := newFakeService(t)
	_, r := connect(t, f, f.config(OpenAI))
	f.emit(`{"type":"error","event_id":"e","error":{"type":"invalid_request_error","code":"session_expired","message":"Your session hit the maximum duration of 60 minutes.","param":null,"event_id":null}}`)
	r.want(t, "lost sessionExpired")
}
