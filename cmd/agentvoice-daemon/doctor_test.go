//go:build cgo && linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
	"github.com/agentvoice/agentvoice-daemon/internal/miclock"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/pulse"
)

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// examined runs the sound checks and logs doctor's output.
func examined(t *testing.T, c soundCheck) []finding {
	t.Helper()
	if c.in == "" {
		c.in = portaudio.Default
	}
	if c.out == "" {
		c.out = portaudio.Default
	}
	if c.say == nil {
		c.say = func(string) {}
	}
	begun := time.Now()
	all := examineSound(bounded(t), c)
	var text strings.Builder
	show(&text, all)
	t.Logf("after %v:\n%s", time.Since(begun).Round(time.Millisecond), text.String())
	for _, f := range all {
		if f.OK != (f.Fix == "") || !f.OK && !strings.HasSuffix(f.Detail, "; "+f.Fix) {
			t.Errorf("%s: OK is %v, but fix is %q, detail %q", f.Check, f.OK, f.Fix, f.Detail)
		}
	}
	return all
}

// inRoom connects a simulated room to a server's devices; near is played in it
// repeatedly.
func inRoom(t *testing.T, server *pulse.Server, cfg room.Config, near []int16) {
	t.Helper()
	r, err := room.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	server.Connect(func(speaker, microphone, _ *pulse.Frame) {
		var said audio.Frame
		for i := range said {
			if len(near) > 0 {
				said[i], at = near[at], (at+1)%len(near)
			}
		}
		r.Capture(func(f *audio.Frame) { *f = audio.Frame(*speaker) }, &said, (*audio.Frame)(microphone))
	})
}

// human returns speech at a level in dBFS.
func human(t *testing.T, level float64) []int16 {
	t.Helper()
	pcm, err := wavio.ReadAll("/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0870.wav")
	if err != nil {
		t.Fatalf("%v; install pocketsphinx-testdata with `make deps`", err)
	}
	return atLevel(pcm, level)
}

//test:realtime
func TestDoctorReportsMissingDevice(t *testing.T) {
	pulse.ForTest(t)
	all := examined(t, soundCheck{in: "pulse:headset.mic", out: "Headset"})
	wants(t, all, "sound server", true, "2 microphones")
	wants(t, all, "microphone", false, "headset.mic", "no such microphone", "devices lists")
	wants(t, all, "speaker", false, "Headset", "no such speaker", "devices lists")
	if len(all) != 3 {
		t.Error("a missing device was listened to")
	}
}

// TestDoctorReportsDeadServer also covers a hung one; neither takes long.
//
//test:realtime
func TestDoctorReportsDeadServer(t *testing.T) {
	server := pulse.ForTest(t)
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	all := examined(t, soundCheck{})
	if err := server.Thaw(); err != nil {
		t.Fatal(err)
	}
	wants(t, all, "sound server", false, "does not answer", "systemctl --user restart", "pulseaudio --start")
	wants(t, all, "microphone", false, "skipped", "systemctl --user restart")
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	all = examined(t, soundCheck{})
	wants(t, all, "sound server", false, "the sound server does not answer", "PULSE_SERVER", "systemctl --user restart", "pulseaudio --start")
	wants(t, all, "microphone", false, "skipped", "pulseaudio --start")
	wants(t, all, "speaker", false, "skipped", "pulseaudio --start")
}

//test:realtime
func TestDoctorReportsSilentMicrophone(t *testing.T) {
	server := pulse.ForTest(t)
	all := examined(t, soundCheck{aloud: true})
	wants(t, all, "microphone", true, "reported latency")
	f := wants(t, all, "hearing", false, "only zeros", "unmute it")
	if f.Figures["zeroSeconds"] != 4 { // including the time to wake up
		t.Errorf("the figures are %v", f.Figures)
	}
	wants(t, all, "speaker", true, "reported latency")
	if len(all) != 4 {
		t.Error("the echo was measured with a silent microphone")
	}
	inRoom(t, server, room.Config{Noise: room.Fan(1), NoiseLevel: -95}, nil) // the last bit
	wants(t, examined(t, soundCheck{}), "hearing", false, "too quiet", "raise the input level")
}

// TestDoctorReportsMutedMicrophone distinguishes one that is muted in the settings from one that
// is too quiet.
//
//test:realtime
func TestDoctorReportsMutedMicrophone(t *testing.T) {
	server := pulse.ForTest(t)
	inRoom(t, server, room.Config{Noise: room.Fan(1), NoiseLevel: -85}, human(t, -70))
	wants(t, examined(t, soundCheck{}), "hearing", false, "too quiet to be recognised", "raise the input level")
	if _, err := server.Pactl(bounded(t), "set-source-mute", pulse.MicrophoneName, "1"); err != nil {
		t.Fatal(err)
	}
	wants(t, examined(t, soundCheck{}), "hearing", false, "muted in the system's sound settings", "unmute it there")
}

