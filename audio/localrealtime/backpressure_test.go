//go:build cgo

package localrealtime

import (
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// Audio that arrives faster than the recogniser can process makes the client wait: the
// recogniser's queue does not grow beyond its limit, and nothing is lost. A pong, which comes behind the
// audio, may be late meanwhile.
//
//test:long
func TestSocketAudioWaitsForTheRecogniser(t *testing.T) {
	h := start(t, answering(echo))
	h.engines.slow, h.pingEvery = make(chan struct{}), time.Second
	atFullSpeed := sync.OnceFunc(func() { close(h.engines.slow) })
	t.Cleanup(atFullSpeed)
	p := h.socket(t)
	p.sendJSON(`{"type":"session.update","session":{"audio":{"input":{"transcription":{},"turn_detection":null}}}}`)
	p.next("session.updated")
	var sent sync.WaitGroup
	sent.Go(func() {
		p.appendAudio(tone(90_000, listenRate))
		p.sendJSON(`{"type":"input_audio_buffer.commit"}`)
	})
	r := h.liveCalls()[0].recognition
	for end := time.Now().Add(patience); !r.full(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the queue does not fill")
		}
	}
	time.Sleep(3 * h.pingEvery)
	const most = fullSamples + (inboxSize+2)*vad.WindowSamples // the call's inbox is before the queue
	for range 30 * listenRate / vad.WindowSamples {            // the recogniser takes 30 s, one window at a time
		select {
		case h.engines.slow <- struct{}{}:
		case <-time.After(patience):
			t.Fatal("the recogniser gets no more audio")
		}
		if n := r.queued(); n > most {
			t.Fatalf("%d ms of audio are queued, want at most %d", msOf(int64(n)), msOf(most))
		}
	}
	atFullSpeed()
	sent.Wait()
	all := p.until("conversation.item.input_audio_transcription.completed")
	if last := all[len(all)-1]; last.Transcript == "" || last.Usage.Seconds < 89 {
		t.Errorf("%q was heard in %v s, want 90 s", last.Transcript, last.Usage.Seconds)
	}
}

// queued returns the number of samples that wait for the recogniser.
func (r *recognition) queued() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.samples
}
