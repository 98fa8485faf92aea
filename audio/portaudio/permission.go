package portaudio

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// hostError is an error of the system below PortAudio.
type hostError struct {
	code int64 // the system's error code
	text string
}

func (e *hostError) Error() string { return fmt.Sprintf("%s (%d)", e.text, e.code) }

// Error codes that mean that the program may not use the microphone.
const (
	windowsAccessDenied = 0x80070005 // E_ACCESSDENIED, of WASAPI
	macIllegalOperation = 0x6e6f7065 // 'nope', kAudioHardwareIllegalOperationError
	macPermissions      = 0x21686f67 // '!hog', kAudioDevicePermissionsError
)

// denied reports whether err means that the system denies this program the
// microphone. Windows fails when the device is opened; macOS usually opens it and
// delivers zeros, see errOnlyZeros.
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

// errOnlyZeros is how macOS denies the microphone: it opens and delivers zeros. A
// working microphone always has at least one bit of noise within zerosDenied frames.
var errOnlyZeros = errors.New("microphone delivers only zeros")

// zerosDenied is how many frames of zeros mean that access is denied: one second.
const zerosDenied = 100

// microphoneDenied returns the error for denied access, with a remedy.
func microphoneDenied(goos, id string, err error) error {
	remedy := "allow this program to use the microphone in the system's privacy settings"
	switch goos {
	case "windows":
		remedy = "turn on Settings > Privacy & security > Microphone > Let desktop apps access your microphone, then restart the conversation"
	case "darwin":
		remedy = "turn on System Settings > Privacy & Security > Microphone for the program that started this one (the editor or the terminal), restart that program, and check that the microphone is not muted"
	}
	return &audio.DeviceError{Code: "microphoneDenied", Device: id, Err: err, Remedy: remedy}
}

// gate holds frames back until one is not all zeros, on systems where zeros may mean
// denied access. No audio is lost, because the held frames are silent.
type gate struct {
	open  bool
	zeros int
}

// pass reports whether a frame may be delivered, and whether the microphone is denied.
func (g *gate) pass(f *audio.Frame) (deliver, refused bool) {
	if g.open = g.open || *f != (audio.Frame{}); g.open {
		return true, false
	}
	g.zeros++
	return false, g.zeros >= zerosDenied
}
