package portaudio

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// hostError is what the system below PortAudio answered.
type hostError struct {
	code int64 // of the system
	text string
}

func (e *hostError) Error() string { return fmt.Sprintf("%s (%d)", e.text, e.code) }

// Answers of the systems to a program that may not use the microphone.
const (
	windowsAccessDenied = 0x80070005 // E_ACCESSDENIED, of WASAPI
	macIllegalOperation = 0x6e6f7065 // 'nope', kAudioHardwareIllegalOperationError
	macPermissions      = 0x21686f67 // '!hog', kAudioDevicePermissionsError
)

// denied tells whether err is the system's refusal of the microphone to this
// program. Windows refuses when the device is opened; macOS mostly lets it be
// opened and gives zeros, for which see errOnlyZeros.
func denied(goos string, dir direction, err error) bool {
	if errors.Is(err, errOnlyZeros) {
		return true
	}
	var host *hostError
	if dir != capture || !errors.As(err, &host) {
		return false
	}
	code := uint32(host.code)
	switch goos {
	case "windows":
		return code == windowsAccessDenied || strings.Contains(strings.ToLower(host.text), "access is denied")
	case "darwin":
		return code == macIllegalOperation || code == macPermissions
	default:
		return false
	}
}

// errOnlyZeros is how macOS refuses the microphone: it opens and gives zeros. A
// microphone that works is never without a single bit of noise for that long.
var errOnlyZeros = errors.New("microphone gives nothing but zeros")

// zerosDenied is how many frames of zeros are a refusal: a second.
const zerosDenied = 100

// microphoneDenied is the error of a refusal, with the way to undo it.
func microphoneDenied(goos, id string, err error) error {
	remedy := "allow this program to use the microphone in the system's privacy settings"
	switch goos {
	case "windows":
		remedy = "switch on Settings, Privacy & security, Microphone, Let desktop apps access your microphone, and start the conversation again"
	case "darwin":
		remedy = "switch on System Settings, Privacy & Security, Microphone for the program that started this one (the editor or the terminal), restart that program, and check that the microphone is not muted"
	}
	return &audio.DeviceError{Code: "microphoneDenied", Device: id, Err: err, Remedy: remedy}
}

// gate holds frames back until one is not all zeros, where zeros may be a refusal.
// Nothing is lost by that, since what is held back is silence.
type gate struct {
	open  bool
	zeros int
}

// pass tells whether a frame may be delivered, and whether the microphone is
// refused.
func (g *gate) pass(f *audio.Frame) (deliver, refused bool) {
	if g.open = g.open || *f != (audio.Frame{}); g.open {
		return true, false
	}
	g.zeros++
	return false, g.zeros >= zerosDenied
}
