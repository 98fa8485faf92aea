package localrealtime

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"sync"
	"time"
)

// Lifetimes of ephemeral keys, as in the public API.
const (
	defaultSecretTTL = 600 * time.Second
	minSecretTTL     = 10 * time.Second
	maxSecretTTL     = 7200 * time.Second
	maxSecrets       = 1024
)

// newID returns an id in the form of the public API: a prefix and at least 24 random
// characters.
func newID(prefix string) string { return prefix + "_" + rand.Text() }

// secretStore holds the ephemeral keys and the session of each. It is safe for
// concurrent use.
type secretStore struct {
	now func() time.Time

	mu   sync.Mutex
	live map[string]secret
}

type secret struct {
	expires time.Time
	session json.RawMessage // as sent by the client, or nil
}

func newSecretStore(now func() time.Time) *secretStore {
	return &secretStore{now: now, live: make(map[string]secret)}
}

// issue creates a key, or returns false if too many are live.
func (s *secretStore) issue(ttl time.Duration, session json.RawMessage) (value string, expires time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for v, e := range s.live {
		if !now.Before(e.expires) {
			delete(s.live, v)
		}
	}
	if len(s.live) >= maxSecrets {
		return "", time.Time{}, false
	}
	value, expires = newID("ek"), now.Add(ttl)
	s.live[value] = secret{expires: expires, session: session}
	return value, expires, true
}

// lookup finds a live key. As in the public API, a key can be used for any number of
// calls until it expires.
func (s *secretStore) lookup(value string) (secret, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.live[value]
	return e, ok && s.now().Before(e.expires)
}

// sameKey compares keys in constant time.
func sameKey(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
