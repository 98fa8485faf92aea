//go:build cgo && linux

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

// made is a recording read back from disk.
type made struct {
	wav    []byte
	pcm    []int16 // at 48 kHz
	lines  []string
	labels []label
}

func record(t *testing.T, args ...string) made {
	t.Helper()
	dir := t.TempDir()
	wav, ref, labels := filepath.Join(dir, "sub", "a.wav"), filepath.Join(dir, "a.txt"), filepath.Join(dir, "a.json")
	o, err := parse(append([]string{"-o", wav, "-ref", ref, "-labels", labels}, args...), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(o, io.Discard); err != nil {
		t.Fatal(err)
	}
	var m made
	if m.wav, err = os.ReadFile(wav); err != nil {
		t.Fatal(err)
	}
	if m.pcm, err = wavio.ReadAll(wav); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(ref)
	if err != nil {
		t.Fatal(err)
	}
	m.lines = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	text, err = os.ReadFile(labels)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m.labels); err != nil {
		t.Fatal(err)
	}
	return m
}

// rms returns the RMS of a part of the recording, in dBFS; from and to are samples at
// 16 kHz.
func (m made) rms(from, to int) float64 {
	sum := 0.0
	const ratio = audio.SampleRate / rate
	for _, s := range m.pcm[from*ratio : to*ratio] {
		sum += float64(s) * float64(s)
	}
	return 20 * math.Log10(math.Sqrt(sum/float64((to-from)*ratio))/32768)
}

func TestOneRound(t *testing.T) {
	m := record(t)
	if len(m.labels) != 4 || len(m.lines) != 4 {
		t.Fatalf("%d labels and %d lines, want 4 turns", len(m.labels), len(m.lines))
	}
	speakers := map[string]bool{}
	end := 0
	for i, l := range m.labels {
		speakers[filepath.Dir(l.Voice)+l.Voice[:5]] = true
		if l.Text != m.lines[i] || len(strings.Fields(l.Text)) < 3 {
			t.Errorf("turn %d: label %q, reference %q", i, l.Text, m.lines[i])
		}
		if l.Human != (i < 2) {
			t.Errorf("turn %d: human %v", i, l.Human)
		}
		if got := m.rms(l.Start, l.End); math.Abs(got+23) > 1 {
			t.Errorf("turn %d is at %.1f dB, want -23", i, got)
		}
		// The resampler rings for some samples next to an utterance.
		if got := m.rms(end+100, l.Start-100); math.Abs(got+65) > 2.5 {
			t.Errorf("the pause before turn %d is at %.1f dB, want -65", i, got)
		}
		end = l.End
	}
	if len(speakers) < 3 {
		t.Errorf("%d voices: %v", len(speakers), speakers)
	}
	if n := len(m.pcm) / audio.SampleRate; n < 45 || n > 90 {
		t.Errorf("the recording is %d s long", n)
	}
}

func TestSameBytesEachTime(t *testing.T) {
	if a, b := record(t), record(t); !bytes.Equal(a.wav, b.wav) {
		t.Error("two runs differ")
	}
}

// Every question is in the folder, and the conversation of make run has all its turns.
func TestDemo(t *testing.T) {
	m := record(t, "-demo")
	if len(m.labels) != len(demo) {
		t.Fatalf("%d turns, want %d", len(m.labels), len(demo))
	}
	for i, l := range m.labels {
		if got := m.rms(l.Start, l.End); math.Abs(got+23) > 1 || i > 0 && l.Text != demo[i].text {
			t.Errorf("turn %d is %q at %.1f dB", i, l.Text, got)
		}
	}
}

func TestPausesAndLength(t *testing.T) {
	m := record(t, "-minutes", "0.5", "-lead", "100ms", "-interrupt-after", "1s", "-long", "2s", "-short", "500ms")
	if d := audio.Duration(int64(len(m.pcm))); d < 30*time.Second || d > time.Minute {
		t.Errorf("the recording is %v long", d)
	}
	if m.labels[0].Start != rate/10 {
		t.Errorf("it starts with %d samples of silence", m.labels[0].Start)
	}
	want := []int{rate, 2 * rate, rate / 2, rate / 2}
	for i := range len(m.labels) - 1 {
		if got := m.labels[i+1].Start - m.labels[i].End; got != want[i%4] {
			t.Errorf("pause %d has %d samples, want %d", i, got, want[i%4])
		}
	}
	if a, b := m.labels[0], m.labels[4]; a.Text == b.Text {
		t.Errorf("the second round repeats the first: %q", b.Text)
	}
}

func TestNoSpeech(t *testing.T) {
	err := run(options{speech: t.TempDir()}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "pocketsphinx-testdata") || !strings.Contains(err.Error(), "-speech") {
		t.Errorf("got %v", err)
	}
}

func TestQuestionsAlone(t *testing.T) {
	m := record(t, "-questions", "3", "-short", "2s")
	if len(m.labels) != 3 || len(m.lines) != 3 {
		t.Fatalf("%d labels and %d lines, want 3 questions", len(m.labels), len(m.lines))
	}
	for i, l := range m.labels {
		if l.Human || l.Text != questions[i].text || i > 0 && l.Start-m.labels[i-1].End != 2*rate {
			t.Errorf("question %d is %+v", i, l)
		}
	}
}

func TestMisuse(t *testing.T) {
	for _, args := range [][]string{{"-minutes", "61"}, {"-minutes", "-1"}, {"-questions", "-1"}, {"more"}, {"-long", "x"}} {
		var said bytes.Buffer
		if _, err := parse(args, &said); err == nil || said.Len() == 0 {
			t.Errorf("%v: %v, said %q", args, err, said.String())
		}
	}
}
