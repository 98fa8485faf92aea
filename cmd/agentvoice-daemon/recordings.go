package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

// speakers creates the speakers of conversations. A recording is created once: a recovery or
// another conversation continues it.
type speakers struct {
	mu         sync.Mutex
	recordings map[string]*wavio.Sink
}

// sink creates the speaker that out names, beside the microphone that in names.
func (s *speakers) sink(in, out string, speed float64) (audio.Sink, error) {
	if err := differentFiles(file{"the microphone", in}, file{"the speaker", out}); err != nil {
		return nil, &audio.DeviceError{Code: "deviceUnavailable", Device: "wav:" + filepath.Base(out), Err: err, Remedy: "write to another file"}
	}
	made, err := sink(out, speed)
	recording, ok := made.(*wavio.Sink)
	if err != nil || !ok {
		return made, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.recordings[recording.Path]; known != nil {
		return known, nil
	}
	if s.recordings == nil {
		s.recordings = map[string]*wavio.Sink{}
	}
	s.recordings[recording.Path] = recording
	return recording, nil
}

// file is a recording and what names it.
type file struct{ flag, arg string }

// differentFiles returns an error if two of the recordings are the same file: writing it would
// destroy what is read, or the other recording.
func differentFiles(files ...file) error {
	for i, a := range files {
		for _, b := range files[:i] {
			if pathA, pathB := recordingPath(a.arg), recordingPath(b.arg); pathA != "" && pathB != "" && sameFile(pathA, pathB) {
				return fmt.Errorf("%s and %s are the same file %q", b.flag, a.flag, filepath.Base(pathA))
			}
		}
	}
	return nil
}

// recordingPath returns the path of a recording, or "" for a device.
func recordingPath(arg string) string {
	path, _ := strings.CutPrefix(arg, "wav:")
	if path == arg {
		return ""
	}
	return path
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return infoA.Mode().IsRegular() && os.SameFile(infoA, infoB)
	}
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// checkFiles refuses to write a recording over another one.
func checkFiles(files ...file) error {
	if err := differentFiles(files...); err != nil {
		return misuse{fmt.Errorf("%w; write to another file", err)}
	}
	return nil
}
