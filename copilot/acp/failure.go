package acp

import (
	"errors"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// Values of copilot.Error.Code.
const (
	codeMissing = "agentMissing"
	codeEnded   = "agentEnded"
	codeSilent  = "agentSilent"
	codeSignIn  = "agentSignIn"
	codeFailed  = "copilotFailed"
	codeBlocked = "copilotBlocked"
	codeEmpty   = "copilotEmpty"

	codeCancelled = "copilotCancelled"
)

// authRequired is the protocol's error code for an agent without a signed-in user.
const authRequired = -32000

func missing(what string) *copilot.Error {
	return &copilot.Error{Code: codeMissing, Message: "cannot start the agent: " + what}
}

func ended() *copilot.Error {
	return &copilot.Error{Code: codeEnded, Message: "the agent's process ended; ask again, and it is started again"}
}

func silent() *copilot.Error {
	return &copilot.Error{Code: codeSilent, Message: "the agent does not respond; check that it is signed in and that its network works"}
}

func failed(message string) *copilot.Error {
	return &copilot.Error{Code: codeFailed, Message: message}
}

// failure converts an error of the connection. It leaves out the agent's own words, which
// may contain private text.
func failure(err error) error {
	var rpc *jsonrpc2.Error
	var known *copilot.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &rpc) && rpc.Code == authRequired:
		return &copilot.Error{Code: codeSignIn, Message: "sign in to the agent in a terminal, then ask again"}
	case errors.As(err, &rpc):
		return failed("the agent reported an error")
	}
	return ended()
}
