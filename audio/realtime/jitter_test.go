package realtime

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtp"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
)

// TestJitter identifies packets by the last digits of their sequence number, arriving
// 20 ms apart; "a+n" means that a was delivered with n lost before it.
func TestJitter(t *testing.T) {
	for name, c := range map[string]struct {
		start         uint16
		arrive, leave string
		late          uint64
	}{
		"in order, around the wrap":  {65533, "0 1 2 3 4 5", "0 1 2 3 4 5", 0},
		"two change places":          {0, "0 2 1 3", "0 1 2 3", 0},
		"one is lost":                {0, "0 2 3 4 5 6", "0 2+1 3 4 5 6", 0},
		"one is lost at the wrap":    {65534, "0 1 3 4 5 6", "0 1 3+1 4 5 6", 0},
		"three are lost":             {0, "0 4 5 6 7", "0 4+3 5 6 7", 0},
		"one comes too late":         {0, "0 2 3 4 5 1 6", "0 2+1 3 4 5 6", 1},
		"one comes twice":            {0, "0 1 1 2", "0 1 2", 1},
		"one waits twice":            {0, "0 2 2 1 3", "0 1 2 3", 1},
		"a new stream":               {0, "0 1 3000 3001", "0 1 3000 3001", 0},
		"a new stream over a gap":    {0, "0 2 3000 3001", "0 3000 3001", 0},
		"a new stream, further back": {0, "700 701 0 1", "700 701 0 1", 0},
		"one comes much too late":    {0, "700 701 300", "700 701", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var j jitter
			var got []string
			now := time.Unix(1000, 0)
			drain := func() {
				for {
					p, lost, _ := j.pop(now)
					if p.Packet == nil {
						return
					}
					s := fmt.Sprint(p.SequenceNumber - c.start)
					if lost > 0 {
						s += fmt.Sprintf("+%d", lost)
					}
					got = append(got, s)
				}
			}
			for _, f := range strings.Fields(c.arrive) {
				var n uint16
				if _, err := fmt.Sscan(f, &n); err != nil {
					t.Fatal(err)
				}
				j.push(&rtp.Packet{Header: rtp.Header{SequenceNumber: c.start + n}}, now)
				drain()
				now = now.Add(20 * time.Millisecond)
				drain()
			}
			if s := strings.Join(got, " "); s != c.leave {
				t.Errorf("got %s, want %s", s, c.leave)
			}
			if j.late != c.late {
				t.Errorf("%d late, want %d", j.late, c.late)
			}
		})
	}
}

// TestJitterSources checks that a packet of another source begins a new stream,
// whatever its number.
func TestJitterSources(t *testing.T) {
	var j jitter
	for i, ssrc := range []uint32{1, 1, 2, 1} {
		j.push(&rtp.Packet{Header: rtp.Header{SSRC: ssrc, SequenceNumber: uint16(i)}}, time.Unix(1000, 0))
		if p, lost, fresh := j.pop(time.Unix(1000, 0)); p.Packet == nil || lost != 0 || fresh != (i != 1) {
			t.Errorf("packet %d of source %d: lost %d, begins a stream: %v", i, ssrc, lost, fresh)
		}
	}
}

// TestJitterWaitsForTheFirstBehindAGap checks that the packet that arrived first limits
// the wait, whichever is played first.
func TestJitterWaitsForTheFirstBehindAGap(t *testing.T) {
	var j jitter
	now := time.Unix(1000, 0)
	for _, p := range []struct {
		n  uint16
		at time.Duration
	}{{0, 0}, {3, 0}, {2, 20 * time.Millisecond}} {
		j.push(&rtp.Packet{Header: rtp.Header{SequenceNumber: p.n}}, now.Add(p.at))
		if p.n == 0 {
			j.pop(now)
		}
	}
	if at := j.deadline(); at != now.Add(60*time.Millisecond) {
		t.Errorf("the wait ends after %v, want 60 ms", at.Sub(now))
	}
}

// TestJitterBounds checks that the wait for a gap is at most the bound, and that a
// burst ends the wait immediately.
func TestJitterBounds(t *testing.T) {
	var j jitter
	now := time.Unix(1000, 0)
	push := func(n uint16) { j.push(&rtp.Packet{Header: rtp.Header{SequenceNumber: n}}, now) }
	push(0)
	_, _, fresh := j.pop(now)
	if !fresh {
		t.Error("a stream does not begin")
	}
	push(2)
	if p, _, _ := j.pop(now.Add(jitterLeast - 1)); p.Packet != nil {
		t.Error("the wait was too short")
	}
	if at := j.deadline(); at != now.Add(jitterLeast) {
		t.Errorf("the wait ends at %v", at.Sub(now))
	}
	if p, lost, fresh := j.pop(now.Add(jitterLeast)); p.Packet == nil || lost != 1 || fresh {
		t.Error("the wait was too long")
	}
	for n := range uint16(jitterHeld) {
		push(n + 10)
	}
	if p, lost, _ := j.pop(now); p.Packet == nil || lost != 7 {
		t.Error("a burst waits")
	}
	j.drop()
	if p, _, _ := j.pop(now.Add(time.Hour)); p.Packet != nil {
		t.Error("a packet that was dropped comes")
	}
	push(10 + jitterHeld)
	if p, lost, _ := j.pop(now); p.Packet == nil || lost != 0 {
		t.Error("dropped packets count as lost")
	}
}

// TestDownlinkResumes checks that a pause whose first packet is lost is detected from
// the timestamps, unlike a loss within speech.
func TestDownlinkResumes(t *testing.T) {
	enc, err := opus.NewEncoder(opus.Config{FEC: true})
	if err != nil {
		t.Skip(err)
	}
	payload, err := enc.Encode(&audio.Frame{}, &audio.Frame{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDownlink()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	var got []string
	for _, p := range []struct{ seq, packets uint16 }{ // timestamp offset from the first, in packets
		{65533, 0}, {65534, 1}, {0, 3}, // one is lost within speech
		{1, 5}, {2, 6}, // a pause whose first packet arrived
		{4, 10}, {5, 11}, // a pause whose first packet is lost
		{9, 15},  // three are lost within speech
		{11, 16}, // padding is lost, which has no duration
	} {
		d.push(sound{packet: &rtp.Packet{Header: rtp.Header{SequenceNumber: p.seq, Timestamp: 1<<32 - 2*packetSamples + uint32(p.packets)*packetSamples},
			Payload: payload}}, now)
		now = now.Add(jitterMost)
		d.drain(now, func(c chunk) (seg audio.SegmentID, heard bool) {
			if c.resumes {
				got = append(got, fmt.Sprint(p.seq))
			}
			return seg, true
		})
	}
	if s := strings.Join(got, " "); s != "65533 4" {
		t.Errorf("the stream resumes at %s, want 65533 4", s)
	}
	if d.lost != 6 || d.concealed != 6 {
		t.Errorf("%d lost, %d concealed, want 6", d.lost, d.concealed)
	}
}
