package wavio

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// The limits of readable files.
const (
	minRate     = 8000
	maxRate     = 192000
	maxChannels = 8
)

const expected = "expected a RIFF WAVE file with 8, 16, 24 or 32 bit PCM or 32 bit float samples, 8 to 192 kHz, 1 to 8 channels"

// FormatError is returned for a file that is not a readable WAV file.
type FormatError struct {
	File string // base name
	Is   string // what the file is instead
}

func (e *FormatError) Error() string { return fmt.Sprintf("%s is %s; %s", e.File, e.Is, expected) }

// format is the content of a file's header.
type format struct {
	rate     int
	channels int
	bytes    int // of one sample of one channel
	float    bool
	size     int64 // of the data in bytes; math.MaxInt64 if the header does not say
}

const (
	codePCM        = 0x0001
	codeFloat      = 0x0003
	codeExtensible = 0xFFFE
)

var codecs = map[uint16]string{
	0x0002: "ADPCM", 0x0006: "A-law", 0x0007: "mu-law", 0x0011: "IMA ADPCM", 0x0031: "GSM",
	0x0050: "MPEG", 0x0055: "MP3", 0x00FF: "AAC", 0x0161: "WMA",
}

// subformatTail follows the format code in the subformat GUIDs of
// WAVE_FORMAT_EXTENSIBLE (Microsoft, ksmedia.h).
var subformatTail = []byte{0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xAA, 0x00, 0x38, 0x9B, 0x71}

// readHeader reads up to the first sample. The string says why the file is
// unreadable, or is empty; err is set only if the reader fails.
//
// github.com/go-audio/wav is not used for reading: it trusts and allocates the sizes
// in a header, drops the subformat, and reads float samples as integers.
func readHeader(r io.Reader) (f format, is string, err error) {
	var head [12]byte
	n, err := io.ReadFull(r, head[:])
	switch {
	case err == io.EOF:
		return f, "empty (0 bytes)", nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return f, "", err
	}
	if other := sniff(head[:n]); other != "" {
		return f, other, nil
	}
	if n < len(head) {
		return f, "truncated within its header", nil
	}
	for {
		var chunk [8]byte
		if _, err := io.ReadFull(r, chunk[:]); err != nil {
			return f, cutOff(f), truncated(err)
		}
		id, size := string(chunk[:4]), int64(binary.LittleEndian.Uint32(chunk[4:]))
		switch {
		case id == "data":
			return f, f.setSize(size), nil
		case id == "fmt ":
			if f.rate != 0 {
				return f, "a WAV file with two format chunks", nil
			}
			is, err = f.read(r, size)
		default:
			_, err = io.CopyN(io.Discard, r, size+size%2)
			is = ""
		}
		if err != nil {
			return f, cutOff(f), truncated(err)
		}
		if is != "" {
			return f, is, nil
		}
	}
}

// truncated returns nil at the end of the file, which is a format error rather than an I/O error.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func cutOff(f format) string {
	if f.rate == 0 {
		return "truncated within its header"
	}
	return "a WAV file without audio (it has no data chunk)"
}

// setSize sets the size of the data chunk, and returns what is wrong with it.
func (f *format) setSize(size int64) string {
	switch {
	case f.rate == 0:
		return "a WAV file with its data before its format"
	case size > 0 && size < int64(f.frameBytes()):
		return withoutAudio
	case size == 0, size >= math.MaxInt32:
		f.size = math.MaxInt64 // written by a program that streams, or that did not finish
	default:
		f.size = size
	}
	return ""
}

const withoutAudio = "a WAV file without audio (0 frames)"

// startsWithAudio reports whether audio follows a header that does not say how much. Some writers
// put other chunks behind no audio.
func startsWithAudio(r *bufio.Reader, f format) bool {
	first, _ := r.Peek(max(f.frameBytes(), 4))
	return len(first) >= f.frameBytes() && (len(first) < 4 || !slices.Contains(laterChunks, string(first[:4])))
}

var laterChunks = []string{"LIST", "id3 ", "ID3 ", "fact", "bext", "cue ", "smpl"}

func (f *format) frameBytes() int { return f.bytes * f.channels }

// read reads a format chunk, and returns what is wrong with it.
func (f *format) read(r io.Reader, size int64) (is string, err error) {
	if size < 16 || size > 1024 {
		return fmt.Sprintf("a WAV file with a format chunk of %d bytes", size), nil
	}
	b := make([]byte, size+size%2)
	if _, err := io.ReadFull(r, b); err != nil {
		return "", err
	}
	code := binary.LittleEndian.Uint16(b)
	channels := int(binary.LittleEndian.Uint16(b[2:]))
	rate := int64(binary.LittleEndian.Uint32(b[4:]))
	align := int(binary.LittleEndian.Uint16(b[12:]))
	bits := int(binary.LittleEndian.Uint16(b[14:]))
	if code == codeExtensible {
		if size < 40 || !bytes.Equal(b[26:40], subformatTail) {
			return "a WAV file with an unknown extensible format", nil
		}
		code = binary.LittleEndian.Uint16(b[24:])
	}
	switch {
	case code != codePCM && code != codeFloat:
		name := codecs[code]
		if name == "" {
			name = fmt.Sprintf("a codec with the number 0x%04x", code)
		}
		return "a WAV file compressed with " + name, nil
	case channels < 1 || channels > maxChannels:
		return fmt.Sprintf("a WAV file with %d channels", channels), nil
	case rate < minRate || rate > maxRate:
		return fmt.Sprintf("a WAV file of %d Hz", rate), nil
	case code == codePCM && bits != 8 && bits != 16 && bits != 24 && bits != 32:
		return fmt.Sprintf("a WAV file with %d bit samples", bits), nil
	case code == codeFloat && bits != 32:
		return fmt.Sprintf("a WAV file with %d bit float samples", bits), nil
	case align != channels*bits/8:
		return fmt.Sprintf("a WAV file whose header contradicts itself (%d channels of %d bits in %d bytes)", channels, bits, align), nil
	}
	f.rate, f.channels, f.bytes, f.float = int(rate), channels, bits/8, code == codeFloat
	return "", nil
}

