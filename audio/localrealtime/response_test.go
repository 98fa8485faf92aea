//go:build cgo

package localrealtime

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/opus"
)

// answerEvents are the events of an out-of-band answer, in order.
var answerEvents = []string{
	"response.created", "response.output_item.added", "response.content_part.added", "response.output_audio_transcript.delta",
	"output_audio_buffer.started", "response.output_audio.done", "response.output_audio_transcript.done",
	"response.content_part.done", "response.output_item.done", "response.done", "output_audio_buffer.stopped",
}

func (p *peer) speak(text, conversation string, metadata map[string]string) {
	p.t.Helper()
	p.send(map[string]any{"type": "response.create", "response": map[string]any{
		"conversation": conversation, "output_modalities": []string{"audio"}, "metadata": metadata,
		"input": []any{map[string]any{
			"type": "message", "role": "user", "content": []any{map[string]string{"type": "input_text", "text": text}},
		}},
	}})
}

func TestAnswerIsSpoken(t *testing.T) {
	h := start(t, func(c *Config) { c.Speed = 1 })
	p := h.call(t, transcribing())
	p.speak("one two three four five", "none", map[string]string{"turn": "7"})
	all := p.until("output_audio_buffer.stopped")
	wantTypes(t, all, answerEvents...)
	id := all[0].Response.ID
	if all[0].Response.Metadata["turn"] != "7" || all[9].Response.Metadata["turn"] != "7" {
		t.Error("metadata is not echoed")
	}
	if all[9].Response.ID != id || all[9].Response.Status != "completed" || all[4].ResponseID != id || all[10].ResponseID != id {
		t.Errorf("not one response: %+v", all)
	}
	if all[3].Delta != "one two three four five" || all[6].Transcript != all[3].Delta {
		t.Errorf("transcript %q, %q", all[3].Delta, all[6].Transcript)
	}
	packets := p.heard(5 * fakeWordTime / 20)
	for i, k := range packets {
		if k.Marker != (i == 0) {
			t.Errorf("packet %d: marker %v", i, k.Marker)
		}
		// On a busy machine, synthesis may leave a gap. Without one, the audio is contiguous
		// (TestAnswersAreContiguous).
		if i > 0 && (k.SequenceNumber != packets[i-1].SequenceNumber+1 || k.Timestamp-packets[i-1].Timestamp < opus.PacketSamples || k.Timestamp-packets[i-1].Timestamp >= 1<<31) {
			t.Errorf("packet %d does not follow: %v after %v", i, k.Header, packets[i-1].Header)
		}
	}
	if more := p.settled(); len(more) > 0 || len(p.packets) > 0 {
		t.Errorf("more came: %v and %d packets", types(more), len(p.packets))
	}
}

func TestAnswersQueue(t *testing.T) {
	h := start(t)
	p := h.call(t, transcribing())
	p.speak("one two three", "none", map[string]string{"n": "1"})
	p.speak("one two", "none", map[string]string{"n": "2"})
	var order []string
	all := p.until("output_audio_buffer.stopped")
	all = append(all, p.until("output_audio_buffer.stopped")...)
	names := map[string]string{}
	for _, e := range all {
		switch e.Type {
		case "response.created":
			names[e.Response.ID] = e.Response.Metadata["n"]
		case "output_audio_buffer.started", "output_audio_buffer.stopped":
			order = append(order, names[e.ResponseID]+e.Type[len("output_audio_buffer"):])
		case "response.done":
			order = append(order, names[e.Response.ID]+".done")
		}
	}
	want := []string{"1.started", "1.done", "1.stopped", "2.started", "2.done", "2.stopped"}
	if len(order) != len(want) {
		t.Fatalf("got %v, want %v", order, want)
	}
	for i := range want {
		if order[i] != want[i] {
			t.Fatalf("got %v, want %v", order, want)
		}
	}
	packets := p.heard(15)
	for i, k := range packets {
		if k.Marker != (i == 0 || i == 9) {
			t.Errorf("packet %d: marker %v", i, k.Marker)
		}
	}
	// On a busy machine the pause is longer. TestAnswersAreContiguous has its length.
	gap := packets[9].Timestamp - packets[8].Timestamp
	if packets[9].SequenceNumber != packets[8].SequenceNumber+1 || gap < 2*opus.PacketSamples || gap >= 1<<31 {
		t.Errorf("second response does not follow the first: gap %d", gap)
	}
}

