package daemon

import "strconv"

// Ids on the wire. They increase for the life of the process.

// TurnID returns the wire id of a turn; "" for 0.
func TurnID(n uint64) string { return turnID(n) }

func turnID(n uint64) string      { return wireID("turn-", n) }
func requestID(n uint64) string   { return wireID("req-", n) }
func utteranceID(n uint64) string { return wireID("utt-", n) }

func sessionID(instance uint32) string { return wireID("session-", uint64(instance)) }

func wireID(prefix string, n uint64) string {
	if n == 0 {
		return ""
	}
	return prefix + strconv.FormatUint(n, 10)
}
