package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

// voices provides utterances: recorded ones from a folder, others from the synthesizer.
type voices struct {
	dir   string
	synth voice.Synthesizer
	// transcripts of the recorded sentences, by file name.
	transcripts map[string]string
}

// goForward is the only file of the test data that is not WAV and has no transcript:
// 16 kHz, 16 bits, little-endian.
const goForward = "goforward.raw"

func newVoices(dir string) (*voices, error) {
	v := &voices{dir: dir, transcripts: map[string]string{goForward: "go forward ten meters"}}
	for _, list := range []string{"librivox/transcription", "cards/cards.transcription"} {
		if err := v.readTranscripts(list); err != nil {
			return nil, fmt.Errorf("no human speech: install the package pocketsphinx-testdata (`make deps`), or set the folder of the test data with -speech: %w", err)
		}
	}
	var err error
	v.synth, err = voice.Flite()()
	return v, err
}

// Close releases the synthesizer.
func (v *voices) Close() error { return v.synth.Close() }

// transcriptLine is a line of a transcription: <s> the words </s> (file).
var transcriptLine = regexp.MustCompile(`^<s>\s*(.+?)\s*</s>\s*\((.+)\)$`)

func (v *voices) readTranscripts(list string) error {
	file, err := os.Open(filepath.Join(v.dir, filepath.FromSlash(list)))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // read-only
	folder, _, _ := strings.Cut(list, "/")
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if m := transcriptLine.FindStringSubmatch(strings.TrimSpace(lines.Text())); m != nil {
			v.transcripts[folder+"/"+m[2]+".wav"] = m[1]
		}
	}
	return lines.Err()
}

// human returns a recorded sentence and its words.
func (v *voices) human(name string) (pcm []int16, text string, err error) {
	text, ok := v.transcripts[name]
	if !ok {
		return nil, "", fmt.Errorf("no transcript of %s in the human speech", name)
	}
	path := filepath.Join(v.dir, filepath.FromSlash(name))
	if name == goForward {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, "", err
		}
		for ; len(b) >= 2; b = b[2:] {
			pcm = append(pcm, int16(binary.LittleEndian.Uint16(b)))
		}
		return pcm, text, nil
	}
	wide, err := wavio.ReadAll(path)
	if err != nil {
		return nil, "", err
	}
	pcm, err = resample(wide, audio.SampleRate)
	return pcm, text, err
}

// synthetic returns text spoken by a voice of the synthesizer.
func (v *voices) synthetic(voice, text string) ([]int16, error) {
	var pcm []int16
	from := rate
	err := v.synth.Speak(context.Background(), voice, text+"?", func(piece []int16, rate int) error {
		pcm, from = append(pcm, piece...), rate
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resample(pcm, from)
}

func resample(pcm []int16, from int) ([]int16, error) {
	r, err := audio.NewResampler(from, rate)
	if err != nil {
		return nil, err
	}
	return r.Flush(r.Process(nil, pcm)), nil
}

// level normalizes all voices to the same loudness, as with one microphone: an RMS of
// -23 dBFS, unless that would clip.
func level(pcm []int16) {
	sum, peak := 0.0, 1.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
		peak = max(peak, math.Abs(float64(s)))
	}
	if sum == 0 {
		return
	}
	gain := decibels(-23) / math.Sqrt(sum/float64(len(pcm)))
	gain = min(gain, decibels(-1)/peak)
	for i, s := range pcm {
		pcm[i] = int16(math.Round(float64(s) * gain))
	}
}

// decibels converts dBFS to an amplitude.
func decibels(db float64) float64 { return 32768 * math.Pow(10, db/20) }
