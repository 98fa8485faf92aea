//go:build cgo

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// record speaks the sentences of a file in Flite's voices, recognizes them with
// PocketSphinx, and writes the results: kind, voice, spoken, written, confidence,
// heard.
func record(in, out string) error {
	rows, err := readRows(in, 4)
	if err != nil {
		return err
	}
	synth, err := voice.Flite()()
	if err != nil {
		return err
	}
	defer func() { _ = synth.Close() }()
	hearing, err := hearing.PocketSphinx(assets.PocketSphinx)()
	if err != nil {
		return err
	}
	defer func() { _ = hearing.Close() }()
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	for _, r := range rows {
		result, err := understood(synth, hearing, r[1], r[2])
		if err != nil {
			return fmt.Errorf("%s: %w", r[2], err)
		}
		_, _ = fmt.Fprintf(w, "%s\t%.2f\t%s\n", strings.Join(r[:4], "\t"), mean(result.Probs), result.Text)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// mean returns the mean of the probabilities, 0 without any.
func mean(probs []float64) float64 {
	sum := 0.0
	for _, p := range probs {
		sum += p / float64(len(probs))
	}
	return sum
}

// understood returns the recognizer's result for a sentence in a voice.
func understood(synth voice.Synthesizer, r hearing.Recognizer, name, text string) (hearing.Result, error) {
	if err := r.Start(); err != nil {
		return hearing.Result{}, err
	}
	silence := make([]int16, hearing.SampleRate*3/10)
	if err := r.Write(silence); err != nil {
		return hearing.Result{}, err
	}
	var resampler *audio.Resampler
	err := synth.Speak(context.Background(), name, text, func(pcm []int16, rate int) error {
		if resampler == nil {
			var err error
			if resampler, err = audio.NewResampler(rate, hearing.SampleRate); err != nil {
				return err
			}
		}
		return r.Write(resampler.Process(nil, pcm))
	})
	if err != nil {
		return hearing.Result{}, err
	}
	if err := r.Write(silence); err != nil {
		return hearing.Result{}, err
	}
	return r.Finish()
}
