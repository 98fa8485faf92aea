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

// Codes of Error and of Handler.Lost.
const (
	CodeAuthentication     = "authentication"     // the service rejected the credential: fatal
	CodeCredentialsMissing = "credentialsMissing" // no credential is configured
	CodeConnectionFailed   = "connectionFailed"   // the service is unreachable
	CodeCallRejected       = "callRejected"       // the service rejected the call itself, as a wrong base URL does: fatal
	CodeConnectTimeout     = "connectTimeout"     // the call was not established in time
	CodeQuotaExceeded      = "quotaExceeded"      // the account has no quota left: fatal
	CodeRegionUnsupported  = "regionUnsupported"  // the service is unavailable in the user's region: fatal
	CodeAccessDenied       = "accessDenied"       // the credential lacks permission: fatal
	CodeModelUnavailable   = "modelUnavailable"   // the model or deployment does not exist for this credential: fatal
	CodePipelineFailed     = "pipelineFailed"     // the service cannot load a model of its pipeline: fatal
	CodeRateLimited        = "rateLimited"        // the service asks to retry later
	CodeConnectionLost     = "connectionLost"     // an established call broke
	CodeSessionExpired     = "sessionExpired"     // the service ended a call that reached its maximum duration
	CodeProtocolError      = "protocolError"      // the service violated the protocol
)

// Codes of Handler.SpeechFailed created by the client. Other codes come from the
// service's error event or the status of its response.
const (
	CodeSpeechTimeout   = "speechTimeout"   // the service did not start, continue or end in time
	CodeSpeechNoAudio   = "speechNoAudio"   // the response completed without audio
	CodeSpeechCutShort  = "speechCutShort"  // the service ended the response by itself
	CodeSpeechNotPosted = "speechNotPosted" // the request could not be sent
)

// Error is why a call could not be established or was lost. It contains no secret; from
// the service's response it includes only the status and a string in the form of an
// error code.
type Error struct {
	Code       string        // one of the Code constants
	Status     int           // HTTP status, or 0
	Message    string        // one line: what happened, to what
	Retryable  bool          // the same call may succeed later
	RetryAfter time.Duration // as requested by the service, or 0
	// Unheard is how long before the loss of a call the service may have stopped
	// receiving audio; 0 if it received everything.
	Unheard time.Duration
	Err     error // the cause, or nil; not part of the text
}

func (e *Error) Error() string { return "realtime: " + e.Message }

func (e *Error) Unwrap() error { return e.Err }

// codePattern matches error codes of services. Anything else may be text that quotes
// what the client sent.
var codePattern = regexp.MustCompile(`^[a-z][a-z0-9_.]{0,63}$`)

// safeCode returns a service's code, or fallback if it does not match codePattern.
func safeCode(code, fallback string) string {
	if refusals[code] != "" || codePattern.MatchString(code) {
		return code
	}
	return fallback
}

// refusals are the service codes whose meaning does not depend on the status.
var refusals = map[string]string{
	"insufficient_quota":                   CodeQuotaExceeded,
	"billing_hard_limit_reached":           CodeQuotaExceeded,
	"billing_not_active":                   CodeQuotaExceeded,
	"invalid_api_key":                      CodeAuthentication,
	"invalid_authentication":               CodeAuthentication,
	"authentication_error":                 CodeAuthentication,
	"unsupported_country_region_territory": CodeRegionUnsupported,
	"model_not_found":                      CodeModelUnavailable,
	"DeploymentNotFound":                   CodeModelUnavailable, // Azure's spelling
	"OperationNotSupported":                CodeModelUnavailable,
	"OpperationNotSupported":               CodeModelUnavailable,
	// LocalAI's, instead of session.created.
	"invalid_model":    CodeModelUnavailable,
	"model_load_error": CodePipelineFailed,
	"invalid_pipeline": CodePipelineFailed,
	"voice_gate_error": CodePipelineFailed,
}

// statusError maps an unexpected HTTP response. code is the service's error code,
// already safe, or empty.
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
	default:
		e.Code = CodeCallRejected
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

// maxRetryAfter limits the delay that a service may request.
const maxRetryAfter = 24 * time.Hour

// retryAfter parses Retry-After, in seconds or as a date (RFC 9110, 10.2.3), or the
// finer retry-after-ms that OpenAI and Azure also send. It returns 0 if absent.
func retryAfter(h http.Header, now time.Time) time.Duration {
	// ParseInt returns 0 for an invalid number and the maximum for one that is too
	// large.
	if ms, _ := strconv.ParseInt(h.Get("Retry-After-Ms"), 10, 64); ms > 0 {
		return time.Duration(min(ms, maxRetryAfter.Milliseconds())) * time.Millisecond
	}
	value := h.Get("Retry-After")
	if s, _ := strconv.ParseInt(value, 10, 64); s > 0 {
		return time.Duration(min(s, int64(maxRetryAfter/time.Second))) * time.Second
	}
	at, _ := http.ParseTime(value) // an invalid date yields the zero time, which is in the past
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
	case CodePipelineFailed:
		return "see the log of the server, install the model or correct the pipeline there, and connect again"
	case CodeQuotaExceeded:
		return "check the plan and billing at the provider"
	case CodeRateLimited:
		return "wait, or check the limits of the plan"
	case CodeCallRejected:
		return "check the base URL and the model"
	case CodeProtocolError:
		return "check that the base URL is that of a realtime service"
	default:
		return "check the base URL, the model and the network"
	}
}

// dialError maps the failure of a dial step. caller is the caller's context without the
// client's own deadline, which distinguishes the two timeouts.
func dialError(caller context.Context, step string, err error) *Error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(caller.Err(), context.Canceled):
		return &Error{Code: CodeConnectionFailed, Message: step + ": the caller gave up", Err: context.Canceled}
	case errors.Is(err, context.DeadlineExceeded) && step == stepSession:
		return &Error{Code: CodeConnectTimeout, Retryable: true, Err: context.DeadlineExceeded,
			Message: step + ": the service accepted the call and did not start the session in time; it may still be loading its models: connect again later"}
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
