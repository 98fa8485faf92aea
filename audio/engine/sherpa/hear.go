package sherpa

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// tailSamples is the trailing silence fed to a streaming model, so that it sees the
// last words with the context that it was trained on.
const tailSamples = sampleRate * 8 / 10

// A whole-utterance model gets at most maxPiece at once, which is Whisper's input
// length and bounds the memory of the others. A longer utterance is cut at the quietest
// point of the last cutWindow.
const (
	maxPiece  = 28 * sampleRate
	cutWindow = 8 * sampleRate
	cutStep   = sampleRate / 10
)

// hearing holds the recognisers of the child.
type hearing struct {
	*library
	to              *engine.Link
	online, offline handle              // 0 if there is no such model
	onlineWords     func(string) string // the model's spelling of hot words; nil if unsupported
	offlineWords    func(string) string
	utterances      map[uint32]*utterance
}

// utterance is an unfinished utterance.
type utterance struct {
	online  handle
	samples []float32 // for the second pass
	words   string    // likely words, one per line
	partial string
}

func loadHearing(l *library, models []engine.Model, threads int, to *engine.Link) (engine.Worker, error) {
	h := &hearing{library: l, to: to, utterances: map[uint32]*utterance{}}
	for _, m := range models {
		spelling, err := spellingOf(m)
		if err != nil {
			return nil, err
		}
		var loaded *handle
		switch m.Use() {
		case engine.Partials:
			loaded, h.onlineWords = &h.online, spelling
			*loaded = l.CreateOnlineRecognizer(onlineOf(m, threads))
		case engine.Finals:
			loaded, h.offlineWords = &h.offline, spelling
			*loaded = l.CreateOfflineRecognizer(offlineOf(m, threads))
		default:
			return nil, fmt.Errorf("model %s is a voice and cannot recognise speech", m.Name)
		}
		if *loaded == 0 {
			refused()
		}
	}
	return h, nil
}

// Close implements engine.Worker. The library keeps its recognisers until the process ends.
func (h *hearing) Close() error {
	for stream := range h.utterances {
		h.drop(stream)
	}
	return nil
}

// spellingOf returns how the tokens of a model spell words, since some have no lower
// case. It is nil if the model does not support hot words.
func spellingOf(m engine.Model) (func(string) string, error) {
	if !takesWords(m) {
		return nil, nil
	}
	text, err := os.ReadFile(m.Path("tokens"))
	if err != nil {
		return nil, fmt.Errorf("model %s: cannot read its tokens; install it again", m.Name)
	}
	for line := range strings.Lines(string(text)) {
		token, _, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(token, "<") && strings.IndexFunc(token, unicode.IsLower) >= 0 {
			return strings.ToLower, nil
		}
	}
	return strings.ToUpper, nil
}

// Work implements engine.Worker.
func (h *hearing) Work(f engine.Frame) {
	u := h.utterances[f.Stream]
	switch f.Kind {
	case engine.Start:
		u = &utterance{words: strings.Join(engine.UtteranceOf(f.Payload).Words, "\n")}
		switch {
		case h.online == 0:
		case h.onlineWords != nil && u.words != "":
			u.online = h.CreateOnlineStreamWithHotwords(h.online, h.onlineWords(u.words))
		default:
			u.online = h.CreateOnlineStream(h.online)
		}
		h.utterances[f.Stream] = u
	case engine.Audio:
		if u != nil {
			h.write(f, u)
		}
	case engine.Finish:
		if u == nil {
			h.to.Send(engine.Reply{Stream: f.Stream, Error: "the utterance was not started"})
			return
		}
		result, err := h.finish(u)
		h.drop(f.Stream)
		if err != nil {
			h.to.Send(engine.Reply{Stream: f.Stream, Error: err.Error()})
			return
		}
		h.to.Send(engine.Reply{Stream: f.Stream, Final: &result})
	case engine.Cancel:
		h.drop(f.Stream)
	}
}

func (h *hearing) write(f engine.Frame, u *utterance) {
	pcm := engine.Samples(f.Payload)
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
		h.to.Send(engine.Reply{Stream: f.Stream, Partial: &result.Text})
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

// finish returns the final of the utterance, from the second pass if available.
func (h *hearing) finish(u *utterance) (engine.Final, error) {
	if h.offline == 0 {
		tail := make([]float32, tailSamples)
		h.OnlineStreamAcceptWaveform(u.online, sampleRate, &tail[0], tailSamples)
		h.OnlineStreamInputFinished(u.online)
		h.decodeOnline(u)
		return parseResult(h.onlineResult(u))
	}
	var texts []string
	var probs []float64
	for rest := u.samples; len(rest) > 0; {
		length := pieceLength(rest)
		part, err := h.decodeOffline(rest[:length], u.words)
		if err != nil {
			return engine.Final{}, err
		}
		if part.Text != "" {
			texts, probs = append(texts, part.Text), append(probs, part.Probs...)
		}
		rest = rest[length:]
	}
	return engine.Final{Text: strings.Join(texts, " "), Probs: probs}, nil
}

func (h *hearing) decodeOffline(samples []float32, words string) (engine.Final, error) {
	var stream handle
	if h.offlineWords != nil && words != "" {
		stream = h.CreateOfflineStreamWithHotwords(h.offline, h.offlineWords(words))
	} else {
		stream = h.CreateOfflineStream(h.offline)
	}
	defer h.DestroyOfflineStream(stream)
	h.AcceptWaveformOffline(stream, sampleRate, &samples[0], int32(len(samples)))
	h.DecodeOfflineStream(h.offline, stream)
	p := h.GetOfflineStreamResultAsJson(stream)
	defer h.DestroyOfflineStreamResultJson(p)
	return parseResult(goString(p))
}

// drop discards an utterance and wipes its audio.
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

// pieceLength returns how many of the samples to recognise at once.
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

// parseResult parses a result of the library, which does not escape control characters.
// Its errors omit the JSON error, which would quote the recognised text.
func parseResult(text string) (engine.Final, error) {
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
	var r struct {
		Text     string    `json:"text"`
		Offline  []float64 `json:"ys_log_probs"` // per token
		Streamed []float64 `json:"ys_probs"`     // also log probabilities, despite the name
	}
	if json.Unmarshal([]byte(text), &r) != nil {
		return engine.Final{}, fmt.Errorf("the recogniser's result of %d bytes is not valid JSON", len(text))
	}
	f := engine.Final{Text: strings.Join(strings.Fields(r.Text), " ")}
	if logs := append(r.Offline, r.Streamed...); len(logs) > 0 {
		sum := 0.0
		for _, l := range logs {
			sum += l
		}
		f.Probs = slices.Repeat([]float64{min(math.Exp(sum/float64(len(logs))), 1)}, len(strings.Fields(f.Text)))
	}
	return f, nil
}
