package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/timeline"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// questions are recordings of questions with short answers.
type questions struct {
	spoken string // in English
	tones  string // in the tone language
	models string // folder of the models for that
}

// engines is a combination of recognizer and voice in a conversation.
type engines struct {
	name      string
	recording string
	models    string // folder of the installed models, if any
	home      string // where the default models are looked for, if not where they are
	args      []string
}

// compare measures the time from the user's last word to the audible answer with each
// engine, in conversations with the offline assistant, one after the other. The times come
// from the conversations' journals (timeline.Stages).
func compare(daemon string, q questions, out string) error {
	url, stop, err := hosted()
	if err != nil {
		return err
	}
	models, err := onePass(q.models, out)
	if err != nil {
		return errors.Join(err, stop())
	}
	bare, err := onlyDetector(out)
	if err != nil {
		return errors.Join(err, stop())
	}
	all := []engines{
		{name: "Moonshine, Kokoro", recording: q.spoken},
		{name: "Moonshine, Flite", recording: q.spoken, args: []string{"--set", "agentvoice.voice.engine=fast"}},
		{name: "PocketSphinx, Flite", recording: q.spoken, home: bare},
		{name: "sherpa streaming, sherpa voice", recording: q.tones, models: models},
		{name: "sherpa two passes, sherpa voice", recording: q.tones, models: q.models},
		{name: "hosted session, hosted speech", recording: q.spoken, args: []string{"--provider", string(protocol.ProviderOpenAI), "--endpoint", url, "--set", "agentvoice.voice.model=tts-1"}},
		{name: "hosted session, Kokoro", recording: q.spoken, args: []string{"--provider", string(protocol.ProviderOpenAI), "--endpoint", url}},
	}
	answers := make([][]timeline.Turn, len(all))
	for i, e := range all {
		if answers[i], err = e.converse(daemon, filepath.Join(out, fmt.Sprintf("replies-%d.jsonl", i+1))); err != nil {
			break
		}
	}
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	fmt.Printf("end of speech to first audio by engine, p50 / p95 in ms\n%-32s", "")
	for _, s := range timeline.Stages {
		fmt.Printf(" %13s", s.Name)
	}
	fmt.Println("    n")
	for i, e := range all {
		fmt.Printf("%-32s", e.name)
		for _, s := range timeline.Stages {
			stat := timeline.Summarise(answers[i], s.Of)
			fmt.Printf(" %13s", fmt.Sprintf("%d / %d", stat.P50.Milliseconds(), stat.P95.Milliseconds()))
		}
		fmt.Printf(" %4d\n", timeline.Summarise(answers[i], timeline.Stages[len(timeline.Stages)-1].Of).N)
	}
	return nil
}

// onePass creates a folder with the models except those for a second pass.
func onePass(models, out string) (string, error) {
	folder := filepath.Join(out, "models-one-pass")
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return "", err
	}
	whole, err := filepath.Abs(models)
	if err != nil {
		return "", err
	}
	return folder, errors.Join(os.Symlink(filepath.Join(whole, "streaming"), filepath.Join(folder, "streaming")),
		os.Symlink(filepath.Join(whole, "voice"), filepath.Join(folder, "voice")))
}

// onlyDetector creates a home with the voice detector, but without the default models.
func onlyDetector(out string) (string, error) {
	folder := filepath.Join(out, "bare")
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return "", err
	}
	for _, find := range []func() (string, error){assets.Silero, assets.ONNXRuntime} {
		file, err := find()
		if err == nil {
			file, err = filepath.Abs(file)
		}
		if err == nil {
			err = os.Symlink(file, filepath.Join(folder, filepath.Base(file)))
		}
		if err != nil {
			return "", err
		}
	}
	return filepath.Abs(folder)
}

// converse plays the recording to a daemon, and measures its answers.
func (e engines) converse(daemon, file string) ([]timeline.Turn, error) {
	models := e.models
	if models == "" {
		models = file + "-none"
	}
	models, err := filepath.Abs(models)
	if err != nil {
		return nil, err
	}
	args := append([]string{"talk", "--audio-in", "wav:" + e.recording, "--audio-out", "null", "--journal", file, "--verify=false"}, e.args...)
	cmd := exec.Command(daemon, args...)
	cmd.Env = append(os.Environ(), assets.ModelsEnv+"="+models)
	if e.home != "" {
		cmd.Env = append(cmd.Env, "HOME="+e.home, "XDG_CACHE_HOME="+e.home, "LocalAppData="+e.home, assets.Env+"="+e.home)
	}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("talk with %s: %w\n%s", e.name, err, said.String())
	}
	j, err := readJournal(file)
	if err != nil {
		return nil, err
	}
	turns := timeline.Latencies(j)
	for _, t := range turns {
		if t.FirstAudio.Known {
			return turns, nil
		}
	}
	return nil, fmt.Errorf("with %s, there was no answer:\n%s", e.name, said.String())
}

func readJournal(file string) (*journal.Journal, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read-only
	return journal.Read(f)
}
