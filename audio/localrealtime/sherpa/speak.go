package sherpa

import "encoding/json"

// loadVoice loads the voice of the child.
func (c *server) loadVoice(m Model, threads int) (func(frame), ready, error) {
	tts := c.CreateOfflineTts(voiceOf(m, threads))
	if tts == 0 {
		return nil, ready{}, errModel(m)
	}
	rate := int(c.OfflineTtsSampleRate(tts))
	work := func(f frame) {
		switch f.kind {
		case frameText:
			var s sentence
			if json.Unmarshal(f.payload, &s) != nil {
				c.send(reply{Stream: f.stream, Error: "the sentence is not valid JSON"})
				return
			}
			c.speak(tts, rate, f.stream, s)
		case frameCancel:
			c.forget(f.stream)
		}
	}
	return work, ready{Speakers: int(c.OfflineTtsNumSpeakers(tts))}, nil
}

func (c *server) speak(tts handle, rate int, stream uint32, s sentence) {
	emit := func(samples []float32) bool {
		if c.isCancelled(stream) {
			return false
		}
		pcm := make([]int16, len(samples))
		for i, v := range samples {
			pcm[i] = int16(min(max(v, -1), 1) * 32767)
		}
		c.send(reply{Stream: stream, Audio: pcmBytes(pcm), Rate: rate})
		return true
	}
	if c.isCancelled(stream) {
		return
	}
	listener.Lock()
	listener.emit = emit
	listener.Unlock()
	audio := c.OfflineTtsGenerateWithCallback(tts, s.Text, int32(s.Speaker), float32(s.Speed), sentenceCallback())
	if audio == nil {
		c.send(reply{Stream: stream, Error: "the voice has failed"})
		return
	}
	c.DestroyOfflineTtsGeneratedAudio(audio)
	c.send(reply{Stream: stream, Done: true})
}
