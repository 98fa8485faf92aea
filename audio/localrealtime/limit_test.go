//go:build cgo

package localrealtime

import (
	"strings"
	"testing"
	"time"
)

// A session announces when it ends, and then ends with the error of the public API.
func TestSessionLimitIsAnnouncedAndEnforced(t *testing.T) {
	const limit = 1500 * time.Millisecond
	began := time.Now()
	h := start(t, func(c *Config) { c.SessionLimit = limit })
	p := h.call(t, transcribing())
	p.sendJSON(`{"type":"session.update","session":{"type":"realtime"}}`)
	at := p.next("session.updated").Session.ExpiresAt
	if from, to := began.Add(limit-time.Second).Unix(), time.Now().Add(limit).Unix(); at < from || at > to {
		t.Errorf("the session expires at %d, want between %d and %d", at, from, to)
	}
	closed := make(chan struct{})
	p.dc.OnClose(func() { close(closed) })
	e := p.next("error").Error
	if e.Code != "session_expired" || !strings.Contains(e.Message, "maximum duration of 1.5s") {
		t.Errorf("the session ends with %+v", e)
	}
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("the session was not closed")
	}
	if lived := time.Since(began); lived < limit {
		t.Errorf("the session was closed after %v", lived)
	}
}

// By default the server has the limit of the public API.
func TestSessionLimitDefaultsToAnHour(t *testing.T) {
	h := start(t)
	p := h.call(t, transcribing())
	p.sendJSON(`{"type":"session.update","session":{"type":"realtime"}}`)
	left := time.Until(time.Unix(p.next("session.updated").Session.ExpiresAt, 0))
	if left < 59*time.Minute || left > time.Hour {
		t.Errorf("the session ends in %v", left)
	}
}
