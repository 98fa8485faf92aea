package copilot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/gowebpki/jcs"
)

// ErrChanged is wrapped by the error of a Caller that did not run a call, because it is
// no longer the one that the user was asked about.
var ErrChanged = errors.New("the call is not the one that was asked about")

// ErrRefused is wrapped by the error of a Caller whose tool did nothing: the result says why,
// and the answer continues.
var ErrRefused = errors.New("the tool did not run the call")

// ToolCall is one call of a tool: what the user is asked about, what is shown, and what
// runs. Nothing that the assistant sent is left out of it.
type ToolCall struct {
	ID     string          // assigned by the assistant, or by the adapter from the assistant's
	Agent  string          // name of the adapter
	Name   string          // of the tool
	Kind   string          // of a coding agent's call, as the protocol names it: execute, edit; "" if unknown
	Title  string          // what a coding agent says about the call, which may not be so
	Input  json.RawMessage // as it came; empty if the assistant gave none
	Files  []string        // that the call is about, besides those in its input
	Diffs  []Diff          // that the call would make
	Folder string          // in which a coding agent works; "" for others

	Destructive *bool // as in Tool; nil uses the value of the named tool
	Allowed     bool  // preapproved by a setting of the user
	// Again says that the assistant changed the call while the user was asked about it.
	Again bool
	// Reason is why the assistant makes the call, in its own words; "" if unknown.
	Reason string
	// Question is what the assistant asks the user by this call, "" for a call that does
	// something: what the user says is the answer, and no permission. Choices are the
	// answers that it offers.
	Question string
	Choices  []string
}

// Diff is the change of a file.
type Diff struct {
	Path string  `json:"path"`
	Old  *string `json:"oldText,omitempty"` // nil: the file is new, or its text is not known
	New  string  `json:"newText"`
}

// whole is what identifies a call. Two calls that differ in it do different things.
type whole struct {
	Agent  string          `json:"agent"`
	Tool   string          `json:"tool"`
	Kind   string          `json:"kind,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	Files  []string        `json:"files,omitempty"`
	Diffs  []Diff          `json:"diffs,omitempty"`
	Folder string          `json:"folder,omitempty"`
}

// Hash returns the SHA-256 of the call's canonical form (RFC 8785), in hexadecimal: of
// agent, tool, kind, input, files, diffs and folder, without those that are empty. It is
// "" if the input is not JSON that everybody reads alike, such as one that names a member
// twice: such a call cannot be allowed.
func (c ToolCall) Hash() string {
	text, err := json.Marshal(whole{c.Agent, c.Name, c.Kind, c.Input, c.Files, c.Diffs, c.Folder})
	if err != nil {
		return ""
	}
	canonical, err := jcs.Transform(text)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}
