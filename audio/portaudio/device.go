package portaudio

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Default is the device id of the system default.
const Default = "default"

// serverPrefix starts the id of a sound server's device. The server's name for it
// follows.
const serverPrefix = "pulse:"

// Device is a microphone, a speaker or both.
type Device struct {
	// ID is stable between runs: for devices of the sound server "pulse:" and the
	// server's name, which derives from the hardware; otherwise the PortAudio host
	// API in lower case and the device name. The second of two equal IDs ends with
	// "#2".
	ID      string
	Name    string
	HostAPI string

	Inputs, Outputs             int // channels; 0 if the direction is not supported
	DefaultInput, DefaultOutput bool
	SampleRate                  float64       // native rate, in Hz
	InputLatency, OutputLatency time.Duration // minimum usable latency

	index  int    // index in the library's list
	server string // name at the sound server; "" for devices of the library's list
	muted  bool   // in the sound server's settings
}

// sameDevices reports whether two lists have the same devices, muted or not.
func sameDevices(a, b []Device) bool {
	return slices.EqualFunc(a, b, func(x, y Device) bool {
		x.muted = y.muted
		return x == y
	})
}

// direction is capture or playback.
type direction bool

const (
	capture  direction = true
	playback direction = false
)

func (d direction) String() string {
	if d == capture {
		return "microphone"
	}
	return "speaker"
}

func (d Device) channels(dir direction) int {
	if dir == capture {
		return d.Inputs
	}
	return d.Outputs
}

func (d Device) isDefault(dir direction) bool {
	if dir == capture {
		return d.DefaultInput
	}
	return d.DefaultOutput
}

func (d Device) latency(dir direction) time.Duration {
	if dir == capture {
		return d.InputLatency
	}
	return d.OutputLatency
}

// apiOrder lists the preferred host APIs of an operating system; other APIs come
// last. Windows lists each device once per API, and PortAudio prefers MME, which adds
// 200 ms of latency and truncates names.
var apiOrder = map[string][]string{
	"windows": {"Windows WASAPI", "Windows DirectSound", "MME"},
}

// prefer sorts devices by the preferred APIs of an operating system. The default
// devices are those of the first API that has one. apiDefault reports whether a
// device is the default of its API.
func prefer(goos string, devices []Device, apiDefault func(Device, direction) bool) {
	order := apiOrder[goos]
	if order == nil {
		return
	}
	rank := func(d Device) int {
		if i := slices.Index(order, d.HostAPI); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(devices, func(a, b Device) int { return rank(a) - rank(b) })
	for _, dir := range []direction{capture, playback} {
		first := slices.IndexFunc(devices, func(d Device) bool { return d.channels(dir) > 0 && apiDefault(d, dir) })
		if first < 0 {
			continue // keep PortAudio's choice
		}
		for i := range devices {
			if dir == capture {
				devices[i].DefaultInput = i == first
			} else {
				devices[i].DefaultOutput = i == first
			}
		}
	}
}

// assignIDs sets the IDs of the devices in the library's list.
func assignIDs(devices []Device) {
	seen := map[string]int{}
	for i := range devices {
		id := strings.ToLower(devices[i].HostAPI) + ":" + devices[i].Name
		seen[id]++
		if n := seen[id]; n > 1 {
			id = fmt.Sprintf("%s#%d", id, n)
		}
		devices[i].ID = id
	}
}

// choose finds the device for an id, a name, or a part of a name that only one device
// has. "" and Default mean the system default.
func choose(devices []Device, id string, dir direction) (Device, error) {
	if id == "" {
		id = Default
	}
	var parts []Device
	for _, d := range devices {
		switch {
		case d.channels(dir) == 0:
		case id == d.ID, strings.EqualFold(id, d.Name) && id != Default, id == Default && d.isDefault(dir):
			return d, nil
		case id != Default && strings.Contains(strings.ToLower(d.Name), strings.ToLower(id)):
			parts = append(parts, d)
		}
	}
	switch {
	case len(parts) == 1:
		return parts[0], nil
	case len(parts) > 1:
		return Device{}, unavailable(id, fmt.Errorf("the name matches %d devices", len(parts)),
			"use an ID that agentvoice-daemon devices lists")
	case id == Default:
		return Device{}, unavailable(id, fmt.Errorf("no %s found", dir), remedyNone(dir))
	default:
		return Device{}, unavailable(id, fmt.Errorf("no such %s", dir),
			"choose one that agentvoice-daemon devices lists, or use default")
	}
}

func remedyNone(dir direction) string {
	return fmt.Sprintf("connect a %s; on Linux also start PulseAudio or PipeWire and install libasound2-plugins", dir)
}

// merge puts the devices of a sound server before those of the library's list, without
// ALSA's names for the server's default.
func merge(server, library []Device) []Device {
	if len(server) == 0 {
		return library
	}
	all := slices.Clone(server)
	for _, d := range library {
		if d.HostAPI == "ALSA" && slices.Contains([]string{"default", "pulse", "pipewire"}, d.Name) {
			continue
		}
		d.DefaultInput, d.DefaultOutput = false, false
		all = append(all, d)
	}
	return all
}

func unavailable(id string, err error, remedy string) error {
	return &audio.DeviceError{Code: "deviceUnavailable", Device: id, Err: err, Remedy: remedy}
}

// The ways in which a device is lost.
var (
	errStalled    = errors.New("device has stopped")
	errServerGone = errors.New("sound server has ended")
)

func lost(id string, err error, dir direction) error {
	return &audio.DeviceError{
		Code: "deviceLost", Device: id, Err: err,
		Remedy: fmt.Sprintf("check that the %s is connected and the sound server runs, or choose another one", dir),
	}
}
