package openai

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// The codes of copilot.Error.
const (
	codeFailed         = "copilotFailed"
	codeQuota          = "quotaExceeded"
	codeRateLimited    = "rateLimited"
	codeAccessDenied   = "accessDenied"
	codeRegion         = "regionUnsupported"
	codeModel          = "modelUnavailable"
	codeUnavailable    = "copilotUnavailable"
	codeBlocked        = "copilotBlocked"
	codeEmpty          = "copilotEmpty"
	codeAuthentication = "authentication"
)

// maxAfter limits the retry delay that a service requests to a day.
const maxAfter = 24 * time.Hour

// maxError bounds how much of an error response is read, in bytes.
const maxError = 64 << 10

// statusFailure maps a response with a status other than 200.
func statusFailure(res *http.Response) *copilot.Error {
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.NewDecoder(io.LimitReader(res.Body, maxError)).Decode(&body) // most servers send JSON, some an HTML page
	e := known(wordsOf(body.Error))
	status := res.StatusCode
	switch {
	case e != nil:
	case status == http.StatusUnauthorized:
		e = unauthorised()
	case status == http.StatusForbidden:
		e = &copilot.Error{Code: codeAccessDenied, Message: "the service denied access; check the permissions of the key, and whether the provider restricts your network"}
	case status == http.StatusPaymentRequired:
		e = quota()
	case status == http.StatusTooManyRequests:
		e = rateLimited()
	case status == http.StatusNotFound:
		e = failed("unknown address or model (status 404); check both")
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		e = &copilot.Error{Code: codeUnavailable, Message: "the service is currently unavailable (status " + strconv.Itoa(status) + ")", Retryable: true}
	default:
		e = failed("the service rejected the request (status %d)", status)
	}
	if e.Retryable {
		e.After = retryAfter(res.Header, time.Now())
	}
	return e
}

// connectFailure maps a request without a response.
func connectFailure(err error) *copilot.Error {
	if known := (*copilot.Error)(nil); errors.As(err, &known) {
		return known
	}
	if cert := (*tls.CertificateVerificationError)(nil); errors.As(err, &cert) {
		return failed("the service's certificate is not valid; check the base URL and this machine's certificates")
	}
	return &copilot.Error{Code: codeUnavailable, Message: "the service is unreachable", Retryable: true}
}

// streamFailure maps an error object in the stream.
func streamFailure(raw json.RawMessage) *copilot.Error {
	if e := known(wordsOf(raw)); e != nil {
		return e
	}
	e := failed("the service failed in the middle of the answer")
	e.Retryable = true
	return e
}

// wordsOf returns the code and type of an error object.
func wordsOf(raw json.RawMessage) (code, kind string) {
	var object struct {
		Code any    `json:"code"` // a string, or a status number with some servers
		Type string `json:"type"`
	}
	_ = json.Unmarshal(raw, &object)
	code, _ = object.Code.(string)
	return code, object.Type
}

// known maps error codes and types that do not depend on the status; nil for others.
func known(code, kind string) *copilot.Error {
	for _, word := range []string{code, kind} {
		switch word {
		case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active":
			return quota()
		case "rate_limit_exceeded", "rate_limit_error":
			return rateLimited()
		case "content_filter", "content_policy_violation":
			return blocked()
		case "invalid_api_key", "authentication_error":
			return unauthorised()
		case "model_not_found":
			return &copilot.Error{Code: codeModel, Message: "the service does not have this model, or the key may not use it; select another one"}
		case "unsupported_country_region_territory":
			return &copilot.Error{Code: codeRegion, Message: "the service is not available in this country or region; choose another provider"}
		case "context_length_exceeded":
			return failed("the conversation is too long for this model")
		case "server_error", "overloaded_error":
			return &copilot.Error{Code: codeUnavailable, Message: "the service is currently unavailable", Retryable: true}
		}
	}
	return nil
}

func unauthorised() *copilot.Error {
	return &copilot.Error{Code: codeAuthentication, Message: "the service rejected the key; check it"}
}

func quota() *copilot.Error {
	return &copilot.Error{Code: codeQuota, Message: "the quota of this key is used up; check plan and billing"}
}

func rateLimited() *copilot.Error {
	return &copilot.Error{Code: codeRateLimited, Message: "rate limit reached", Retryable: true}
}

func blocked() *copilot.Error {
	return &copilot.Error{Code: codeBlocked, Message: "the service's content filter blocked this answer"}
}

// retryAfter parses Retry-After, in seconds or as a date (RFC 9110, 10.2.3), or the finer
// retry-after-ms that OpenAI also sends. 0 means none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	for _, field := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		value := h.Get(field.name)
		if n, err := strconv.ParseFloat(value, 64); err == nil && n >= 0 {
			return time.Duration(min(n*float64(field.unit), float64(maxAfter)))
		}
		if at, err := http.ParseTime(value); err == nil {
			return min(max(0, at.Sub(now)), maxAfter)
		}
	}
	return 0
}
