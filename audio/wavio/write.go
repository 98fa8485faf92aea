package wavio

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const headerBytes = 44

// errTooLong: the sizes in a WAV file have 32 bits, and some readers treat them as
// signed.
var errTooLong = errors.New("recording has reached 2 GB, the limit of a WAV file; start a new one")

// Writer writes 16-bit PCM. Once per second of audio it flushes the file and updates
// its header. A Writer is not safe for concurrent use.
type Writer struct {
	file    *os.File
	name    string
	buf     []byte
	flushAt int   // bytes per second
	data    int64 // bytes in the file
}

// Create creates or replaces the file at path, readable by its owner only. Write
// takes interleaved samples of the given channels at rate (Hz).
func Create(path string, rate, channels int) (*Writer, error) {
	name := filepath.Base(path)
	if err := Writable(path); err != nil {
		return nil, err
	}
	if rate < minRate || rate > maxRate || channels < 1 || channels > maxChannels {
		return nil, fmt.Errorf("%s: cannot record %d channels at %d Hz; use 1 to %d channels and %d to %d Hz",
			name, channels, rate, maxChannels, minRate, maxRate)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		err = ownersOnly(file)
	}
	if err != nil {
		return nil, fileError(name, err)
	}
	block := 2 * channels
	w := &Writer{file: file, name: name, flushAt: rate * block}
	header := make([]byte, 0, headerBytes)
	header = append(header, "RIFF\x00\x00\x00\x00WAVEfmt "...)
	header = binary.LittleEndian.AppendUint32(header, 16)
	header = binary.LittleEndian.AppendUint16(header, codePCM)
	header = binary.LittleEndian.AppendUint16(header, uint16(channels))
	header = binary.LittleEndian.AppendUint32(header, uint32(rate))
	header = binary.LittleEndian.AppendUint32(header, uint32(rate*block))
	header = binary.LittleEndian.AppendUint16(header, uint16(block))
	header = binary.LittleEndian.AppendUint16(header, 16)
	header = append(header, "data\x00\x00\x00\x00"...)
	_, err = file.Write(header)
	if err == nil {
		err = w.patch()
	}
	if err != nil {
		_ = file.Close()
		return nil, fileError(name, err)
	}
	return w, nil
}

// Writable returns an error for what cannot hold a recording, whose header changes as it grows.
func Writable(path string) error {
	if path == "-" {
		return errors.New("standard output: recordings are written to files; name one")
	}
	if info, err := os.Stat(path); err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 {
		return fmt.Errorf("%s is a pipe: recordings are written to files; name one", filepath.Base(path))
	}
	return nil
}

// reopen continues a closed recording. It fails if the file is not the one that was closed.
func (w *Writer) reopen(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fileError(w.name, err)
	}
	if info, err := file.Stat(); err != nil || info.Size() != headerBytes+w.data {
		return errors.Join(fmt.Errorf("%s was changed by another program; name another file", w.name), file.Close())
	}
	if _, err := file.Seek(0, io.SeekEnd); err != nil {
		return errors.Join(fileError(w.name, err), file.Close())
	}
	w.file = file
	return nil
}

// Write appends samples.
func (w *Writer) Write(pcm []int16) error {
	if w.file == nil {
		return fileError(w.name, os.ErrClosed)
	}
	for _, s := range pcm {
		w.buf = binary.LittleEndian.AppendUint16(w.buf, uint16(s))
	}
	if len(w.buf) < w.flushAt {
		return nil
	}
	return w.Flush()
}

// Flush writes the buffered samples and updates the header.
func (w *Writer) Flush() error {
	if w.file == nil {
		return fileError(w.name, os.ErrClosed)
	}
	if w.data+int64(len(w.buf)) > math.MaxInt32-headerBytes {
		w.buf = w.buf[:0]
		return fileError(w.name, errTooLong)
	}
	n, err := w.file.Write(w.buf)
	w.data += int64(n)
	w.buf = w.buf[:copy(w.buf, w.buf[n:])]
	if err == nil {
		err = w.patch()
	}
	if err != nil {
		return fileError(w.name, err)
	}
	return nil
}

