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

// wants checks a finding and that its detail contains the words.
func wants(t *testing.T, all []finding, name string, ok bool, words ...string) finding {
	t.Helper()
	i := slices.IndexFunc(all, func(f finding) bool { return f.Check == name })
	if i < 0 {
		t.Fatalf("no check of the %s", name)
	}
	if all[i].OK != ok {
		t.Errorf("%s: OK is %v, want %v; detail %q", name, all[i].OK, ok, all[i].Detail)
	}
	for _, w := range words {
		if !strings.Contains(all[i].Detail, w) {
			t.Errorf("%s: detail %q does not contain %q", name, all[i].Detail, w)
		}
	}
	return all[i]
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

func echoIn(t *testing.T, shape string) []float32 {
	t.Helper()
	s, ok := room.ShapeNamed(shape)
	if !ok {
		t.Fatalf("unknown room %s", shape)
	}
	return s.EchoResponse()
}

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

// TestDoctorReportsClippingMicrophone uses the same voice at full scale and clipped.
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

// simulated is a room with a microphone and a speaker on one clock that runs as fast as
// possible.
type simulated struct {
	capture func(render func(*audio.Frame), microphone *audio.Frame)
	renders chan func(*audio.Frame)
}

type (
	simulatedMicrophone struct{ *simulated }
	simulatedSpeaker    struct{ *simulated }
)

func (*simulated) Open(context.Context) error   { return nil }
func (*simulated) Close() error                 { return nil }
func (simulatedSpeaker) Latency() time.Duration { return 40 * time.Millisecond }

func (s simulatedSpeaker) Run(ctx context.Context, render func(*audio.Frame)) error {
	s.renders <- render
	<-ctx.Done()
	return ctx.Err()
}

func (s simulatedMicrophone) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	render := <-s.renders
	var f audio.Frame
	for pos := int64(0); ctx.Err() == nil; pos += audio.FrameSamples {
		s.capture(render, &f)
		deliver(pos, &f)
	}
	return ctx.Err()
}

// TestDoctorReportsUncancelledEcho distinguishes an uncancelled echo from a cancelled one
// and from no echo, in simulated rooms without stalls.
func TestDoctorReportsUncancelledEcho(t *testing.T) {
	study, fan := echoIn(t, "study"), room.Fan(1)
	straight := []float32{1}
	delay := 90 * time.Millisecond
	loop := &portaudio.Loop{Delay: delay, Min: delay, Max: delay, Probes: 6}
	shaky := &portaudio.Loop{Delay: delay, Min: 40 * time.Millisecond, Max: 150 * time.Millisecond, Probes: 5}
	simulate := func(cfg room.Config, near []int16) func(func(*audio.Frame), *audio.Frame) {
		cfg.Noise, cfg.NoiseLevel = fan, -65
		r, err := room.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		return func(render func(*audio.Frame), mic *audio.Frame) {
			var said audio.Frame
			for i := range said {
				if len(near) > 0 {
					said[i], at = near[at], (at+1)%len(near)
				}
			}
			r.Capture(render, &said, mic)
		}
	}
	for _, c := range []struct {
		name  string
		room  func(func(*audio.Frame), *audio.Frame)
		loop  *portaudio.Loop // result of the chirps
		ok    bool
		words []string
	}{
		{"a room", simulate(room.Config{Echo: study, EchoGain: -6, Delay: delay}, nil), loop, true, []string{"cancelled: ", "reported latency 40 ms"}},
		{"a loud echo", simulate(room.Config{Echo: straight, EchoGain: 10, Delay: delay}, nil), loop, true, []string{"cancelled: "}},
		{"headphones", simulate(room.Config{}, nil), nil, true, []string{"no audible echo", "headphones"}},
		{"a person speaking", simulate(room.Config{}, human(t, -20)), nil, false, []string{"another sound was louder", "quiet room"}},
		{"a person speaking, and an echo", simulate(room.Config{Echo: straight, EchoGain: -12, Delay: delay}, human(t, -15)), loop, false, []string{"not cancelled", "or another sound was louder", "quiet room"}},
		{"a speaker far too loud", simulate(room.Config{Echo: straight, EchoGain: 48, Delay: delay, SpeakerClip: 0.002}, nil), loop, false, []string{"not cancelled", "too loud", "turn the speaker down"}},
		{"a distorting speaker within the canceller's limits", simulate(room.Config{Echo: straight, EchoGain: 10, Delay: delay, SpeakerClip: 0.02}, nil), loop, true, []string{"cancelled: "}},
		{"an undistorted echo that is too loud", simulate(room.Config{Echo: straight, EchoGain: 16, Delay: delay}, nil), loop, false, []string{"not cancelled", "too loud", "turn the speaker down"}},
		{"a microphone that clips", simulate(room.Config{Echo: straight, EchoGain: 26, Delay: delay, MicClip: 0.101}, nil), loop, false, []string{"not cancelled", "the microphone clips while the speaker plays", "lower the input level"}},
		{"a long delay", simulate(room.Config{Echo: straight, EchoGain: -6, Delay: 900 * time.Millisecond}, nil), nil, false, []string{"not cancelled", "its delay of 9", "a wired speaker"}},
		{"a varying delay", wanders(), shaky, false, []string{"not cancelled", "its delay varies (40 ms to 150 ms)", "wired devices"}},
		{"a varying delay that the chirps miss", wanders(), loop, false, []string{"not cancelled", "distorts it", "sound effects"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &simulated{c.room, make(chan func(*audio.Frame), 1)}
			frames := detectFrames
			if c.ok {
				frames = noiseFrames // ended early by the end of the echo
			} else if c.loop != nil {
				frames = noiseFrames / 2
			}
			e, err := hearEcho(bounded(t), simulatedMicrophone{s}, simulatedSpeaker{s}, speechNoise(frames))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", e)
			detail, err := e.judge(c.loop)
			f := wants(t, []finding{found("echo", false, detail, nil, err)}, "echo", c.ok, c.words...)
			t.Log(f.Detail)
		})
	}
}

// wanders is an echo at half amplitude whose delay changes by 10 ms every 100 ms, up to
// 110 ms.
func wanders() func(func(*audio.Frame), *audio.Frame) {
	var past [12]audio.Frame
	n := 0
	return func(render func(*audio.Frame), mic *audio.Frame) {
		render(&past[n%len(past)])
		late := n / 10 % (2 * len(past))
		late = min(late, 2*len(past)-1-late)
		for i, s := range past[(n-late+len(past))%len(past)] {
			mic[i] = s / 2
		}
		n++
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
