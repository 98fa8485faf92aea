package sherpa

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// voice holds the voice of the child.
type voice struct {
	*library
	to    *engine.Link
	model engine.Model
	tts   handle
	rate  int
}

func loadVoice(l *library, m engine.Model, threads int, to *engine.Link) (engine.Worker, error) {
	v := &voice{library: l, to: to, model: m, tts: l.CreateOfflineTts(voiceOf(m, threads))}
	if v.tts == 0 {
		refused()
	}
	v.rate = int(l.OfflineTtsSampleRate(v.tts))
	return v, nil
}

// Close implements engine.Worker. The library keeps the voice until the process ends.
func (v *voice) Close() error { return nil }

// Work implements engine.Worker.
func (v *voice) Work(f engine.Frame) {
	if f.Kind != engine.Text {
		return
	}
	defer v.to.Forget(f.Stream)
	var s engine.Sentence
	if json.Unmarshal(f.Payload, &s) != nil {
		v.to.Send(engine.Reply{Stream: f.Stream, Error: "the sentence is not valid JSON"})
		return
	}
	v.speak(f.Stream, s)
}

func (v *voice) speak(stream uint32, s engine.Sentence) {
	ctx := v.to.Context(stream)
	emit := func(samples []float32) bool {
		if ctx.Err() != nil {
			return false
		}
		pcm := make([]int16, len(samples))
		for i, v := range samples {
			pcm[i] = int16(min(max(v, -1), 1) * 32767)
		}
		v.to.Send(engine.Reply{Stream: stream, Audio: engine.Bytes(pcm), Rate: v.rate})
		return true
	}
	if ctx.Err() != nil {
		return
	}
	listener.Lock()
	listener.emit = emit
	listener.Unlock()
	how := &generationConfig{
		silenceScale: pauseScale, speed: float32(s.Speed),
		speaker: int32(max(slices.Index(v.model.Voices, s.Speaker), 0)),
		extra:   cString(v.extra(s.Language)),
	}
	audio := v.OfflineTtsGenerateWithConfig(v.tts, s.Text, how, sentenceCallback(), 0)
	if audio == nil {
		v.to.Send(engine.Reply{Stream: stream, Error: "the voice has failed"})
		return
	}
	v.DestroyOfflineTtsGeneratedAudio(audio)
	v.to.Send(engine.Reply{Stream: stream, Done: true})
}

// extra returns what only some models take: Supertonic speaks English unless it is told the
// language.
func (v *voice) extra(language string) string {
	if v.model.Kind != "supertonic" || !slices.Contains(v.model.Languages, language) {
		return ""
	}
	return fmt.Sprintf(`{"lang":%q}`, language)
}
