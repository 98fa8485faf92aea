//go:build cgo

package live

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/front"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// TestRenderingAllocatesAndPostsNothing, neither during speech nor when a lost speaker
// accepts frames again. internal/archtest checks for locks.
func TestRenderingAllocatesAndPostsNothing(t *testing.T) {
	tap, err := wavio.NewRecorder(filepath.Join(t.TempDir(), "both.wav"))
	if err != nil {
		t.Fatal(err)
	}
	var posted atomic.Int64
	w := &World{cfg: Config{Tap: tap}, port: daemon.Port{
		Post: func(e csm.Event) {
			if _, ok := e.(csm.AudioRestored); ok { // the player's events come from its own goroutine
				posted.Add(1)
			}
		},
		Output: func(daemon.Output) {},
	}}
	w.voice = newVoice(w)
	w.aside = newAside(w, w.voice.player.Render)
	w.cues = newCues(w.aside.render, func() {})
	w.grace = newGrace(w)
	w.devices = newDevices(w)
	defer func() {
		w.devices.q.Close()
		if err := w.voice.shut(); err != nil {
			t.Error(err)
		}
		if err := tap.Close(); err != nil {
			t.Error(err)
		}
	}()
	ends, err := front.New(dsp.Default(), w.voice.player.Hold)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ends.Close() }() // it has no tracker
	ends.Attach(nil, wavio.Null{})
	p := newPlayback(w.devices, 1, wavio.Null{}, &ear{w: w, front: ends})
	seg := audio.SegmentID{Gen: 1, Seq: 1}
	w.voice.player.Start(1)
	if err := w.voice.player.Write(seg, make([]int16, audio.SampleRate)); err != nil {
		t.Fatal(err)
	}
	var f audio.Frame
	if n := testing.AllocsPerRun(50, func() { p.render(&f) }); n != 0 {
		t.Errorf("a frame of speech makes %v allocations", n)
	}
	n := testing.AllocsPerRun(50, func() {
		p.lost.Store(true)
		p.render(&f)
	})
	if n != 0 || posted.Load() != 0 {
		t.Errorf("the first frame after a loss makes %v allocations and posts %d events", n, posted.Load())
	}
	if len(p.back) != 1 || p.lost.Load() {
		t.Error("nobody is woken up to say that the loudspeaker is back")
	}
}
