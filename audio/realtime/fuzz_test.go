package realtime

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// FuzzEvents checks that no malformed event of a service stops the loop.
func FuzzEvents(f *testing.F) {
	for _, e := range []string{`{"type":"session.updated"}`, created("r1", seg(1, 1)), done("r1", "failed"), buffer("stopped", "r1"),
		`{"type":"error","error":{"event_id":"speak_1_1","code":"x"}}`, `{"type":"response.done","response":{"id":"r1","status":"failed","status_details":7}}`,
		`{"type":"input_audio_buffer.speech_started","item_id":"i","audio_start_ms":9223372036854775807}`,
		`{"type":"conversation.item.input_audio_transcription.delta","item_id":"i","delta":"\ud800"}`,
		`{"type":"response.output_audio.delta","response_id":"r1","delta":"AAAA"}`, `{"type":"response.output_audio.delta","delta":"="}`} {
		f.Add([]byte(e))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var canceled atomic.Int64
		canceled.Store(-1)
		down, err := newDownlink()
		if err != nil {
			t.Skip(err)
		}
		socket, err := newSocket(newUplink(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer socket.cancel()
		for _, v := range []voice{down, socket.voice()} {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			l := &loop{log: zerolog.Nop(), handler: newRecorder(), link: socket, result: make(chan error, 1), expiry: &expiry{},
				stop: cancel, canceled: &canceled, count: &counters{}, voice: v, partial: map[string]string{}, ready: true}
			l.speech.named = v.names()
			l.speech.speak(seg(1, 1), time.Now())
			l.take(message{kind: msgEvent, event: []byte(created("r1", seg(1, 1)))}, time.Now())
			l.take(message{kind: msgEvent, event: data}, time.Now())
			l.tick(time.Now())
			if ctx.Err() != nil || l.dead {
				t.Errorf("the loop has ended")
			}
		}
	})
}
