package localrealtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/pion/sdp/v3"
)

// Limits of request bodies, in bytes. An offer with one audio track and a data channel
// has about 2 KB.
const (
	maxOfferBytes   = 64 << 10
	maxSessionBytes = 256 << 10
)

// modelID is the model name that the server lists. It accepts and echoes any model
// name, because there is only one model.
const modelID = "agentvoice-local"

// Handler answers the HTTP side of the protocol:
//
//	GET  /v1/realtime?model=NAME         either key; WebSocket
//	POST /v1/realtime/client_secrets     API key; makes an ephemeral key
//	POST /v1/realtime/calls              either key; SDP offer in, 201 and SDP answer out
//	POST /v1/realtime/calls/{id}/hangup  either key
//	GET  /v1/live/sessions               either key; WebSocket of the Live API
//	POST /v1/live/sessions               either key; SDP offer in, 201 and SDP answer out, as JSON
//	POST /v1/live/sessions/{id}/hangup   either key
//	GET  /v1/models                      API key
//
// Errors are JSON in the form of the public API.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/realtime", s.getRealtime)
	mux.HandleFunc("POST /v1/realtime/client_secrets", s.postClientSecrets)
	mux.HandleFunc("POST /v1/realtime/calls", s.postCalls)
	mux.HandleFunc("POST /v1/realtime/calls/{id}/hangup", s.postHangup)
	mux.HandleFunc("GET /v1/live/sessions", s.getLive)
	mux.HandleFunc("POST /v1/live/sessions", s.postLive)
	mux.HandleFunc("POST /v1/live/sessions/{id}/hangup", s.postHangup)
	mux.HandleFunc("GET /v1/models", s.getModels)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, invalidf("unknown_url", "", "no such endpoint: %s %s", r.Method, r.URL.Path))
	})
	return s.guard(mux)
}

// postClientSecrets exchanges the API key for an ephemeral one.
func (s *Server) postClientSecrets(w http.ResponseWriter, r *http.Request) {
	if !s.authorize(w, r, false) {
		return
	}
	body, ok := readBody(w, r, maxSessionBytes)
	if !ok {
		return
	}
	var req struct {
		ExpiresAfter struct {
			Anchor  string `json:"anchor"`
			Seconds *int64 `json:"seconds"`
		} `json:"expires_after"`
		Session json.RawMessage `json:"session"`
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &req); err != nil {
			writeError(w, http.StatusBadRequest, decodeError(err, ""))
			return
		}
	}
	ttl := defaultSecretTTL
	if n := req.ExpiresAfter.Seconds; n != nil {
		ttl = time.Duration(*n) * time.Second
		if *n > int64(maxSecretTTL/time.Second) || ttl < minSecretTTL {
			writeError(w, http.StatusBadRequest, invalidf("invalid_value", "expires_after.seconds", "expires_after.seconds is %d; it must be 10 to 7200", *n))
			return
		}
	}
	effective, err := s.newSession(req.Session)
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	value, expires, ok := s.secrets.issue(ttl, req.Session)
	if !ok {
		writeTooMany(w, "too many ephemeral keys are live; wait for some to expire")
		return
	}
	writeJSON(w, http.StatusOK, struct {
		Value     string  `json:"value"`
		ExpiresAt int64   `json:"expires_at"`
		Session   session `json:"session"`
	}{value, expires.Unix(), effective})
}

// postCalls answers an SDP offer.
func (s *Server) postCalls(w http.ResponseWriter, r *http.Request) {
	if !s.authorize(w, r, true) {
		return
	}
	offer, requested, ok := readOffer(w, r)
	if !ok {
		return
	}
	if err := checkOffer(offer); err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	// The session of the key applies first; the caller's values override it.
	granted, _ := s.secrets.lookup(bearer(r))
	session, err := s.newSession(granted.session, requested)
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	if m := r.URL.Query().Get("model"); m != "" {
		session.Model = m
	}
	c, answer, err := s.answer(r.Context(), offer, session, nil)
	if err != nil {
		writeCallError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/sdp")
	w.Header().Set("Location", "/v1/realtime/calls/"+c.id)
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer)
}

// writeCallError distinguishes a rejected offer from a server that cannot accept calls.
func writeCallError(w http.ResponseWriter, err error) {
	switch e := (*protocolError)(nil); {
	case errors.As(err, &e):
		writeError(w, http.StatusBadRequest, e)
	case errors.Is(err, errBusy):
		writeTooMany(w, err.Error())
	case errors.Is(err, errClosed):
		writeError(w, http.StatusServiceUnavailable, serverError(err))
	default:
		writeError(w, http.StatusInternalServerError, serverError(err))
	}
}

