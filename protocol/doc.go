// Package protocol is the editor wire: the Go types of every message, the names
// of methods, states, causes and errors, and the table of settings. Everything
// else that knows the wire (the TypeScript of the extension, the JSON Schema,
// the reference of settings, the settings page of the editor) is generated from
// this package.
//
// # Model
//
// The wire is JSON-RPC 2.0 with Content-Length headers (package jsonrpc). A
// message is a row of Messages: a method, who sends it, whether it is answered,
// and the Go types of its params and result. Nothing travels that has no row,
// except responses and the errors of Errors.
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
// A field without omitempty is always sent, empty as it may be: a number is 0, a
// flag false, a list [] (never null; that is what List is for). It is null only
// where the specification says so: copilotRequestId in the metadata of
// agentvoice.state. A field with omitempty is absent where there is nothing to
// say, never null. A receiver takes null for absent. Numbers whose 0 means
// something and which may be absent are pointers.
//
// Fields may be added, never renamed or removed, within a major Version.
// Receivers ignore fields that they do not know.
//
// # Invariants
//
// Names are unique, constants equal what is sent, every error and every state
// has its words in each Locale, and the defaults of the settings are valid: the
// tests hold these.
package protocol
