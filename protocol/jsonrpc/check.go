package jsonrpc

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// defect is why a message is not handed on.
type defect struct {
	code   protocol.ErrorCode
	reason string
	id     json.RawMessage // to answer with; nil is null
	silent bool            // not answered
}

func invalid(reason string, id json.RawMessage) *defect {
	return &defect{code: protocol.CodeInvalidRequest, reason: reason, id: id}
}

// response is the answer to a defect. The library's own Response cannot say that
// the id is null.
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

// check says what keeps body, which is JSON, from being a JSON-RPC 2.0 request,
// notification or response. It is stricter than the library, which would take a
// null id for that of its first call, and a negative one for a huge one.
func check(body []byte) *defect {
	switch first := bytes.TrimLeft(body, " \t\r\n"); first[0] {
	case '{':
	case '[':
		return invalid("batches are not taken", nil)
	default:
		return invalid("the body is no object", nil)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		return invalid("the body is no object", nil)
	}
	_, isRequest := m["method"]
	_, hasResult := m["result"]
	_, hasError := m["error"]
	switch {
	case isRequest && (hasResult || hasError):
		return invalid("the body is a request and a response at once", nil)
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
		return invalid("the method is no name", id)
	}
	if p, ok := m["params"]; ok && p[0] != '{' && p[0] != '[' && string(p) != "null" {
		return invalid("the params are no object", id)
	}
	return nil
}

// checkResponse never gives the id back; see the invariants of the package.
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
		// The peer could not read something of ours. To answer would begin a loop.
		return &defect{code: protocol.CodeInvalidRequest, reason: "the peer refused a message", silent: true}
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

// validID returns the id of a message, nil where there is none. ok is false for
// one that cannot be used. A null id is none in a response, where JSON-RPC has it
// for "not known", and cannot be used in a request.
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

// requestID finds the id in the beginning of a body, when it stands before any
// nested value and beside a method: so a client whose request is too large is
// answered, and one whose response is too large is not mistaken.
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
