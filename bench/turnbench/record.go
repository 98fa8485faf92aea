//go:build cgo

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// lead is the silence before a sentence, tail the one after it.
const (
	lead = 300 * time.Millisecond
	tail = 2600 * time.Millisecond
)

// partialEvery is how many windows the embedded server feeds before it requests a
// partial result.
const partialEvery = 4

type engines struct {
	synth    voice.Synthesizer
	hearing  hearing.Recognizer
	detector vad.Detector
}

func open() (e engines, err error) {
	if e.synth, err = voice.Flite()(); err != nil {
		return e, err
	}
	if e.hearing, err = hearing.PocketSphinx(assets.PocketSphinx)(); err != nil {
		return e, err
	}
	model, err := assets.Silero()
	if err != nil {
		return e, err
	}
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		return e, err
	}
	e.detector, err = vad.NewSilero(model, runtime)
	return e, err
}

func record(in, out string) (err error) {
	text, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	e, err := open()
	if err != nil {
		return err
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	n := 0
	for line := range strings.Lines(string(text)) {
		voice, sentence, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			return fmt.Errorf("%s: %q has no voice", in, line)
		}
		pcm, err := e.speak(voice, sentence)
		if err != nil {
			return err
		}
		n++
		if err := e.listen(pcm, func(kind string, length time.Duration, words []string) {
			_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%s\n", n, voice, kind, length.Milliseconds(), strings.Join(words, ";"))
		}); err != nil {
			return err
		}
	}
	return errors.Join(w.Flush(), file.Close(), e.synth.Close(), e.hearing.Close(), e.detector.Close())
}

func silence(d time.Duration) []int16 { return make([]int16, int(d.Seconds()*hearing.SampleRate)) }

// speak returns a sentence with its pauses, at 16 kHz.
func (e engines) speak(voice, sentence string) ([]int16, error) {
	pcm := silence(lead)
	for i, part := range strings.Split(sentence, "|") {
		if i%2 == 1 {
			ms, err := strconv.Atoi(part)
			if err != nil {
				return nil, err
			}
			pcm = append(pcm, silence(time.Duration(ms)*time.Millisecond)...)
			continue
		}
		var resampler *audio.Resampler
		if err := e.synth.Speak(context.Background(), voice, part, func(piece []int16, rate int) (err error) {
			if resampler == nil {
				if resampler, err = audio.NewResampler(rate, hearing.SampleRate); err != nil {
					return err
				}
			}
			pcm = resampler.Process(pcm, piece)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return append(pcm, silence(tail)...), nil
}

// listen reports the pauses of the voice. The thresholds are those of the endpointer.
func (e engines) listen(pcm []int16, report func(kind string, length time.Duration, words []string)) error {
	e.detector.Reset()
	if err := e.hearing.Start(); err != nil {
		return err
	}
	speaking, quiet, last := false, -1, ""
	var words []string
	windows := len(pcm) / vad.WindowSamples
	for i := range windows {
		window := pcm[i*vad.WindowSamples : (i+1)*vad.WindowSamples]
		p, err := e.detector.Process(window)
		if err != nil {
			return err
		}
		if err := e.hearing.Write(window); err != nil {
			return err
		}
		switch {
		case p >= 0.5:
			if quiet >= 0 && i-quiet >= 4 {
				report("pause", time.Duration(i-quiet)*vad.WindowTime, words)
			}
			speaking, quiet = true, -1
		case p < 0.35 && speaking && quiet < 0:
			quiet, words, last = i, nil, "\x00"
		}
		if quiet >= 0 && (i+1)%partialEvery == 0 {
			if now := e.hearing.Partial(); now != last {
				words = append(words, fmt.Sprintf("%d=%s", (time.Duration(i+1-quiet)*vad.WindowTime).Milliseconds(), now))
				last = now
			}
		}
	}
	if quiet >= 0 {
		report("end", time.Duration(windows-quiet)*vad.WindowTime, words)
	}
	_, err := e.hearing.Finish()
	return err
}
