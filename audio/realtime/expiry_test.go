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
	now := time.Now()
	for name, c := range map[string]struct {
		dialect Dialect
		limit   time.Duration // configured
		skew    time.Duration // of the service's clock
		session string
		want    time.Duration // relative to now; 0 if unknown
	}{
		"announced":                  {OpenAI, 0, 0, fmt.Sprintf(`{"expires_at":%d}`, now.Add(20*time.Minute).Unix()), 20 * time.Minute},
		"announced by another clock": {OpenAI, 0, 4 * time.Hour, fmt.Sprintf(`{"expires_at":%d}`, now.Add(4*time.Hour+20*time.Minute).Unix()), 20 * time.Minute},
		"announced is over":          {OpenAI, 0, 0, fmt.Sprintf(`{"expires_at":%d}`, now.Add(-time.Minute).Unix()), time.Hour},
		"announced in milliseconds":  {Azure, 0, 0, fmt.Sprintf(`{"expires_at":%d}`, now.Add(time.Minute).UnixMilli()), 30 * time.Minute},
		"not a number":               {OpenAI, 0, 0, `{"expires_at":"soon"}`, time.Hour},
		"openai says nothing":        {OpenAI, time.Minute, 0, `{"expires_at":0}`, time.Hour},
		"azure says nothing":         {Azure, 0, 0, `{}`, 30 * time.Minute},
		"configured":                 {LocalAI, 45 * time.Minute, 0, `{}`, 45 * time.Minute},
		"unknown":                    {LocalAI, 0, 0, `{}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeService(t)
			f.updated = c.session
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
			if left := time.Until(at); ok && (left > c.want+2*time.Second || left < c.want-patience) {
				t.Errorf("expires in %v, want %v", left, c.want)
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
