package localrealtime

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// startTimeout bounds the wait for session.start over WebSocket.
const startTimeout = 10 * time.Second

// codeSessionExpired is the error code sent before a session over the time limit is
// closed.
const codeSessionExpired = "session_expired"

// postLive starts a Live session over WebRTC.
func (s *Server) postLive(w http.ResponseWriter, r *http.Request) {
	if !s.authorize(w, r, true) {
		return
	}
	body, ok := readBody(w, r, maxOfferBytes+maxSessionBytes)
	if !ok {
		return
	}
	type transport struct {
		Type string `json:"type"` // webrtc
		SDP  string `json:"sdp"`
	}
	var req struct {
		Session   json.RawMessage `json:"session"`
		Transport transport       `json:"transport"`
	}
	err := error(nil)
	if e := json.Unmarshal(body, &req); e != nil {
		err = decodeError(e, "")
	} else if req.Transport.Type != "webrtc" {
		err = invalidf("invalid_value", "transport.type", "transport.type must be \"webrtc\"")
	} else {
		err = checkOffer(req.Transport.SDP)
	}
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	session, config, err := s.sessionOf(req.Session)
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	config.Audio.Format = nil // the track defines the format
	c, answer, err := s.answer(r.Context(), req.Transport.SDP, session, &config)
	if err != nil {
		writeCallError(w, err)
		return
	}
	var res struct {
		Session struct {
			ID string `json:"id"`
		} `json:"session"`
		Transport transport `json:"transport"`
	}
	res.Session.ID, res.Transport = c.id, transport{"webrtc", answer}
	writeJSON(w, http.StatusCreated, res)
}

// getLive starts a Live session over WebSocket. The client's first event configures the
// session.
func (s *Server) getLive(w http.ResponseWriter, r *http.Request) {
	if !s.authorize(w, r, true) {
		return
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
	session, config, err := s.started(conn)
	if err != nil {
		refuseStart(conn, err)
		return
	}
	c, err := s.newCall(session, func(c *call) (transport, error) {
		if err := c.checkVoice(string(config.Audio.Output.Voice), "session.audio.output.voice"); err != nil {
			return nil, err // closing the call would close the socket, which must still carry the reason
		}
		return newSocket(c, conn, &config), nil
	})
	if err != nil {
		refuseStart(conn, err)
		return
	}
	if err := s.adopt(c); err != nil {
		c.release()
		return
	}
	go c.run()
}

// started waits for session.start.
func (s *Server) started(conn *websocket.Conn) (session, liveConfig, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	conn.SetReadLimit(maxSessionBytes)
	_, data, err := conn.Read(ctx)
	if err != nil {
		return session{}, liveConfig{}, invalidf("invalid_value", "type", "session.start did not come")
	}
	var ev liveClientEvent
	if err := json.Unmarshal(data, &ev); err != nil {
		return session{}, liveConfig{}, decodeError(err, "")
	}
	if ev.Type != "session.start" {
		return session{}, liveConfig{}, invalidf("invalid_value", "type", "the first event must be session.start")
	}
	return s.sessionOf(ev.Session)
}

// refuseStart sends the reason why the session cannot start, and closes the connection.
func refuseStart(conn *websocket.Conn, why error) {
	e := serverError(why)
	event := liveErrorEvent{liveHead: liveHead{Type: "error", EventID: newID("event")}, Error: liveError{Type: e.Type, Code: e.Code, Message: e.Message}}
	if e.Param != nil {
		event.Error.Param = *e.Param
	}
	if b, err := json.Marshal(event); err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
		defer cancel()
		_ = conn.Write(ctx, websocket.MessageText, b) // the client may be gone
	}
	_ = conn.Close(websocket.StatusPolicyViolation, "")
}