// sniff identifies a file that is not RIFF WAVE by its first bytes.
func sniff(head []byte) string {
	at := func(i int, magic string) bool {
		return len(head) >= i+len(magic) && string(head[i:i+len(magic)]) == magic
	}
	switch {
	case at(0, "RIFF") && len(head) == 12 && !at(8, "WAVE"):
		return fmt.Sprintf("a RIFF file of another kind (%q)", head[8:12])
	case at(0, "RIFF"), len(head) < 4 && bytes.HasPrefix([]byte("RIFF"), head):
		return ""
	case at(0, "RIFX"):
		return "a big-endian WAV file (RIFX)"
	case at(0, "RF64"), at(0, "BW64"):
		return "a WAV file of more than 4 GB (RF64)"
	case at(0, "OggS"):
		return "an Ogg file"
	case at(0, "fLaC"):
		return "a FLAC file"
	case at(0, "ID3"), len(head) > 1 && head[0] == 0xFF && head[1]&0xE0 == 0xE0:
		return "an MP3 file"
	case at(4, "ftyp"):
		return "an MP4 file"
	case at(0, "\x1aE\xdf\xa3"):
		return "a WebM or Matroska file"
	case at(0, "FORM"):
		return "an AIFF file"
	case at(0, ".snd"):
		return "a Sun audio file"
	case at(0, "NIST"):
		return "a NIST Sphere file"
	default:
		return "not a WAV file"
	}
}

// mix converts the whole frames in b to mono 16-bit samples, and appends them to dst.
func (f *format) mix(dst []int16, b []byte) []int16 {
	scale := 1 / float32(f.channels)
	for ; len(b) >= f.frameBytes(); b = b[f.frameBytes():] {
		sum := float32(0)
		for c := range f.channels {
			sum += f.sample(b[c*f.bytes:])
		}
		v := math.RoundToEven(float64(min(max(sum*scale, math.MinInt16), math.MaxInt16)))
		dst = append(dst, int16(v))
	}
	return dst
}

// sample returns the first sample of b, on a 16-bit scale.
func (f *format) sample(b []byte) float32 {
	switch {
	case f.float:
		v := math.Float32frombits(binary.LittleEndian.Uint32(b))
		if v != v || v > 8 || v < -8 { // not audio: NaN, infinite, or garbage
			return 0
		}
		return v * (1 << 15)
	case f.bytes == 1:
		return float32(int(b[0])-128) * (1 << 8) // 8 bit samples are unsigned
	case f.bytes == 2:
		return float32(int16(binary.LittleEndian.Uint16(b)))
	case f.bytes == 3:
		return float32(int32(b[0])<<8|int32(b[1])<<16|int32(b[2])<<24) / (1 << 16)
	default:
		return float32(int32(binary.LittleEndian.Uint32(b))) / (1 << 16)
	}
}

// reader returns the audio of a file at audio.SampleRate.
type reader struct {
	r         io.Reader
	format    format
	resampler *audio.Resampler
	left      int64 // remaining bytes of data
	raw       []byte
	mono      []int16
	out       []int16 // converted, but not returned yet
	ended     bool
}

// newReader reads the header of r. The string is that of readHeader.
func newReader(r io.Reader) (*reader, string, error) {
	f, is, err := readHeader(r)
	if err != nil || is != "" {
		return nil, is, err
	}
	if f.size == math.MaxInt64 {
		following := bufio.NewReader(r)
		if !startsWithAudio(following, f) {
			return nil, withoutAudio, nil
		}
		r = following
	}
	resampler, err := audio.NewResampler(f.rate, audio.SampleRate)
	if err != nil {
		return nil, "", err
	}
	frames := f.rate / 50
	return &reader{
		r: r, format: f, resampler: resampler, left: f.size,
		raw: make([]byte, frames*f.frameBytes()), mono: make([]int16, 0, frames),
	}, "", nil
}

// read fills pcm with the available audio; io.EOF comes separately, after it. A file
// that is shorter than its header says is not an error.
func (r *reader) read(pcm []int16) (n int, err error) {
	for len(r.out) < len(pcm) && !r.ended {
		want := int(min(int64(len(r.raw)), r.left))
		got, err := io.ReadFull(r.r, r.raw[:want])
		r.left -= int64(got)
		r.mono = r.format.mix(r.mono[:0], r.raw[:got])
		r.out = r.resampler.Process(r.out, r.mono)
		if truncated(err) != nil {
			return 0, err
		}
		if err != nil || got == 0 {
			r.out = r.resampler.Flush(r.out)
			r.ended = true
		}
	}
	n = copy(pcm, r.out)
	r.out = r.out[:copy(r.out, r.out[n:])]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
