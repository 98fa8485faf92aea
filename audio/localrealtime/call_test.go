//go:build cgo

package localrealtime

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
)

func TestSessionIsCreatedAndUpdated(t *testing.T) {
	h := start(t)
	p := h.call(t, transcribing())
	p.sendJSON(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad","threshold":0.7}}}}}`)
	td := p.next("session.updated").Session.Audio.Input.TurnDetection
	if *td.Threshold != 0.7 || *td.PrefixPaddingMs != 200 || *td.SilenceDurationMs != 400 || td.creates() {
		t.Errorf("update is not merged: %+v", td)
	}
	p.sendJSON(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"semantic_vad","eagerness":"high"}}}}}`)
	s := p.next("session.updated").Session
	td = s.Audio.Input.TurnDetection
	if td.Type != "semantic_vad" || *td.Eagerness != "high" || td.Threshold != nil {
		t.Errorf("another type does not begin with its own defaults: %+v", td)
	}
	if s.Model != "gpt-realtime" || s.Audio.Input.Transcription.Model != "whisper-1" {
		t.Errorf("the session of the call is lost: %+v", s)
	}
	p.sendJSON(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":null,"transcription":null}}}}`)
	if s = p.next("session.updated").Session; s.Audio.Input.TurnDetection != nil || s.Audio.Input.Transcription != nil {
		t.Errorf("null does not switch off: %+v", s.Audio.Input)
	}
}

func TestBadEventsAreAnsweredAndTheCallLives(t *testing.T) {
	h := start(t)
	p := h.call(t, transcribing())
	const td = "session.audio.input.turn_detection."
	for _, c := range []struct{ event, code, param string }{
		{`{"type":"no.such.event"}`, "invalid_value", "type"},
		{`{}`, "invalid_value", "type"},
		{`{"type":5}`, "invalid_type", "type"},
		{`no json`, "invalid_json", ""},
		{`{"type":"session.update"}`, "missing_required_parameter", "session"},
		{`{"type":"session.update","session":{"type":"transcription"}}`, "invalid_value", "session.type"},
		{`{"type":"session.update","session":{"output_modalities":["text"]}}`, "invalid_value", "session.output_modalities"},
		{`{"type":"session.update","session":{"instructions":5}}`, "invalid_type", "session.instructions"},
		{`{"type":"session.update","session":{"audio":{"output":{"speed":3.5}}}}`, "invalid_value", "session.audio.output.speed"},
		{`{"type":"session.update","session":{"audio":{"output":{"voice":"nobody"}}}}`, "invalid_value", "session.audio.output.voice"},
		{`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"magic"}}}}}`, "invalid_value", td + "type"},
		{`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"threshold":1.5}}}}}`, "invalid_value", td + "threshold"},
		{`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"threshold":"high"}}}}}`, "invalid_type", td + "threshold"},
		{`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"silence_duration_ms":-1}}}}}`, "invalid_value", td + "silence_duration_ms"},
		{`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"prefix_padding_ms":9999}}}}}`, "invalid_value", td + "prefix_padding_ms"},
		{`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"idle_timeout_ms":1}}}}}`, "invalid_value", td + "idle_timeout_ms"},
		{`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"semantic_vad","eagerness":"wild"}}}}}`, "invalid_value", td + "eagerness"},
		{`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"semantic_vad","threshold":0.5}}}}}`, "unknown_parameter", td + "type"},
		{`{"type":"input_audio_buffer.append","audio":"AAAA"}`, "unsupported_event", "type"},
		{`{"type":"input_audio_buffer.commit"}`, "input_audio_buffer_commit_empty", ""},
		{`{"type":"response.create"}`, "missing_required_parameter", "response.input"},
		{`{"type":"response.create","response":{"conversation":"both"}}`, "invalid_value", "response.conversation"},
		{`{"type":"response.create","response":{"output_modalities":["text"]}}`, "invalid_value", "response.output_modalities"},
		{`{"type":"response.create","response":{"input":[{"type":"function_call","name":"look","call_id":"c"}]}}`, "invalid_value", "response.input.type"},
		{`{"type":"response.create","response":{"audio":{"output":{"voice":"nobody"}}}}`, "invalid_value", "response.audio.output.voice"},
		{`{"type":"response.create","response":{"metadata":{"k":5}}}`, "invalid_type", "response.metadata"},
		{`{"type":"response.cancel"}`, "response_cancel_not_active", "response_id"},
		{`{"type":"conversation.item.delete","item_id":"none"}`, "item_not_found", "item_id"},
	} {
		text := c.event
		if strings.HasPrefix(text, `{"`) {
			text = `{"event_id":"mine",` + text[1:]
		}
		p.sendJSON(text)
		e := p.next("error")
		if e.Error.Code != c.code || e.Error.Param != c.param || e.Error.Message == "" {
			t.Errorf("%s: got %+v, want %s on %q", c.event, e.Error, c.code, c.param)
		}
		if strings.HasPrefix(text, `{"event_id"`) && e.Error.EventID != "mine" && c.code != "invalid_type" {
			t.Errorf("%s: the error does not name the client's event: %+v", c.event, e.Error)
		}
	}
	p.sendJSON(`{"type":"session.update","colour":"red","session":{"colour":"red","audio":{"input":{"turn_detection":{"sensitivity":1}}}}}`)
	if got := *p.next("session.updated").Session.Audio.Input.TurnDetection.Threshold; got != 0.5 {
		t.Errorf("a refused update left a trace: threshold %v", got)
	}
}

