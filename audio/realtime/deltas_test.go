package realtime

import (
	"encoding/base64"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
)

// deltaOf returns an event with a tone of duration d, as a service sends it.
func deltaOf(response string, d time.Duration) sound {
	raw := make([]byte, 2*int(d*socketRate/time.Second))
	for i := 0; i < len(raw); i += 2 {
		v := int16(8000 * math.Sin(2*math.Pi*440*float64(i/2)/socketRate))
		raw[i], raw[i+1] = byte(v), byte(v>>8)
	}
	return sound{response: response, delta: base64.StdEncoding.EncodeToString(raw)}
}

func newDeltas(t *testing.T) *deltas {
	t.Helper()
	s, err := newSocket(newUplink(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.cancel)
	return &s.down
}

// played is what the player receives from deltas, by response.
type played struct {
	samples map[string]int
	ended   []string
	gen     uint32
	deaf    string // the response that is not delivered
}

func (h *played) play(c chunk) (audio.SegmentID, bool) {
	if c.ends {
		h.ended = append(h.ended, c.response)
	}
	if c.response == h.deaf {
		return audio.SegmentID{Gen: h.gen}, false
	}
	h.samples[c.response] += len(c.pcm)
	return audio.SegmentID{Gen: h.gen}, true
}

// Audio arrives as fast as the service generates it, and is delivered at most deltaLead
// before it is played, completely and at the player's rate. A new generation starts
// immediately.
func TestDeltasAreHandedOverAhead(t *testing.T) {
	d, h, now := newDeltas(t), &played{samples: map[string]int{}, gen: 1}, time.Unix(1000, 0)
	seconds := func(response string) float64 { return float64(h.samples[response]) / audio.SampleRate }
	if !d.push(deltaOf("r1", 30*time.Second), now) || !d.push(sound{response: "r1", ends: true}, now) {
		t.Fatal("the audio is not taken")
	}
	d.drain(now, h.play)
	if got := seconds("r1"); got < 20 || got > 20.2 {
		t.Errorf("%.2f s are handed over at once, want 20", got)
	}
	for _, wait := range []time.Duration{time.Second, 4 * time.Second} {
		if at := d.deadline(); at.After(now.Add(200*time.Millisecond)) || at.Before(now) {
			t.Errorf("the next piece is due at %v, want soon", at.Sub(now))
		}
		now = now.Add(wait)
		d.drain(now, h.play)
	}
	if got := seconds("r1"); got < 25 || got > 25.2 || len(h.ended) != 0 {
		t.Errorf("%.2f s are handed over after 5 s, want 25; ended %v", got, h.ended)
	}
	d.drop()
	if !d.deadline().Equal(farAway) || d.held != 0 {
		t.Errorf("something is left: %d bytes", d.held)
	}
	h.gen = 2
	d.push(deltaOf("r2", time.Second), now)
	d.push(sound{response: "r2", ends: true}, now)
	d.drain(now, h.play)
	if got := h.samples["r2"]; got != audio.SampleRate || !slices.Equal(h.ended, []string{"r2"}) {
		t.Errorf("%d samples of the answer after an interruption, ended %v", got, h.ended)
	}
	h.gen = 3 // all of the previous generation was delivered, and flushed by the player
	d.push(deltaOf("r3", 2*time.Second), now)
	d.drain(now, h.play)
	if got := seconds("r3"); got < 1.9 {
		t.Errorf("%.2f s of a new generation are handed over, want 2", got)
	}
	h.deaf = "r4"
	d.push(deltaOf("r4", 2*time.Second), now)
	d.push(deltaOf("r5", time.Second), now)
	d.drain(now, h.play)
	if got := seconds("r5"); got < 0.9 {
		t.Errorf("what nobody hears holds up the rest: %.2f s", got)
	}
}

// Invalid audio, and more than a service may send ahead, is rejected.
func TestDeltasAreBounded(t *testing.T) {
	d, now := newDeltas(t), time.Unix(1000, 0)
	for _, s := range []sound{{response: "r1", delta: "*"}, {response: "r1", delta: "AAA="[:3]}, {delta: "AAAA"}} {
		if d.push(s, now) {
			t.Errorf("%+v is taken", s)
		}
	}
	minute := deltaOf("r1", time.Minute)
	for range 7 {
		d.push(minute, now)
	}
	for range 1 << 20 {
		d.push(sound{response: "r1", delta: ""}, now)
	}
	if d.held > deltasHeld || len(d.queue) > deltasHeld/deltaCost || d.queue[3].raw == nil || len(d.queue[4].raw) != 0 {
		t.Errorf("%d bytes are held in %d events, want four minutes and what fits behind them", d.held, len(d.queue))
	}
	if !d.push(sound{response: "r1", ends: true}, now) {
		t.Error("the end is not taken")
	}
}

// A network that blocks media is not retried for ten minutes, and then once. Another
// network is tried immediately. The clock is virtual.
func TestNetworksAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := []provider.Transport{provider.WebRTC, provider.WebSocket}
		n := &Networks{}
		first := func(network string) provider.Transport { return n.order(network, of)[0] }
		if first("office") != provider.WebRTC {
			t.Error("the WebSocket is first on a new network")
		}
		n.connected("office", true)
		time.Sleep(9 * time.Minute)
		if first("office") != provider.WebSocket || first("home") != provider.WebRTC {
			t.Error("after 9 min: the office is forgotten, or taken for home")
		}
		n.connected("office", true) // does not restart the ten minutes
		time.Sleep(time.Minute)
		if first("office") != provider.WebRTC {
			t.Error("UDP is not tried again after 10 min")
		}
		n.connected("office", true)
		if first("office") != provider.WebSocket {
			t.Error("UDP was blocked again, and that is not remembered")
		}
		n.connected("office", false)
		if first("office") != provider.WebRTC {
			t.Error("media passed, and that is not remembered")
		}
		if got := n.order("office", of[:1]); !slices.Equal(got, of[:1]) {
			t.Errorf("a service without WebSocket is dialled over %v", got)
		}
		var none *Networks
		none.connected(none.here(), true)
		if got := none.order(none.here(), of); !slices.Equal(got, of) {
			t.Errorf("without memory: %v", got)
		}
	})
	var one, other Networks
	if one.here() != other.here() {
		t.Error("the network of this machine has two names")
	}
}
