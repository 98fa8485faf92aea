package protocol

import (
	"encoding/json"

	"github.com/sourcegraph/jsonrpc2"
)

// ErrorCode names a failure. The same names are used in error responses
// (data.code), in agentvoice.error and in agentvoice.turn.
type ErrorCode string

// ErrorSpec is a row of Errors.
type ErrorSpec struct {
	Code      ErrorCode
	Number    int64 // code of the JSON-RPC error
	Retryable bool  // retrying may succeed

	message, remediation, spoken words
}

// By returns the row for another assistant than Copilot. agent is its display name, ""
// for Copilot.
func (e ErrorSpec) By(agent string) ErrorSpec {
	e.message, e.remediation, e.spoken = e.message.by(agent), e.remediation.by(agent), e.spoken.by(agent)
	return e
}

// Message is what happened.
func (e ErrorSpec) Message(l Locale) string { return e.message.in(l) }

// Remediation is what to do about it. It never contains a secret (SEC-003).
func (e ErrorSpec) Remediation(l Locale) string { return e.remediation.in(l) }

// Spoken is what the assistant says aloud, or "" for failures that only programs see.
func (e ErrorSpec) Spoken(l Locale) string { return e.spoken.in(l) }

// ErrorData is the data of every error response.
type ErrorData struct {
	Code        ErrorCode    `json:"code"`
	Remediation string       `json:"remediation"`
	Retryable   bool         `json:"retryable"`
	Fields      []FieldError `json:"fields,omitempty"` // of invalidParams
}

// ErrorCodes lists every code, in the order of Errors.
var ErrorCodes = func() []ErrorCode {
	codes := make([]ErrorCode, len(Errors))
	for i, e := range Errors {
		codes[i] = e.Code
	}
	return codes
}()

var errorIndex = func() map[ErrorCode]*ErrorSpec {
	m := make(map[ErrorCode]*ErrorSpec, len(Errors))
	for i := range Errors {
		m[Errors[i].Code] = &Errors[i]
	}
	return m
}()

// Spec returns the row of a code, or that of internalError for an unknown code, so that
// every failure has a text.
func (c ErrorCode) Spec() ErrorSpec {
	if e, ok := errorIndex[c]; ok {
		return *e
	}
	return *errorIndex[CodeInternalError]
}

// Known says whether c is a code of this protocol.
func (c ErrorCode) Known() bool {
	_, ok := errorIndex[c]
	return ok
}

// NewError is the English NewError of Locale.
func NewError(code ErrorCode, detail string) *jsonrpc2.Error { return English.NewError(code, detail) }

// NewError creates an error response. Detail is optional and says which method, field or
// state it is about; it is English and contains no words of the user, no secret and no
// path.
func (l Locale) NewError(code ErrorCode, detail string) *jsonrpc2.Error {
	return l.newError(code, detail, nil)
}

// InvalidParams creates the error response that names each invalid field.
func (l Locale) InvalidParams(fields []FieldError) *jsonrpc2.Error {
	detail := ""
	if len(fields) > 0 {
		detail = fields[0].Error()
	}
	return l.newError(CodeInvalidParams, detail, fields)
}

func (l Locale) newError(code ErrorCode, detail string, fields []FieldError) *jsonrpc2.Error {
	spec := code.Spec()
	message := spec.Message(l)
	if detail != "" {
		message += " (" + detail + ")"
	}
	e := &jsonrpc2.Error{Code: spec.Number, Message: message}
	e.SetError(ErrorData{
		Code: spec.Code, Remediation: spec.Remediation(l), Retryable: spec.Retryable, Fields: fields,
	})
	return e
}

// NewErrorParams creates the payload of agentvoice.error.
func (l Locale) NewErrorParams(code ErrorCode, turnID string) ErrorParams {
	return code.Spec().Params(l, turnID)
}

// Params creates the payload of agentvoice.error.
func (e ErrorSpec) Params(l Locale, turnID string) ErrorParams {
	return ErrorParams{
		Code: e.Code, Message: e.Message(l), Remediation: e.Remediation(l),
		Retryable: e.Retryable, TurnID: turnID,
	}
}

// DataOf decodes the data of an error response. ok is false if there is none.
func DataOf(e *jsonrpc2.Error) (data ErrorData, ok bool) {
	if e == nil || e.Data == nil {
		return ErrorData{}, false
	}
	err := json.Unmarshal(*e.Data, &data)
	return data, err == nil && data.Code != ""
}