// turnEvents are the events of one turn with a transcript, without deltas.
var turnEvents = []string{
	"input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
	"conversation.item.added", "conversation.item.done", "conversation.item.input_audio_transcription.completed",
}

// withoutDeltas separates the transcript's deltas from the other events.
func withoutDeltas(all []event) (rest []event, text string) {
	for _, e := range all {
		if e.Type == "conversation.item.input_audio_transcription.delta" {
			text += e.Delta
			continue
		}
		rest = append(rest, e)
	}
	return rest, text
}

func TestTurnIsDetectedAndTranscribed(t *testing.T) {
	h := start(t)
	p := h.call(t, transcribing())
	for i := range 2 {
		p.say(append(append(quiet(600), tone(800, listenRate)...), quiet(700)...), time.Millisecond)
		all, deltas := withoutDeltas(p.until("conversation.item.input_audio_transcription.completed"))
		wantTypes(t, all, turnEvents...)
		started, stopped, committed, done := all[0], all[1], all[2], all[5]
		for _, e := range []event{stopped, committed, done} {
			if e.ItemID != started.ItemID {
				t.Errorf("%s is of item %q, not %q", e.Type, e.ItemID, started.ItemID)
			}
		}
		// The voice lasts from 600 to 1400 ms of each 2100 ms; 200 ms of padding, 400
		// ms of silence, 32 ms windows, and a few ms of Opus delay.
		near(t, "audio_start_ms", started.AudioStartMs, int64(2100*i+400), 40)
		near(t, "audio_end_ms", stopped.AudioEndMs, int64(2100*i+1800), 70)
		if deltas != done.Transcript || !strings.HasPrefix(done.Transcript, "one two three four five six") {
			t.Errorf("deltas %q, transcript %q", deltas, done.Transcript)
		}
		var tokens strings.Builder
		for _, p := range done.Logprobs {
			tokens.WriteString(p.Token)
			if p.Logprob != math.Log(0.5) {
				t.Errorf("the probability of %q is told as %v", p.Token, p.Logprob)
			}
		}
		if tokens.String() != done.Transcript || len(done.Logprobs) != len(strings.Fields(done.Transcript)) {
			t.Errorf("the tokens of %q are %v", done.Transcript, done.Logprobs)
		}
		if i == 1 && committed.Previous == "" {
			t.Error("the second item does not name the first")
		}
	}
}

// A recogniser with a backlog shows progress after the end of an utterance even without
// new words, so that clients keep waiting for the transcript.
func TestRecogniserThatIsBehindShowsThatItIsAtWork(t *testing.T) {
	h := start(t)
	h.engines.slow = make(chan struct{})
	atFullSpeed := sync.OnceFunc(func() { close(h.engines.slow) })
	t.Cleanup(atFullSpeed)
	p := h.call(t, transcribing())
	p.ahead = true
	p.say(append(append(quiet(600), tone(800, listenRate)...), quiet(700)...), time.Millisecond)
	p.until("input_audio_buffer.committed")
	p.next("conversation.item.added")
	p.next("conversation.item.done")
	for range 3 {
		for range partialEvery {
			h.engines.slow <- struct{}{}
		}
		p.next("conversation.item.input_audio_transcription.delta")
	}
	atFullSpeed()
	p.until("conversation.item.input_audio_transcription.completed")
}

