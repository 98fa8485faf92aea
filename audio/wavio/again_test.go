package wavio

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// recorded plays n frames of a value into a sink.
func recorded(t *testing.T, s *Sink, n int, value int16) {
	t.Helper()
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Duration(n)*audio.FrameTime+audio.FrameTime/2)
	defer stop()
	if err := s.Run(ctx, func(f *audio.Frame) {
		for i := range f {
			f[i] = value
		}
	}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A recording that is opened again continues: what was recorded stays.
func TestSinkContinues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.wav")
	synctest.Test(t, func(t *testing.T) {
		s := &Sink{Path: path}
		recorded(t, s, 30, 1)
		recorded(t, s, 20, 2)
	})
	_, pcm := readBack(t, path)
	if len(pcm) != 50*audio.FrameSamples || pcm[0] != 1 || pcm[len(pcm)-1] != 2 {
		t.Errorf("%d samples", len(pcm))
	}
	s := &Sink{Path: path}
	synctest.Test(t, func(t *testing.T) { recorded(t, s, 10, 1) })
	if err := os.WriteFile(path, []byte("another program's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "changed by another program") {
		t.Errorf("over another file: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "another program's" {
		t.Errorf("the other file is now %q", b)
	}
}

// The header of a recording that is still written, or that was cut off, does not say how long it
// is: it is read to its end.
func TestUnknownLength(t *testing.T) {
	l := layout{rate: audio.SampleRate, channels: 1, bits: 16}
	data := l.tone()
	whole := len(data) / 2
	for _, size := range []uint32{0, 0x7FFFFFFF, 0xFFFFFFFF} {
		pcm, err := ReadAll(write(t, append(l.header(size), data...)))
		if err != nil || len(pcm) != whole {
			t.Errorf("size %#x: %d samples of %d, %v", size, len(pcm), whole, err)
		}
		r, w := io.Pipe() // as a service sends it
		go func() { _, _ = w.Write(append(l.header(size), data...)); _ = w.Close() }()
		if s, err := NewStream(r); err != nil {
			t.Errorf("streamed, size %#x: %v", size, err)
		} else if n, err := s.Read(make([]int16, whole+1)); err != nil || n != whole {
			t.Errorf("streamed, size %#x: %d samples of %d, %v", size, n, whole, err)
		}
		list := binary.LittleEndian.AppendUint32([]byte("LIST"), 4)
		for _, after := range [][]byte{nil, append(list, "INFO"...)} {
			if _, err := ReadAll(write(t, append(l.header(size), after...))); err == nil || !strings.Contains(err.Error(), "without audio") {
				t.Errorf("size %#x, no audio: %v", size, err)
			}
		}
	}
}

// Pipes and devices are refused at once, with a one-sentence error.
func TestOnlyFiles(t *testing.T) {
	for _, path := range []string{"-", os.DevNull} {
		err := (&Source{Path: path}).Open(t.Context())
		var device *audio.DeviceError
		if !errors.As(err, &device) || !strings.Contains(err.Error(), "recordings are read from files") {
			t.Errorf("read from %s: %v", path, err)
		}
	}
	if err := (&Sink{Path: "-"}).Open(t.Context()); err == nil || !strings.Contains(err.Error(), "recordings are written to files") {
		t.Errorf("write to -: %v", err)
	}
	if _, err := os.Stat("-"); err == nil {
		t.Error("a file named - was made")
	}
}
