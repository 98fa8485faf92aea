package realtime

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/agentvoice/agentvoice-daemon/audio/provider"
)

// Speeds returns a service's minimum and maximum speaking speed in a session, as a
// multiple of its normal speed.
func Speeds(of Dialect) (slowest, fastest float64) {
	v := speaks(of)
	return v.Slowest, v.Fastest
}

// speaks returns the capabilities of a service's voice in a session.
func speaks(of Dialect) provider.Voice {
	row, _ := provider.Of(string(of))
	v, _ := row.Speaks(provider.Realtime)
	return v
}

// transcribes reports whether recognition uses a session of type transcription.
func transcribes(of Dialect) bool {
	row, ok := provider.Of(string(of))
	return ok && row.Session != nil && row.Session.Transcribes
}

// maxAnswer limits responses. An SDP or a session has a few kB.
const maxAnswer = 1 << 20

// signaller starts and ends the call over HTTP.
type signaller struct {
	cfg     Config
	row     provider.Row
	client  *http.Client
	another bool   // another transport can be tried if this one does not connect
	bearer  string // ephemeral key, or localai's own; never logged
	callID  string
	ahead   time.Duration // estimated lead of the service's clock, from its responses
	expiry  *expiry
	metered metered

	begun, last time.Time
	took        ConnectTimes
}

func newSignaller(cfg Config, begun time.Time, another bool) *signaller {
	c := *cfg.HTTPClient
	// Following a redirect would send the key to another host.
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	row, _ := provider.Of(string(cfg.Dialect)) // the name was validated
	return &signaller{cfg: cfg, row: row, client: &c, another: another, begun: begun, last: time.Now()}
}

// answered records that the service accepted the call, which starts the session.
func (s *signaller) answered() {
	s.expiry.begin(time.Now(), s.ahead, cmp.Or(s.row.Session.Limit, s.cfg.SessionLimit))
	s.lap(&s.took.Signalling)
}

// lap stores the time since the previous lap.
func (s *signaller) lap(d *time.Duration) {
	now := time.Now()
	*d, s.last, s.took.Total = now.Sub(s.last), now, now.Sub(s.begun)
}

// credential returns the user's credential, which is not retained.
func (s *signaller) credential(ctx context.Context) (cred Credential, err error) {
	if s.cfg.Credentials != nil {
		if cred, err = s.cfg.Credentials(ctx); err != nil {
			if ctx.Err() != nil {
				return cred, err
			}
			return cred, &Error{Code: CodeCredentialsMissing, Err: err,
				Message: "the source of credentials gave none; set a key for this provider"}
		}
	}
	if cred.Value == "" && !s.row.Anonymous {
		return cred, &Error{Code: CodeCredentialsMissing, Message: "the key is empty; set a key for this provider"}
	}
	if strings.ContainsAny(cred.Value, "\r\n") {
		return cred, &Error{Code: CodeCredentialsMissing, Message: "the key has a line break in it; set it again"}
	}
	return cred, nil
}

// ephemeral obtains the key for a WebRTC call: derived from the user's key if the
// service supports that.
func (s *signaller) ephemeral(ctx context.Context) error {
	cred, err := s.credential(ctx)
	if err != nil {
		return err
	}
	if !s.row.Session.Ephemeral {
		s.bearer = cred.Value
		return nil
	}
	body, err := json.Marshal(map[string]*session{"session": wantedSession(s.cfg, true)})
	if err != nil {
		return protocolError("client_secrets: the request cannot be written")
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	s.row.Authorize(header, cred.Value, cred.Kind == EntraToken)
	_, answer, err := s.post(ctx, "client_secrets", "/realtime/client_secrets", header, body, http.StatusOK, http.StatusCreated)
	if err != nil {
		return err
	}
	var secret struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(answer, &secret) != nil || secret.Value == "" || strings.ContainsAny(secret.Value, "\r\n") {
		return protocolError("client_secrets: the answer holds no key")
	}
	s.bearer = secret.Value
	return nil
}

// socket starts the call over WebSocket with the user's key. The handshake comes from
// this machine rather than a web page, so no ephemeral key is needed.
func (s *signaller) socket(ctx context.Context) (*websocket.Conn, error) {
	cred, err := s.credential(ctx)
	if err != nil {
		return nil, err
	}
	s.lap(&s.took.Key)
	header := http.Header{}
	s.row.Authorize(header, cred.Value, cred.Kind == EntraToken)
	where := s.cfg.BaseURL + "/realtime"
	if s.cfg.Listens { // a model in the URL makes it a session that converses
		where += "?intent=transcription"
	} else if s.cfg.Model != "" {
		where += "?" + url.Values{"model": {s.cfg.Model}}.Encode()
	}
	conn, res, err := websocket.Dial(ctx, where, &websocket.DialOptions{HTTPClient: s.client, HTTPHeader: header})
	if res != nil {
		s.clock(res.Header)
	}
	switch {
	case err == nil:
		s.metered.open(s.cfg.Meter)
		s.answered()
		return conn, nil
	case res == nil:
		return nil, withoutURL(err)
	case res.StatusCode == http.StatusSwitchingProtocols:
		return nil, protocolError("websocket: the handshake is not that of RFC 6455")
	default:
		return nil, Refusal("websocket", res, header)
	}
}

// clock records how far the service's clock is ahead.
func (s *signaller) clock(h http.Header) {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		s.ahead = time.Until(date)
	}
}

