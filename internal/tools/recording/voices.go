package main

import (
	"bufio"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

// voices provides recorded sentences of people.
type voices struct {
	dir string
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
	return v, nil
}

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

// question is an utterance of the folder questions.
type question struct {
	voice, file, text string // speaker of Kokoro-82M, name of the file, words
}

// recorded holds the questions, which Kokoro-82M spoke: 16 kHz.
//
//go:embed questions
var recorded embed.FS

// audio returns the question as it was spoken.
func (q question) audio() ([]int16, error) {
	f, err := recorded.Open("questions/" + q.file + ".wav")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read-only
	stream, err := wavio.NewStream(f)
	if err != nil {
		return nil, err
	}
	var wide []int16
	for piece := make([]int16, audio.SampleRate); ; {
		n, err := stream.Read(piece)
		wide = append(wide, piece[:n]...)
		if errors.Is(err, io.EOF) {
			return resample(wide, audio.SampleRate)
		}
		if err != nil {
			return nil, err
		}
	}
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
