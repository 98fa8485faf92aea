package portaudio

import (
	"errors"
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
		{"web", playback, ""}, // a webcam is no loudspeaker
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
		t.Error("a machine without devices has a default microphone")
	}
}