// call sends the offer and returns the service's SDP.
func (s *signaller) call(ctx context.Context, offer string) (string, error) {
	if s.row.Session.Live {
		return s.callLive(ctx, offer)
	}
	header, body := s.header("application/sdp"), []byte(offer)
	if s.row.Session.JSONOffer {
		header = s.header("application/json")
		var err error
		if body, err = json.Marshal(map[string]string{"sdp": offer, "model": s.cfg.Model}); err != nil {
			return "", protocolError("calls: the request cannot be written")
		}
	}
	res, answer, err := s.post(ctx, "calls", "/realtime/calls", header, body, http.StatusCreated, http.StatusOK)
	if err != nil {
		return "", err
	}
	s.metered.open(s.cfg.Meter)
	if id := path.Base(res.Header.Get("Location")); callIDPattern.MatchString(id) {
		s.callID = id
	}
	sdp := string(answer)
	if s.row.Session.JSONOffer {
		var v struct {
			SDP string `json:"sdp"`
		}
		if json.Unmarshal(answer, &v) != nil {
			return "", protocolError("calls: the answer is not JSON")
		}
		sdp = v.SDP
	}
	if !strings.HasPrefix(sdp, "v=0") {
		media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
		return "", protocolError("calls: the answer is not an SDP but %d bytes of %q", len(answer), safeMedia(media))
	}
	return sdp, nil
}

// hangUp ends the call at the service if the dialect supports it. This is best effort,
// because the service also sees the connection close.
func (s *signaller) hangUp(ctx context.Context) {
	calls := "/realtime/calls/"
	if s.row.Session.Live {
		calls = "/live/sessions/"
	} else if !s.row.Session.Ephemeral {
		return
	}
	if s.callID == "" {
		return
	}
	_, _, err := s.post(ctx, "hangup", calls+s.callID+"/hangup", s.header(""), nil, http.StatusOK, http.StatusNoContent)
	if err != nil {
		s.cfg.Log.Debug().Err(err).Msg("the call was not hung up; closing the connection ends it")
	}
}

var (
	callIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
	mediaPattern  = regexp.MustCompile(`^[a-z]+/[a-z0-9.+-]{1,64}$`)
)

func safeMedia(media string) string {
	if mediaPattern.MatchString(media) {
		return media
	}
	return "unknown type"
}

func (s *signaller) header(contentType string) http.Header {
	h := http.Header{}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	if s.bearer != "" {
		h.Set("Authorization", "Bearer "+s.bearer)
	}
	return h
}

// post sends a request and reads the whole response. An unexpected status is an *Error.
func (s *signaller) post(ctx context.Context, step, where string, header http.Header, body []byte, want ...int) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.BaseURL+where, bytes.NewReader(body))
	if err != nil {
		return nil, nil, protocolError("%s: the request cannot be made", step)
	}
	req.Header = header
	res, err := s.client.Do(req)
	if err != nil {
		return nil, nil, withoutURL(err)
	}
	defer res.Body.Close()
	s.clock(res.Header)
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, nil, err
	}
	if len(answer) > maxAnswer {
		return nil, nil, protocolError("%s: the answer is longer than %d bytes", step, maxAnswer)
	}
	for _, status := range want {
		if res.StatusCode == status {
			return res, answer, nil
		}
	}
	return nil, nil, statusError(step, res, answerCode(answer, header))
}

// Refusal returns the error for a response with an unexpected status. It reads the
// body, but repeats at most an error code from it.
func Refusal(step string, res *http.Response, sent http.Header) *Error {
	answer, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // use whatever could be read
	return statusError(step, res, answerCode(answer, sent))
}

// answerCode returns the code of a service's error response, unless it repeats what was
// sent.
func answerCode(answer []byte, sent http.Header) string {
	var v struct {
		Error struct {
			Code string `json:"code"`
			Type string `json:"type"`
		} `json:"error"`
	}
	if json.Unmarshal(answer, &v) != nil {
		return ""
	}
	code := safeCode(v.Error.Code, safeCode(v.Error.Type, ""))
	for _, secret := range []string{sent.Get("Api-Key"), strings.TrimPrefix(sent.Get("Authorization"), "Bearer ")} {
		if code != "" && secret != "" && (strings.Contains(code, secret) || strings.Contains(secret, code)) {
			return ""
		}
	}
	return code
}

// withoutURL returns the cause of a transport failure without the URL.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
