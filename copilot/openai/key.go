package openai

import "fmt"

// Key is an API key that cannot be printed, logged or encoded: all of these give
// "[redacted]". The value is kept in a closure, so that even fmt, which prints unexported
// fields by reflection, sees only an address (SEC-001).
type Key struct{ reveal func() string }

const redacted = "[redacted]"

// NewKey returns a key; "" means no key.
func NewKey(value string) Key {
	if value == "" {
		return Key{}
	}
	return Key{reveal: func() string { return value }}
}

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return k.reveal == nil }

// String implements fmt.Stringer.
func (Key) String() string { return redacted }

// Format implements fmt.Formatter.
func (Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText implements encoding.TextMarshaler, which JSON uses too.
func (Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }
