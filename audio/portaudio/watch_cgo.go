//go:build cgo

package portaudio

import (
	"context"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// lookEvery is the polling interval where no server reports changes.
const lookEvery = 2 * time.Second

// Watch calls changed with the current devices, and again whenever the list changes,
// until ctx is done; it then returns ctx.Err(). changed runs on Watch's goroutine.
//
// A sound server reports changes at once, even while devices are open. Without one,
// PortAudio's list is rebuilt every two seconds, but only while no device is open:
// until then a disconnected device shows as the loss of an open one, and a new device
// does not show.
func Watch(ctx context.Context, changed func([]Device)) error { return watch(ctx, Devices, changed) }

func watch(ctx context.Context, list func() ([]Device, error), changed func([]Device)) error {
	var last []Device
	first := true
	look := func() (listed bool) {
		devices, err := list()
		if err != nil {
			return false // it may succeed again soon
		}
		if first || !sameDevices(devices, last) {
			first, last = false, devices
			changed(devices)
		}
		return true
	}
	for {
		look()
		if server, err := dialServer(ctx, firstAnswer); err == nil {
			watchServer(ctx, server, look)
			server.Close()
			if ctx.Err() == nil {
				look()
			}
		}
		timer := time.NewTimer(lookEvery)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// watchServer calls look when the devices of a server have changed, until the server
// ends or does not answer, or look fails.
func watchServer(ctx context.Context, server *soundServer, look func() bool) {
	ask := func(request func(context.Context) error) bool {
		ctx, cancel := audio.WithTimeout(ctx, firstAnswer)
		defer cancel()
		return request(ctx) == nil
	}
	var devices []Device
	list := func(ctx context.Context) (err error) {
		devices, err = server.devices(ctx)
		return err
	}
	if !ask(server.subscribe) || !ask(list) {
		return
	}
	if !look() { // a change may have occurred before the subscription
		return
	}
	for last := devices; ; last = devices {
		select {
		case <-ctx.Done():
			return
		case <-server.gone:
			return
		case <-server.changed:
		}
		if !ask(list) {
			return
		}
		if !sameDevices(devices, last) && !look() { // and not just a volume
			return
		}
	}
}
