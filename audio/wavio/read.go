package wavio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// open opens the recording at path. It returns a *FormatError, or an error that says
// why the file cannot be read.
func open(path string) (*os.File, *reader, error) {
	name := filepath.Base(path)
	if err := regular(path); err != nil {
		return nil, nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fileError(name, err)
	}
	r, is, err := newReader(file)
	switch {
	case err != nil:
		err = fileError(name, err)
	case is != "":
		err = &FormatError{File: name, Is: is}
	default:
		return file, r, nil
	}
	_ = file.Close()
	return nil, nil, err
}

// errNotFile: a recording is opened more than once, and again after a fault.
var errNotFile = errors.New("recordings are read from files; save this one first, for example with cat > recording.wav")

// regular returns an error for what is not a file: opening a pipe would wait for its writer.
func regular(path string) error {
	if path == "-" {
		return fmt.Errorf("standard input: %w", errNotFile)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fileError(filepath.Base(path), err)
	case info.IsDir():
		return &FormatError{File: filepath.Base(path), Is: "a directory"}
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is a pipe or a device: %w", filepath.Base(path), errNotFile)
	default:
		return nil
	}
}

// fileError returns err without the path that the os package includes.
func fileError(name string, err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// ReadAll returns the recording at path in the format of package audio. It returns a
// *FormatError, or an error that says why the file cannot be read.
func ReadAll(path string) ([]int16, error) {
	file, r, err := open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var pcm []int16
	chunk := make([]int16, audio.SampleRate)
	for {
		n, err := r.read(chunk)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fileError(filepath.Base(path), err)
		}
		pcm = append(pcm, chunk[:n]...)
	}
	if len(pcm) == 0 {
		return nil, &FormatError{File: filepath.Base(path), Is: "a WAV file without audio (truncated before its data)"}
	}
	return pcm, nil
}

// Source plays the recording at Path like a microphone, at real time multiplied by
// Speed (0 means 1). Run returns at the end of the recording; the last frame is
// padded with silence. Opening it again restarts it, or if Continue is set, resumes
// where Run stopped.
type Source struct {
	Path     string
	Speed    float64
	Continue bool

	file   *os.File
	r      *reader
	played int // samples of the recording played so far
}

// Recorded implements audio.Recording.
func (*Source) Recorded() {}

// Open implements audio.Source. The code is deviceUnavailable.
func (s *Source) Open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	file, r, err := open(s.Path)
	if err != nil {
		return s.fail("deviceUnavailable", err)
	}
	s.file, s.r = file, r
	if err := s.skip(); err != nil {
		return s.fail("deviceUnavailable", errors.Join(fileError(filepath.Base(s.Path), err), s.Close()))
	}
	return nil
}

// skip skips what was played before.
func (s *Source) skip() error {
	if !s.Continue {
		s.played = 0
		return nil
	}
	var f audio.Frame
	for left := s.played; left > 0; {
		n, err := s.r.read(f[:min(left, len(f))])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// Run implements audio.Source.
func (s *Source) Run(ctx context.Context, deliver func(pos int64, f *audio.Frame)) error {
	if s.r == nil {
		return s.fail("deviceUnavailable", errors.New("recording is not open"))
	}
	pacer := audio.NewPacer(s.Speed)
	var f audio.Frame
	for pos := int64(0); ; pos += audio.FrameSamples {
		n, err := s.r.read(f[:])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return s.fail("deviceLost", fileError(filepath.Base(s.Path), err))
		}
		clear(f[n:])
		if err := pacer.Wait(ctx); err != nil {
			return err
		}
		s.played += n
		deliver(pos, &f)
	}
}

func (s *Source) fail(code string, err error) error {
	return &audio.DeviceError{
		Code: code, Device: "wav:" + filepath.Base(s.Path), Err: err,
		Remedy: "use a readable WAV file, or the microphone with --audio-in default",
	}
}

// Close implements audio.Source.
func (s *Source) Close() error {
	file := s.file
	s.file, s.r = nil, nil
	if file == nil {
		return nil
	}
	return file.Close()
}

var _ audio.Recording = (*Source)(nil)
