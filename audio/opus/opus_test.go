//go:build cgo

package opus

import (
	"errors"
	"math"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// voice is something like a vowel: a low tone with overtones, frame by frame.
func voice(frame int) *audio.Frame {
	var f audio.Frame
	for i := range f {
		t := float64(frame*audio.FrameSamples+i) / audio.SampleRate
		v := 0.0
		for k := 1.0; k <= 8; k++ {
			v += math.Sin(2*math.Pi*140*k*t) / k
		}
		f[i] = int16(5000 * v)
	}
	return &f
}

func newPair(t testing.TB, cfg Config) (*Encoder, *Decoder) {
	t.Helper()
	enc, err := NewEncoder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	dec, err := NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	return enc, dec
}

// correlation is how alike a and b are at the best of the given delays, 1 at most.
func correlation(a, b []int16, maxDelay int) float64 {
	best := 0.0
	for d := range maxDelay {
		ab, aa, bb := 0.0, 0.0, 0.0
		for i := 0; i+d < min(len(a), len(b)); i++ {
			x, y := float64(a[i]), float64(b[i+d])
			ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
		}
		best = max(best, ab/math.Sqrt(aa*bb+1))
	}
	return best
}

func encodeVoice(t testing.TB, enc *Encoder, packets int) (all []int16, out [][]byte) {
	t.Helper()
	for i := range packets {
		first, second := voice(2*i), voice(2*i+1)
		packet, err := enc.Encode(first, second)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, first[:]...), second[:]...)
		out = append(out, append([]byte(nil), packet...))
	}
	return all, out
}

func TestRoundTrip(t *testing.T) {
	enc, dec := newPair(t, Config{})
	in, packets := encodeVoice(t, enc, 50)
	var out []int16
	bytes := 0
	pcm := make([]int16, MaxPacketSamples)
	for _, p := range packets {
		n, err := dec.Decode(p, pcm)
		if err != nil || n != PacketSamples {
			t.Fatalf("decoded %d samples, %v", n, err)
		}
		out = append(out, pcm[:n]...)
		bytes += len(p)
	}
	if c := correlation(in[4800:], out[4800:], 700); c < 0.95 {
		t.Errorf("what came out is %.3f like what went in", c)
	}
	if rate := bytes * 8; rate < 16000 || rate > 40000 {
		t.Errorf("one second took %d bits", rate)
	}
}

func TestLostPacketIsRecoveredOrConcealed(t *testing.T) {
	const lost = 30
	for name, replace := range map[string]func(d *Decoder, next []byte, pcm []int16) error{
		"fec": func(d *Decoder, next []byte, pcm []int16) error { return d.DecodeFEC(next, pcm) },
		"plc": func(d *Decoder, _ []byte, pcm []int16) error { return d.DecodePLC(pcm) },
	} {
		t.Run(name, func(t *testing.T) {
			enc, dec := newPair(t, Config{FEC: true, LossPerc: 20})
			in, packets := encodeVoice(t, enc, lost+3)
			pcm := make([]int16, MaxPacketSamples)
			var out []int16
			for i, p := range packets {
				n := PacketSamples
				var err error
				if i == lost {
					err = replace(dec, packets[i+1], pcm[:n])
				} else {
					n, err = dec.Decode(p, pcm)
				}
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, pcm[:n]...)
			}
			at := lost * PacketSamples
			if c := correlation(in[at:at+PacketSamples], out[at:], 700); c < 0.8 {
				t.Errorf("the lost packet is %.3f like what was said", c)
			}
		})
	}
}

func TestBrokenInputIsAnError(t *testing.T) {
	_, dec := newPair(t, Config{})
	pcm := make([]int16, MaxPacketSamples)
	if _, err := dec.Decode(nil, pcm); err == nil {
		t.Error("an empty packet was decoded")
	}
	if _, err := dec.Decode([]byte{0xff, 0xff, 0xff}, pcm); err == nil {
		t.Error("garbage was decoded")
	}
	enc, _ := newPair(t, Config{})
	packet, err := enc.Encode(voice(0), voice(1))
	if err != nil {
		t.Fatal(err)
	}
	small := pcm[:audio.FrameSamples]
	if _, err := dec.Decode(packet, small); err == nil {
		t.Error("20 ms were decoded into room for 10")
	}
	if err := dec.DecodePLC(pcm[:7]); err == nil {
		t.Error("7 samples were concealed")
	}
	if n, err := dec.Decode(packet, pcm); err != nil || n != PacketSamples {
		t.Errorf("after the errors, a packet gives %d samples, %v", n, err)
	}
}

func TestBadConfigIsRefused(t *testing.T) {
	for _, cfg := range []Config{{Bitrate: -5}, {Complexity: 11}, {LossPerc: 101}} {
		if _, err := NewEncoder(cfg); err == nil || errors.Is(err, ErrUnavailable) {
			t.Errorf("%+v gives %v", cfg, err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	enc, _ := newPair(b, Config{FEC: true})
	first, second := voice(0), voice(1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := enc.Encode(first, second); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	enc, dec := newPair(b, Config{})
	_, packets := encodeVoice(b, enc, 50)
	pcm := make([]int16, MaxPacketSamples)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := dec.Decode(packets[i%len(packets)], pcm); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNothingIsAllocatedPerPacket(t *testing.T) {
	enc, dec := newPair(t, Config{FEC: true})
	first, second := voice(0), voice(1)
	pcm := make([]int16, MaxPacketSamples)
	if n := testing.AllocsPerRun(100, func() {
		packet, err := enc.Encode(first, second)
		if err == nil {
			_, err = dec.Decode(packet, pcm)
		}
		if err == nil {
			err = dec.DecodePLC(pcm[:PacketSamples])
		}
		if err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
