//go:build cgo

package localrealtime

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
)

// A client that asks for it receives the text at each pause of the voice, before the end
// of the turn and although deltas still hold words back; other clients do not.
func TestTextAtAPauseIsSentToClientsThatAsk(t *testing.T) {
	for _, asks := range []bool{false, true} {
		session := transcribing()
		if asks {
			session = strings.Replace(session, `"include":[`, `"include":["`+includeSettled+`",`, 1)
		}
		h := start(t)
		p := h.call(t, session)
		var events []event
		for _, pcm := range [][]int16{append(quiet(600), tone(800, listenRate)...), tone(500, listenRate)} {
			p.say(append(pcm, quiet(250)...), time.Millisecond)
			if asks { // recognition may take longer than the rest of the pause
				events = append(events, p.until(settledType)...)
			}
		}
		p.say(quiet(450), time.Millisecond)
		var texts []string
		stopped, item, final := 0, "", ""
		for _, e := range append(events, p.until("conversation.item.input_audio_transcription.completed")...) {
			switch e.Type {
			case settledType:
				texts, item = append(texts, e.Transcript), e.ItemID
			case "input_audio_buffer.speech_stopped":
				stopped = len(texts)
			case "conversation.item.input_audio_transcription.completed":
				final = e.Transcript
				if asks && e.ItemID != item {
					t.Errorf("the text is of item %q, not %q", item, e.ItemID)
				}
			}
		}
		if !asks {
			if len(texts) > 0 {
				t.Errorf("%d texts were sent unasked", len(texts))
			}
			continue
		}
		if len(texts) != 2 || stopped != 2 || !strings.HasPrefix(final, texts[1]) || !strings.HasPrefix(texts[1], texts[0]) || len(texts[1]) <= len(texts[0]) {
			t.Errorf("texts %q, of which %d before the end of the turn; transcript %q", texts, stopped, final)
		}
	}
}

// A Settler computes its final text in each pause, and again if the voice goes on, so that the
// text is ready when the turn ends.
func TestTheFinalTextIsComputedInThePause(t *testing.T) {
	var mu sync.Mutex
	var calls []string
	engines := newFakeEngines()
	h := start(t, func(c *Config) {
		c.Recognizer = func() (hearing.Recognizer, error) {
			r, err := engines.recognizer()
			if err != nil {
				return nil, err
			}
			return settler{r.(*fakeRecognizer), func(call string) {
				mu.Lock()
				defer mu.Unlock()
				calls = append(calls, call)
			}}, nil
		}
	})
	p := h.call(t, transcribing())
	p.say(append(append(quiet(600), tone(800, listenRate)...), quiet(250)...), time.Millisecond)
	p.say(append(tone(500, listenRate), quiet(700)...), time.Millisecond)
	p.until("conversation.item.input_audio_transcription.completed")
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"settle", "resume", "settle", "finish"}; !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
}

// A commit overtakes audio that is late. One that names where its audio ends waits for it, and
// commits nothing but a turn that was found before.
func TestACommitWaitsForItsAudio(t *testing.T) {
	p := start(t).call(t, transcribing())
	commit := func(name string, ms int) {
		p.sendJSON(fmt.Sprintf(`{"type":"input_audio_buffer.commit","event_id":%q,"audio_end_ms":%d,"found":true}`, name, ms))
	}
	refused := func(name, code string) {
		t.Helper()
		all := p.until("error")
		if e := all[len(all)-1]; e.Error.Code != code || e.Error.EventID != name {
			t.Fatalf("there came %+v, want %s for %q", e.Error, code, name)
		}
	}
	commit("far ahead", 61_000)
	refused("far ahead", "invalid_value")
	commit("before the voice", 300)
	commit("the voice", 1700)
	p.say(append(quiet(600), tone(1000, listenRate)...), time.Millisecond)
	refused("before the voice", "input_audio_buffer_commit_empty")
	item := p.until("input_audio_buffer.speech_started")
	p.say(quiet(300), time.Millisecond)
	for _, e := range p.until("conversation.item.input_audio_transcription.completed") {
		switch e.Type {
		case "input_audio_buffer.speech_stopped":
			t.Error("the server ended the turn")
		case "input_audio_buffer.committed", "conversation.item.input_audio_transcription.completed":
			if e.ItemID != item[len(item)-1].ItemID {
				t.Errorf("%s of %q, want %q", e.Type, e.ItemID, item[len(item)-1].ItemID)
			}
		}
	}
	commit("twice", 1750)
	refused("twice", "input_audio_buffer_commit_empty")
}

// A pause does not end an utterance that the client holds: a commit does, or a long silence.
func TestAHeldUtteranceIsEndedByTheClient(t *testing.T) {
	p := start(t).call(t, transcribing())
	p.say(append(quiet(600), tone(1000, listenRate)...), time.Millisecond)
	all := p.until("input_audio_buffer.speech_started")
	hold := func(item string) {
		p.sendJSON(fmt.Sprintf(`{"type":"input_audio_buffer.hold","item_id":%q}`, item))
	}
	hold("another")
	hold(all[len(all)-1].ItemID)
	p.say(append(quiet(1500), tone(500, listenRate)...), time.Millisecond)
	p.sendJSON(`{"type":"input_audio_buffer.commit"}`)
	for _, e := range p.until("conversation.item.input_audio_transcription.completed") {
		if e.Type == "input_audio_buffer.speech_stopped" || e.Type == "input_audio_buffer.speech_started" {
			t.Errorf("the pause ended it: %+v", e)
		}
	}
	p.say(append(quiet(600), tone(1000, listenRate)...), time.Millisecond)
	all = p.until("input_audio_buffer.speech_started")
	hold(all[len(all)-1].ItemID)
	p.say(quiet(5500), time.Millisecond)
	all = p.until("input_audio_buffer.speech_stopped")
	near(t, "audio_end_ms", all[len(all)-1].AudioEndMs, 600+1000+1500+500+600+1000+5000, 700)
}
