package pulse

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sweep returns a second of sound without repetition.
func sweep() []int16 {
	pcm := make([]int16, SampleRate)
	for i := range pcm {
		s := float64(i) / SampleRate
		pcm[i] = int16(9000*math.Sin(2*math.Pi*(200+900*s)*s)) | 1 // never 0
	}
	return pcm
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestOneClock: spoken audio is on the tape exactly, at the same position in
// microphone and label, and played audio is on it too.
//
//test:realtime
func TestOneClock(t *testing.T) {
	s, ctx := ForTestWith(t, Options{Cushion: 2 * time.Second}), bounded(t) // an underrun would cut the sound
	pcm := sweep()
	var raw bytes.Buffer
	if err := binary.Write(&raw, binary.LittleEndian, pcm); err != nil {
		t.Fatal(err)
	}
	play := s.command("pacat", "--playback", "--raw", "--format=s16le", "--rate=48000", "--channels=1", "--device=speaker", "--latency-msec=2000") // pacat may be late on a busy machine
	play.Stdin = &raw
	p, err := start(play)
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	<-s.Say(pcm)
	<-p.done
	if p.err != nil {
		t.Fatal(p.err)
	}
	if err := s.Tape().Wait(ctx, s.Tape().Len()+5*SampleRate/2); err != nil { // longer than the cushion
		t.Fatal(err)
	}
	mic, label, speaker := s.Tape().Find(Microphone, 0, pcm), s.Tape().Find(Label, 0, pcm), s.Tape().Find(Speaker, 0, pcm[SampleRate/10:SampleRate/2])
	if mic < 0 || mic != label {
		t.Errorf("spoken at %d, labelled at %d", mic, label)
	}
	if speaker < 0 {
		t.Error("played audio is not on the tape")
	}
	s.Tape().Drop(mic)
	if n := s.Tape().Copy(Microphone, mic-1, make([]int16, 1)); n != 0 {
		t.Errorf("%d dropped samples can still be read", n)
	}
	first := make([]int16, 1)
	if n := s.Tape().Copy(Microphone, mic, first); n != 1 || first[0] != pcm[0] {
		t.Errorf("the first kept sample is %v", first[:n])
	}
}

// TestRestartAndPlug adds and removes devices and restarts the server.
//
//test:realtime
func TestRestartAndPlug(t *testing.T) {
	s, ctx := ForTest(t), bounded(t)
	unplug, err := s.AddSink(ctx, "headset")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddSource(ctx, "headset_mic"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetDefault(ctx, Source, "headset_mic"); err != nil {
		t.Fatal(err)
	}
	has := func(what, name string, want bool) {
		t.Helper()
		out, err := s.Pactl(ctx, strings.Fields(what)...)
		if err != nil || strings.Contains(out, name) != want {
			t.Errorf("%s: want %s present: %v, got %q (%v)", what, name, want, out, err)
		}
	}
	has("list short sinks", "headset", true)
	has("get-default-source", "headset_mic", true)
	if err := unplug(ctx); err != nil {
		t.Error(err)
	}
	has("list short sinks", "headset", false)
	if err := s.Remove(ctx, Sink, SpeakerName); err != nil {
		t.Error(err)
	}
	has("list short sinks", SpeakerName, false)
	if err := s.Remove(ctx, Sink, SpeakerName); err == nil {
		t.Error("a speaker was removed twice")
	}
	if err := s.Kill(); err != nil {
		t.Error(err)
	}
	if _, err := s.Pactl(ctx, "info"); err == nil {
		t.Error("a killed server answers")
	}
	if err := s.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	has("list short sinks", SpeakerName, true)
	has("list short sources", "headset_mic", false)
	if err := s.Tape().Wait(ctx, s.Tape().Len()+FrameSamples); err != nil {
		t.Errorf("the tape does not continue: %v", err)
	}
}