// readOffer accepts both forms of the body: plain SDP, or a form with sdp and session.
func readOffer(w http.ResponseWriter, r *http.Request) (offer string, session json.RawMessage, ok bool) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "application/sdp":
		body, ok := readBody(w, r, maxOfferBytes)
		return string(body), nil, ok
	case err == nil && kind == "multipart/form-data":
		r.Body = http.MaxBytesReader(w, r.Body, maxOfferBytes+maxSessionBytes)
		if err := r.ParseMultipartForm(maxOfferBytes + maxSessionBytes); err != nil {
			writeBodyError(w, err)
			return "", nil, false
		}
		return formPart(r, "sdp"), json.RawMessage(formPart(r, "session")), true
	}
	writeError(w, http.StatusUnsupportedMediaType, invalidf("unsupported_content_type", "", "send the offer as application/sdp, or as multipart/form-data with the fields sdp and session"))
	return "", nil, false
}

// formPart returns a form field. Some clients send it with a file name, so net/http
// treats it as a file.
func formPart(r *http.Request, name string) string {
	if v := r.FormValue(name); v != "" {
		return v
	}
	f, _, err := r.FormFile(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	return string(b)
}

// checkOffer rejects offers that can never become a call. Without the data channel, for
// example, the client would wait for session.created until it times out.
func checkOffer(offer string) error {
	var d sdp.SessionDescription
	if err := d.UnmarshalString(offer); err != nil {
		return invalidf("invalid_offer", "sdp", "the SDP offer cannot be parsed; send the local description after gathering")
	}
	found := map[string]bool{}
	for _, m := range d.MediaDescriptions {
		found[m.MediaName.Media] = true
	}
	for _, media := range []string{"audio", "application"} {
		if !found[media] {
			return invalidf("invalid_offer", "sdp", "the SDP offer has no m=%s section; it needs one audio track and one data channel", media)
		}
	}
	return nil
}

// postHangup ends a call and waits until it is gone.
func (s *Server) postHangup(w http.ResponseWriter, r *http.Request) {
	if !s.authorize(w, r, true) {
		return
	}
	c := s.call(r.PathValue("id"))
	if c == nil {
		writeError(w, http.StatusNotFound, invalidf("call_not_found", "call_id", "no such call; it may have ended"))
		return
	}
	c.hangUp()
	<-c.done
	w.WriteHeader(http.StatusOK)
}

// getModels lists the one model, for clients that use this request to check their key.
func (s *Server) getModels(w http.ResponseWriter, r *http.Request) {
	if !s.authorize(w, r, false) {
		return
	}
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	writeJSON(w, http.StatusOK, struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", []model{{modelID, "model", 0, "agentvoice"}}})
}

// authorize checks the bearer token: the API key or, if ephemeral is set, an ephemeral
// key.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request, ephemeral bool) bool {
	if s.known(bearer(r), ephemeral) {
		return true
	}
	if !s.wrongKeys.Allow() {
		writeTooMany(w, "too many requests with a wrong key; try again later")
		return false
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	writeError(w, http.StatusUnauthorized, invalidf("invalid_api_key", "", "the bearer key is missing, wrong or expired; send the server's API key, or for calls a key from client_secrets"))
	return false
}

// known reports whether a key is the API key or, if ephemeral is set, an ephemeral key.
func (s *Server) known(key string, ephemeral bool) bool {
	if sameKey(key, s.cfg.APIKey) {
		return true
	}
	_, ok := s.secrets.lookup(key)
	return ok && ephemeral
}

// bearer returns the key of a request. Web pages cannot set headers on a WebSocket, so
// the public API also accepts the key as a subprotocol.
func bearer(r *http.Request) string {
	if scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(key)
	}
	for _, header := range r.Header.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(header, ",") {
			if key, ok := strings.CutPrefix(strings.TrimSpace(p), keyProtocol); ok {
				return key
			}
		}
	}
	return ""
}

func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, bool) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		writeBodyError(w, err)
		return nil, false
	}
	return b, true
}

func writeBodyError(w http.ResponseWriter, err error) {
	if tooBig := (*http.MaxBytesError)(nil); errors.As(err, &tooBig) {
		writeError(w, http.StatusRequestEntityTooLarge, invalidf("body_too_large", "", "the body is over %d bytes", tooBig.Limit))
		return
	}
	writeError(w, http.StatusBadRequest, invalidf("invalid_body", "", "the body cannot be read"))
}

// writeTooMany rejects a request that may succeed later.
func writeTooMany(w http.ResponseWriter, message string) {
	w.Header().Set("Retry-After", "1")
	writeError(w, http.StatusTooManyRequests, &protocolError{Type: "rate_limit_error", Code: "rate_limit_exceeded", Message: message})
}

func writeError(w http.ResponseWriter, status int, err error) {
	e := (*protocolError)(nil)
	if !errors.As(err, &e) {
		e = serverError(err)
	}
	writeJSON(w, status, struct {
		Error *protocolError `json:"error"`
	}{e})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, fmt.Sprintf("encode the answer: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}
