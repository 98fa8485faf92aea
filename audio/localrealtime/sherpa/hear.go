package sherpa

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// tailSamples is the silence that a streaming model gets after the end, so that it
// looks at the last words with the context that it was trained with.
const tailSamples = sampleRate * 8 / 10

// A whole-utterance model gets at most maxPiece at once, which is what Whisper hears
// and what bounds the memory of the others. A longer utterance is cut at the quietest
// place of the last cutWindow.
const (
	maxPiece  = 28 * sampleRate
	cutWindow = 8 * sampleRate
	cutStep   = sampleRate / 10
)

// hearing are the recognisers of the child.
type hearing struct {
	*server
	online, offline handle // 0 where there is no such model
	utterances      map[uint32]*utterance
}

// utterance is one that is not finished.
type utterance struct {
	online  handle
	samples []float32 // for the second pass
	partial string
}

func (c *server) loadHearing(models []Model, threads int) (func(frame), error) {
	h := &hearing{server: c, utterances: map[uint32]*utterance{}}
	for _, m := range models {
		var loaded *handle
		switch m.Use() {
		case Partials:
			loaded = &h.online
			*loaded = c.CreateOnlineRecognizer(c.memory.online(m, threads))
		case Finals:
			loaded = &h.offline
			*loaded = c.CreateOfflineRecognizer(c.memory.offline(m, threads))
		default:
			return nil, fmt.Errorf("model %s is a voice and cannot recognise speech", m.Name)
		}
		if *loaded == 0 {
			return nil, errModel(m)
		}
	}
	return h.work, nil
}

func (h *hearing) work(f frame) {
	u := h.utterances[f.stream]
	switch f.kind {
	case frameStart:
		u = &utterance{}
		if h.online != 0 {
			u.online = h.CreateOnlineStream(h.online)
		}
		h.utterances[f.stream] = u
	case frameAudio:
		if u != nil {
			h.write(f, u)
		}
	case frameFinish:
		if u == nil {
			h.send(reply{Stream: f.stream, Error: "the utterance was not started"})
			return
		}
		result, err := h.finish(u)
		h.drop(f.stream)
		if err != nil {
			h.send(reply{Stream: f.stream, Error: err.Error()})
			return
		}
		h.send(reply{Stream: f.stream, Final: &result})
	case frameCancel:
		h.drop(f.stream)
		h.forget(f.stream)
	}
}

func (h *hearing) write(f frame, u *utterance) {
	pcm := pcmSamples(f.payload)
	if len(pcm) == 0 {
		return
	}
	samples := make([]float32, len(pcm))
	for i, s := range pcm {
		samples[i] = float32(s) / 32768
	}
	if h.offline != 0 {
		u.samples = append(u.samples, samples...)
	}
	if u.online == 0 {
		return
	}
	h.OnlineStreamAcceptWaveform(u.online, sampleRate, &samples[0], int32(len(samples)))
	h.decodeOnline(u)
	result, err := parseResult(h.onlineResult(u))
	if err == nil && result.Text != u.partial {
		u.partial = result.Text
		h.send(reply{Stream: f.stream, Partial: &result.Text})
	}
}

func (h *hearing) decodeOnline(u *utterance) {
	for h.IsOnlineStreamReady(h.online, u.online) == 1 {
		h.DecodeOnlineStream(h.online, u.online)
	}
}

func (h *hearing) onlineResult(u *utterance) string {
	p := h.GetOnlineStreamResultAsJson(h.online, u.online)
	defer h.DestroyOnlineStreamResultJson(p)
	return goString(p)
}

// finish is the final of the utterance: of the second pass where there is one.
func (h *hearing) finish(u *utterance) (final, error) {
	if h.offline == 0 {
		tail := make([]float32, tailSamples)
		h.OnlineStreamAcceptWaveform(u.online, sampleRate, &tail[0], tailSamples)
		h.OnlineStreamInputFinished(u.online)
		h.decodeOnline(u)
		return parseResult(h.onlineResult(u))
	}
	var texts []string
	var sum, n float64
	for rest := u.samples; len(rest) > 0; {
		length := pieceLength(rest)
		part, err := h.decodeOffline(rest[:length])
		if err != nil {
			return final{}, err
		}
		if part.Text != "" {
			texts = append(texts, part.Text)
			sum, n = sum+part.Confidence, n+1
		}
		rest = rest[length:]
	}
	return final{strings.Join(texts, " "), sum / max(n, 1)}, nil
}

func (h *hearing) decodeOffline(samples []float32) (final, error) {
	stream := h.CreateOfflineStream(h.offline)
	defer h.DestroyOfflineStream(stream)
	h.AcceptWaveformOffline(stream, sampleRate, &samples[0], int32(len(samples)))
	h.DecodeOfflineStream(h.offline, stream)
	p := h.GetOfflineStreamResultAsJson(stream)
	defer h.DestroyOfflineStreamResultJson(p)
	return parseResult(goString(p))
}

// drop forgets an utterance and wipes its audio.
func (h *hearing) drop(stream uint32) {
	u := h.utterances[stream]
	if u == nil {
		return
	}
	delete(h.utterances, stream)
	clear(u.samples)
	if u.online != 0 {
		h.DestroyOnlineStream(u.online)
	}
}

// pieceLength is how much of samples is recognised at once.
func pieceLength(samples []float32) int {
	if len(samples) <= maxPiece {
		return len(samples)
	}
	best, lowest := maxPiece, math.Inf(1)
	for at := maxPiece - cutWindow; at+cutStep <= maxPiece; at += cutStep {
		energy := 0.0
		for _, s := range samples[at : at+cutStep] {
			energy += float64(s) * float64(s)
		}
		if energy < lowest {
			best, lowest = at+cutStep/2, energy
		}
	}
	return best
}

// parseResult reads a result of the library, which does not escape control
// characters. Its own message would repeat what was said.
func parseResult(text string) (final, error) {
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
	var r struct {
		Text     string    `json:"text"`
		Offline  []float64 `json:"ys_log_probs"` // of each token
		Streamed []float64 `json:"ys_probs"`     // logarithms too, in spite of the name
	}
	if json.Unmarshal([]byte(text), &r) != nil {
		return final{}, fmt.Errorf("the recogniser's result of %d bytes is not valid JSON", len(text))
	}
	f := final{Text: strings.Join(strings.Fields(r.Text), " ")}
	if logs := append(r.Offline, r.Streamed...); len(logs) > 0 {
		sum := 0.0
		for _, l := range logs {
			sum += l
		}
		f.Confidence = min(math.Exp(sum/float64(len(logs))), 1)
	}
	return f, nil
}
