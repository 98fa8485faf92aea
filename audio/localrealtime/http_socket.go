package localrealtime

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/coder/websocket"
)

// The WebSocket subprotocols of the public API: the protocol itself, and the key.
const (
	socketProtocol = "realtime"
	keyProtocol    = "openai-insecure-api-key."
)

// getRealtime starts a call over WebSocket.
func (s *Server) getRealtime(w http.ResponseWriter, r *http.Request) {
	if !s.authorize(w, r, true) {
		return
	}
	q := r.URL.Query()
	if q.Has("call_id") {
		writeError(w, http.StatusBadRequest, invalidf("invalid_value", "call_id", "a second connection to a call is not offered here: leave call_id out"))
		return
	}
	granted, _ := s.secrets.lookup(bearer(r))
	var intent json.RawMessage
	if q.Get("intent") == listening {
		intent = json.RawMessage(`{"type":"transcription"}`)
	}
	session, err := s.newSession(granted.session, intent)
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	if m := q.Get("model"); m != "" {
		session.Model = m
	}
	if err := s.admits(); err != nil {
		writeCallError(w, err)
		return
	}
	// guard has already checked the origin.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{socketProtocol}, InsecureSkipVerify: true})
	if err != nil {
		return // Accept has already replied
	}
	c, err := s.newCall(session, func(c *call) (transport, error) { return newSocket(c, conn, nil), nil })
	if err != nil {
		_ = conn.Close(websocket.StatusInternalError, "")
		return
	}
	if err := s.adopt(c); err != nil {
		c.release()
		return
	}
	go c.run()
}

// guard rejects requests from disallowed web pages and requests over the rate limit. Requests
// without a valid key do not count: authorize limits them apart, so that they cannot use up the
// rate of those with a key.
// Browsers send the page's origin in Origin; other programs omit it.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" {
			if !slices.Contains(s.cfg.Origins, origin) {
				writeError(w, http.StatusForbidden, invalidf("origin_not_allowed", "", "web pages of this origin may not use the server; allow it with --allow-origin"))
				return
			}
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", "Location")
			h.Add("Vary", "Origin")
			if r.Method == http.MethodOptions {
				h.Set("Access-Control-Allow-Methods", "GET, POST")
				h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		if s.known(bearer(r), true) && !s.requests.Allow() {
			writeTooMany(w, "too many requests; try again in a second")
			return
		}
		next.ServeHTTP(w, r)
	})
}
