//go:build cgo && linux && room

package live

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
	"github.com/agentvoice/agentvoice-daemon/bench/roomsim"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/pulse"
	"github.com/agentvoice/agentvoice-daemon/internal/timeline"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

var (
	roomLoad          = flag.Int("load", 0, "how many processes keep the machine busy")
	roomInterruptions = flag.Int("interruptions", 10, "how many answers are interrupted")
)

// headphoneRoom is a room in which only the user is heard. The label channel has the user.
type headphoneRoom struct {
	mu  sync.Mutex
	pcm []int16
}

func (r *headphoneRoom) hear(_, microphone, label *pulse.Frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(label[:])
	r.pcm = r.pcm[copy(label[:], r.pcm):]
	*microphone = *label
}

func (r *headphoneRoom) say(pcm []int16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pcm = append(r.pcm, pcm...)
}

// keepBusy runs n processes that compute until the test ends.
func keepBusy(t *testing.T, n int) {
	for range n {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // it ends by the signal
	}
}

// recordedSilence returns the time from the first sample of the voice at the microphone,
// after a position of the tape, to the speaker's silence, which lasts as long as the voice.
// It returns false if the tape does not have both, or lost samples at the onset.
func recordedSilence(tape *pulse.Tape, from int64, voice []int16) (silent time.Duration, ok bool) {
	onset := tape.Find(pulse.Label, from, voice[:audio.Samples(300*time.Millisecond)])
	if onset < 0 {
		return 0, false
	}
	speaker := make([]int16, len(voice))
	n := int64(tape.Copy(pulse.Speaker, onset, speaker))
	levels := roomsim.NewTape(0)
	levels.Push(speaker)
	for at := int64(0); ; {
		if at, ok = levels.Silent(at, n); !ok {
			return 0, false
		}
		again, sounds := levels.Sounds(at, n)
		if !sounds {
			return audio.Duration(at), at > 0 // else the speaker had a gap at the onset
		}
		at = again // it was an underrun or a pause of the voice
	}
}

// roomConversation is a live conversation with real devices.
type roomConversation struct {
	*talk
	sink   *portaudio.Sink
	source *portaudio.Source
}

func newRoomConversation(t *testing.T) *roomConversation {
	c := &roomConversation{sink: portaudio.NewSink(portaudio.Default), source: portaudio.NewSource(portaudio.Default)}
	set := protocol.DefaultSettings()
	set.Cues.Enabled = false
	agent := &answers{send: says(strings.Repeat("One and two and three and four and five and six and seven and eight and nine and ten and eleven and twelve. ", 4))}
	c.talk = &talk{t: t, agent: agent, news: make(chan struct{}, 1)}
	c.d = daemon.New(daemon.Config{
		Clock: dispatch.NewClock(1), Started: time.Now(), Settings: set, Adapter: agent, Verify: true, Notify: c.notify, Log: zerolog.Nop(),
		World: New(Config{
			Source:  func(protocol.Settings) (audio.Source, error) { return c.source, nil },
			Sink:    func(protocol.Settings) (audio.Sink, error) { return c.sink, nil },
			Engines: engines, Detector: detector, Speed: 1, Log: zerolog.Nop(),
		}),
	})
	return c
}

// until waits for a state.
func (c *roomConversation) until(want protocol.State) {
	c.t.Helper()
	for c.next().State != want {
	}
}

// interrupt speaks over an answer. It returns diagnostics/report, and what the recording
// says. It returns false if they cannot be compared.
func (c *roomConversation) interrupt(ctx context.Context, server *pulse.Server, room *headphoneRoom, voice []int16) (product map[protocol.InterruptionStage]time.Duration, tape time.Duration, ok bool) {
	c.t.Helper()
	running, stop := context.WithCancel(ctx)
	finished := make(chan error, 1)
	go func() { finished <- c.d.Run(running) }()
	c.d.Post(csm.UserStart{})
	c.until(protocol.StateListening)
	c.sendText("count")
	c.until(protocol.StateSpeaking)
	passes := func(d time.Duration) { // in the room
		if err := server.Tape().Wait(ctx, server.Tape().Len()+audio.Samples(d)); err != nil {
			c.t.Fatal(err)
		}
	}
	passes(5 * time.Second)
	from := server.Tape().Len()
	room.say(voice)
	c.until(protocol.StateListening)
	passes(audio.Duration(int64(len(voice))) + time.Second) // the recording may be late
	report := c.d.Interruptions()
	stop()
	if err := <-finished; err != nil {
		c.t.Error(err)
	}
	ok = len(report.Stages) > 0 && report.Confirmed+report.Retracted <= 1
	product = map[protocol.InterruptionStage]time.Duration{}
	for _, s := range report.Stages {
		product[s.Stage] = time.Duration(s.Times.P50 * float64(time.Millisecond))
		ok = ok && s.Times.Count == 1 && s.Stage != protocol.StageResumed
	}
	tape, recorded := recordedSilence(server.Tape(), from, voice)
	_, known := product[protocol.StageSilent]
	c.mu.Lock()
	defer c.mu.Unlock()
	return product, tape, ok && recorded && known && len(c.errors) == 0
}

// TestFiguresOnVirtualDevices interrupts answers in production live, with PortAudio on a
// private sound server, while -load processes compute. It prints what the product says
// and what the recording of microphone and speaker says.
func TestFiguresOnVirtualDevices(t *testing.T) {
	server, room := pulse.ForTest(t), &headphoneRoom{}
	server.Connect(room.hear)
	keepBusy(t, *roomLoad)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	voice := voiceOf(t, sentence)
	var decided, silent, listening, tapes, missing []time.Duration
	for range *roomInterruptions {
		c := newRoomConversation(t)
		product, tape, ok := c.interrupt(ctx, server, room, voice)
		if !ok {
			t.Logf("not comparable: product %v, recording %v", product, tape)
			continue
		}
		t.Logf("product %v, recording %v", product, tape)
		decided, silent = append(decided, product[protocol.StageDecided]), append(silent, product[protocol.StageSilent])
		listening = append(listening, product[protocol.StageListening])
		tapes, missing = append(tapes, tape), append(missing, tape-product[protocol.StageSilent])
	}
	average, err := os.ReadFile("/proc/loadavg") // other programs count too
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("| %d interruptions, %d busy processes, load average %s | p50 | max |", len(tapes), *roomLoad, strings.Fields(string(average))[0])
	for _, row := range []struct {
		name  string
		times []time.Duration
	}{
		{"product: decided", decided}, {"product: silent", silent}, {"product: listening", listening},
		{"recording: silent", tapes}, {"recording minus product", missing},
	} {
		t.Logf("| %s | %d ms | %d ms |", row.name, timeline.Percentile(row.times, 50).Milliseconds(), timeline.Percentile(row.times, 100).Milliseconds())
	}
}
