//go:build cgo

package localrealtime

import (
	"math"
	"slices"
	"testing"

	"github.com/pion/rtp"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
)

// stream returns 3 s of packets: a tone from 1 s to 2 s, surrounded by silence.
func stream(t *testing.T) []*rtp.Packet {
	t.Helper()
	enc, err := opus.NewEncoder(opus.Config{FEC: true})
	if err != nil {
		t.Fatal(err)
	}
	pcm := slices.Concat(make([]int16, rtpRate), tone(1000, rtpRate), make([]int16, rtpRate))
	var packets []*rtp.Packet
	for i := 0; len(pcm) > 0; i++ {
		payload, err := enc.Encode((*audio.Frame)(pcm), (*audio.Frame)(pcm[audio.FrameSamples:]))
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, &rtp.Packet{
			Header:  rtp.Header{SequenceNumber: 65530 + uint16(i), Timestamp: 1<<32 - 4800 + uint32(i*opus.PacketSamples)},
			Payload: slices.Clone(payload),
		})
		pcm = pcm[opus.PacketSamples:]
	}
	return packets
}

// onsetAndEnd receives the packets and returns, in ms, where the sound begins and ends,
// and the total length.
func onsetAndEnd(t *testing.T, packets []*rtp.Packet) (onset, end, total int) {
	t.Helper()
	onset = -1
	r, err := newReceiver(func(pcm []int16) bool {
		for i, s := range pcm {
			if math.Abs(float64(s)) > 3000 {
				end = (total + i) / 16
				if onset < 0 {
					onset = end
				}
			}
		}
		total += len(pcm)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packets {
		if !r.receive(p) {
			t.Fatal("receiver stopped")
		}
	}
	return onset, end, total / 16
}

func TestReceiverKeepsPositions(t *testing.T) {
	whole := stream(t)
	without := func(lost ...int) []*rtp.Packet {
		var kept []*rtp.Packet
		for i, p := range whole {
			if !slices.Contains(lost, i) {
				kept = append(kept, p)
			}
		}
		return kept
	}
	swapped := slices.Clone(whole)
	for i := 0; i+3 < len(swapped); i += 4 {
		swapped[i+1], swapped[i+3] = swapped[i+3], swapped[i+1]
	}
	twice := slices.Concat(whole[:80], whole[70:])
	damaged := slices.Clone(whole)
	damaged[20] = &rtp.Packet{Header: whole[20].Header, Payload: []byte{0xff, 0xff, 0xff}}
	padded := slices.Clone(whole)
	padded[20] = &rtp.Packet{Header: whole[20].Header}
	for name, packets := range map[string][]*rtp.Packet{
		"whole": whole, "swapped": swapped, "twice": twice, "damaged": damaged, "empty payload": padded,
		"single losses": without(10, 20, 60, 75, 120), "burst lost": without(20, 21, 22, 23, 24, 25, 26, 27), "edge lost": without(49),
	} {
		t.Run(name, func(t *testing.T) {
			onset, end, total := onsetAndEnd(t, packets)
			// Opus has a look-ahead of 6.5 ms; losing the first packet of the tone
			// costs a packet; the last windows may be incomplete.
			near(t, "onset", int64(onset), 1005, 25)
			near(t, "end", int64(end), 2005, 25)
			near(t, "total", int64(total), 2980, 40)
		})
	}
}

func TestReceiverFillsPauses(t *testing.T) {
	packets := stream(t)
	for _, p := range packets[25:] {
		p.Timestamp += 7 * rtpRate
	}
	onset, end, _ := onsetAndEnd(t, packets)
	near(t, "onset", int64(onset), 8005, 25)
	near(t, "end", int64(end), 9005, 25)
	// A caller that restarts its timestamps continues at the same position.
	packets = stream(t)
	for _, p := range packets[25:] {
		p.Timestamp -= 1 << 30
		p.SequenceNumber -= 20000
	}
	onset, _, _ = onsetAndEnd(t, packets)
	near(t, "onset", int64(onset), 1005, 25)
}

func TestStablePrefix(t *testing.T) {
	var s stablePrefix
	for i, step := range []struct{ partial, delta string }{
		{"", ""}, {"and", ""}, {"and", ""}, {"and mister", ""}, {"and mister john", "and"}, {"and mister john", ""},
		{"and mister john dash", " mister"}, {"and mister joan", ""}, {"and mister john dashwood", ""},
		{"and mister john dashwood", ""}, {"and mister john dashwood", ""}, {"and mister john dashwood", " john dashwood"},
		{"a", ""},
	} {
		if got := s.grow(step.partial); got != step.delta {
			t.Errorf("step %d: %q gives %q, want %q", i, step.partial, got, step.delta)
		}
	}
	if got := s.extend("and mister john dashwood had"); got != " had" {
		t.Errorf("the rest is %q", got)
	}
	if got := s.extend("a mister"); got != "" {
		t.Errorf("what contradicts gives %q", got)
	}
}