// TestDoctorReportsClippingMicrophone uses the same voice at full scale and clipped.
//
//test:realtime
func TestDoctorReportsClippingMicrophone(t *testing.T) {
	server := pulse.ForTest(t)
	inRoom(t, server, room.Config{Noise: room.Fan(1), NoiseLevel: -60}, human(t, -20))
	all := examined(t, soundCheck{})
	f := wants(t, all, "hearing", true, "level", "no clipping")
	t.Log(f.Figures)
	wants(t, all, "echo", true, "not measured", "--sound")
	inRoom(t, server, room.Config{Noise: room.Fan(1), NoiseLevel: -60, MicClip: 0.1}, human(t, -16))
	f = wants(t, examined(t, soundCheck{}), "hearing", false, "the microphone clips", "lower the input level")
	t.Log(f.Figures)
}

// TestDoctorMeasuresTheEcho on devices, and checks that nothing is played that another
// conversation would pick up. Clipping is detected even on a machine that is too busy for
// the rest.
//
//test:realtime
func TestDoctorMeasuresTheEcho(t *testing.T) {
	server := pulse.ForTest(t)
	inRoom(t, server, room.Config{Echo: []float32{1}, EchoGain: 30, MicClip: 0.15, Noise: room.Fan(1), NoiseLevel: -65}, nil)
	wants(t, examined(t, soundCheck{aloud: true, busy: true}), "echo", false, "another program", "end that conversation")
	for pos := range server.Tape().Len() / audio.FrameSamples {
		var pcm audio.Frame
		if server.Tape().Copy(pulse.Speaker, pos*audio.FrameSamples, pcm[:]); pcm != (audio.Frame{}) {
			t.Fatal("something was played")
		}
	}
	// Each stall of the machine permanently lengthens the delay through a server's room,
	// unlike with devices, until the echo is not detected. A freshly started server has a
	// short delay again.
	var f finding
	for range 3 {
		var told []string
		all := examined(t, soundCheck{aloud: true, say: func(text string) { told = append(told, text) }})
		if len(told) != 2 || !strings.Contains(told[0], "Listening") || !strings.Contains(told[1], "Playing") {
			t.Errorf("the user was prompted with %q", told)
		}
		f = all[len(all)-1]
		t.Log(f.Figures)
		if f.Figures["loopMs"] > 0 {
			break
		}
		if err := server.Restart(bounded(t)); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, []finding{f}, "echo", false, "not cancelled", "the microphone clips while", "turn the speaker down")
	if f.Figures["loopMs"] < 20 || f.Figures["reportedMs"] < 10 || f.Figures["clippedShare"] < maxClippedShare {
		t.Errorf("the figures are %v", f.Figures)
	}
}

// TestDoctorReportsMicrophoneHolder, and releases the lease immediately.
func TestDoctorReportsMicrophoneHolder(t *testing.T) {
	dir, err := os.MkdirTemp("", "av") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	wants(t, []finding{microphoneHolder(t.Context())}, "microphone lease", true, "free")
	l, err := miclock.Acquire(t.Context(), miclock.Holder{Name: "VS Code: parser"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	wants(t, []finding{microphoneHolder(t.Context())}, "microphone lease", false, `"VS Code: parser"`, "stop the conversation there")
	select {
	case <-l.Lost():
		t.Error("the microphone was taken away")
	default:
	}
}

// TestDoctorHearsRecordings treats a recording like a microphone, and creates none. A
// voice at full scale does not count as clipped.
func TestDoctorHearsRecordings(t *testing.T) {
	dir := t.TempDir()
	loud := human(t, -14)
	peak := int16(0)
	for _, s := range loud {
		peak = max(peak, s, -s)
	}
	for _, c := range []struct {
		name string
		most int16
		ok   bool
	}{{"whole", peak, true}, {"halved", peak / 2, false}, {"low", peak / 4, false}, {"muted", 0, false}} {
		pcm := slices.Clone(loud)
		for i, s := range pcm {
			pcm[i] = min(max(s, -c.most), c.most)
		}
		path := filepath.Join(dir, c.name+".wav")
		if err := wavio.WriteMono(path, audio.SampleRate, pcm); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "out.wav")
		all := examined(t, soundCheck{in: "wav:" + path, out: "wav:" + out})
		t.Log(wants(t, all, "hearing", c.ok).Figures)
		if _, err := os.Stat(out); err == nil || len(all) != 3 {
			t.Errorf("a recording was made, or too much was found: %v", all)
		}
	}
}

// TestDoctorSucceeds if only devices have faults, since recordings can replace them. The
// JSON finding includes its figures.
func TestDoctorSucceeds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "muted.wav")
	if err := wavio.WriteMono(path, audio.SampleRate, make([]int16, audio.SampleRate)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetArgs([]string{"doctor", "--json", "--audio-in", "wav:" + path, "--audio-out", "null"})
	if err := root.ExecuteContext(bounded(t)); err != nil {
		t.Errorf("doctor ends with %v", err)
	}
	var all []finding
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		t.Fatalf("%v in %s", err, out.Bytes())
	}
	f := wants(t, all, "hearing", false, "only zeros")
	if f.Fix == "" || f.Figures["zeroSeconds"] != 1 {
		t.Errorf("programs are told %+v", f)
	}
	wants(t, all, "voice detection", true, "Silero")
}

// atLevel returns pcm with its speech at another level, in dBFS.
func atLevel(pcm []int16, level float64) []int16 {
	gain := math.Pow(10, (level-room.ActiveLevel(pcm))/20)
	out := make([]int16, len(pcm))
	for i, s := range pcm {
		out[i] = int16(min(max(float64(s)*gain, math.MinInt16), math.MaxInt16))
	}
	return out
}
