//go:build cgo

package localrealtime

import (
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

// realEngines replaces the fakes with the engines that users have.
func realEngines(t *testing.T) func(*Config) {
	t.Helper()
	model, err := assets.Silero()
	if err != nil {
		t.Fatal(err)
	}
	lib, err := assets.ONNXRuntime()
	if err != nil {
		t.Fatal(err)
	}
	return func(c *Config) {
		c.Speed = 2
		c.Detector = func() (vad.Detector, error) { return vad.NewSilero(model, lib) }
		c.Recognizer = hearing.PocketSphinx(assets.PocketSphinx)
		c.Synthesizer = voice.Flite()
	}
}

// TestHumanSpeechIsTranscribed plays recorded sentences at twice real time. The server
// receives them only through RTP.
//
//test:long
func TestHumanSpeechIsTranscribed(t *testing.T) {
	h := start(t, realEngines(t))
	p := h.call(t, transcribing())
	errors, words := 0, 0
	for _, r := range []struct{ file, said string }{
		{"0880", "he was not an ill disposed young man"},
		{"0930", "he might even have been made amiable himself"},
	} {
		pcm := recording(t, "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-"+r.file+".wav")
		began := time.Now()
		p.say(slices.Concat(quiet(300), pcm, quiet(600)), 10*time.Millisecond)
		all, deltas := withoutDeltas(p.until("conversation.item.input_audio_transcription.completed"))
		wantTypes(t, all, turnEvents...)
		stopped, done := all[1], all[5]
		e, w := wer.Compute(r.said, done.Transcript)
		errors, words = errors+e, words+w
		t.Logf("heard %q (deltas %q): %d of %d words wrong; speech_started after %v, transcript %v after speech_stopped",
			done.Transcript, deltas, e, w, all[0].at.Sub(began).Round(time.Millisecond), done.at.Sub(stopped.at).Round(time.Millisecond))
	}
	if 2*errors > words {
		t.Errorf("%d of %d words are wrong", errors, words)
	}
}

// A recorded sentence is recognised and answered over WebSocket even if it arrives all
// at once.
func TestHumanSpeechOverWebSocket(t *testing.T) {
	h := start(t, realEngines(t), answering(echo))
	p := h.socket(t)
	p.sendJSON(`{"type":"session.update","session":{"audio":{"input":{"transcription":{}}}}}`)
	p.next("session.updated")
	pcm := recording(t, "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0880.wav")
	p.appendAudio(slices.Concat(quiet(300), pcm, quiet(900)))
	all := p.until("response.done")
	i := slices.IndexFunc(all, func(e event) bool {
		return e.Type == "conversation.item.input_audio_transcription.completed"
	})
	if i < 0 {
		t.Fatalf("no transcript among %v", types(once(all)))
	}
	wrong, words := wer.Compute("he was not an ill disposed young man", all[i].Transcript)
	if 2*wrong > words {
		t.Errorf("heard %q: %d of %d words are wrong", all[i].Transcript, wrong, words)
	}
	if ms := audioMs(t, all); ms < 1000 {
		t.Errorf("the answer lasts %d ms", ms)
	}
}

func TestTextIsSpokenByTheEngine(t *testing.T) {
	h := start(t, realEngines(t))
	if s, err := voice.Flite()(); err != nil {
		t.Fatal(err)
	} else if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p := h.call(t, transcribing())
	for range 3 {
		asked := time.Now()
		p.speak("All tests pass.", "none", nil)
		p.heard(1)
		t.Logf("first packet %v after response.create", time.Since(asked).Round(100*time.Microsecond))
		wantTypes(t, p.until("output_audio_buffer.stopped"), answerEvents...)
		p.heard(20) // at least 400 ms
		for len(p.packets) > 0 {
			<-p.packets
		}
	}
}
