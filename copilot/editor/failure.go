package editor

import (
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// The codes of copilot.Error.
const (
	codeTimeout        = "copilotTimeout"
	codeStalled        = "copilotStalled"
	codeFailed         = "copilotFailed"
	codeNotInstalled   = "copilotNotInstalled"
	codeNoConsent      = "copilotNoConsent"
	codeQuota          = "copilotQuota"
	codeUnavailable    = "copilotUnavailable"
	codeBlocked        = "copilotBlocked"
	codeEmpty          = "copilotEmpty"
	codeCancelled      = "copilotCancelled"
	codeAuthentication = "authentication"
)

// codeRequestCancelled is the error code of a cancelled request (LSP 3.17).
const codeRequestCancelled = -32800

// codeCallChanged is the error code callChanged: the client would run another call than
// the one that was allowed.
const codeCallChanged = -32077

// final is the error of an answer that is not whole. After words were emitted it forbids a
// retry, since they would be spoken twice.
func final(e *copilot.Error, spoke bool) *copilot.Error {
	if !spoke {
		return e
	}
	e.Retryable = false
	switch e.Code {
	case codeFailed:
		e.Code = copilot.CutOff
	case codeBlocked:
		e.Code = copilot.CutByFilter
	}
	return e
}

func failed(message string) *copilot.Error {
	return &copilot.Error{Code: codeFailed, Message: message}
}

// cancelled is the error of a request that the editor or its user cancelled.
var cancelled = &copilot.Error{Code: codeCancelled, Message: "the request was cancelled in the editor"}

// callFailure maps an error of the call.
func callFailure(err error) *copilot.Error {
	var rpc *jsonrpc2.Error
	if !errors.As(err, &rpc) {
		return &copilot.Error{Code: codeUnavailable, Message: "the connection to the editor was lost"}
	}
	switch rpc.Code {
	case jsonrpc2.CodeMethodNotFound:
		return &copilot.Error{Code: codeNotInstalled, Message: "this editor has no assistant; install and enable GitHub Copilot"}
	case codeRequestCancelled:
		return cancelled
	}
	e := failed(fmt.Sprintf("the editor could not forward the request (error %d)", rpc.Code))
	e.Retryable = rpc.Code == jsonrpc2.CodeInternalError
	return e
}

// clientFailure maps the error that the client reported. It drops the message, which may
// contain words of the user or of the service.
func clientFailure(e *sendError) *copilot.Error {
	if e == nil {
		return failed("the editor's assistant failed without a reason")
	}
	f, known := failures[e.Code]
	if !known {
		f = failures[codeFailed]
	}
	return &copilot.Error{
		Code: f.code, Message: f.message, Retryable: e.Retryable && !f.final,
		After: max(0, time.Duration(min(e.RetryAfterMs, maxAfterMs))*time.Millisecond),
	}
}

// maxAfterMs limits the retry delay that a service requests to a day.
const maxAfterMs = 24 * 60 * 60 * 1000

type failure struct {
	code    string
	message string
	final   bool // a retry cannot succeed, whatever the client says
}

var (
	noConsent    = failure{codeNoConsent, "the editor has no permission to use the assistant yet; allow it in the editor and try again", true}
	blocked      = failure{codeBlocked, "the assistant refused this request", true}
	notInstalled = failure{codeNotInstalled, "the editor does not have this assistant; install and enable GitHub Copilot, or select another model", true}
)

// failures maps the codes of this project and those of vscode.LanguageModelError.
var failures = map[string]failure{
	"NoPermissions": noConsent, codeNoConsent: noConsent,
	"Blocked": blocked, codeBlocked: blocked,
	"NotFound": notInstalled, codeNotInstalled: notInstalled,
	copilot.CutByLength: {copilot.CutByLength, "the answer reached the length limit of the model", true},
	copilot.CutByTurns:  {copilot.CutByTurns, "the assistant reached its limit of steps", true},
	codeTimeout:         {codeTimeout, "the assistant took too long", false},
	codeStalled:         {codeStalled, "the assistant stopped before the end of its answer", false},
	codeFailed:          {codeFailed, "the assistant failed to answer", false},
	codeQuota:           {codeQuota, "the assistant's quota is used up", false},
	codeUnavailable:     {codeUnavailable, "the assistant is currently unavailable", false},
	codeEmpty:           {codeEmpty, "the assistant gave an empty answer", false},
	codeAuthentication:  {codeAuthentication, "the editor is not signed in to the assistant; sign in and try again", true},
}