// So does a recogniser whose model is still loading during the first utterance.
func TestRecogniserThatLoadsShowsThatItIsAtWork(t *testing.T) {
	loaded := make(chan struct{})
	load := sync.OnceFunc(func() { close(loaded) })
	h := start(t, func(c *Config) {
		recognizer := c.Recognizer
		c.Recognizer = func() (hearing.Recognizer, error) { <-loaded; return recognizer() }
	})
	t.Cleanup(load)
	p := h.call(t, transcribing())
	p.ahead = true
	p.say(append(append(quiet(600), tone(800, listenRate)...), quiet(700)...), time.Millisecond)
	p.until("input_audio_buffer.committed")
	p.next("conversation.item.added")
	p.next("conversation.item.done")
	p.next("conversation.item.input_audio_transcription.delta")
	load()
	p.until("conversation.item.input_audio_transcription.completed")
}

func near(t *testing.T, what string, got, want, within int64) {
	t.Helper()
	if got < want-within || got > want+within {
		t.Errorf("%s is %d, want %d within %d", what, got, want, within)
	}
}

func TestPositionsFollowTimestampsOverLossAndPauses(t *testing.T) {
	h := start(t)
	p := h.call(t, transcribing())
	p.say(quiet(200), time.Millisecond)
	p.header.Timestamp += 5 * rtpRate // a caller that sends nothing during silence
	// Every fifth packet is lost.
	p.sayDamaged(append(append(quiet(600), tone(1000, listenRate)...), quiet(900)...), time.Millisecond, func(i int) bool { return i%5 != 4 })
	all, _ := withoutDeltas(p.until("conversation.item.input_audio_transcription.completed"))
	wantTypes(t, all, turnEvents...)
	near(t, "audio_start_ms", all[0].AudioStartMs, 5800-200, 40)
	near(t, "audio_end_ms", all[1].AudioEndMs, 6800+400, 70)
}

func TestManualTurns(t *testing.T) {
	h := start(t)
	session := transcribing()
	p := h.call(t, session)
	p.sendJSON(`{"type":"session.update","session":{"audio":{"input":{"turn_detection":null}}}}`)
	p.next("session.updated")

	p.say(append(tone(1000, listenRate), quiet(1000)...), time.Millisecond)
	h.windows(t, 60)
	p.sendJSON(`{"type":"input_audio_buffer.clear"}`)
	p.next("input_audio_buffer.cleared")
	p.sendJSON(`{"type":"input_audio_buffer.commit"}`)
	if e := p.next("error"); e.Error.Code != "input_audio_buffer_commit_empty" {
		t.Errorf("after clear, commit gives %+v", e.Error)
	}

	for _, audio := range [][]int16{tone(1000, listenRate), quiet(1000)} { // a voice, and audio that the detector rejects
		before := h.position()
		p.say(audio, time.Millisecond)
		h.windows(t, before+30)
		p.sendJSON(`{"type":"input_audio_buffer.commit"}`)
		all, deltas := withoutDeltas(p.until("conversation.item.input_audio_transcription.completed"))
		wantTypes(t, all, turnEvents[2:]...)
		if got := all[len(all)-1].Transcript; !strings.HasPrefix(got, "one two three four") || got != deltas {
			t.Errorf("transcript %q, deltas %q", got, deltas)
		}
	}
}

// position returns the number of windows that the only call has received.
func (h *harness) position() int64 {
	got := make(chan int64)
	for _, c := range h.liveCalls() {
		c.post(func() { got <- c.turns.pos / 512 })
		return <-got
	}
	return -1
}

// windows waits until the only call has received n windows.
func (h *harness) windows(t *testing.T, n int64) {
	t.Helper()
	for end := time.Now().Add(patience); h.position() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d windows were heard, want %d", h.position(), n)
		}
	}
}

// TestSilenceThatIsNotSent checks that unsent silence counts for positions but costs no
// detection, and that speech after it is recognised from its beginning.
func TestSilenceThatIsNotSent(t *testing.T) {
	h := start(t)
	p := h.call(t, transcribing())
	const unsent = 20 // seconds
	p.say(quiet(320), time.Millisecond)
	h.windows(t, 9)
	before := h.engines.detections.Load()
	p.header.Timestamp += unsent * rtpRate // the sequence continues: nothing was lost, only not sent
	p.say(slices.Concat(quiet(800), tone(800, listenRate), quiet(600)), time.Millisecond)
	started := p.next("input_audio_buffer.speech_started")
	if at, want := started.AudioStartMs, int64(unsent*1000+320+800-200); at < want-64 || at > want+64 {
		t.Errorf("the utterance begins at %d ms, want %d", at, want)
	}
	all := p.until("conversation.item.input_audio_transcription.completed")
	done := all[len(all)-1]
	// One word per 200 ms: 200 ms of padding, the tone, and 400 ms of silence.
	if words := len(strings.Fields(done.Transcript)); words < 6 || words > 8 {
		t.Errorf("%q was heard, want 7 words", done.Transcript)
	}
	if n := h.engines.detections.Load() - before; n > 2200/32+silentWindows+1 {
		t.Errorf("the detector ran for %d windows, want those of what was sent and %d more", n, silentWindows)
	}
}

