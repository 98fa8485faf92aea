//go:build cgo

package opus

import (
	"errors"
	"math"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// voice is a synthetic speech-like signal: syllables of 160 ms with a gliding pitch,
// with pauses of 80 ms.
func voice(frame int) *audio.Frame {
	var f audio.Frame
	for i := range f {
		t := float64(frame*audio.FrameSamples+i) / audio.SampleRate
		in := math.Mod(t, 0.24)
		if in > 0.16 {
			continue
		}
		v := 0.0
		for k := 1.0; k <= 8; k++ {
			v += math.Sin(2*math.Pi*k*(140+200*in)*in) / k
		}
		f[i] = int16(6000 * v * math.Sin(math.Pi*in/0.16))
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

// envelope returns the level of each 10 ms of pcm.
func envelope(pcm []int16) (levels []float64) {
	for ; len(pcm) >= audio.FrameSamples; pcm = pcm[audio.FrameSamples:] {
		levels = append(levels, audio.LevelOf(pcm[:audio.FrameSamples]).RMS)
	}
	return levels
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
	want, got := envelope(in), envelope(out[312:]) // the codec's delay is 6.5 ms
	for i := 2; i < len(got); i++ {
		if loud := want[i] > -30; loud && math.Abs(got[i]-want[i]) > 3 || !loud && got[i] > -20 {
			t.Errorf("frame %d went in with %.1f dBFS and came out with %.1f", i, want[i], got[i])
		}
	}
	if rate := bytes * 8; rate < 16000 || rate > 40000 {
		t.Errorf("one second used %d bits", rate)
	}
}

// TestLostPacketIsRecovered loses the packet in which a syllable starts. The copy in
// the packet after it restores the syllable; concealment, which continues the pause
// before it, cannot.
func TestLostPacketIsRecovered(t *testing.T) {
	const lost = 48 // at 960 ms: a multiple of a syllable
	level := map[string]float64{}
	for name, replace := range map[string]func(d *Decoder, next []byte, pcm []int16) error{
		"fec": func(d *Decoder, next []byte, pcm []int16) error { return d.DecodeFEC(next, pcm) },
		"plc": func(d *Decoder, _ []byte, pcm []int16) error { return d.DecodePLC(pcm) },
	} {
		enc, dec := newPair(t, Config{Bitrate: 20000, FEC: true, LossPerc: 20})
		_, packets := encodeVoice(t, enc, lost+3)
		pcm := make([]int16, MaxPacketSamples)
		for i, p := range packets[:lost+1] {
			var err error
			if i == lost {
				err = replace(dec, packets[i+1], pcm[:PacketSamples])
			} else {
				_, err = dec.Decode(p, pcm)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		level[name] = audio.LevelOf(pcm[:PacketSamples]).RMS
	}
	if level["fec"] < -40 || level["plc"] > level["fec"]-15 {
		t.Errorf("recovered %.1f dBFS, concealed %.1f", level["fec"], level["plc"])
	}
}

// TestConcealmentContinuesTheSound loses a packet in the middle of a syllable.
func TestConcealmentContinuesTheSound(t *testing.T) {
	const lost = 27 // 60 ms into the third syllable
	enc, dec := newPair(t, Config{})
	in, packets := encodeVoice(t, enc, lost)
	pcm := make([]int16, MaxPacketSamples)
	for _, p := range packets {
		if _, err := dec.Decode(p, pcm); err != nil {
			t.Fatal(err)
		}
	}
	if err := dec.DecodePLC(pcm[:PacketSamples]); err != nil {
		t.Fatal(err)
	}
	before, after := audio.LevelOf(in[len(in)-PacketSamples:]).RMS, audio.LevelOf(pcm[:PacketSamples]).RMS
	if math.Abs(before-after) > 6 {
		t.Errorf("%.1f dBFS continued at %.1f", before, after)
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
		t.Error("20 ms were decoded into a buffer for 10")
	}
	if err := dec.DecodePLC(pcm[:7]); err == nil {
		t.Error("7 samples were concealed")
	}
	if n, err := dec.Decode(packet, pcm); err != nil || n != PacketSamples {
		t.Errorf("after the errors, a packet gives %d samples, %v", n, err)
	}
}

func TestBadConfigIsRejected(t *testing.T) {
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
		t.Errorf("%v allocations per packet", n)
	}
}
