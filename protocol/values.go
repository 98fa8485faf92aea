package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Any is opaque JSON, such as a tool's input.
type Any = json.RawMessage

// RequestID is the id of a request: a string or a whole number, 0 or more.
type RequestID = jsonrpc2.ID

// timestampLayout is the format of JavaScript's toISOString, as in the examples of the
// conversation specification (section 4).
const timestampLayout = "2006-01-02T15:04:05.000Z"

// Timestamp is a time on the wire: ISO 8601, UTC, in milliseconds.
type Timestamp struct{ time.Time }

// At returns a Timestamp, truncated to milliseconds.
func At(t time.Time) Timestamp { return Timestamp{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSON implements json.Marshaler.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.UTC().Format(timestampLayout) + `"`), nil
}

// UnmarshalJSON accepts any RFC 3339 time; null is the zero time.
func (t *Timestamp) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		*t = Timestamp{}
		return nil
	}
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	parsed, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return fmt.Errorf("%q is not an ISO 8601 time such as 2025-09-26T17:24:30.421Z", clip(s, 40))
	}
	*t = At(parsed)
	return nil
}

// List is a slice that is encoded as [] when empty, never as null.
type List[T any] []T

// MarshalJSON implements json.Marshaler.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}
