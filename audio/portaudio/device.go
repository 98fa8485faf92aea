package portaudio

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Default is the device id of the system's choice.
const Default = "default"

// serverPrefix begins the id of a device of the sound server; its name there
// follows.
const serverPrefix = "pulse:"

// Device is a microphone, a speaker or both.
type Device struct {
	// ID is made of the host API and the name, and so stays the same between
	// runs: pulse: and the name at the sound server, which is made of the
	// hardware's, or the API of PortAudio in lower case and the name there. Of
	// equal ones, the second ends with "#2".
	ID      string
	Name    string
	HostAPI string

	Inputs, Outputs             int // channels; 0 when it is no such device
	DefaultInput, DefaultOutput bool
	SampleRate                  float64       // that it prefers, in Hz
	InputLatency, OutputLatency time.Duration // that it can be used with

	index  int    // the library's
	server string // its name at the sound server, "" when it is of the library's list
}

// direction tells capture from playback.
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

// apiOrder is the order in which the host APIs of an operating system are preferred;
// an API that is not in it comes last. Windows lists each device once for each API,
// and PortAudio prefers MME there, which adds a fifth of a second and cuts names off.
var apiOrder = map[string][]string{
	"windows": {"Windows WASAPI", "Windows DirectSound", "MME"},
}

// prefer orders devices by the APIs that an operating system prefers. The default
// devices are those of the first API that has one. apiDefault says whether a device
// is the default one of its API.
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
			continue // PortAudio's choice stays
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

// assignIDs gives each device of the library's list its ID.
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

// choose finds the device that the user means by an id, a name, or a part of a
// name that only one device has; "" and Default are the system's choice.
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
		return Device{}, unavailable(id, fmt.Errorf("%d devices have that in their name", len(parts)),
			"name one of them as agentvoice-daemon devices lists it")
	case id == Default:
		return Device{}, unavailable(id, fmt.Errorf("there is no %s", dir), remedyNone(dir))
	default:
		return Device{}, unavailable(id, fmt.Errorf("there is no such %s", dir),
			"choose one that agentvoice-daemon devices lists, or use default")
	}
}

func remedyNone(dir direction) string {
	return fmt.Sprintf("connect a %s; on Linux also start PulseAudio or PipeWire and install libasound2-plugins", dir)
}

// merge puts the devices of a sound server before those of the library's list,
// which has the server's default again under ALSA's names for it.
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

// errStalled is how the loss of a device shows.
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