// patch writes the sizes into the header.
func (w *Writer) patch() error {
	size := binary.LittleEndian.AppendUint32(nil, uint32(w.data+headerBytes-8))
	if _, err := w.file.WriteAt(size, 4); err != nil {
		return err
	}
	size = binary.LittleEndian.AppendUint32(size[:0], uint32(w.data))
	_, err := w.file.WriteAt(size, headerBytes-4)
	return err
}

// Close completes the file. It is safe to call twice.
func (w *Writer) Close() error {
	if w.file == nil {
		return nil
	}
	err := w.Flush()
	if closeErr := w.file.Close(); err == nil && closeErr != nil {
		err = fileError(w.name, closeErr)
	}
	w.file = nil
	return err
}

// WriteMono writes a whole mono recording at rate (Hz).
func WriteMono(path string, rate int, pcm []int16) error {
	w, err := Create(path, rate, 1)
	if err != nil {
		return err
	}
	err = w.Write(pcm)
	return errors.Join(err, w.Close())
}

// Sink records played audio in the mono file Path, at real time multiplied by Speed
// (0 means 1). Opening it again continues the recording: it never loses what was recorded.
type Sink struct {
	Path  string
	Speed float64

	w    *Writer
	open bool
}

// Open implements audio.Sink. The code is deviceUnavailable.
func (s *Sink) Open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	var err error
	if s.w == nil {
		s.w, err = Create(s.Path, audio.SampleRate, 1)
	} else {
		err = s.w.reopen(s.Path)
	}
	if err != nil {
		return s.fail("deviceUnavailable", err)
	}
	s.open = true
	return nil
}

// Run implements audio.Sink. It returns deviceLost if the file can no longer be
// written.
func (s *Sink) Run(ctx context.Context, render func(f *audio.Frame)) error {
	if !s.open {
		return s.fail("deviceUnavailable", errors.New("recording is not open"))
	}
	pacer := audio.NewPacer(s.Speed)
	var f audio.Frame
	for {
		if err := pacer.Wait(ctx); err != nil {
			return err
		}
		render(&f)
		if err := s.w.Write(f[:]); err != nil {
			return s.fail("deviceLost", err)
		}
	}
}

func (s *Sink) fail(code string, err error) error {
	return &audio.DeviceError{
		Code: code, Device: "wav:" + filepath.Base(s.Path), Err: err,
		Remedy: "use a writable file, or the speaker with --audio-out default",
	}
}

// Latency implements audio.Sink.
func (s *Sink) Latency() time.Duration { return 0 }

// Close implements audio.Sink. It completes the file.
func (s *Sink) Close() error {
	if !s.open {
		return nil
	}
	s.open = false
	err := s.w.Close()
	if err != nil {
		return s.fail("audioFailed", err)
	}
	return nil
}

// Silence is a microphone that captures silence, at real time multiplied by Speed (0 means 1).
type Silence struct {
	Speed float64
}

// Open implements audio.Source.
func (Silence) Open(ctx context.Context) error { return ctx.Err() }

// Run implements audio.Source.
func (s Silence) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	pacer := audio.NewPacer(s.Speed)
	for pos := int64(0); ; pos += audio.FrameSamples {
		if err := pacer.Wait(ctx); err != nil {
			return err
		}
		deliver(pos, &audio.Frame{})
	}
}

// Close implements audio.Source.
func (Silence) Close() error { return nil }

// Null discards audio, at real time multiplied by Speed (0 means 1).
type Null struct {
	Speed float64
}

// Open implements audio.Sink.
func (Null) Open(ctx context.Context) error { return ctx.Err() }

// Run implements audio.Sink.
func (n Null) Run(ctx context.Context, render func(f *audio.Frame)) error {
	pacer := audio.NewPacer(n.Speed)
	var f audio.Frame
	for {
		if err := pacer.Wait(ctx); err != nil {
			return err
		}
		render(&f)
	}
}

// Latency implements audio.Sink.
func (Null) Latency() time.Duration { return 0 }

// Close implements audio.Sink.
func (Null) Close() error { return nil }

var (
	_ audio.Sink = (*Sink)(nil)
	_ audio.Sink = Null{}

	_ audio.Source = Silence{}
)

// ownersOnly makes a file readable by its owner only, as a new one is.
func ownersOnly(file *os.File) error {
	info, err := file.Stat()
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		err = file.Chmod(0o600)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	return nil
}
