package realtime

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Codes of Error, and of Handler.Lost.
const (
	CodeAuthentication     = "authentication"     // the service refused the credential: fatal
	CodeCredentialsMissing = "credentialsMissing" // there is no credential to use
	CodeConnectionFailed   = "connectionFailed"   // the service cannot be reached, or refused the call
	CodeConnectTimeout     = "connectTimeout"     // the call did not stand in time
	CodeQuotaExceeded      = "quotaExceeded"      // the account has no quota left: fatal
	CodeRegionUnsupported  = "regionUnsupported"  // the service is not offered where the user is: fatal
	CodeAccessDenied       = "accessDenied"       // the credential may not do this: fatal
	CodeModelUnavailable   = "modelUnavailable"   // there is no such model or deployment for this credential: fatal
	CodeRateLimited        = "rateLimited"        // the service asks to come back later
	CodeConnectionLost     = "connectionLost"     // a call that stood broke
	CodeSessionExpired     = "sessionExpired"     // the service ended a call that reached its maximum duration
	CodeProtocolError      = "protocolError"      // the service answered something that is not the protocol
)

// Codes of Handler.SpeechFailed that the client itself gives. Others are the
// service's own, from its error event or the status of its response.
const (
	CodeSpeechTimeout   = "speechTimeout"   // the service did not begin, go on or end in time
	CodeSpeechNoAudio   = "speechNoAudio"   // the response was completed without a sound
	CodeSpeechCutShort  = "speechCutShort"  // the service ended the response by itself
	CodeSpeechNotPosted = "speechNotPosted" // the request could not be sent
)

// Error is why a call could not be made or was lost. It holds no secret: of
// what the service answered, only the status and a code that looks like one.
type Error struct {
	Code       string        // one of the Code constants
	Status     int           // HTTP status, 0 without one
	Message    string        // one line: what happened, to what
	Retryable  bool          // the same call may succeed later
	RetryAfter time.Duration // as the service asked, 0 where it did not
	// Unheard is how long before the loss of a call the service may have stopped
	// hearing it; 0 where it heard everything.
	Unheard time.Duration
	Err     error // the cause, where there is one; not part of the text
}

func (e *Error) Error() string { return "realtime: " + e.Message }

func (e *Error) Unwrap() error { return e.Err }

// codePattern is what codes of services look like. Anything else in their
// place is text of the service, which may repeat what it was sent.
var codePattern = regexp.MustCompile(`^[a-z][a-z0-9_.]{0,63}$`)

// safeCode returns a service's code, or fallback when it does not look like one.
func safeCode(code, fallback string) string {
	if refusals[code] != "" || codePattern.MatchString(code) {
		return code
	}
	return fallback
}

// refusals are the services' codes that mean the same with any status.
var refusals = map[string]string{
	"insufficient_quota":                   CodeQuotaExceeded,
	"billing_hard_limit_reached":           CodeQuotaExceeded,
	"billing_not_active":                   CodeQuotaExceeded,
	"invalid_api_key":                      CodeAuthentication,
	"invalid_authentication":               CodeAuthentication,
	"authentication_error":                 CodeAuthentication,
	"unsupported_country_region_territory": CodeRegionUnsupported,
	"model_not_found":                      CodeModelUnavailable,
	"DeploymentNotFound":                   CodeModelUnavailable, // as Azure writes its codes
	"OperationNotSupported":                CodeModelUnavailable,
	"OpperationNotSupported":               CodeModelUnavailable,
}

// statusError maps an HTTP answer that is not the expected one. code is the
// service's error code, already safe, or empty.
func statusError(step string, res *http.Response, code string) *Error {
	e := &Error{Code: CodeConnectionFailed, Status: res.StatusCode}
	switch s := res.StatusCode; {
	case refusals[code] != "":
		e.Code = refusals[code]
	case s == http.StatusUnauthorized:
		e.Code = CodeAuthentication
	case s == http.StatusForbidden:
		e.Code = CodeAccessDenied
	case s == http.StatusPaymentRequired:
		e.Code = CodeQuotaExceeded
	case s == http.StatusTooManyRequests:
		e.Code, e.Retryable = CodeRateLimited, true
	case s == http.StatusRequestTimeout || s >= 500:
		e.Retryable = true
	case s < 400:
		e.Code = CodeProtocolError
	}
	if e.Retryable {
		e.RetryAfter = retryAfter(res.Header, time.Now())
	}
	e.Message = fmt.Sprintf("%s: the service answered %d", step, res.StatusCode)
	if code != "" {
		e.Message += " (" + code + ")"
	}
	e.Message += "; " + remedy(e.Code)
	return e
}

// maxRetryAfter bounds what a service may ask for.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads Retry-After, in seconds or as a date (RFC 9110, 10.2.3), or
// the finer retry-after-ms that OpenAI and Azure send beside it. 0 means none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	// What is no number is 0, and what is too large a number is the largest.
	if ms, _ := strconv.ParseInt(h.Get("Retry-After-Ms"), 10, 64); ms > 0 {
		return time.Duration(min(ms, maxRetryAfter.Milliseconds())) * time.Millisecond
	}
	value := h.Get("Retry-After")
	if s, _ := strconv.ParseInt(value, 10, 64); s > 0 {
		return time.Duration(min(s, int64(maxRetryAfter/time.Second))) * time.Second
	}
	at, _ := http.ParseTime(value) // what is no date is long ago
	return min(max(0, at.Sub(now)), maxRetryAfter)
}

func remedy(code string) string {
	switch code {
	case CodeAuthentication:
		return "check the key"
	case CodeAccessDenied:
		return "check the permissions of the key, and whether the provider restricts your network"
	case CodeRegionUnsupported:
		return "choose a provider that serves your region"
	case CodeModelUnavailable:
		return "check the name of the model or deployment, and that the key may use it"
	case CodeQuotaExceeded:
		return "check the plan and billing at the provider"
	case CodeRateLimited:
		return "wait, or check the limits of the plan"
	case CodeProtocolError:
		return "check that the base URL is that of a realtime service"
	default:
		return "check the base URL, the model and the network"
	}
}

// dialError maps the failure of a step of the dial. caller is the context the
// caller gave, without the client's own deadline, to tell the two apart.
func dialError(caller context.Context, step string, err error) *Error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(caller.Err(), context.Canceled):
		return &Error{Code: CodeConnectionFailed, Message: step + ": the caller gave up", Err: context.Canceled}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: CodeConnectTimeout, Retryable: true, Err: context.DeadlineExceeded,
			Message: step + ": no result in time; check the network and that UDP, or TCP on port 443, to the service is allowed, or name a relay in agentvoice.network.turnServers"}
	default:
		return &Error{Code: CodeConnectionFailed, Retryable: true, Err: err,
			Message: step + ": the service cannot be reached; " + remedy(CodeConnectionFailed)}
	}
}

func protocolError(format string, args ...any) *Error {
	return &Error{Code: CodeProtocolError, Message: strings.TrimSpace(fmt.Sprintf(format, args...)) + "; " + remedy(CodeProtocolError)}
}
