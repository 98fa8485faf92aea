//go:build cgo && !race

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

// faultySilero is what happens to Silero, which the process of the server computes itself.
type faultySilero struct {
	mishap
	broken atomic.Bool // the next call of the detector that is in use fails
}

// detectors returns production's detectors, whose Silero the mishap happens to.
func (f *faultySilero) detectors(report func(error)) func() (vad.Detector, error) {
	return vad.WithFallback(func() (vad.Detector, error) {
		d, err := silero()
		return faultyDetector{d, f}, err
	}, vad.NewWebRTC, report)
}

type faultyDetector struct {
	vad.Detector
	of *faultySilero
}

func (d faultyDetector) Process(window []int16) (float32, error) {
	d.of.pass(len(window))
	if d.of.broken.Swap(false) {
		return 0, errors.New("the model is broken")
	}
	return d.Detector.Process(window)
}

// linkedAssets makes the folder of libraries and of Silero that the server uses, of links.
func linkedAssets(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, find := range []func() (string, error){assets.Silero, assets.ONNXRuntime, assets.Sherpa, assets.SherpaRuntime} {
		path, err := find()
		if err := errors.Join(err, os.Symlink(path, filepath.Join(dir, filepath.Base(path)))); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(assets.Env, dir)
	return dir
}

// TestModelsFailSilero: what happens to Silero in the middle of a sentence that the server has to
// find the end of loses no word, and Silero is back with the next session.
func TestModelsFailSilero(t *testing.T) {
	var f failing
	f.sentence, f.words = spokenSentence(t, "archive")
	f.dir = modelsOf(t)
	path := filepath.Join(linkedAssets(t), "silero_vad_v6.onnx")
	f.speechServer = startSpeechServer(t)
	f.client = f.connect(false)
	f.undisturbed = f.client.dictate(f.sentence)
	for _, row := range []failure{
		{"fails", func() { f.silero.broken.Store(true) }, false},
		{"damaged", func() { replaceFile(t, path, []byte("not a model")); f.silero.broken.Store(true) }, true},
		{"missing", func() { replaceFile(t, path, nil); f.silero.broken.Store(true) }, true},
		{"unloaded", func() { f.connect(false).close() }, false}, // by another session that ends
	} {
		t.Run(row.name, func(t *testing.T) {
			f.fails(t, "detector", row)
			if row.lost {
				// A session that begins without Silero is heard by the fallback from its start.
				f.client.close()
				f.fallsBack(t)
				if err := os.Rename(path+".good", path); err != nil {
					t.Error(err)
				}
				f.client = f.connect(false)
			}
			if !f.works(t, "detector") {
				t.Error("Silero does not come back")
			}
		})
	}
}

// fallsBack checks that a sentence is heard in a session that begins without Silero.
func (f *failing) fallsBack(t *testing.T) {
	t.Helper()
	f.losses(t)
	f.HangUpAll()
	c := f.connect(true)
	c.say(slices.Concat(f.sentence, make([]int16, 3*16000)))
	heard, _ := c.until("conversation.item.input_audio_transcription.completed")
	c.close()
	if wrong, _ := wer.Compute(f.words, heard); wrong > 1 {
		t.Errorf("heard %q, undisturbed %q", heard, f.undisturbed)
	}
	if n := f.losses(t)["detector"]; n == 0 {
		t.Error("the loss of Silero is not reported")
	}
}

// TestModelsFailSherpa: a recogniser that sherpa-onnx computes, in a process of its own, loses no
// word either. What replaces it does not know the tone language, so only its report counts.
func TestModelsFailSherpa(t *testing.T) {
	f := failing{words: "why does the test fail", fallback: 1000}
	f.sentence = tonemodel.Say(f.words)
	f.dir = t.TempDir()
	t.Setenv(assets.ModelsEnv, f.dir)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	linkedAssets(t)
	path := filepath.Join(f.dir, "tdt", "encoder.onnx")
	if err := tonemodel.TDT(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	f.speechServer = startSpeechServer(t)
	f.client = f.connect(false)
	f.undisturbed = f.client.dictate(f.sentence)
	if wrong, _ := wer.Compute(f.words, f.undisturbed); wrong > 0 {
		t.Fatalf("undisturbed, %q is %q", f.words, f.undisturbed)
	}
	for _, row := range []failure{
		{"killed", func() { killEngines(t) }, false},
		{"damaged", func() { lose(t, path, []byte("not a model")) }, true},
		{"missing", func() { lose(t, path, nil) }, true},
		{"unloaded", func() { f.connect(false).close() }, false}, // by another session that ends
	} {
		t.Run(row.name, func(t *testing.T) {
			f.fails(t, "hearing", row)
			if row.lost {
				if err := os.Rename(path+".good", path); err != nil {
					t.Error(err)
				}
			}
			for tries := 0; !f.works(t, "hearing"); tries++ { // the backoff may not be over
				if tries == 10 {
					t.Fatal("the model does not come back")
				}
			}
		})
	}
}
