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
	CodeRateLimited        = "rateLimited"        // the service asks to come back later
	CodeConnectionLost     = "connectionLost"     // a call that stood broke
	CodeProtocolError      = "protocolError"      // the service answered something that is not the protocol
)

// Codes of Handler.SpeechFailed that the client itself gives. Others are the
// service's own, from its error event or the status of its response.
const (
	CodeSpeechTimeout   = "speechTimeout"   // the service did not begin, go on or end in time
	CodeSpeechNoAudio   = "speechNoAudio"   // the response was completed without a sound
	CodeSpeechMismatch  = "speechMismatch"  // what was said is not what was to be read
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
	Err        error         // the cause, where there is one; not part of the text
}

func (e *Error) Error() string { return "realtime: " + e.Message }

func (e *Error) Unwrap() error { return e.Err }

// codePattern is what codes of services look like. Anything else in their
// place is text of the service, which may repeat what it was sent.
var codePattern = regexp.MustCompile(`^[a-z][a-z0-9_.]{0,63}$`)

// safeCode returns a service's code, or fallback when it does not look like one.
func safeCode(code, fallback string) string {
	if codePattern.MatchString(code) {
		return code
	}
	return fallback
}

// statusError maps an HTTP answer that is not the expected one. code is the
// service's error code, already safe, or empty.
func statusError(step string, res *http.Response, code string) *Error {
	e := &Error{Code: CodeConnectionFailed, Status: res.StatusCode}
	switch s := res.StatusCode; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		e.Code = CodeAuthentication
	case s == http.StatusTooManyRequests:
		e.Code, e.Retryable = CodeRateLimited, true
		if n, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && n > 0 {
			e.RetryAfter = time.Duration(n) * time.Second
		}
	case s == http.StatusRequestTimeout || s >= 500:
		e.Retryable = true
	case s < 400:
		e.Code = CodeProtocolError
	}
	e.Message = fmt.Sprintf("%s: the service answered %d", step, res.StatusCode)
	if code != "" {
		e.Message += " (" + code + ")"
	}
	e.Message += "; " + remedy(e.Code)
	return e
}

func remedy(code string) string {
	switch code {
	case CodeAuthentication:
		return "check the key and that it may use this model"
	case CodeRateLimited:
		return "wait, or check the plan's limits"
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
	case caller.Err() != nil && errors.Is(caller.Err(), context.Canceled):
		return &Error{Code: CodeConnectionFailed, Message: step + ": the caller gave up", Err: context.Canceled}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: CodeConnectTimeout, Retryable: true, Err: context.DeadlineExceeded,
			Message: step + ": no result in time; check the network and that UDP to the service is allowed"}
	default:
		return &Error{Code: CodeConnectionFailed, Retryable: true, Err: err,
			Message: step + ": the service cannot be reached; " + remedy(CodeConnectionFailed)}
	}
}

func protocolError(format string, args ...any) *Error {
	return &Error{Code: CodeProtocolError, Message: strings.TrimSpace(fmt.Sprintf(format, args...)) + "; " + remedy(CodeProtocolError)}
}
