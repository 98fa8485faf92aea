//go:build cgo

package hosted

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/audioapi"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/memhttp"
)

// Flite behind the endpoints is heard completely and in order, and speaks faster on
// request.
func TestVoiceOfAnEngine(t *testing.T) {
	for _, name := range []string{provider.OpenAI, provider.Azure, provider.LocalAI, provider.Compatible} {
		virtually(t, name, func(t *testing.T) {
			row, _ := provider.Of(name)
			server := &audioapi.Server{Synthesizer: voice.Flite(), Key: canary, KeyHeader: row.KeyHeader}
			service := memhttp.Serve(t, server.Handler())
			speak, err := NewSpeaker(Config{
				Provider: row, BaseURL: memhttp.URL, Model: "tts-1", HTTPClient: service,
				Credentials: func(context.Context) (realtime.Credential, error) {
					return realtime.Credential{Value: canary, Kind: realtime.APIKey}, nil
				},
			}, provider.Voice{}, "alloy")
			if err != nil {
				t.Fatal(err)
			}
			l := newListener()
			q := NewQueue(speak, l, QueueConfig{})
			defer func() { _ = q.Close() }()
			q.Speak(segment(1, 1))
			fast := segment(1, 2)
			fast.Speed = 2
			q.Speak(fast)
			l.want(t, "audio 1.1", "ended 1.1", "audio 1.2", "ended 1.2")
			if normal, twice := l.samples(id(1, 1)), l.samples(id(1, 2)); normal < 48000/2 || twice*10 > normal*7 {
				t.Errorf("%d samples, %d at twice the speed", normal, twice)
			}
			for i, r := range server.Requests() {
				if r.Fields["input"] != "All tests pass." || r.Fields["speed"] != []string{"0", "2"}[i] {
					t.Errorf("request %d: %v", i, r)
				}
			}
		})
	}
}

// spoken returns the beginning of a recorded sentence at the recogniser's rate.
func spoken(t *testing.T) []int16 {
	t.Helper()
	pcm, err := wavio.ReadAll(filepath.Join("/usr/share/pocketsphinx/test/data", "librivox", "sense_and_sensibility_01_austen_64kb-0870.wav"))
	if err != nil {
		t.Fatalf("the recordings are missing; install pocketsphinx-testdata (make deps): %v", err)
	}
	low, err := audio.NewResampler(audio.SampleRate, hearing.SampleRate)
	if err != nil {
		t.Fatal(err)
	}
	return low.Process(nil, pcm[:2*audio.SampleRate])
}

// PocketSphinx behind the endpoints recognises the same as locally, for each provider
// with these endpoints and its request parameters.
//
//test:long
func TestEarsOfAnEngine(t *testing.T) {
	pcm := spoken(t)
	for _, name := range []string{provider.OpenAI, provider.Azure, provider.LocalAI, provider.Compatible} {
		virtually(t, name, func(t *testing.T) {
			row, _ := provider.Of(name)
			ears, _ := row.Hears(provider.Transcriptions)
			ears = ears.Of(row, "gpt-4o-transcribe")
			server := &audioapi.Server{Recognizer: hearing.PocketSphinx(assets.PocketSphinx), Key: canary, KeyHeader: row.KeyHeader}
			service := memhttp.Serve(t, server.Handler())
			tr, err := NewTranscriber(TranscriberConfig{
				Config: Config{
					Provider: row, BaseURL: memhttp.URL, Model: ears.Model, HTTPClient: service,
					Credentials: func(context.Context) (realtime.Credential, error) {
						return realtime.Credential{Value: canary, Kind: realtime.APIKey}, nil
					},
				},
				Hearing: ears, Vocabulary: func() string { return "Dashwood" },
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := tr.Recognizer()
			if err == nil {
				err = errors.Join(r.Start(), r.Write(pcm))
			}
			if err != nil {
				t.Fatal(err)
			}
			result, err := r.Finish()
			all := server.Requests()
			if err != nil || len(all) != 1 || result.Text != all[0].Text || len(strings.Fields(result.Text)) < 2 || all[0].Fields["prompt"] != "Dashwood" {
				t.Errorf("%+v %v; the service: %+v", result, err, all)
			}
			if (len(result.Probs) > 0) != ears.Logprobs {
				t.Errorf("probabilities %v, and the table says %v", result.Probs, ears.Logprobs)
			}
		})
	}
}

// PocketSphinx behind vLLM's wire recognises the same as it says, and its words come while the user speaks.
//
//test:long
func TestStreamOfAnEngine(t *testing.T) {
	pcm := spoken(t)
	virtually(t, provider.Compatible, func(t *testing.T) {
		server := &audioapi.Server{Recognizer: hearing.PocketSphinx(assets.PocketSphinx), Key: canary}
		_, r := ears(t, server.Handler().ServeHTTP, overStream)
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		words := ""
		for part := range slices.Chunk(pcm, hearing.SampleRate/10) {
			if err := r.Write(part); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			words = cmp.Or(words, r.Partial())
		}
		result, err := r.Finish()
		all := server.Requests()
		if err != nil || len(all) != 1 || result.Text != all[0].Text || len(strings.Fields(result.Text)) < 2 || words == "" {
			t.Errorf("%+v %v, at first %q; the service: %+v", result, err, words, all)
		}
	})
}
