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

// open opens the recording at path. The errors are *FormatError, or say in one
// line why the file cannot be read.
func open(path string) (*os.File, *reader, error) {
	name := filepath.Base(path)
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fileError(name, err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close()
		return nil, nil, &FormatError{File: name, Is: "a directory"}
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

// fileError is err without the path that the os package puts into it.
func fileError(name string, err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// ReadAll returns the recording at path in the format of package audio. The
// errors are *FormatError, or say in one line why the file cannot be read.
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
		return nil, &FormatError{File: filepath.Base(path), Is: "a WAV file without audio (cut off before its data)"}
	}
	return pcm, nil
}

// Source plays the recording at Path as if it were a microphone, at real time
// multiplied by Speed (0 means 1). Run ends with the recording; the last frame is
// filled up with silence. Opening it again begins again, or where Continue is set
// where Run left off.
type Source struct {
	Path     string
	Speed    float64
	Continue bool

	file   *os.File
	r      *reader
	played int // samples of the recording
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

// skip passes over what was played before.
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
		Remedy: "name a readable WAV file, or use the microphone with --audio-in default",
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