func TestAudioIsPaced(t *testing.T) {
	h := start(t, func(c *Config) { c.Speed = 2 })
	p := h.call(t, transcribing())
	began := time.Now()
	p.speak("one two three four five six seven eight nine ten", "none", nil) // 600 ms
	p.until("output_audio_buffer.started")
	packets := p.heard(5 * 6)
	all := p.until("output_audio_buffer.stopped")
	// 100 ms arrive at once, the rest at twice real time: (600-100)/2 ms. A busy
	// machine takes longer, never less.
	if took := all[len(all)-1].at.Sub(began); took < 250*time.Millisecond {
		t.Errorf("600 ms were sent in %v, want at least 250 ms", took)
	}
	p.speak("one", "none", nil)
	p.until("output_audio_buffer.started")
	next, last := p.heard(1)[0], packets[len(packets)-1]
	if gap := next.Timestamp - last.Timestamp; !next.Marker || gap < 2*opus.PacketSamples || next.SequenceNumber != last.SequenceNumber+1 {
		t.Errorf("after a pause: %v, gap %d", next.Header, gap)
	}
}

func TestRTPClock(t *testing.T) {
	origin := time.Now()
	o := newRTPClock(origin, 2)
	at := func(ms int) time.Time { return origin.Add(time.Duration(ms) * time.Millisecond) }
	o.resume(at(1000))
	first := o.header(true)
	for i := 1; i < 100; i++ {
		// 20 ms of audio take 10 ms; the talkspurt began 40 ms early.
		if want := at(1000 + 10*i - 40); o.due().Sub(want).Abs() > time.Microsecond {
			t.Fatalf("packet %d is due at %v, want %v", i, o.due().Sub(origin), want.Sub(origin))
		}
		if h := o.header(false); h.SequenceNumber != first.SequenceNumber+uint16(i) || h.Timestamp != first.Timestamp+uint32(i*960) {
			t.Fatalf("packet %d does not follow the first: %+v, %+v", i, h, first)
		}
	}
	// The next packet is due for playback at 2000 ms.
	if o.starved(at(2039)) || !o.starved(at(2041)) {
		t.Error("a gap begins where the caller's jitter buffer is empty")
	}
	o.resume(at(1900)) // the caller is still playing: nothing is skipped
	if h := o.header(true); h.Timestamp != first.Timestamp+100*960 {
		t.Errorf("timestamp went %d on, want %d", h.Timestamp-first.Timestamp, 100*960)
	}
	o.pause() // otherwise the beginning of a response with a lost marker could not be detected
	if h := o.header(true); h.Timestamp != first.Timestamp+102*960 {
		t.Errorf("after the shortest pause the timestamp went %d on, want %d", h.Timestamp-first.Timestamp, 102*960)
	}
	o.resume(at(3000))
	if h := o.header(true); h.Timestamp != first.Timestamp+2*2000*48 || h.SequenceNumber != first.SequenceNumber+102 {
		t.Errorf("after a pause of the voice: %+v after %+v", h, first)
	}
}

func TestCancelInTheMiddle(t *testing.T) {
	h := start(t)
	p := h.call(t, transcribing())
	p.speak("one wait two three", "none", nil)
	all := p.until("output_audio_buffer.started")
	p.sendJSON(`{"type":"response.cancel","response_id":"` + all[0].Response.ID + `"}`)
	all = append(all, p.until("output_audio_buffer.stopped")...)
	wantTypes(t, all, answerEvents...)
	if r := all[9].Response; r.Status != "cancelled" || r.StatusDetails.Reason != "client_cancelled" {
		t.Errorf("got %+v", r)
	}
	p.heard(1) // audio generated before the cancellation still plays: at least the packet that began it
	p.sendJSON(`{"type":"response.cancel"}`)
	// LiveKit Agents tolerates a late cancel only if the message begins as OpenAI's does.
	if e := p.next("error").Error; e.Code != "response_cancel_not_active" || e.Message != "Cancellation failed: no active response found" {
		t.Errorf("a second cancel gives %+v", e)
	}
	p.speak("one", "none", nil)
	wantTypes(t, p.until("output_audio_buffer.stopped"), answerEvents...)
}

