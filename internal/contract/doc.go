// Package contract checks that every promise of the product is connected to
// production code.
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
// A name without one of its ends is an orphan. The test of this package fails on it
// and says what is missing and where to connect it. Code in tests or in the headless
// daemon does not count.
//
// # How
//
// The Go sources are parsed and type-checked without their dependencies, which takes
// about a second and needs no build; the sources of the extension are read as text.
// Both can be overlaid, so that a test can remove one end of a promise and see the
// check fail.
//
// # Limits
//
// A producer counts if it is in a function that production refers to; whether a run
// reaches it is up to the tests of that package.
package contract
