package protocol

import (
	"strconv"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// Version is the version of the wire, MAJOR.MINOR: minor versions only add, major
// versions may break.
const Version = "1.0"

// Negotiate checks the version that a client sends in initialize. The majors must be
// equal; the minors need not be, since a minor only adds. It returns Version, or an
// unsupportedProtocolVersion error.
func Negotiate(locale Locale, client string) (string, *jsonrpc2.Error) {
	want, _, _ := strings.Cut(Version, ".")
	major, rest, hasRest := strings.Cut(client, ".")
	ok := major == want
	if hasRest {
		_, err := strconv.ParseUint(strings.SplitN(rest, ".", 2)[0], 10, 32)
		ok = ok && err == nil
	}
	if !ok {
		return "", locale.NewError(CodeUnsupportedProtocolVersion, "client "+strconv.Quote(clip(client, 32))+", daemon "+Version)
	}
	return Version, nil
}

// clip truncates client input to n bytes, to bound the size of error messages.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}
