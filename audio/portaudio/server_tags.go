package portaudio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Tags of tagstruct.h. A tag with its type precedes each value in a packet.
const (
	tagText      = 't'
	tagNoText    = 'N'
	tagU32       = 'L'
	tagBytes     = 'x'
	tagSpec      = 'a'
	tagMap       = 'm'
	tagVolume    = 'v'
	tagUsec      = 'U'
	tagTrue      = '1'
	tagFalse     = '0'
	noIndex      = 1<<32 - 1
	maxTagString = 64 << 10
)

// tagWriter encodes the arguments of a command.
type tagWriter struct{ b []byte }

func (w *tagWriter) u32(v uint32) *tagWriter {
	w.b = binary.BigEndian.AppendUint32(append(w.b, tagU32), v)
	return w
}

func (w *tagWriter) text(v string) *tagWriter {
	w.b = append(append(append(w.b, tagText), v...), 0)
	return w
}

func (w *tagWriter) bytes(v []byte) *tagWriter {
	w.b = binary.BigEndian.AppendUint32(append(w.b, tagBytes), uint32(len(v)))
	w.b = append(w.b, v...)
	return w
}

// tagReader decodes an answer. After the first unexpected value it returns only zero
// values, and err has the reason.
type tagReader struct {
	rest []byte
	err  error
}

func (r *tagReader) take(n int) []byte {
	if r.err == nil && n > len(r.rest) {
		r.err = errors.New("sound server's answer is truncated")
	}
	if r.err != nil {
		r.rest = nil
		return make([]byte, max(0, min(n, 1<<10)))
	}
	v := r.rest[:n]
	r.rest = r.rest[n:]
	return v
}

func (r *tagReader) tag(want ...byte) byte {
	t := r.take(1)[0]
	if r.err == nil && !bytes.Contains(want, []byte{t}) {
		r.err = fmt.Errorf("sound server's answer has a value of type %q, want %q", t, want)
	}
	return t
}

func (r *tagReader) u32() uint32 {
	r.tag(tagU32)
	return binary.BigEndian.Uint32(r.take(4))
}

func (r *tagReader) text() string {
	if r.tag(tagText, tagNoText) == tagNoText || r.err != nil {
		return ""
	}
	n := bytes.IndexByte(r.rest, 0)
	if n < 0 || n > maxTagString {
		n = len(r.rest) // truncated
	}
	v := string(r.take(n))
	r.take(1)
	return v
}

func (r *tagReader) boolean() bool { return r.tag(tagTrue, tagFalse) == tagTrue }

func (r *tagReader) sampleSpec() (channels, rate int) {
	r.tag(tagSpec)
	b := r.take(6)
	return int(b[1]), int(binary.BigEndian.Uint32(b[2:]))
}

// skip skips a list of values of size bytes each.
func (r *tagReader) skip(tag byte, size int) {
	r.tag(tag)
	r.take(int(r.take(1)[0]) * size)
}

func (r *tagReader) usec() {
	r.tag(tagUsec)
	r.take(8)
}

// device decodes one entry of the list of sinks or sources, whose layouts are the
// same in version 12. The link is to the monitor of a sink, or from a monitor to its
// sink.
func (r *tagReader) device(dir direction) (d Device, monitor bool) {
	r.u32() // index
	d.server = r.text()
	d.Name = r.text()
	channels, rate := r.sampleSpec()
	r.skip(tagMap, 1)
	r.u32() // module
	r.skip(tagVolume, 4)
	d.muted = r.boolean()
	link := r.u32()
	r.text() // name of the link
	r.usec() // latency
	r.text() // driver
	r.u32()  // flags
	d.ID = serverPrefix + d.server
	d.SampleRate = float64(rate)
	if dir == capture {
		d.Inputs = channels
	} else {
		d.Outputs = channels
	}
	return d, dir == capture && link != noIndex
}
