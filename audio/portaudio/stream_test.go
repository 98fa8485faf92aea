//go:build cgo && linux

package portaudio

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soundServer starts a PulseAudio of our own, whose microphone hears its
// loudspeaker, and makes it what ALSA finds. stop ends it as a crash would.
func soundServer(t *testing.T) (stop func()) {
	t.Helper()
	if _, err := exec.LookPath("pulseaudio"); err != nil {
		t.Skip("pulseaudio is not installed: there is no device to test on")
	}
	dir, err := os.MkdirTemp("", "av") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	// The socket comes last, so that the rest is there when it answers.
	script := fmt.Sprintf(`load-module module-null-sink sink_name=spk rate=48000 channels=2
load-module module-remap-source source_name=mic master=spk.monitor channels=1 channel_map=mono
set-default-sink spk
set-default-source mic
load-module module-native-protocol-unix auth-anonymous=1 socket=%s
`, socket)
	alsa := fmt.Sprintf("pcm.!default { type pulse server \"unix:%[1]s\" }\nctl.!default { type pulse server \"unix:%[1]s\" }\n", socket)
	for name, content := range map[string]string{"script": script, "asound.conf": alsa} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := exec.Command("pulseaudio", "--daemonize=no", "--exit-idle-time=-1", "--disallow-exit", "-n",
		"-F", filepath.Join(dir, "script"), "--disable-shm=yes", "--realtime=no", "--high-priority=no")
	server.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "HOME="+dir)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}
	t.Cleanup(stop)
	t.Setenv("ALSA_CONFIG_PATH", filepath.Join(dir, "asound.conf"))
	t.Setenv("HOME", dir)
	for deadline := time.Now().Add(20 * time.Second); ; {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			_ = conn.Close()
			return stop
		}
		if time.Now().After(deadline) {
			t.Fatalf("pulseaudio does not answer: %v", err)
		}
		time.Sleep(20 * time.Millisecond) // it gives no sign of being ready but this
	}
}

const toneHz = 500

// tone renders a tone for ever.
func tone() func(*audio.Frame) {
	n := 0
	return func(f *audio.Frame) {
		for i := range f {
			f[i] = int16(12000 * math.Sin(2*math.Pi*toneHz*float64(n)/audio.SampleRate))
			n++
		}
	}
}

// amplitude is that of the tone in f.
func amplitude(f *audio.Frame) float64 {
	re, im := 0.0, 0.0
	for i, s := range f {
		a := 2 * math.Pi * toneHz * float64(i) / audio.SampleRate
		re += float64(s) * math.Cos(a)
		im += float64(s) * math.Sin(a)
	}
	return 2 * math.Hypot(re, im) / audio.FrameSamples
}

// hearTone plays the tone and listens until it has come back for half a second.
func hearTone(t *testing.T) {
	t.Helper()
	source, sink := NewSource(Default), NewSink(Default)
	if err := errors.Join(sink.Open(t.Context()), source.Open(t.Context())); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(source.Close(), sink.Close(), source.Close(), sink.Close()); err != nil {
			t.Error(err)
		}
	}()
	if l := sink.Latency(); l <= 0 || l > time.Second {
		t.Errorf("latency %v", l)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	played := make(chan error, 1)
	go func() { played <- sink.Run(ctx, tone()) }()
	heard, frames := 0, 0
	err := source.Run(ctx, func(pos int64, f *audio.Frame) {
		frames++
		if a := amplitude(f); math.Abs(a-12000) < 600 {
			heard++
		}
		if heard == 50 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("capture ended with %v after %d frames, %d of them the tone", err, frames, heard)
	}
	if err := <-played; !errors.Is(err, context.Canceled) {
		t.Errorf("playback ended with %v", err)
	}
}

func TestToneComesBackAndDeviceIsLost(t *testing.T) {
	stop := soundServer(t)
	devices, err := Devices()
	if err != nil {
		t.Fatal(err)
	}
	in, inErr := choose(devices, Default, capture)
	out, outErr := choose(devices, Default, playback)
	if inErr != nil || outErr != nil || in.HostAPI != "ALSA" || out.ID != "alsa:default" || in.SampleRate <= 0 {
		t.Fatalf("devices %+v", devices)
	}
	hearTone(t)

	source := NewSource(in.ID)
	if err := source.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var killed time.Time
	err = source.Run(ctx, func(pos int64, _ *audio.Frame) {
		if pos == 2*settled*audio.FrameSamples {
			stop()
			killed = time.Now()
		}
	})
	var device *audio.DeviceError
	if !errors.As(err, &device) || device.Code != "deviceLost" || device.Remedy == "" {
		t.Errorf("without its server, capture ended with %v", err)
	}
	if took := time.Since(killed); took > 2*stallTime {
		t.Errorf("the loss was noticed after %v", took)
	}
	if err := source.Close(); err != nil {
		t.Error(err)
	}
	if err := source.Open(t.Context()); !errors.As(err, &device) || device.Code != "deviceUnavailable" {
		t.Errorf("without a server, Open gives %v", err)
	}

	soundServer(t)
	hearTone(t)
}

// TestProbingIsSilent: what the libraries below print would end up in the terminal
// and in the daemon's log.
func TestProbingIsSilent(t *testing.T) {
	if os.Getenv("PORTAUDIO_TEST_PROBE") != "" {
		_, _ = Devices()
		_ = NewSource("no such device").Open(t.Context())
		return
	}
	probe := exec.Command(os.Args[0], "-test.run=^TestProbingIsSilent$")
	probe.Env = append(os.Environ(), "PORTAUDIO_TEST_PROBE=1")
	stderr, err := probe.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := probe.Start(); err != nil {
		t.Fatal(err)
	}
	printed := make([]byte, 4096)
	n, _ := stderr.Read(printed)
	if err := probe.Wait(); err != nil || n > 0 {
		t.Errorf("probing the devices printed %q (%v)", printed[:n], err)
	}
}

func TestRunNeedsOpen(t *testing.T) {
	var device *audio.DeviceError
	if err := NewSource("").Run(t.Context(), nil); !errors.As(err, &device) {
		t.Errorf("a source runs: %v", err)
	}
	if err := NewSink("").Run(t.Context(), nil); !errors.As(err, &device) {
		t.Errorf("a sink runs: %v", err)
	}
}

func TestRingLosesWhatDoesNotFit(t *testing.T) {
	var r captureRing
	for i := range 100 {
		r.push(&audio.Frame{int16(i)})
	}
	var got []int64
	r.drain(func(pos int64, f *audio.Frame) {
		if int64(f[0])*audio.FrameSamples != pos {
			t.Errorf("frame %d is at %d", f[0], pos)
		}
		got = append(got, pos)
	})
	r.push(&audio.Frame{100})
	r.drain(func(pos int64, _ *audio.Frame) { got = append(got, pos) })
	if len(got) != 65 || got[64] != 100*audio.FrameSamples {
		t.Errorf("%d frames, the last at %d", len(got), got[len(got)-1])
	}
}
