//go:build cgo

package live

import (
	"errors"
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/front"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// What was learned about two devices applies to the next conversation with them, and is
// dropped for other devices.
func TestTheEchoOfDevicesIsRemembered(t *testing.T) {
	const late = 7000 // samples
	d := &devices{w: &World{cfg: Config{Names: func(s protocol.Settings) (in, out string) {
		return s.Audio.InputDevice, s.Audio.OutputDevice
	}}}}
	converse := func(out string) *ear {
		ends, err := front.New(dsp.Default(), nil)
		if err != nil {
			t.Fatal(err)
		}
		ends.Attach(nil, wavio.Null{})
		e := &ear{front: ends, gone: make(chan struct{})}
		set := protocol.DefaultSettings()
		set.Audio.OutputDevice = out
		d.recall(set, e)
		d.ear.Store(e)
		return e
	}
	found := func(e *ear) bool {
		var f audio.Frame
		if _, err := e.front.Captured(0, &f); err != nil {
			t.Fatal(err)
		}
		_, known := e.correction()
		return known
	}
	first := converse("speaker")
	if found(first) {
		t.Error("something is known of a device that was never heard")
	}
	first.front.Correct(late) // stands for what the ear measured
	d.release()
	second := converse("speaker")
	if n, known := second.correction(); !known || n != late {
		t.Errorf("of the same device %d samples are known: %v", n, known)
	}
	d.release()
	if third := converse("headset"); found(third) {
		t.Error("something is known of another device")
	}
	d.release()
}

// TestConversationsStartWithTheProcessingThatThereIs: without noise suppression the echo is
// still cancelled, and without a canceller the conversation starts nevertheless.
func TestConversationsStartWithTheProcessingThatThereIs(t *testing.T) {
	all := dsp.Config{EchoCancellation: true, HighPass: true, NoiseSuppression: true, GainControl: true}
	for _, c := range []struct {
		name    string
		broken  func(dsp.Config) bool
		asked   dsp.Config
		opened  []dsp.Config
		failing bool
	}{
		{"all", func(dsp.Config) bool { return false }, all, []dsp.Config{all}, false},
		{"no native library", func(c dsp.Config) bool { return c.NoiseSuppression }, all, []dsp.Config{all, dsp.Default()}, false},
		{"no canceller", func(c dsp.Config) bool { return c.EchoCancellation }, dsp.Default(), []dsp.Config{dsp.Default(), {}}, false},
		{"nothing", func(dsp.Config) bool { return true }, dsp.Config{}, []dsp.Config{{}}, true},
	} {
		var opened []dsp.Config
		var reported []error
		unavailable := errors.New("unavailable")
		f, err := openFront(c.asked, func(p dsp.Config) (*front.Front, error) {
			opened = append(opened, p)
			if c.broken(p) {
				return nil, unavailable
			}
			return front.New(dsp.Config{}, nil)
		}, func(err error) { reported = append(reported, err) })
		if f != nil {
			_ = f.Close()
		}
		if (err != nil) != c.failing || (f == nil) != c.failing || !slices.Equal(opened, c.opened) {
			t.Errorf("%s: opened %+v: %v", c.name, opened, err)
		}
		if want := len(opened) - 1; !c.failing && len(reported) != want {
			t.Errorf("%s: reported %v, want %d errors", c.name, reported, want)
		}
	}
}
