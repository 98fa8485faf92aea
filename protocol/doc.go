// Package protocol is the editor wire: the Go types of every message, the names of
// methods, states, causes and errors, and the table of settings. Everything else that
// depends on the wire (the extension's TypeScript, the JSON Schema, the settings
// reference, the editor's settings page) is generated from this package.
//
// # Model
//
// The wire is JSON-RPC 2.0 with Content-Length headers (package jsonrpc). A message is a
// row of Messages: a method, its sender, whether it has a response, and the Go types of
// its params and result. Apart from responses and the errors of Errors, every message has
// a row.
//
// # The caller's loop
//
//	spec, ok := protocol.Lookup(req.Method)            // no row: methodNotFound
//	p, err := protocol.Decode[protocol.SendTextParams](locale, req.Params)
//	...                                                // err is a response already
//	conn.Reply(ctx, req.ID, protocol.TurnResult{TurnID: id})
//
// # Absent and empty
//
// A field without omitempty is always sent, even if empty: 0, false or [] (List is never
// null). It is null only where the specification says so: copilotRequestId in the
// metadata of agentvoice.state. A field with omitempty is absent when empty, never null.
// Receivers treat null as absent. A number that may be absent and for which 0 is
// meaningful is a pointer.
//
// Within a major Version, fields may be added but never renamed or removed. Receivers
// ignore unknown fields.
//
// # Invariants
//
// Names are unique, constants equal the values on the wire, every error and every state
// has a text in each Locale, and the default settings are valid. Tests verify these.
package protocol
