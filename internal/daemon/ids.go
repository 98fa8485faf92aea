package daemon

import "strconv"

// The ids on the wire. They rise for as long as the process lives.

// TurnID is a turn's id on the wire, "" for none.
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
