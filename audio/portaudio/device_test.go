package portaudio

import (
	"errors"
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

func TestChoose(t *testing.T) {
	devices := []Device{
		{HostAPI: "ALSA", Name: "USB Headset", Inputs: 1, Outputs: 2},
		{HostAPI: "ALSA", Name: "USB Headset", Inputs: 1, Outputs: 2},
		{HostAPI: "ALSA", Name: "Webcam", Inputs: 2, DefaultInput: true},
		{HostAPI: "ALSA", Name: "HDMI", Outputs: 8, DefaultOutput: true},
		{HostAPI: "JACK", Name: "default", Inputs: 1},
	}
	assignIDs(devices)
	for _, c := range []struct {
		id   string
		dir  direction
		want string // "" for an error
	}{
		{"", capture, "alsa:Webcam"},
		{"default", capture, "alsa:Webcam"},
		{"default", playback, "alsa:HDMI"},
		{"alsa:USB Headset#2", playback, "alsa:USB Headset#2"},
		{"usb headset", capture, "alsa:USB Headset"},
		{"web", capture, "alsa:Webcam"},
		{"web", playback, ""}, // a webcam is not a speaker
		{"headset", capture, ""},
		{"alsa:HDMI", capture, ""},
		{"nothing like that", playback, ""},
	} {
		d, err := choose(devices, c.id, c.dir)
		if d.ID != c.want {
			t.Errorf("%s %q is %q, want %q", c.dir, c.id, d.ID, c.want)
		}
		var device *audio.DeviceError
		if c.want == "" && (!errors.As(err, &device) || device.Code != "deviceUnavailable" || device.Device != c.id || device.Remedy == "") {
			t.Errorf("%s %q: %v", c.dir, c.id, err)
		}
	}
	if _, err := choose(nil, "", capture); err == nil {
		t.Error("found a default microphone on a machine without devices")
	}
}

func TestDefaultDeviceOfWindowsIsThatOfWASAPI(t *testing.T) {
	const mme, direct, wasapi, wdm = "MME", "Windows DirectSound", "Windows WASAPI", "Windows WDM-KS"
	listed := []Device{ // as listed by PortAudio, with its default
		{HostAPI: mme, Name: "Microphone Array (Realtek(R) Aud", Inputs: 2, DefaultInput: true},
		{HostAPI: mme, Name: "Speakers (Realtek(R) Audio)", Outputs: 2, DefaultOutput: true},
		{HostAPI: direct, Name: "Microphone Array (Realtek(R) Audio)", Inputs: 2},
		{HostAPI: wdm, Name: "Microphone Array 1", Inputs: 2},
		{HostAPI: wasapi, Name: "Headset", Inputs: 1, Outputs: 2},
		{HostAPI: wasapi, Name: "Microphone Array (Realtek(R) Audio)", Inputs: 2},
		{HostAPI: wasapi, Name: "Speakers (Realtek(R) Audio)", Outputs: 2},
	}
	for i := range listed {
		listed[i].index = i
	}
	for _, c := range []struct {
		name, goos string
		of         []int // the defaults of the APIs
		in, out    int   // the default device
		named      string
		is         int // index of the microphone with that name
	}{
		{"all APIs", "windows", []int{0, 1, 2, 3, 5, 6}, 5, 6, "microphone array (realtek(r) audio)", 5},
		{"no WASAPI speaker", "windows", []int{0, 1, 2, 3, 5}, 5, 1, "Headset", 4},
		{"no WASAPI device", "windows", []int{0, 1, 2, 3}, 2, 1, "Headset", 4},
		{"no API has a default", "windows", nil, 0, 1, "Headset", 4},
		{"other system", "linux", []int{0, 1, 5, 6}, 0, 1, "microphone array (realtek(r) audio)", 2},
	} {
		devices := slices.Clone(listed)
		prefer(c.goos, devices, func(d Device, _ direction) bool { return slices.Contains(c.of, d.index) })
		for _, want := range []struct {
			id    string
			dir   direction
			index int
		}{{Default, capture, c.in}, {Default, playback, c.out}, {c.named, capture, c.is}} {
			if d, err := choose(devices, want.id, want.dir); err != nil || d.index != want.index {
				t.Errorf("%s: %s %q is %d (%s %s), %v; want %d", c.name, want.dir, want.id, d.index, d.HostAPI, d.Name, err, want.index)
			}
		}
		defaults := 0
		for _, d := range devices {
			if d.DefaultInput {
				defaults++
			}
		}
		if defaults != 1 {
			t.Errorf("%s: %d default microphones", c.name, defaults)
		}
	}
}
