package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

func TestSEC001IDsAreKeyedHashes(t *testing.T) {
	a, again, b := Of("turn-1"), Of("turn-1"), Of("turn-2")
	if a != again || a == b || len(a) != 2*size {
		t.Errorf("turn-1 is %q and %q, turn-2 is %q", a, again, b)
	}
	plain := sha256.Sum256([]byte("turn-1"))
	if strings.HasPrefix(hex.EncodeToString(plain[:]), a) {
		t.Error("the hash has no key: whoever guesses the id can check it")
	}
	if Of("") != "" {
		t.Error("no id has a name")
	}
}
