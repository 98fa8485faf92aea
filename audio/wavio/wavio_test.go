package wavio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-audio/wav"
	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// layout describes a WAV file to generate.
type layout struct {
	rate, channels, bits int
	float, extensible    bool
}

// header returns the file up to its samples, with a data size of size bytes.
func (l layout) header(size uint32) []byte {
	code, length := uint16(codePCM), uint32(16)
	if l.float {
		code = codeFloat
	}
	le := binary.LittleEndian
	b := []byte("RIFF\xff\xff\xff\xffWAVEfmt ")
	sub := code
	if l.extensible {
		code, length = codeExtensible, 40
	}
	b = le.AppendUint32(b, length)
	b = le.AppendUint16(b, code)
	b = le.AppendUint16(b, uint16(l.channels))
	b = le.AppendUint32(b, uint32(l.rate))
	b = le.AppendUint32(b, uint32(l.rate*l.channels*l.bits/8))
	b = le.AppendUint16(b, uint16(l.channels*l.bits/8))
	b = le.AppendUint16(b, uint16(l.bits))
	if l.extensible {
		b = le.AppendUint16(b, 22)
		b = le.AppendUint16(b, uint16(l.bits))
		b = le.AppendUint32(b, 0)
		b = append(le.AppendUint16(b, sub), subformatTail...)
	}
	b = append(b, "LIST\x05\x00\x00\x00abcde\x00data"...) // an odd chunk, and its padding
	return le.AppendUint32(b, size)
}

// sample appends a value between -1 and 1.
func (l layout) sample(b []byte, v float64) []byte {
	switch {
	case l.float:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	case l.bits == 8:
		return append(b, byte(128+math.Round(v*128)))
	}
	i := int64(math.Round(v * float64(int64(1)<<(l.bits-1)-1)))
	for k := 0; k < l.bits; k += 8 {
		b = append(b, byte(i>>k))
	}
	return b
}

const toneHz = 440

// tone returns a file with one second of a tone at half scale. With two or more
// channels the second is silent.
func (l layout) tone() []byte {
	var data []byte
	for i := range l.rate {
		for c := range l.channels {
			v := 0.5 * math.Sin(2*math.Pi*toneHz*float64(i)/float64(l.rate))
			if c == 1 {
				v = 0
			}
			data = l.sample(data, v)
		}
	}
	return append(l.header(uint32(len(data))), data...)
}

func write(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "voice.wav")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadsEveryFormat(t *testing.T) {
	for _, l := range []layout{
		{rate: 48000, channels: 1, bits: 16},
		{rate: 16000, channels: 1, bits: 16},
		{rate: 8000, channels: 1, bits: 8},
		{rate: 11025, channels: 2, bits: 24},
		{rate: 44100, channels: 2, bits: 16, extensible: true},
		{rate: 96000, channels: 5, bits: 32},
		{rate: 192000, channels: 8, bits: 24, extensible: true},
		{rate: 22050, channels: 1, bits: 32, float: true},
		{rate: 48000, channels: 2, bits: 32, float: true, extensible: true},
	} {
		pcm, err := ReadAll(write(t, l.tone()))
		if err != nil {
			t.Errorf("%+v: %v", l, err)
			continue
		}
		if len(pcm) != audio.SampleRate {
			t.Errorf("%+v: one second became %d samples", l, len(pcm))
			continue
		}
		amplitude := 16384.0
		if l.channels > 1 {
			amplitude *= float64(l.channels-1) / float64(l.channels)
		}
		worst := 0.0
		for i := 4800; i < len(pcm)-4800; i++ {
			want := amplitude * math.Sin(2*math.Pi*toneHz*float64(i)/audio.SampleRate)
			worst = max(worst, math.Abs(float64(pcm[i])-want))
		}
		if limit := 16384.0 * 0.012; worst > limit { // the filter's ripple, and 8 bits
			t.Errorf("%+v: a sample is off by %.0f", l, worst)
		}
	}
}

