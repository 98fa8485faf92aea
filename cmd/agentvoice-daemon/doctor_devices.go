package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
	"github.com/agentvoice/agentvoice-daemon/internal/miclock"
)

// soundCheck selects what to check.
type soundCheck struct {
	in, out string // as --audio-in and --audio-out name them
	aloud   bool   // playing test sounds is allowed
	busy    bool   // another program is in a conversation, whose microphone would hear test sounds
	say     func(string)
}

func isDevice(arg string) bool { return arg != "null" && !strings.HasPrefix(arg, "wav:") }

// examineSound checks the devices bottom-up: the sound server, each device, the microphone
// signal, and the echo of the speaker. It skips what depends on a failed check. Every call is
// bounded, so it returns within seconds even if a sound server hangs.
func examineSound(ctx context.Context, c soundCheck) (all []finding) {
	down := "" // the fix for a sound server that does not work
	if isDevice(c.in) || isDevice(c.out) {
		server := check("sound server", false, func() (string, error) { return soundServer(ctx) })
		all, down = append(all, server), server.Fix
	}
	source, f := openMicrophone(ctx, c.in, down)
	if all = append(all, f); source != nil {
		defer source.Close() //nolint:errcheck // opened only to check it
	}
	hears := false
	if source != nil {
		if isDevice(c.in) {
			c.say(fmt.Sprintf("Listening for %v. Speak at your usual volume.", listenTime))
		}
		h, err := listen(ctx, source, int(listenTime/audio.FrameTime))
		all = append(all, h.finding(err))
		hears = err == nil && !h.zeros()
	}
	sink, f := openSpeaker(ctx, c.out, down)
	if all = append(all, f); sink != nil {
		defer sink.Close() //nolint:errcheck // opened only to check it
	}
	switch {
	case !hears || sink == nil || !isDevice(c.in):
	case !c.aloud:
		all = append(all, found("echo", false, "not measured; --sound measures it with chirps and soft noise", nil, nil))
	case c.busy:
		all = append(all, found("echo", false, "", nil, fault{"not measured, because the conversation of another program would pick it up", "end that conversation first"}))
	default:
		c.say(fmt.Sprintf("Playing chirps, then soft noise, for up to %v. Please be quiet.", echoTime))
		all = append(all, examineEcho(ctx, source, sink))
	}
	return all
}

// skippedDevice is the error of a device whose sound server does not work: opening it would fail
// too, after a timeout.
func skippedDevice(down string) error {
	return fault{"skipped: the sound server does not work", down}
}

// openMicrophone opens the device that arg names. It returns nil for a null device and on
// failure.
func openMicrophone(ctx context.Context, arg, down string) (audio.Source, finding) {
	switch {
	case arg == "null":
		return nil, found("microphone", false, "null device (silence)", nil, nil)
	case isDevice(arg) && down != "":
		return nil, found("microphone", true, "", nil, skippedDevice(down))
	}
	src, err := source(arg, math.Inf(1)) // read recordings as fast as possible
	if err == nil {
		err = src.Open(ctx)
	}
	if err != nil {
		return nil, found("microphone", true, "", nil, err)
	}
	detail, figures := deviceDetail(arg, src)
	return src, found("microphone", true, detail, figures, nil)
}

// openSpeaker opens the device that arg names. It returns nil for null and wav: outputs, which
// play nothing: opening a recording would create its file.
func openSpeaker(ctx context.Context, arg, down string) (audio.Sink, finding) {
	switch {
	case !isDevice(arg):
		return nil, found("speaker", false, arg+" (not audible)", nil, nil)
	case down != "":
		return nil, found("speaker", true, "", nil, skippedDevice(down))
	}
	dst := portaudio.NewSink(arg)
	if err := dst.Open(ctx); err != nil {
		return nil, found("speaker", true, "", nil, err)
	}
	detail, figures := deviceDetail(arg, dst)
	return dst, found("speaker", true, detail, figures, nil)
}