func TestCallerWhoStopsSendingHasEnded(t *testing.T) {
	h := start(t)
	h.stallSlack = stallSlack
	p := h.call(t, transcribing())
	p.say(append(quiet(200), tone(800, listenRate)...), time.Millisecond)
	all, _ := withoutDeltas(p.until("conversation.item.input_audio_transcription.completed"))
	wantTypes(t, all, turnEvents...)
	p.say(append(quiet(200), tone(800, listenRate)...), time.Millisecond)
	p.until("input_audio_buffer.speech_started")
}

func TestCreateResponseIsToldThatThereAreNoAnswers(t *testing.T) {
	h := start(t)
	p := h.call(t, `{"type":"realtime"}`)
	p.sendJSON(`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"create_response":true}}}}}`)
	p.next("session.updated")
	p.say(append(append(quiet(300), tone(500, listenRate)...), quiet(900)...), time.Millisecond)
	all := p.until("error")
	// Without transcription there is no transcript.
	wantTypes(t, all, append(append([]string(nil), turnEvents[:5]...), "error")...)
	if e := all[5].Error; e.Code != "response_generation_unsupported" {
		t.Errorf("got %+v", e)
	}
}

func TestIdleTimeout(t *testing.T) {
	h := start(t, func(c *Config) { c.Speed = 100 })
	p := h.call(t, transcribing())
	p.sendJSON(`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"idle_timeout_ms":5000}}}}}`)
	p.next("session.updated")
	p.say(quiet(500), time.Millisecond)
	h.windows(t, 15)
	p.speak("hello", "none", nil)
	all := p.until("conversation.item.input_audio_transcription.completed")
	all = all[len(all)-5:]
	wantTypes(t, all, append([]string{"input_audio_buffer.timeout_triggered"}, turnEvents[2:]...)...)
}

func TestConversationItems(t *testing.T) {
	h := start(t)
	p := h.call(t, transcribing())
	p.sendJSON(`{"type":"conversation.item.create","item":{"id":"a","type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`)
	p.next("conversation.item.added")
	p.next("conversation.item.done")
	p.sendJSON(`{"type":"conversation.item.create","previous_item_id":"root","item":{"id":"b","type":"message","role":"assistant","content":[{"type":"output_text","text":"first"}]}}`)
	p.next("conversation.item.added")
	p.next("conversation.item.done")
	p.sendJSON(`{"type":"conversation.item.create","item":{"id":"a","type":"message","role":"user","content":[]}}`)
	if e := p.next("error"); e.Error.Code != "item_create_duplicate_id" {
		t.Errorf("a second item of the same id gives %+v", e.Error)
	}
	p.sendJSON(`{"type":"conversation.item.retrieve","item_id":"b"}`)
	if e := p.next("conversation.item.retrieved"); e.Item.ID != "b" || e.Item.Role != "assistant" {
		t.Errorf("retrieved %+v", e.Item)
	}
	p.sendJSON(`{"type":"conversation.item.truncate","item_id":"b","content_index":0,"audio_end_ms":100}`)
	if e := p.next("conversation.item.truncated"); e.AudioEndMs != 100 {
		t.Errorf("truncated %+v", e)
	}
	p.sendJSON(`{"type":"conversation.item.delete","item_id":"b"}`)
	p.next("conversation.item.deleted")
	p.sendJSON(`{"type":"response.create","response":{"conversation":"none","input":[{"type":"item_reference","id":"a"}]}}`)
	all := p.until("output_audio_buffer.stopped")
	for _, e := range all {
		if e.Type == "response.output_audio_transcript.done" && e.Transcript != "hi" {
			t.Errorf("a reference speaks %q", e.Transcript)
		}
	}
}

