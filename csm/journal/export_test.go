package journal

import (
	"regexp"
	"strconv"
	"strings"
)

// Closed, for the test that asks for the line of a new string type.
var Closed = closed

var frameOf = regexp.MustCompile(`(?:,"n":\d+)?(?:,"sum":"[^"]*")?\}$`)

// Reseal numbers and seals every line of a journal anew, as somebody does who
// edits one with a tool.
func Reseal(s string) string {
	var out strings.Builder
	seed := uint32(0)
	for i, l := range strings.Split(strings.TrimSuffix(s, "\n"), "\n") {
		line := []byte(frameOf.ReplaceAllString(l, ""))
		if i > 0 {
			line = append(line, `,"n":`+strconv.Itoa(i+1)...)
		}
		line = seal(line, seed)
		out.Write(line)
		if i == 0 {
			seed, _ = unseal(line[:len(line)-1], 0)
		}
	}
	return out.String()
}