func TestCancelInTheQueue(t *testing.T) {
	h := start(t)
	p := h.call(t, transcribing())
	p.speak("one wait two", "none", nil)
	p.until("output_audio_buffer.started")
	p.speak("one", "none", nil)
	second := p.next("response.created").Response.ID
	p.sendJSON(`{"type":"response.cancel","response_id":"` + second + `"}`)
	if r := p.next("response.done").Response; r.ID != second || r.Status != "cancelled" {
		t.Errorf("got %+v", r)
	}
	h.engines.gate <- struct{}{}
	wantTypes(t, p.until("output_audio_buffer.stopped"), answerEvents[5:]...)
	if more := p.settled(); len(more) > 0 {
		t.Errorf("more came: %v", types(more))
	}
}

func TestClearStopsTheAudioAtOnce(t *testing.T) {
	h := start(t, func(c *Config) { c.Speed = 1 })
	p := h.call(t, transcribing())
	p.speak("one two three four five six seven eight nine ten one two three four five six wait", "none", nil)
	p.until("output_audio_buffer.started")
	p.speak("one", "none", nil) // waits in the queue
	p.next("response.created")
	p.heard(6)
	p.sendJSON(`{"type":"output_audio_buffer.clear"}`)
	all := p.until("output_audio_buffer.cleared")
	wantTypes(t, all, "response.output_audio.done", "response.output_audio_transcript.done", "response.content_part.done",
		"response.output_item.done", "response.done", "output_audio_buffer.cleared")
	wantTypes(t, []event{p.next("response.done")}, "response.done") // the one in the queue
	heard := len(p.heard(0)) + len(p.packets)
	p.speak("one", "none", nil)
	all = p.until("output_audio_buffer.stopped")
	wantTypes(t, all, answerEvents...)
	packets := p.heard(heard + 3)
	for i, k := range packets {
		if k.Marker != (i == len(packets)-3) {
			t.Errorf("packet %d of %d: marker %v: the cleared audio went on", i, len(packets), k.Marker)
		}
	}
	p.sendJSON(`{"type":"output_audio_buffer.clear"}`)
	p.next("output_audio_buffer.cleared") // even if nothing is playing
}

func TestAnswerInTheConversationIsInterrupted(t *testing.T) {
	h := start(t)
	p := h.call(t, transcribing())
	p.sendJSON(`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"interrupt_response":true}}}}}`)
	p.next("session.updated")
	p.speak("one wait", "auto", nil)
	all := p.until("output_audio_buffer.started")
	wantTypes(t, all, "response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
		"response.output_audio_transcript.delta", "output_audio_buffer.started")
	p.say(append(quiet(200), tone(500, listenRate)...), time.Millisecond)
	all = p.until("output_audio_buffer.cleared")
	wantTypes(t, all, "input_audio_buffer.speech_started", "response.output_audio.done", "response.output_audio_transcript.done",
		"response.content_part.done", "conversation.item.done", "response.output_item.done", "response.done", "output_audio_buffer.cleared")
	if r := all[6].Response; r.Status != "cancelled" || r.StatusDetails.Reason != "turn_detected" {
		t.Errorf("got %+v", r)
	}
}

func TestAnswerWithoutSound(t *testing.T) {
	h := start(t)
	p := h.call(t, transcribing())
	p.speak("mute", "none", nil)
	all := p.until("response.done")
	for _, e := range all {
		if e.Type == "output_audio_buffer.started" {
			t.Error("audio was announced that does not exist")
		}
	}
	p.speak("one", "none", nil)
	wantTypes(t, p.until("output_audio_buffer.stopped"), answerEvents...)
}