// deviceDetail names an open device and its reported latency.
func deviceDetail(arg string, device any) (string, map[string]float64) {
	name := arg
	if arg == portaudio.Default {
		name = "system default"
	}
	timed, ok := device.(audio.Timed)
	if !ok {
		return name, nil
	}
	reported := timed.Timing().Reported
	return fmt.Sprintf("%s; reported latency %s", name, inMs(reported)), map[string]float64{"reportedMs": ms(reported)}
}

func ms(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond/10)) / float64(time.Millisecond)
}

func inMs(d time.Duration) string { return fmt.Sprintf("%.0f ms", ms(d)) }

// startServer is the fix for a stopped PipeWire or PulseAudio.
const startServer = "start it with systemctl --user restart pipewire pipewire-pulse, or pulseaudio --start"

// soundServer tells a working sound server from a hung, a dead and an absent one. Device errors
// do not say which, and through ALSA a dead server looks like a machine without devices.
func soundServer(ctx context.Context) (string, error) {
	devices, err := portaudio.Devices()
	if err != nil {
		return "", err
	}
	ins, outs, api := 0, 0, ""
	for _, d := range devices {
		if strings.HasPrefix(d.ID, "pulse:") {
			api = d.HostAPI
			ins, outs = ins+min(d.Inputs, 1), outs+min(d.Outputs, 1)
		}
	}
	if api != "" {
		return fmt.Sprintf("%s, with %s and %s", api, count(ins, "microphone"), count(outs, "speaker")), nil
	}
	if runtime.GOOS != "linux" {
		return "not needed on this platform", nil
	}
	network, address, why := serverAddress(os.Getenv, os.Getuid())
	if why == "" {
		return "not running; using ALSA directly", nil
	}
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return "", fault{fmt.Sprintf("the sound server does not answer, although %s: %v", why, errors.Unwrap(err)), startServer}
	}
	_ = conn.Close()
	return "running, without devices", nil
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// serverAddress is the address of this user's sound server, and the reason to expect one there;
// "" if nothing indicates one.
func serverAddress(getenv func(string) string, uid int) (network, address, why string) {
	if word, _, _ := strings.Cut(getenv("PULSE_SERVER"), " "); word != "" {
		if _, rest, ok := strings.Cut(word, "}"); ok && strings.HasPrefix(word, "{") {
			word = rest // skip the machine name
		}
		if path := strings.TrimPrefix(word, "unix:"); strings.HasPrefix(path, "/") {
			return "unix", path, "PULSE_SERVER is set"
		}
		host := strings.TrimPrefix(word, "tcp:")
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), "4713")
		}
		return "tcp", host, "PULSE_SERVER is set"
	}
	dir := getenv("PULSE_RUNTIME_PATH")
	if dir == "" {
		dir = getenv("XDG_RUNTIME_DIR")
		if dir == "" {
			dir = filepath.Join("/run/user", strconv.Itoa(uid))
		}
		dir = filepath.Join(dir, "pulse")
	}
	if _, err := os.Stat(dir); err != nil {
		return "", "", "" // this user has never run a sound server
	}
	return "unix", filepath.Join(dir, "native"), "its runtime folder exists"
}

// microphoneHolder checks whether another program's conversation holds the microphone lease. It
// releases the lease immediately, so that it does not block a conversation.
func microphoneHolder(ctx context.Context) finding {
	const name = "microphone lease"
	l, err := miclock.Acquire(ctx, miclock.Holder{Name: "agentvoice-daemon doctor"})
	l.Release()
	var held *miclock.HeldError
	switch {
	case err == nil:
		return found(name, false, "free", nil, nil)
	case errors.As(err, &held):
		return found(name, false, "", nil, err)
	default:
		return found(name, false, "", nil, fault{err.Error(), miclock.Remedy(runtime.GOOS)})
	}
}
