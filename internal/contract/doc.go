// Package contract checks that everything that the product promises is connected
// to something that runs in production.
//
// # Model
//
// A promise is a name in a table: an event or an effect of the core, a setting, a
// spoken command, a wire method, an error code, a localized string. Each needs the
// ends that its table implies:
//
//	event        a producer, in a package that a live daemon runs
//	effect       a handler that does something, in the live daemon
//	setting      a reader outside of protocol, or in its roles.go
//	command      a consumer outside of copilot/spoken
//	method       a sender on one side of the wire and a handler on the other
//	error code   something that raises it
//	string       a user, and a translation in every language
//
// A name without one of its ends is an orphan, and the test of this package fails
// on it with what is missing and where to connect it. What only tests or the
// headless daemon do does not count.
//
// # How
//
// The Go sources are parsed and type-checked without their dependencies, which
// takes about a second and needs no build; the sources of the extension are read
// as text. Both can be overlaid, so that the test can take out one end of a promise
// and see the check fail.
//
// # Limits
//
// A producer counts when it is in a function that production refers to; whether a
// run reaches it is for the tests of that package.
package contract
