//go:build cgo

package localrealtime

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A session announces when it ends, and then ends with the error of the public API.
func TestSessionLimitIsAnnouncedAndEnforced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 10 * time.Minute
		began := time.Now()
		v := newVirtualCall(t, func(c *Config) { c.SessionLimit = limit })
		<-v.call.done
		synctest.Wait()
		if n := len(v.events); n != 2 {
			t.Fatalf("%d events came, want the first and the error", n)
		}
		if e := <-v.events; e.Type != "session.created" || e.Session.ExpiresAt != began.Add(limit).Unix() {
			t.Errorf("the session begins with %+v", e)
		}
		if e := <-v.events; e.Error.Code != "session_expired" || !e.at.Equal(began.Add(limit)) || !strings.Contains(e.Error.Message, "maximum duration of 10m0s") {
			t.Errorf("after %v there came %+v", e.at.Sub(began), e.Error)
		}
	})
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
