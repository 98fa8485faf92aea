package live

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// wire records the service position at which each frame was sent. Two frames make a
// packet, as on the real uplink.
type wire struct {
	pos  int64
	half bool
	sent map[int16]int64 // position by the number in the frame
}

func (w *wire) Position() int64 { return w.pos }

func (w *wire) WriteFrame(f *audio.Frame) {
	w.sent[f[0]] = w.pos
	w.pos += audio.FrameSamples
	w.half = !w.half
}

func (w *wire) SkipFrame(f *audio.Frame) {
	if w.half {
		w.WriteFrame(f)
		return
	}
	w.pos += audio.FrameSamples
}

// listenThrough passes frames for the given number of seconds, with a voice where voice
// says so, and returns the last base.
func listenThrough(g *gate, w *wire, first int64, seconds int, voice func(n int) bool) (base int64) {
	for n := range seconds * 100 {
		f := audio.Frame{int16(n + 1)}
		base = g.pass(first+int64(n)*audio.FrameSamples, &f, voice(n), w)
	}
	return base
}

func localGate() *gate {
	set := protocol.DefaultSettings()
	set.Provider = protocol.ProviderLocal
	return newGate(set)
}

// TestGateSendsNothingInSilence, except what tells the service that time passes. An
// utterance is sent in full, with 0.8 s before it, at its positions.
func TestGateSendsNothingInSilence(t *testing.T) {
	const from, to = 2000, 2150 // frames
	g, w := localGate(), &wire{sent: map[int16]int64{}}
	voice := func(n int) bool { return n >= from && n < to }
	const first = 48000 * 7
	base := listenThrough(g, w, first, 60, voice)
	if base != first {
		t.Errorf("the service's position 0 was captured at %d, want %d", base, first)
	}
	hold := int(g.hold / audio.FrameSamples)
	for n := from - gateFrames; n < to+hold; n++ {
		if pos, ok := w.sent[int16(n+1)]; !ok || pos != int64(n)*audio.FrameSamples {
			t.Fatalf("frame %d was sent: %v, at %d; want it at %d", n, ok, pos, n*audio.FrameSamples)
		}
	}
	silent := 0
	for n := range 6000 {
		if _, ok := w.sent[int16(n+1)]; ok && (n < from-gateFrames || n >= to+hold) {
			silent++
		}
	}
	// The first frames of the call, and a packet every 5 s.
	if most := hold + 2 + 60/5*2; silent > most || silent < hold+8*2 {
		t.Errorf("%d frames of silence were sent, want about %d", silent, most)
	}
}

// TestGateFollowsTheMicrophone: after missing captured audio, later audio is still at
// the captured position given by the base.
func TestGateFollowsTheMicrophone(t *testing.T) {
	g, w := localGate(), &wire{sent: map[int16]int64{}}
	quiet := func(int) bool { return false }
	listenThrough(g, w, 0, 20, quiet)
	const again = 48000 * 100
	base := listenThrough(g, w, again, 20, func(n int) bool { return n == 1999 })
	if got := base + w.sent[2000]; got != again+1999*audio.FrameSamples {
		t.Errorf("the last frame was captured at %d by its position, want %d", got, again+1999*audio.FrameSamples)
	}
}

// TestGateIsOpen for a service that does not treat missing audio as silence, or that
// needs more audio before an utterance than is kept.
func TestGateIsOpen(t *testing.T) {
	online, padded := protocol.DefaultSettings(), protocol.DefaultSettings()
	online.Provider = protocol.ProviderOpenAI
	padded.Provider = protocol.ProviderLocal
	padded.TurnDetection.Mode, padded.TurnDetection.PrefixPadding = protocol.TurnServer, 2*time.Second
	for name, set := range map[string]protocol.Settings{"online": online, "padded": padded} {
		w := &wire{sent: map[int16]int64{}}
		listenThrough(newGate(set), w, 0, 10, func(int) bool { return false })
		if len(w.sent) != 1000 {
			t.Errorf("%s: %d of 1000 frames were sent", name, len(w.sent))
		}
	}
}
