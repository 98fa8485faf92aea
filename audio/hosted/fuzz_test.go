package hosted

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// FuzzAnswers reads the transcript and the audio of a service, whatever it sends.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		"{\"text\":\"a b\",\"logprobs\":[{\"token\":\"a\",\"logprob\":-1}]}", "data: {\"type\":\"transcript.text.delta\",\"delta\":\"a\"}\n\ndata: {\"type\":\"transcript.text.done\",\"text\":\"a\"}\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n", "data: {\"error\":1}\n", "RIFF\xff\xff\xff\xffWAVEfmt ", "RIFF", "",
	} {
		for _, kind := range []string{"application/json", "text/event-stream", "audio/pcm;rate=1", "audio/wav", "x"} {
			f.Add(kind, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		words := 0
		_, _ = readTranscript(&http.Response{Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(data))}, func(text string, _ bool) { words += len(text) })
		if words > 4*len(data)+100 {
			t.Errorf("%d bytes became %d", len(data), words)
		}
		const limit = 1 << 16
		samples := 0
		_ = play(kind, bytes.NewReader(data), limit, func(pcm []int16) error { samples += len(pcm); return nil })
		if samples > limit {
			t.Errorf("%d samples, more than the limit", samples)
		}
	})
}
