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

// codeRequestCancelled is the error of a request that was cancelled (LSP 3.17).
const codeRequestCancelled = -32800

// final forbids a retry once words were emitted: they would be spoken twice.
func final(e *copilot.Error, spoke bool) *copilot.Error {
	if spoke {
		e.Retryable = false
	}
	return e
}

func failed(message string) *copilot.Error {
	return &copilot.Error{Code: codeFailed, Message: message}
}

// cancelled is a request that the editor or its user cancelled.
var cancelled = &copilot.Error{Code: codeCancelled, Message: "the request was cancelled in the editor"}

// callFailure maps an error of the call itself.
func callFailure(err error) *copilot.Error {
	var rpc *jsonrpc2.Error
	if !errors.As(err, &rpc) {
		return &copilot.Error{Code: codeUnavailable, Message: "the connection to the editor is gone"}
	}
	switch rpc.Code {
	case jsonrpc2.CodeMethodNotFound:
		return &copilot.Error{Code: codeNotInstalled, Message: "this editor offers no assistant: install and enable GitHub Copilot"}
	case codeRequestCancelled:
		return cancelled
	}
	e := failed(fmt.Sprintf("the editor could not pass the request on (error %d)", rpc.Code))
	e.Retryable = rpc.Code == jsonrpc2.CodeInternalError
	return e
}

// clientFailure maps the error that the client reported. Its message is not
// used: it may hold words of the user or of the service.
func clientFailure(e *sendError) *copilot.Error {
	if e == nil {
		return failed("the editor's assistant failed without saying why")
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

// maxAfterMs keeps a service's wish for a pause within a day.
const maxAfterMs = 24 * 60 * 60 * 1000

type failure struct {
	code    string
	message string
	final   bool // trying again cannot help, whatever the client says
}

var (
	noConsent    = failure{codeNoConsent, "the editor has no permission to use the assistant yet: allow it in the editor and try again", true}
	blocked      = failure{codeBlocked, "the assistant refused this request", true}
	notInstalled = failure{codeNotInstalled, "the editor has no such assistant: install and enable GitHub Copilot, or select another model", true}
)

// failures holds the names of this project and those of vscode.LanguageModelError.
var failures = map[string]failure{
	"NoPermissions": noConsent, codeNoConsent: noConsent,
	"Blocked": blocked, codeBlocked: blocked,
	"NotFound": notInstalled, codeNotInstalled: notInstalled,
	codeTimeout:        {codeTimeout, "the assistant took too long", false},
	codeStalled:        {codeStalled, "the assistant stopped in the middle", false},
	codeFailed:         {codeFailed, "the assistant failed", false},
	codeQuota:          {codeQuota, "the assistant's quota is used up", false},
	codeUnavailable:    {codeUnavailable, "the assistant is not available right now", false},
	codeEmpty:          {codeEmpty, "the assistant gave an empty answer", false},
	codeAuthentication: {codeAuthentication, "the editor is not signed in to the assistant: sign in and try again", true},
}
