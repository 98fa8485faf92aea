package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Any is JSON that this protocol does not look into, such as a tool's input.
type Any = json.RawMessage

// RequestID is the id of a request: a string or a whole number, 0 or more.
type RequestID = jsonrpc2.ID

// timestampLayout is what JavaScript's toISOString writes, as in the examples of
// the conversation specification (section 4).
const timestampLayout = "2006-01-02T15:04:05.000Z"

// Timestamp is a time on the wire: ISO 8601, UTC, milliseconds.
type Timestamp struct{ time.Time }

// At makes a Timestamp, cut to the milliseconds that the wire carries.
func At(t time.Time) Timestamp { return Timestamp{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSON implements json.Marshaler.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.UTC().Format(timestampLayout) + `"`), nil
}

// UnmarshalJSON takes any RFC 3339 time. null is the zero time.
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
		return fmt.Errorf("%q is no ISO 8601 time, like 2025-09-26T17:24:30.421Z", clip(s, 40))
	}
	*t = At(parsed)
	return nil
}

// List is a list that is [] on the wire when it is empty, never null.
type List[T any] []T

// MarshalJSON implements json.Marshaler.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}