func TestRejectsOtherFiles(t *testing.T) {
	mono := layout{rate: 16000, channels: 1, bits: 16}
	patched := func(at int, with ...byte) []byte {
		b := mono.tone()
		copy(b[at:], with)
		return b
	}
	for _, c := range []struct {
		name    string
		content []byte
		is      string
	}{
		{"nothing", nil, "empty (0 bytes)"},
		{"text", []byte("hello, this is text, no audio at all"), "not a WAV file"},
		{"one byte", []byte("R"), "truncated within its header"},
		{"RIFF only", []byte("RIFF\x10\x00"), "truncated within its header"},
		{"avi", []byte("RIFF\x10\x00\x00\x00AVI LIST"), `another kind ("AVI ")`},
		{"ogg", []byte("OggS\x00\x02aaaaaaaaaaaaaaa"), "an Ogg file"},
		{"flac", []byte("fLaC\x00\x00\x00\x22aaaaaaaaa"), "a FLAC file"},
		{"mp3", []byte("ID3\x04aaaaaaaaaaaaaaaaaaaaa"), "an MP3 file"},
		{"mp4", []byte("\x00\x00\x00\x20ftypM4A aaaaaaaa"), "an MP4 file"},
		{"truncated in fmt", mono.tone()[:30], "truncated within its header"},
		{"no data", mono.tone()[:36], "no data chunk"},
		{"truncated before samples", mono.header(4000), "truncated before its data"},
		{"zero frames", mono.header(0), "0 frames"},
		{"half a frame", append(mono.header(1), 0), "0 frames"},
		{"0 channels", patched(22, 0, 0), "0 channels"},
		{"9 channels", patched(22, 9, 0), "9 channels"},
		{"0 Hz", patched(24, 0, 0, 0, 0), "0 Hz"},
		{"4 GHz", patched(24, 255, 255, 255, 255), "4294967295 Hz"},
		{"12 bit", patched(34, 12, 0), "12 bit"},
		{"0 bit", patched(34, 0, 0), "0 bit"},
		{"contradiction", patched(32, 7, 0), "contradicts itself"},
		{"A-law", patched(20, 6, 0), "compressed with A-law"},
		{"unknown codec", patched(20, 0x34, 0x12), "0x1234"},
		{"huge fmt", patched(16, 255, 255, 255, 255), "format chunk of 4294967295 bytes"},
		{"huge chunk", []byte("RIFF\xff\xff\xff\xffWAVEjunk\xff\xff\xff\xffxx"), "truncated within its header"},
		{"data first", []byte("RIFF\xff\xff\xff\xffWAVEdata\x04\x00\x00\x00abcd"), "before its format"},
	} {
		path := write(t, c.content)
		_, err := ReadAll(path)
		var format *FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), c.is) || !strings.Contains(err.Error(), "expected a RIFF WAVE file") {
			t.Errorf("%s: %v, want %q", c.name, err, c.is)
			continue
		}
		if strings.Contains(err.Error(), filepath.Dir(path)) || !strings.HasPrefix(err.Error(), "voice.wav ") {
			t.Errorf("%s: error %q names the path, or not the file", c.name, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(layout{rate: 16000, channels: 2, bits: 24, extensible: true}.tone()[:600])
	f.Add(layout{rate: 8000, channels: 1, bits: 32, float: true}.tone()[:600])
	f.Fuzz(func(t *testing.T, content []byte) {
		r, is, err := newReader(bytes.NewReader(content))
		if err != nil || is != "" {
			return
		}
		pcm := make([]int16, 1000)
		for total := 0; ; {
			n, err := r.read(pcm)
			if err != nil {
				return
			}
			if total += n; total > 6*len(content)+100 {
				t.Fatalf("%d bytes became %d samples", len(content), total)
			}
		}
	})
}

func TestTruncatedDataIsPlayed(t *testing.T) {
	content := layout{rate: 48000, channels: 1, bits: 16}.tone()
	for name, header := range map[string]uint32{"truncated": 96000, "written to a pipe": math.MaxUint32} {
		b := append(layout{rate: 48000, channels: 1, bits: 16}.header(header), content[len(content)-96000:][:9601]...)
		if pcm, err := ReadAll(write(t, b)); err != nil || len(pcm) != 4800 {
			t.Errorf("%s: %d samples, %v", name, len(pcm), err)
		}
	}
}

func TestGarbageFloatsAreSilence(t *testing.T) {
	l := layout{rate: 48000, channels: 1, bits: 32, float: true}
	data := []byte{}
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e30, 1.5, -0.5} {
		data = l.sample(data, v)
	}
	pcm, err := ReadAll(write(t, append(l.header(uint32(len(data))), data...)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int16{0, 0, 0, math.MaxInt16, -16384} {
		if pcm[i] != want {
			t.Errorf("sample %d is %d, want %d", i, pcm[i], want)
		}
	}
}

func TestSourcePlaysAtSpeed(t *testing.T) {
	path := write(t, layout{rate: 16000, channels: 1, bits: 16}.tone()) // 100 frames
	want, err := ReadAll(path)
	if err != nil {
		t.Fatal(err)
	}
	for speed, took := range map[float64]time.Duration{0: time.Second, 1: time.Second, 5: 200 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := &Source{Path: path, Speed: speed}
			if err := s.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			var got []int16
			err := s.Run(t.Context(), func(pos int64, f *audio.Frame) {
				if pos != int64(len(got)) {
					t.Errorf("position %d after %d samples", pos, len(got))
				}
				got = append(got, f[:]...)
			})
			if err != nil || time.Since(begin) != took {
				t.Errorf("speed %v: took %v, %v", speed, time.Since(begin), err)
			}
			for i, s := range want {
				if got[i] != s {
					t.Fatalf("sample %d is %d, want %d", i, got[i], s)
				}
			}
			if err := errors.Join(s.Close(), s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSourceContinuesWhereItLeftOff: a conversation that recovers reopens its
// recording, and must not play it twice.
func TestSourceContinuesWhereItLeftOff(t *testing.T) {
	const frames = 30
	pcm := make([]int16, frames*audio.FrameSamples)
	for i := range pcm {
		pcm[i] = int16(i / audio.FrameSamples) // each frame is its number
	}
	path := filepath.Join(t.TempDir(), "numbers.wav")
	if err := WriteMono(path, audio.SampleRate, pcm); err != nil {
		t.Fatal(err)
	}
	s := &Source{Path: path, Speed: 20, Continue: true}
	var heard []int16
	for _, n := range []int{10, 5, 100, 100} {
		if err := s.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		err := s.Run(ctx, func(_ int64, f *audio.Frame) {
			heard = append(heard, f[0])
			if n--; n == 0 {
				stop()
			}
		})
		stop()
		if ended := err == nil; ended != (n > 0) {
			t.Fatalf("after %d frames: %v", len(heard), err)
		}
	}
	for i, v := range heard {
		if int(v) != i {
			t.Fatalf("frame %d is number %d", i, v)
		}
	}
	if len(heard) != frames {
		t.Errorf("%d frames were played, want %d", len(heard), frames)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestDeviceErrors(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "private")
	for name, open := range map[string]func() error{
		"no file":   func() error { return (&Source{Path: filepath.Join(secret, "a.wav")}).Open(t.Context()) },
		"a folder":  func() error { return (&Source{Path: filepath.Dir(secret)}).Open(t.Context()) },
		"no folder": func() error { return (&Sink{Path: filepath.Join(secret, "a.wav")}).Open(t.Context()) },
		"not open":  func() error { return (&Source{Path: filepath.Join(secret, "a.wav")}).Run(t.Context(), nil) },
	} {
		err := open()
		var device *audio.DeviceError
		if !errors.As(err, &device) || device.Code != "deviceUnavailable" || device.Remedy == "" || strings.Contains(err.Error(), "private") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// readBack reads our file with a third-party decoder.
func readBack(t *testing.T, path string) (channels int, pcm []int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d := wav.NewDecoder(file)
	if !d.IsValidFile() {
		t.Fatalf("not a valid file: %v", d.Err())
	}
	if err := d.Rewind(); err != nil {
		t.Fatal(err)
	}
	buf, err := d.FullPCMBuffer()
	if err != nil || d.SampleRate != audio.SampleRate || d.BitDepth != 16 {
		t.Fatalf("%d Hz, %d bit, %v", d.SampleRate, d.BitDepth, err)
	}
	return int(d.NumChans), buf.Data
}

func TestSinkWritesWhatIsRendered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.wav")
	synctest.Test(t, func(t *testing.T) {
		s := &Sink{Path: path}
		if err := s.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2505*time.Millisecond)
		defer cancel()
		next := int16(0)
		if err := s.Run(ctx, func(f *audio.Frame) {
			for i := range f {
				f[i] = next
				next++
			}
		}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run returned %v", err)
		}
		// A process that dies here leaves the file like this.
		if channels, pcm := readBack(t, path); channels != 1 || len(pcm) != 2*audio.SampleRate {
			t.Errorf("before Close, %d channels, %d samples", channels, len(pcm))
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	_, pcm := readBack(t, path)
	if len(pcm) != 250*audio.FrameSamples {
		t.Fatalf("%d samples", len(pcm))
	}
	for i, s := range pcm {
		if int16(s) != int16(i) {
			t.Fatalf("sample %d is %d", i, s)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("a recording is readable by other users: %v, %v", info.Mode(), err)
	}
}

func TestNullKeepsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1007*time.Millisecond) // between two ticks
		defer cancel()
		frames := 0
		if err := (Null{Speed: 2}).Run(ctx, func(*audio.Frame) { frames++ }); !errors.Is(err, context.DeadlineExceeded) || frames != 201 {
			t.Errorf("%d frames, %v", frames, err)
		}
	})
}

func TestWriteMonoCanBeReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.wav")
	want := []int16{0, 1, -1, math.MaxInt16, math.MinInt16}
	if err := WriteMono(path, audio.SampleRate, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadAll(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("sample %d is %d, want %d", i, got[i], want[i])
		}
	}
	if err := WriteMono(path, 1, want); err == nil {
		t.Error("1 Hz was accepted")
	}
}

// A recording over an existing file is private, as a new one is.
func TestRecordingOverAnExistingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.wav")
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o644), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	w, err := Create(path, 16000, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
