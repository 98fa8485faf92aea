//go:build cgo

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/stt"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/tts"
)

// record speaks the sentences of a file in Flite's voices, recognizes them with
// PocketSphinx, and writes the results: kind, voice, spoken, written, confidence,
// heard.
func record(in, out string) error {
	rows, err := readRows(in, 4)
	if err != nil {
		return err
	}
	synth, err := tts.Flite()()
	if err != nil {
		return err
	}
	defer func() { _ = synth.Close() }()
	hearing, err := stt.PocketSphinx(stt.PocketSphinxConfig{})()
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
		_, _ = fmt.Fprintf(w, "%s\t%.2f\t%s\n", strings.Join(r[:4], "\t"), result.Confidence, result.Text)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// understood returns the recognizer's result for a sentence in a voice.
func understood(synth tts.Synthesizer, hearing stt.Recognizer, voice, text string) (stt.Result, error) {
	if err := hearing.Start(); err != nil {
		return stt.Result{}, err
	}
	silence := make([]int16, stt.SampleRate*3/10)
	if err := hearing.Write(silence); err != nil {
		return stt.Result{}, err
	}
	var resampler *audio.Resampler
	err := synth.Speak(context.Background(), voice, text, func(pcm []int16, rate int) error {
		if resampler == nil {
			var err error
			if resampler, err = audio.NewResampler(rate, stt.SampleRate); err != nil {
				return err
			}
		}
		return hearing.Write(resampler.Process(nil, pcm))
	})
	if err != nil {
		return stt.Result{}, err
	}
	if err := hearing.Write(silence); err != nil {
		return stt.Result{}, err
	}
	return hearing.Finish()
}
