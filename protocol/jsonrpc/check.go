package jsonrpc

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// defect is why a message is rejected.
type defect struct {
	code   protocol.ErrorCode
	reason string
	id     json.RawMessage // id of the error response; nil is null
	silent bool            // send no error response
}

func invalid(reason string, id json.RawMessage) *defect {
	return &defect{code: protocol.CodeInvalidRequest, reason: reason, id: id}
}

// response is the error response. The library's own Response cannot encode a null id.
func (d *defect) response() any {
	id := d.id
	if id == nil {
		id = json.RawMessage("null")
	}
	return struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   any             `json:"error"`
	}{"2.0", id, protocol.NewError(d.code, d.reason)}
}

// check returns why body, which is valid JSON, is not a JSON-RPC 2.0 request,
// notification or response. It is stricter than the library, which decodes a null id as 0
// and a negative one as a huge number.
func check(body []byte) *defect {
	switch first := bytes.TrimLeft(body, " \t\r\n"); first[0] {
	case '{':
	case '[':
		return invalid("batches are not supported", nil)
	default:
		return invalid("the body is not an object", nil)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		return invalid("the body is not an object", nil)
	}
	_, isRequest := m["method"]
	_, hasResult := m["result"]
	_, hasError := m["error"]
	switch {
	case isRequest && (hasResult || hasError):
		return invalid("the body is both a request and a response", nil)
	case isRequest:
		return checkRequest(m)
	case hasResult || hasError:
		return checkResponse(m, hasResult && hasError)
	default:
		id, _ := validID(m)
		return invalid("the body has no method", id)
	}
}

func checkRequest(m map[string]json.RawMessage) *defect {
	id, idOK := validID(m)
	var method string
	switch {
	case !idOK:
		return invalid("the id is neither a string nor a whole number, 0 or more", nil)
	case !isVersion2(m):
		return invalid("jsonrpc is not \"2.0\"", id)
	case json.Unmarshal(m["method"], &method) != nil || method == "":
		return invalid("the method is not a string", id)
	}
	if p, ok := m["params"]; ok && p[0] != '{' && p[0] != '[' && string(p) != "null" {
		return invalid("the params are not an object", id)
	}
	return nil
}

// checkResponse never returns the id; see the invariants of the package.
func checkResponse(m map[string]json.RawMessage, both bool) *defect {
	var failure struct {
		Code    *int64  `json:"code"`
		Message *string `json:"message"`
	}
	raw, failed := m["error"]
	wellFormed := !failed || json.Unmarshal(raw, &failure) == nil && failure.Code != nil && failure.Message != nil
	id, idOK := validID(m)
	switch {
	case both || !wellFormed || !idOK || !isVersion2(m):
		return invalid("the response is malformed", nil)
	case id == nil && failed:
		// The peer could not read one of our messages. Answering would start a loop.
		return &defect{code: protocol.CodeInvalidRequest, reason: "the peer rejected a message", silent: true}
	case id == nil:
		return invalid("the response has no id", nil)
	default:
		return nil
	}
}

func isVersion2(m map[string]json.RawMessage) bool {
	var v string
	return json.Unmarshal(m["jsonrpc"], &v) == nil && v == "2.0"
}

// validID returns the id of a message, nil if absent. ok is false for an invalid one. A
// null id counts as absent in a response, where JSON-RPC uses it for "unknown", and as
// invalid in a request.
func validID(m map[string]json.RawMessage) (id json.RawMessage, ok bool) {
	raw, present := m["id"]
	if !present {
		return nil, true
	}
	if string(raw) == "null" {
		_, isRequest := m["method"]
		return nil, !isRequest
	}
	if raw[0] == '"' {
		return raw, true
	}
	if _, err := strconv.ParseUint(string(raw), 10, 63); err != nil {
		return nil, false
	}
	return raw, true
}

// requestID finds the id near the start of a body, if it precedes any nested value and a
// method is present. This answers oversized requests without mistaking an oversized
// response for one.
func requestID(start []byte) json.RawMessage {
	m := map[string]json.RawMessage{}
	d := json.NewDecoder(bytes.NewReader(start))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for m["id"] == nil || m["method"] == nil {
		key, err := d.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		name, isString := key.(string)
		if !isString || d.Decode(&value) != nil {
			return nil
		}
		m[name] = value
	}
	id, _ := validID(m)
	return id
}
