// Package redact hides ids in logs: the same id of the same process has the same
// name in its log, and nothing leads from there to the id (SEC-001).
//
//	log.Debug().Str("turn", redact.Of(turnID)).Msg("a turn began")
package redact

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

// size is how many bytes of the hash are shown: enough to tell the ids of a
// process apart.
const size = 6

// key is random and lives as long as the process.
var key = func() []byte {
	k := make([]byte, sha256.Size)
	_, _ = rand.Read(k) // it never fails: crypto/rand ends the process instead
	return k
}()

// Of is what a log says instead of id; "" for none.
func Of(id string) string {
	if id == "" {
		return ""
	}
	m := hmac.New(sha256.New, key)
	m.Write([]byte(id))
	return hex.EncodeToString(m.Sum(nil)[:size])
}
