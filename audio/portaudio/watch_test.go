//go:build cgo && linux

package portaudio

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/testutil/pulse"
)

// TestWatchListsAgain: a change is reported although listing fails right after it, as it
// does if the server is slow.
//
//test:realtime
func TestWatchListsAgain(t *testing.T) {
	server := pulse.ForTest(t)
	ctx, cancel := context.WithCancel(bounded(t))
	var fail atomic.Bool
	failed := make(chan struct{}, 100)
	listed := make(chan []Device, 100)
	ended := make(chan error, 1)
	go func() {
		ended <- watch(ctx, func() ([]Device, error) {
			if fail.Load() {
				failed <- struct{}{}
				return nil, errors.New("no answer")
			}
			return Devices()
		}, func(d []Device) { listed <- d })
	}()
	plug := func(name string) {
		t.Helper()
		if _, err := server.AddSink(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	reported := func(name string) {
		t.Helper()
		for {
			select {
			case l := <-listed:
				if slices.ContainsFunc(l, func(d Device) bool { return d.ID == "pulse:"+name }) {
					return
				}
			case <-ctx.Done():
				t.Fatalf("%s is not reported", name)
			}
		}
	}
	reported("microphone")
	plug("speaker2") // once it is reported, Watch knows the server
	reported("speaker2")
	fail.Store(true)
	plug("headset")
	<-failed
	time.Sleep(500 * time.Millisecond) // until the server has reported everything
	fail.Store(false)
	reported("headset")
	cancel()
	<-ended
}

// TestWatch reports devices that appear and disappear while others are open and the
// library's list is frozen, and the end and the return of the server.
//
//test:realtime
func TestWatch(t *testing.T) {
	server, ctx := pulse.ForTest(t), bounded(t)
	openedHere(t, NewSource(Default))
	lists := make(chan []Device, 100)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- Watch(ctx, func(d []Device) { lists <- d }) }()
	wait := func(id string, want bool) {
		t.Helper()
		for {
			select {
			case l := <-lists:
				if slices.ContainsFunc(l, func(d Device) bool { return d.ID == id }) == want {
					return
				}
			case <-ctx.Done():
				t.Fatalf("no change reported; want %s present: %v", id, want)
			}
		}
	}
	wait("pulse:microphone", true)
	unplug, err := server.AddSink(ctx, "headset")
	if err != nil {
		t.Fatal(err)
	}
	wait("pulse:headset", true)
	if err := unplug(ctx); err != nil {
		t.Fatal(err)
	}
	wait("pulse:headset", false)
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	wait("pulse:microphone", false)
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	wait("pulse:microphone", true)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Watch ends with %v", err)
	}
}
