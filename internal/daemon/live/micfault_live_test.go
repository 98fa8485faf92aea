//go:build cgo

package live

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// realRoom is a microphone with noise, unless it is switched off.
type realRoom struct {
	*room
	muted, off atomic.Bool
}

func (r *realRoom) Muted() bool { return r.muted.Load() }

func (r *realRoom) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	noise := uint32(1)
	return r.room.Run(ctx, func(pos int64, f *audio.Frame) {
		for i := range f {
			noise = noise*1664525 + 1013904223
			f[i] += int16(noise>>30) - 1
		}
		if r.muted.Load() || r.off.Load() {
			clear(f[:])
		}
		deliver(pos, f)
	})
}

// A microphone that is muted in the settings, or switched off, is reported in the snapshot, with
// what to do, and aloud; so is that it works again. A user who muted it here, or is silent, is
// told nothing.
func TestADeadMicrophoneIsReported(t *testing.T) {
	r := &realRoom{room: newRoom()}
	cfg := over(r.room)
	cfg.Source = func(protocol.Settings) (audio.Source, error) { return r, nil }
	tk := idleTalk(t, nil, cfg)
	fault := func(want protocol.ErrorCode) func(protocol.Microphone) bool {
		return func(m protocol.Microphone) bool { return m.Fault == want }
	}
	pass := func() { // five seconds
		r.utter(make([]int16, 5*audio.SampleRate))
		r.wait(t)
	}
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing, protocol.StateListening)
	for _, c := range []struct {
		dead *atomic.Bool
		code protocol.ErrorCode
	}{{&r.off, protocol.CodeMicrophoneSilent}, {&r.muted, protocol.CodeMicrophoneMuted}} {
		c.dead.Store(true)
		tk.microphone(string(c.code), fault(c.code))
		tk.eventually("the user is told", func() bool { return tk.noted(c.code) })
		tk.eventually("it is said aloud", func() bool { return tk.w.aside.sounding() })
		c.dead.Store(false)
		tk.microphone("it works again", fault(""))
		tk.eventually("it was said", func() bool { return !tk.w.aside.sounding() })
	}
	tk.mu.Lock()
	for _, n := range tk.notes {
		if n.Remediation == "" {
			t.Errorf("without a remedy: %+v", n)
		}
	}
	told := len(tk.notes)
	tk.mu.Unlock()
	tk.d.Mute(protocol.MuteParams{Muted: true})
	r.off.Store(true)
	pass()
	r.off.Store(false)
	tk.d.Mute(protocol.MuteParams{Muted: false})
	pass()
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if len(tk.notes) != told || tk.d.Snapshot().Microphone.Fault != "" {
		t.Errorf("muted here, the user is told %+v", tk.notes[told:])
	}
}

// recordedFault is what is reported about a recorded voice whose samples are scaled, with the
// noise of a quiet room, within five seconds.
func recordedFault(t *testing.T, gain float64) (found protocol.ErrorCode) {
	t.Helper()
	w := &World{cfg: Config{Log: zerolog.Nop(), Detector: detector}, port: daemon.Port{
		Faulty: func(code protocol.ErrorCode) { found = code }, Spoken: func(protocol.ErrorCode) string { return "" },
	}}
	w.voice = newVoice(w)
	w.aside = newAside(w, w.voice.player.Render)
	w.link = newLink(w)
	w.devices = newDevices(w)
	e, err := newEar(w, protocol.DefaultSettings())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		w.devices.q.Close(func() {})
		w.link.shut()
		if err := errors.Join(e.close(), w.voice.shut()); err != nil {
			t.Error(err)
		}
	}()
	e.front.Attach(nil, wavio.Null{})
	if !e.ready(t.Context()) || !e.front.Finds() {
		t.Fatal("the detectors are not loaded")
	}
	pcm, err := wavio.ReadAll(filepath.Join(recordings, sentence))
	if err != nil {
		t.Fatal(err)
	}
	pcm = append(make([]int16, audio.SampleRate), pcm...)
	noise, source := uint32(1), &realRoom{room: newRoom()}
	for pos := 0; pos+audio.FrameSamples <= min(len(pcm), 6*audio.SampleRate); pos += audio.FrameSamples {
		f := audio.Frame(pcm[pos:])
		for i, s := range f {
			noise = noise*1664525 + 1013904223
			f[i] = int16(min(max(float64(s)*gain+float64(noise>>29)-3.5, math.MinInt16), math.MaxInt16))
		}
		e.hear(int64(pos), &f)
		w.devices.judgeMicrophone(source, e, f == audio.Frame{})
	}
	return found
}

// What a microphone recorded too loud or too faint is a fault; what it recorded well is none.
func TestRecordedFaultsOfTheMicrophone(t *testing.T) {
	for name, c := range map[string]struct {
		gain float64
		want protocol.ErrorCode
	}{
		"as recorded": {1, ""},
		"20 dB down":  {0.1, ""},
		"46 dB down":  {0.005, protocol.CodeMicrophoneQuiet},
		"silence":     {0, ""},
		"clipped":     {8, protocol.CodeMicrophoneClips},
	} {
		if got := recordedFault(t, c.gain); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
