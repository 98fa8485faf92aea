package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

// A recording is never written over the one that is played, under whatever name.
func TestSameFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.wav"), filepath.Join(dir, "link.wav")
	if err := errors.Join(wavio.WriteMono(path, 48000, make([]int16, 480)), os.Link(path, link)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"input and output":  {"talk", "--audio-in", "wav:" + path, "--audio-out", "wav:" + path},
		"a link":            {"talk", "--audio-in", "wav:" + path, "--audio-out", "wav:" + link},
		"another spelling":  {"serve", "--stdio", "--audio-in", "wav:" + path, "--audio-out", "wav:" + filepath.Join(dir, "x", "..", "a.wav")},
		"both recordings":   {"talk", "--audio-in", "null", "--audio-out", "wav:" + filepath.Join(dir, "new.wav"), "--record", filepath.Join(dir, "new.wav")},
		"recorded over":     {"talk", "--audio-in", "wav:" + path, "--audio-out", "null", "--record", link},
		"standard input":    {"talk", "--audio-in", "wav:-", "--audio-out", "null"},
		"a file named dash": {"talk", "--audio-in", "null", "--audio-out", "wav:-"},
	} {
		root := newRoot()
		root.SetArgs(args)
		err := root.ExecuteContext(t.Context())
		if err == nil || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), "same file") && !strings.Contains(err.Error(), "files;") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the recording has %d bytes, had %d: %v", len(after), len(before), err)
	}
}

// A recovery and another conversation continue the recording of the first one.
func TestOneSpeakerPerRecording(t *testing.T) {
	var s speakers
	out := "wav:" + filepath.Join(t.TempDir(), "out.wav")
	first, err := s.sink("default", out, 1)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := s.sink("default", out, 1); err != nil || second != first {
		t.Errorf("the second speaker is %v, %v", second, err)
	}
	if other, err := s.sink("default", out+"2", 1); err != nil || other == first {
		t.Errorf("another file: %v, %v", other, err)
	}
	if _, err := s.sink(out, out, 1); err == nil || !strings.Contains(err.Error(), "same file") {
		t.Errorf("the microphone's file: %v", err)
	}
}
