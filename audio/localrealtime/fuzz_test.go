package localrealtime

import (
	"encoding/json"
	"testing"
)

// FuzzRequests reads what a client sends to begin and to configure a call.
func FuzzRequests(f *testing.F) {
	for _, s := range []string{
		"v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n", "v=0\r\nm=audio", "",
		`{"type":"realtime","audio":{"input":{"turn_detection":{"type":"semantic_vad"}},"output":{"speed":1.5}}}`, `{"audio":{"input":{"turn_detection":null}}}`, `{"audio":7}`, `null`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= maxOfferBytes {
			_ = checkOffer(string(data))
		}
		if !json.Valid(data) || len(data) > maxSessionBytes {
			return
		}
		s, err := newSession(true, data)
		if err != nil {
			return
		}
		if err := s.check(); err != nil {
			t.Fatalf("an accepted session is invalid: %v", err)
		}
		own, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newSession(true, own); err != nil {
			t.Fatalf("an accepted session is refused the second time: %v", err)
		}
	})
}