func TestCallsEnd(t *testing.T) {
	for name, end := range map[string]func(h *harness, p *peer) error{
		"hang up": func(h *harness, p *peer) error {
			_, id, _ := strings.Cut(p.location, "/calls/")
			res, body := h.do(p.t, http.MethodPost, "/v1/realtime/calls/"+id+"/hangup", testKey, "", nil)
			if res.StatusCode != http.StatusOK {
				return fmt.Errorf("%s: %s", res.Status, body)
			}
			return nil
		},
		"server":       func(h *harness, _ *peer) error { h.HangUpAll(); return nil },
		"data channel": func(_ *harness, p *peer) error { return p.dc.Close() },
		"peer":         func(_ *harness, p *peer) error { return p.pc.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t)
			p := h.call(t, transcribing())
			if h.Calls() != 1 {
				t.Fatalf("%d calls", h.Calls())
			}
			p.speak("wait for ever", "none", nil) // in the middle of an answer
			p.until("response.output_audio_transcript.delta")
			calls := h.liveCalls()
			closed := make(chan struct{})
			p.dc.OnClose(func() { close(closed) })
			if err := end(h, p); err != nil {
				t.Fatal(err)
			}
			for what, ch := range map[string]chan struct{}{"the call": calls[0].done, "the data channel": closed} {
				select {
				case <-ch:
				case <-time.After(patience):
					t.Fatalf("%s did not end", what)
				}
			}
			if h.Calls() != 0 {
				t.Errorf("%d calls are left", h.Calls())
			}
		})
	}
}

func TestEngineFailures(t *testing.T) {
	speech := append(append(quiet(300), tone(500, listenRate)...), quiet(900)...)
	turn := func(p *peer, last string) event {
		p.say(speech, time.Millisecond)
		all := p.until("conversation.item.input_audio_transcription." + last)
		return all[len(all)-1]
	}
	t.Run("recogniser fails once", func(t *testing.T) {
		h := start(t)
		p := h.call(t, transcribing())
		h.engines.writeFails.Store(true)
		if e := turn(p, "failed"); !strings.Contains(e.Error.Message, "fake recogniser fails") {
			t.Errorf("got %+v", e.Error)
		}
		turn(p, "completed")
	})
	t.Run("no recogniser", func(t *testing.T) {
		h := start(t, func(c *Config) {
			e := newFakeEngines()
			e.recognizerBroken.Store(true)
			c.Recognizer = e.recognizer
		})
		p := h.call(t, transcribing())
		if e := turn(p, "failed"); !strings.Contains(e.Error.Message, "install one") {
			t.Errorf("got %+v", e.Error)
		}
	})
	t.Run("detector fails once", func(t *testing.T) {
		h := start(t)
		p := h.call(t, transcribing())
		h.engines.detectorFails.Store(true)
		turn(p, "completed")
	})
	t.Run("no detector", func(t *testing.T) {
		h := start(t, func(c *Config) {
			e := newFakeEngines()
			e.detectorBroken.Store(true)
			c.Detector = e.detector
		})
		p := h.call(t, transcribing())
		c := h.liveCalls()[0]
		p.say(quiet(100), time.Millisecond)
		if e := p.next("error"); !strings.Contains(e.Error.Message, "install one") {
			t.Errorf("got %+v", e.Error)
		}
		<-c.done
	})
	t.Run("detector fails for good", func(t *testing.T) {
		h := start(t)
		p := h.call(t, transcribing())
		c := h.liveCalls()[0]
		h.engines.detectorBroken.Store(true)
		h.engines.detectorFails.Store(true)
		p.say(quiet(100), time.Millisecond)
		select {
		case <-c.done:
		case <-time.After(patience):
			t.Fatal("a deaf call lives on")
		}
	})
	t.Run("synthesiser fails", func(t *testing.T) {
		h := start(t)
		p := h.call(t, transcribing())
		p.speak("one break", "none", nil)
		all := p.until("output_audio_buffer.stopped")
		wantTypes(t, all, answerEvents...)
		if r := all[9].Response; r.Status != "failed" || !strings.Contains(r.StatusDetails.Error.Message, "fake synthesiser fails") {
			t.Errorf("got %+v", r)
		}
		p.speak("one two", "none", nil)
		p.until("output_audio_buffer.stopped")
	})
}

func TestNoSynthesizer(t *testing.T) {
	h := start(t)
	h.engines.synthesizerBroken.Store(true)
	p := h.call(t, transcribing())
	p.speak("one two", "none", nil)
	all := p.until("response.done")
	if r := all[len(all)-1].Response; r.Status != "failed" || !strings.Contains(r.StatusDetails.Error.Message, "install one") {
		t.Errorf("got %+v", r)
	}
}

func ExampleServer_Listen() {
	s := &Server{}
	_, err := s.Listen("0.0.0.0:0")
	fmt.Println(err)
	// Output: realtime server: 0.0.0.0:0 is not a loopback address; use 127.0.0.1 or allow remote callers
}
